// The dialogs before an import (the state of unannotated pictures) and after it (what was left out).
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { cancelImport, importChosenFile, importedFile, skipped, unannotated } from "../sync/importExport";

export function ImportDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const file = importedFile.value;
  useLayoutEffect(() => {
    if (!file) return dialog.current?.close();
    dialog.current?.showModal();
    dialog.current?.querySelector("button")?.focus();
  }, [file]);
  // The browser fires `close` asynchronously, when another file may have been chosen.
  const afterClosing = () => !dialog.current?.open && importedFile.peek() === file && cancelImport();
  return (
    <dialog ref={dialog} id="import-dialog" class="import-dialog" aria-labelledby="import-title" onClose={afterClosing}>
      {file && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void importChosenFile();
          }}
        >
          <h2 id="import-title" class="clip" title={file.name}>
            Import {file.name}
          </h2>
          <fieldset>
            <legend>Pictures that the file lists without any object are</legend>
            <Meaning meaning="todo" title="still to do" description="not annotated yet" />
            <Meaning meaning="negative" title="verified empty" description="checked, no object found" />
          </fieldset>
          <p class="quiet">
            Pictures that are done or annotated here stay as they are. An import cannot be undone.
          </p>
          <p class="row">
            <button class="primary">Import</button>
            <button type="button" onClick={() => dialog.current!.close()}>
              Cancel
            </button>
          </p>
        </form>
      )}
    </dialog>
  );
}

interface MeaningProps {
  meaning: "todo" | "negative";
  title: string;
  description: string;
}

function Meaning({ meaning, title, description }: MeaningProps) {
  return (
    <label>
      <input
        type="radio"
        name="unannotated"
        value={meaning}
        checked={unannotated.value === meaning}
        onChange={() => (unannotated.value = meaning)}
      />
      <span>
        <b>{title}</b> <span class="quiet">({description})</span>
      </span>
    </label>
  );
}

export function Skipped() {
  const dialog = useRef<HTMLDialogElement>(null);
  const sentences = skipped.value;
  useEffect(() => {
    if (!sentences.length) return;
    dialog.current?.showModal();
    dialog.current?.querySelector("button")?.focus();
  }, [sentences]);
  return (
    <dialog ref={dialog} aria-label="Not imported" onClose={() => (skipped.value = [])}>
      <h2>Not imported</h2>
      <ul class="skipped">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <button onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  );
}
