// The status of saving: the indicator in the header, the error, and the dialog of a stale page.
import { useEffect, useRef } from "preact/hooks";
import { staleness } from "../../shared/staleness";
import { reload } from "../sync/reload";
import { savingState, unsavedSheets } from "../sync/saving";

export function SavingIndicator() {
  const { state, text, why } = savingState.value;
  return (
    <div id="saving" class={`saving ${state} clip`} role="status" aria-live="polite" data-state={state} title={why ?? text}>
      {text}
    </div>
  );
}

/** Shows the full reason while a change cannot be saved. */
export function SavingProblem() {
  const { why } = savingState.value;
  return (
    <div class="saving-problem" role="status" aria-live="polite">
      {why !== null && <div class="notice bad">Not saved: {why}</div>}
    </div>
  );
}

/** Reports that the server now serves another project than this page was opened for. */
export function StaleDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const reason = staleness.value;
  useEffect(() => {
    if (reason !== null) dialog.current?.showModal();
  }, [reason]);
  const unsaved = unsavedSheets().map(({ name }) => name);
  return (
    <dialog
      ref={dialog}
      id="stale"
      class="stale"
      aria-label="This page is out of date"
      onCancel={(event) => event.preventDefault()}
    >
      <h2>This page is out of date</h2>
      <p>{reason}</p>
      {unsaved.length > 0 && (
        <p>
          Not saved: the last change of <b>{unsaved.join(", ")}</b>. It is sent again after a reload if the picture is still
          there.
        </p>
      )}
      <button class="primary" onClick={reload}>
        Reload
      </button>
    </dialog>
  );
}
