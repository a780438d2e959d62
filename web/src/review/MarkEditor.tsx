// Mark the large picture's annotation as one to correct, with a note.
import { useEffect, useState } from "preact/hooks";
import { markOf, setNote, toggleMark } from "./marks";

export function MarkEditor({ number }: { number: number }) {
  const mark = markOf(number);
  const [note, write] = useState(mark?.note ?? "");
  useEffect(() => write(mark?.note ?? ""), [number, mark?.note]);
  const save = () => {
    if (note.trim() !== (mark?.note ?? "")) void setNote(number, note.trim());
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
        value={note}
        onInput={(event) => write(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Escape") write(mark?.note ?? "");
          if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </section>
  );
}
