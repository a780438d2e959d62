// The dialog in which a category is found by typing.
import { useEffect, useRef } from "preact/hooks";
import {
  afterClosing,
  marked,
  matches,
  moveMark,
  pick,
  receiver,
  setPickerDialog,
  timesOpened,
  type,
  typed,
} from "../category_picker";
import { CategoryChip } from "./CategoryChip";

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

function followKey(event: KeyboardEvent): void {
  const steps = STEPS[event.key];
  if (steps !== undefined) moveMark(steps);
  else if (event.key === "Enter") marked.peek() !== null && pick(marked.peek()!);
  else return;
  event.preventDefault();
}

export function CategoryPicker() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    setPickerDialog(dialog.current);
    return () => setPickerDialog(null);
  }, []);
  useEffect(() => {
    dialog.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [marked.value, timesOpened.value]);
  return (
    <dialog
      ref={dialog}
      id="category-picker"
      class="category-picker"
      aria-label="Choose a category"
      onClose={afterClosing}
    >
      <h2>Category of the {receiver.value} object</h2>
      <input
        type="text"
        role="combobox"
        aria-label="Name or number of the category"
        aria-expanded="true"
        aria-controls="category-matches"
        aria-activedescendant={marked.value === null ? undefined : optionId(marked.value)}
        aria-autocomplete="list"
        autocomplete="off"
        placeholder="Name or number, then Enter"
        value={typed.value}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={followKey}
      />
      <ul id="category-matches" class="plain-list" role="listbox" aria-label="Categories">
        {matches.value.map((name) => (
          <li
            key={name}
            id={optionId(name)}
            class="category-match"
            role="option"
            aria-selected={name === marked.value}
            title={name}
            onClick={() => pick(name)}
          >
            <CategoryChip category={name} />
            <span class="clip">{name}</span>
          </li>
        ))}
      </ul>
      {matches.value.length === 0 && <p class="quiet nothing">No category is called like this.</p>}
    </dialog>
  );
}

const optionId = (name: string) => `category-match-${encodeURIComponent(name)}`;
