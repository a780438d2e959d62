// Which pictures the list shows, in which order.
import { computed, signal } from "@preact/signals";
import { get } from "../shared/api";
import { tellError } from "../shared/notices";
import type { Summary } from "./records";
import { current, names, summaries } from "./state";

export const isToDo = ({ done, error }: Summary) => !done && error === null;
export const isToCorrect = ({ first, error }: Summary) => first && error === null;

export const FILTERS = {
  all: { title: "All", shows: () => true },
  todo: { title: "To do", shows: isToDo },
  done: { title: "Done", shows: (summary: Summary) => summary.done },
  positive: { title: "Positive", shows: (summary: Summary) => summary.objects > 0 },
  correct: { title: "To correct", shows: isToCorrect },
  unreadable: { title: "Unreadable", shows: (summary: Summary) => summary.error !== null },
} as const;

export type FilterName = keyof typeof FILTERS;

export const filter = signal<FilterName>("all");
export const sought = signal("");
export const order = signal<"name" | "useful">("name");

interface Useful {
  picture: number;
  why: string;
}
const useful = signal<Useful[]>([]);
export const reasons = computed(() => new Map(useful.value.map(({ picture, why }) => [picture, why])));

/** Pictures to correct at the start: they stay where they are once they are corrected. */
export const firsts = signal<readonly number[]>([]);

const ordered = computed(() => {
  const told = order.value === "useful" ? useful.value.map(({ picture }) => picture) : [];
  return [...new Set([...firsts.value, ...told, ...names.value.keys()])];
});

/** The open picture stays in the list, even if it is no longer what the filter asks for. */
export const listing = computed(() => {
  const { shows } = FILTERS[filter.value];
  const part = sought.value.trim().toLowerCase();
  const open = current.value;
  return ordered.value.filter(
    (picture) =>
      picture === open ||
      (shows(summaries.value[picture]!) && (part === "" || names.value[picture]!.toLowerCase().includes(part))),
  );
});

/** -1 after the last. */
export const pictureAfter = (picture: number) => listing.peek()[listing.peek().indexOf(picture) + 1] ?? -1;

export const counts = computed(() => {
  const all = summaries.value;
  const positive = all.filter(FILTERS.positive.shows).length;
  return {
    all: all.length,
    /** That can be done, or are. */
    readable: all.filter(({ done, error }) => done || error === null).length,
    unreadable: all.filter(FILTERS.unreadable.shows).length,
    todo: all.filter(FILTERS.todo.shows).length,
    done: all.filter(FILTERS.done.shows).length,
    positive,
    correct: all.filter(FILTERS.correct.shows).length,
  };
});

export async function orderBy(wanted: "name" | "useful"): Promise<void> {
  try {
    if (wanted === "useful") useful.value = (await get<{ order: Useful[] }>("/api/order")).order;
    order.value = wanted;
  } catch (error) {
    tellError(error);
  }
}
