// Choosing a category by name or number, which works for any number of categories.
import { computed, signal } from "@preact/signals";
import { setCategory } from "./edits";
import { numberOf } from "./categoryColours";
import { focusStage } from "./stage/stageElement";
import { categories, category, chooseCategory, chosen } from "./state";

type Receiver = "next" | "selected";

let dialog: HTMLDialogElement | null = null;
export const setPickerDialog = (element: HTMLDialogElement | null) => (dialog = element);

/** Whose category is being chosen. */
export const receiver = signal<Receiver>("next");
export const typed = signal("");
/** Each opening brings the mark into sight again. */
export const timesOpened = signal(0);
const place = signal(0);

/** Names that begin with what is typed come first; digits also find the number of a category. */
export const matches = computed(() => {
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

/** The name that Enter takes; null if none matches. */
export const marked = computed(() => matches.value[Math.min(place.value, matches.value.length - 1)] ?? null);

const before = () => (receiver.peek() === "selected" ? chosen.peek()?.category : category.peek());

/** Open at once: what is typed right after the key must not act on the picture. */
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

/** The browser reports a closing later, when the picker may be open again. */
export function afterClosing(): void {
  if (dialog?.open) return;
  typed.value = "";
  focusStage();
}

export function type(text: string): void {
  typed.value = text;
  place.value = 0;
}

/** Move the mark by steps, around the ends. */
export function moveMark(steps: number): void {
  const count = matches.peek().length;
  if (count > 0) place.value = (Math.min(place.peek(), count - 1) + steps + count) % count;
}

export function pick(name: string): void {
  if (receiver.peek() === "next") chooseCategory(name);
  else setCategory(name);
  closeCategoryPicker();
}
