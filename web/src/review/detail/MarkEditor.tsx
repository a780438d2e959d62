// A button that marks the annotation of the large picture as to be corrected, and a field for a note.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { markOf, setNote, toggleMark } from "../sync/marks";

export function MarkEditor({ number }: { number: number }) {
  const mark = markOf(number);
  // The text being typed, or null while the saved note is shown. A late answer to an earlier note
  // must not replace it.
  const draft = useSignal<string | null>(null);
  useEffect(() => void (draft.value = null), [number]);
  const save = async () => {
    const written = draft.peek();
    if (written === null) return;
    if (written.trim() !== (mark?.note ?? "")) await setNote(number, written.trim());
    if (draft.peek() === written) draft.value = null;
  };
  return (
    <section aria-label="Annotation to correct" class="mark-editor">
      <button id="mark" aria-pressed={Boolean(mark)} onClick={() => toggleMark(number)}>
        {mark ? "Marked to correct" : "Mark to correct"} <kbd>M</kbd>
      </button>
      <input
        id="note"
        type="text"
        aria-label="Note"
        placeholder="Note (optional)"
        maxLength={1000}
        value={draft.value ?? mark?.note ?? ""}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === "Escape") draft.value = null;
          if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </section>
  );
}
