// Told when the server serves something else than this page was opened for.
import { useEffect, useRef } from "preact/hooks";
import { reload } from "../sync/reload";
import { unsavedSheets } from "../sync/saving";
import { staleness } from "../sync/staleness";

export function StaleDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const sentence = staleness.value;
  useEffect(() => {
    if (sentence !== null) dialog.current?.showModal();
  }, [sentence]);
  const left = unsavedSheets().map(({ name }) => name);
  return (
    <dialog
      ref={dialog}
      id="stale"
      class="stale"
      aria-label="This page is out of date"
      onCancel={(event) => event.preventDefault()}
    >
      <h2>This page is out of date</h2>
      <p>{sentence}</p>
      {left.length > 0 && (
        <p>
          Not saved: the last change of <b>{left.join(", ")}</b>. It is sent again after a reload if the picture is still
          there.
        </p>
      )}
      <button class="primary" onClick={reload}>
        Reload
      </button>
    </dialog>
  );
}
