// The undo and redo history of all pictures, in the order of the changes.
import { computed, signal } from "@preact/signals";
import type { Sheet } from "./sync/sheets";
import type { Content } from "./types";

const MAX_STEPS = 1000;
const MERGE_WITHIN_MS = 1000;

/** The content of a picture before a change, or after a change that was undone. */
export interface Step {
  sheet: Sheet;
  content: Content;
}

const past = signal<readonly Step[]>([]);
const future = signal<readonly Step[]>([]);
let last: { sheet: Sheet | null; kind: string; time: number } = { sheet: null, kind: "", time: 0 };

export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/** Record the content before a change. Rapid consecutive changes of the same `kind` form one step. */
export function record(sheet: Sheet, before: Content, kind = ""): void {
  const time = Date.now();
  const isMerged = kind !== "" && kind === last.kind && sheet === last.sheet && time - last.time < MERGE_WITHIN_MS;
  last = { sheet, kind, time };
  future.value = [];
  if (!isMerged) past.value = [...past.peek(), { sheet, content: before }].slice(-MAX_STEPS);
}

export const popUndo = () => pop(past, future);
export const popRedo = () => pop(future, past);

function pop(from: typeof past, to: typeof past): Step | undefined {
  const step = from.peek().at(-1);
  last.kind = "";
  if (!step) return undefined;
  from.value = from.peek().slice(0, -1);
  to.value = [...to.peek(), { sheet: step.sheet, content: step.sheet.content.peek() }];
  return step;
}

export const lastStep = () => past.peek().at(-1);

/** Return whether this picture was changed last. */
export const wasChangedLast = (sheet: Sheet) => lastStep()?.sheet === sheet;

/** Apply a change, such as a new name of a category, to every step. */
export function rewriteHistory(change: (content: Content) => Content): void {
  for (const steps of [past, future]) {
    steps.value = steps.peek().map(({ sheet, content }) => ({ sheet, content: change(content) }));
  }
}

/** Clear the steps of one picture, or of all, so that undo cannot revert later changes by others. */
export function clearHistory(sheet?: Sheet): void {
  for (const steps of [past, future]) {
    steps.value = sheet ? steps.peek().filter((step) => step.sheet !== sheet) : [];
  }
}
