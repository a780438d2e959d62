// What the page knows and what the user chose; everything shown follows from it.
import { computed, effect, signal } from "@preact/signals";
import { countsOf } from "./results/statistics";
import { binsOf, spanOf } from "./bins";
import { decimalsOf, fixed, niceStep } from "./formatting";
import { type Filter, type Order, shownPictures } from "./results/pictureList";
import { outcomesOf } from "./results/outcomes";
import type { Seen } from "./progress";
import type { Project, Results } from "./types";

export const BINS = 48;

export const project = signal<Project | null>(null);
export const names = signal<readonly string[]>([]);
export const results = signal<Results>([]);
export const scoring = signal({ scored: 0, failed: 0, goesOn: true });
export const pace = signal<readonly Seen[]>([]);

export const chosenThreshold = signal<number | null>(null);
export const chosenOrder = signal<Order | null>(null);
export const filter = signal<Filter>("all");
export const search = signal("");
/** The picture that keys act on; on the wall or large. */
export const current = signal<number | null>(null);
export const isLarge = signal(false);

export const modelThreshold = computed(() => project.value?.threshold ?? 0);
export const threshold = computed(() => chosenThreshold.value ?? modelThreshold.value);
export const knowsTruth = computed(() => project.value?.truth ?? false);
export const order = computed<Order>(() => chosenOrder.value ?? (knowsTruth.value ? "errors" : "score"));

export const outcomes = computed(() => outcomesOf(results.value, threshold.value));
export const counts = computed(() => countsOf(results.value, outcomes.value));
/** While the threshold moves, the wall keeps the order of an earlier one. */
export const heldThreshold = signal<number | null>(null);
const choice = computed(() => {
  const held = heldThreshold.value;
  return {
    names: names.value,
    results: results.value,
    outcomes: held === null ? outcomes.value : outcomesOf(results.value, held),
    threshold: held ?? threshold.value,
  };
});
export const shown = computed(() => shownPictures(choice.value, filter.value, order.value, search.value));
export const marked = computed(() => results.value.filter((result) => result?.mark).length);

export const span = computed(() => spanOf(results.value, [modelThreshold.value, threshold.value]));
export const bins = computed(() => binsOf(results.value, span.value, BINS));
export const step = computed(() => niceStep(span.value.high - span.value.low));
const scoreDecimals = computed(() => Math.max(2, decimalsOf(step.value)));
export const scoreText = (score: number) => fixed(score, scoreDecimals.value);

const MOST_DECIMALS = 20;

/** As many decimals as it takes for the rounded threshold to raise the same alarms. */
function thresholdDecimals(wanted: number): number {
  const isTheSame = (rounded: number) => (result: Results[number]) =>
    result?.score == null || result.score >= wanted === result.score >= rounded;
  let decimals = scoreDecimals.value;
  while (decimals < MOST_DECIMALS) {
    const rounded = Number(wanted.toFixed(decimals));
    if (rounded === wanted || results.value.every(isTheSame(rounded))) break;
    decimals++;
  }
  return decimals;
}

export const thresholdText = (wanted: number) => fixed(wanted, thresholdDecimals(wanted));
export const roundedThreshold = (wanted: number) => Number(wanted.toFixed(thresholdDecimals(wanted)));

/** Place of each picture when all are ordered by falling score. */
export const ranks = computed(() => {
  const scores = results.value.map((result) => result?.score ?? null);
  const best = scores.flatMap((score, picture) => (score === null ? [] : [picture]));
  best.sort((a, b) => scores[b]! - scores[a]! || a - b);
  return new Map(best.map((picture, place) => [picture, place + 1]));
});

const lastPlace = signal(0);
export const place = computed(() => (current.value === null ? -1 : shown.value.indexOf(current.value)));
effect(() => {
  if (place.value >= 0) lastPlace.value = place.value;
});

/** The shown picture that lies some places after the current one; the nearest end beyond the ends. */
export function pictureAt(places: number): number | undefined {
  const list = shown.value;
  // A picture that left the list has its follower in its place.
  const from = place.value >= 0 ? place.value : lastPlace.value - (places > 0 ? 1 : 0);
  return list[Math.max(0, Math.min(list.length - 1, from + places))];
}
