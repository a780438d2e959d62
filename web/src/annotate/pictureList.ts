// The pictures that the list shows, filtered and sorted, and the progress of the whole folder.
import { batch, computed, signal } from "@preact/signals";
import { get } from "../shared/api";
import { notifyError } from "../shared/Notices";
import { current, names, summaries } from "./state";
import type { Summary } from "./types";

/** The state of a picture. */
export const STATES = {
  todo: "to do",
  progress: "in progress",
  positive: "done",
  empty: "verified empty",
  unreadable: "unreadable",
} as const;

type State = keyof typeof STATES;

export function stateOf({ done, objects, error }: Summary): State {
  if (error !== null) return "unreadable";
  if (objects > 0) return done ? "positive" : "progress";
  return done ? "empty" : "todo";
}

const [HEAD, TAIL] = [15, 20];

/** Shorten a long name to its two ends, since names in a folder often differ only in the last letters. */
export const shortened = (name: string) =>
  name.length <= HEAD + TAIL + 1 ? name : `${name.slice(0, HEAD)}…${name.slice(-TAIL)}`;

/** Return whether a picture is not done, with or without objects. */
export const isToDo = ({ done, error }: Summary) => !done && error === null;
export const isToCorrect = ({ first, error }: Summary) => first && error === null;

export const whatToCorrect = ({ note }: Summary) => (note === "" ? "To correct" : `To correct: ${note}`);

const isIn = (state: State) => (summary: Summary) => stateOf(summary) === state;

export const FILTERS = {
  all: { title: "All", shows: () => true },
  todo: { title: "To do", shows: isIn("todo") },
  progress: { title: "In progress", shows: isIn("progress") },
  done: { title: "Done", shows: (summary: Summary) => summary.done },
  positive: { title: "With objects", shows: (summary: Summary) => summary.objects > 0 },
  empty: { title: "Verified empty", shows: isIn("empty") },
  correct: { title: "To correct", shows: isToCorrect },
  unreadable: { title: "Unreadable", shows: isIn("unreadable") },
} as const;

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

export const filter = signal<FilterName>("all");
export const search = signal("");
export const order = signal<"name" | "useful">("name");

export function showAll(): void {
  batch(() => {
    filter.value = "all";
    search.value = "";
  });
}

interface Useful {
  picture: number;
  why: string;
}
const useful = signal<Useful[]>([]);
export const reasons = computed(() => new Map(useful.value.map(({ picture, why }) => [picture, why])));

/** Pictures that were to be corrected at the start; they stay in place once they are corrected. */
export const picturesToCorrect = signal<readonly number[]>([]);

const ordered = computed(() => {
  const byUsefulness = order.value === "useful" ? useful.value.map(({ picture }) => picture) : [];
  return [...new Set([...picturesToCorrect.value, ...byUsefulness, ...names.value.keys()])];
});

/** Pictures whose name contains the searched text. */
const matching = computed(() => {
  const part = search.value.trim().toLowerCase();
  return part === ""
    ? ordered.value
    : ordered.value.filter((picture) => names.value[picture]!.toLowerCase().includes(part));
});

const passesFilter = (picture: number) => FILTERS[filter.value].shows(summaries.value[picture]!);

/** Return the first picture that matches the search and passes the filter. */
export const firstMatch = () => matching.peek().find(passesFilter);

/** The open picture stays in the list even if it no longer passes the filter. */
export const listing = computed(() => {
  const wanted = new Set(matching.value.filter(passesFilter)).add(current.value);
  return ordered.value.filter((picture) => wanted.has(picture));
});

/** The number of matching pictures that pass each filter. */
export const filterCounts = computed(() => {
  const found = matching.value.map((picture) => summaries.value[picture]!);
  const count = (name: FilterName) => found.filter(FILTERS[name].shows).length;
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, count(name)])) as Record<FilterName, number>;
});

/** Describes how many pictures the list shows; null if it shows all. */
export const restriction = computed(() => {
  if (filter.value === "all" && search.value.trim() === "") return null;
  const count = filterCounts.value[filter.value];
  const isKept = listing.value.length > count;
  return `${count} of ${names.value.length}${isKept ? ", and the open picture" : ""}`;
});

/** Return the next picture of the list, or -1 after the last. */
export const pictureAfter = (picture: number) => listing.peek()[listing.peek().indexOf(picture) + 1] ?? -1;

/** The progress of the whole folder, independent of the list. */
export const progress = computed(() => {
  const counts = { readable: 0, unreadable: 0, done: 0, withObjects: 0, empty: 0, inProgress: 0 };
  for (const summary of summaries.value) {
    const state = stateOf(summary);
    counts.readable += Number(summary.done || state !== "unreadable");
    counts.unreadable += Number(state === "unreadable");
    counts.done += Number(summary.done);
    counts.withObjects += Number(summary.done && summary.objects > 0);
    counts.empty += Number(summary.done && summary.objects === 0);
    counts.inProgress += Number(state === "progress");
  }
  return counts;
});

export async function orderBy(wanted: "name" | "useful"): Promise<void> {
  try {
    if (wanted === "useful") useful.value = (await get<{ order: Useful[] }>("/api/order")).order;
    order.value = wanted;
  } catch (error) {
    notifyError(error);
  }
}
