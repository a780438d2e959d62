// The dialog that finds a category by name or number, among any number of categories.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { numberOf } from "../categoryColours";
import { setCategory } from "../edits";
import { focusStage } from "../stage/stageElement";
import { categories, category, chooseCategory, chosen } from "../state";
import { CategoryChip } from "./CategoryChip";

type Receiver = "next" | "selected";

let dialog: HTMLDialogElement | null = null;

/** The object whose category is being chosen. */
const receiver = signal<Receiver>("next");
const typed = signal("");
/** Opening the dialog again scrolls the highlighted category into view. */
const timesOpened = signal(0);
const place = signal(0);

/** Categories that match the typed text, prefixes first; digits also match the number of a category. */
const matches = computed(() => {
  const part = typed.value.trim().toLowerCase();
  const rank = (name: string) => {
    if (part === "" || String(numberOf(name)) === part) return 0;
    const found = name.toLowerCase().indexOf(part);
    if (found === 0) return 1;
    return found > 0 || String(numberOf(name)).startsWith(part) ? 2 : 3;
  };
  const ranked = categories.value.map((name) => ({ name, rank: rank(name) }));
  return ranked
    .filter((each) => each.rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);
});

/** The category that Enter picks; null if none matches. */
const highlighted = computed(() => matches.value[Math.min(place.value, matches.value.length - 1)] ?? null);

const before = () => (receiver.peek() === "selected" ? chosen.peek()?.category : category.peek());

/** Open synchronously: keys typed right after the shortcut must not act on the picture. */
export function openCategoryPicker(wanted: Receiver = chosen.peek() ? "selected" : "next"): void {
  receiver.value = wanted;
  typed.value = "";
  place.value = Math.max(0, categories.peek().indexOf(before() ?? ""));
  dialog?.showModal();
  dialog?.querySelector("input")?.focus();
  timesOpened.value++;
}

function closeCategoryPicker(): void {
  dialog?.close();
  afterClosing();
}

/** The browser fires `close` asynchronously, when the picker may be open again. */
function afterClosing(): void {
  if (dialog?.open) return;
  typed.value = "";
  focusStage();
}

function type(text: string): void {
  typed.value = text;
  place.value = 0;
}

/** Move the highlight, wrapping around at the ends. */
function moveHighlight(steps: number): void {
  const count = matches.peek().length;
  if (count > 0) place.value = (Math.min(place.peek(), count - 1) + steps + count) % count;
}

function pick(name: string): void {
  if (receiver.peek() === "next") chooseCategory(name);
  else setCategory(name);
  closeCategoryPicker();
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

function handleKey(event: KeyboardEvent): void {
  const steps = STEPS[event.key];
  if (steps !== undefined) moveHighlight(steps);
  else if (event.key === "Enter") highlighted.peek() !== null && pick(highlighted.peek()!);
  else return;
  event.preventDefault();
}

export function CategoryPicker() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog = element.current;
    return () => void (dialog = null);
  }, []);
  useEffect(() => {
    element.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [highlighted.value, timesOpened.value]);
  return (
    <dialog
      ref={element}
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
        aria-activedescendant={highlighted.value === null ? undefined : optionId(highlighted.value)}
        aria-autocomplete="list"
        autocomplete="off"
        placeholder="Name or number, then Enter"
        value={typed.value}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <ul id="category-matches" class="plain-list" role="listbox" aria-label="Categories">
        {matches.value.map((name) => (
          <li
            key={name}
            id={optionId(name)}
            class="category-match"
            role="option"
            aria-selected={name === highlighted.value}
            title={name}
            onClick={() => pick(name)}
          >
            <CategoryChip category={name} />
            <span class="clip">{name}</span>
          </li>
        ))}
      </ul>
      {matches.value.length === 0 && <p class="quiet nothing">No category matches.</p>}
    </dialog>
  );
}

const optionId = (name: string) => `category-match-${encodeURIComponent(name)}`;
