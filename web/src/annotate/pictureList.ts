// Which pictures the list shows, in which order, and how many there are of each kind.
import { batch, computed, signal } from "@preact/signals";
import { get } from "../shared/api";
import { tellError } from "../shared/Notices";
import type { Summary } from "./types";
import { current, names, summaries } from "./state";

/** How far a picture is. */
export const STATES = {
  todo: "to do",
  progress: "in progress",
  positive: "done",
  empty: "verified empty",
  unreadable: "unreadable",
} as const;

export type State = keyof typeof STATES;

export function stateOf({ done, objects, error }: Summary): State {
  if (error !== null) return "unreadable";
  if (objects > 0) return done ? "positive" : "progress";
  return done ? "empty" : "todo";
}

const [HEAD, TAIL] = [15, 20];

/** Both ends of a long name: pictures of a folder often differ in the last letters alone. */
export const shortened = (name: string) =>
  name.length <= HEAD + TAIL + 1 ? name : `${name.slice(0, HEAD)}…${name.slice(-TAIL)}`;

/** Not done, whether or not something is marked. */
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
export const sought = signal("");
export const order = signal<"name" | "useful">("name");

export function showAll(): void {
  batch(() => {
    filter.value = "all";
    sought.value = "";
  });
}

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

/** Pictures whose name has the part that is sought. */
const named = computed(() => {
  const part = sought.value.trim().toLowerCase();
  return part === ""
    ? ordered.value
    : ordered.value.filter((picture) => names.value[picture]!.toLowerCase().includes(part));
});

const isAskedFor = (picture: number) => FILTERS[filter.value].shows(summaries.value[picture]!);

/** The first picture that is sought and that the filter shows. */
export const firstMatch = () => named.peek().find(isAskedFor);

/** The open picture stays in the list, even if it is no longer what the filter asks for. */
export const listing = computed(() => {
  const wanted = new Set(named.value.filter(isAskedFor)).add(current.value);
  return ordered.value.filter((picture) => wanted.has(picture));
});

/** How many pictures each filter shows, of those that are sought. */
export const filterCounts = computed(() => {
  const those = named.value.map((picture) => summaries.value[picture]!);
  const count = (name: FilterName) => those.filter(FILTERS[name].shows).length;
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, count(name)])) as Record<FilterName, number>;
});

/** What the list leaves out, in words; null if it shows everything. */
export const restriction = computed(() => {
  if (filter.value === "all" && sought.value.trim() === "") return null;
  const count = filterCounts.value[filter.value];
  const isKept = listing.value.length > count;
  return `${count} of ${names.value.length}${isKept ? ", and the open picture" : ""}`;
});

/** -1 after the last. */
export const pictureAfter = (picture: number) => listing.peek()[listing.peek().indexOf(picture) + 1] ?? -1;

/** How far the whole folder is, whatever the list shows. */
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
    tellError(error);
  }
}
