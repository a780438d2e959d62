// Undo and redo over all pictures, in the order in which the changes were made.
import { computed, signal } from "@preact/signals";
import type { Content } from "./types";
import type { Sheet } from "./sync/sheets";

const LONGEST = 1000;
const JOINED_WITHIN_MS = 1000;

/** What a picture said before a change, or after one that was undone. */
export interface Step {
  sheet: Sheet;
  content: Content;
}

const past = signal<readonly Step[]>([]);
const future = signal<readonly Step[]>([]);
let last: { sheet: Sheet | null; kind: string; time: number } = { sheet: null, kind: "", time: 0 };

export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/** Keep what a picture said before a change; quick changes of one kind in a row are one step. */
export function record(sheet: Sheet, before: Content, kind = ""): void {
  const time = Date.now();
  const joins = kind !== "" && kind === last.kind && sheet === last.sheet && time - last.time < JOINED_WITHIN_MS;
  last = { sheet, kind, time };
  future.value = [];
  if (!joins) past.value = [...past.peek(), { sheet, content: before }].slice(-LONGEST);
}

export const takeUndone = () => take(past, future);
export const takeRedone = () => take(future, past);

function take(from: typeof past, to: typeof past): Step | undefined {
  const step = from.peek().at(-1);
  last.kind = "";
  if (!step) return undefined;
  from.value = from.peek().slice(0, -1);
  to.value = [...to.peek(), { sheet: step.sheet, content: step.sheet.content.peek() }];
  return step;
}

export const lastStep = () => past.peek().at(-1);

/** Whether the last change was one of this picture. */
export const isChangedLast = (sheet: Sheet) => lastStep()?.sheet === sheet;

/** Apply a change to every step, such as a new name of a category. */
export function rewrite(change: (content: Content) => Content): void {
  for (const steps of [past, future]) {
    steps.value = steps.peek().map(({ sheet, content }) => ({ sheet, content: change(content) }));
  }
}

/** Forget the steps of one picture, or of all: they must not undo what others changed since. */
export function forget(sheet?: Sheet): void {
  for (const steps of [past, future]) {
    steps.value = sheet ? steps.peek().filter((step) => step.sheet !== sheet) : [];
  }
}
