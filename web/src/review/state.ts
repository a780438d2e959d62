// The state of the page: data from the server, the user's choices, and everything derived from them.
import { computed, effect, signal } from "@preact/signals";
import { decimalsOf, fixed, niceStep } from "./formatting";
import { outcomesOf } from "./results/outcomes";
import { type Filter, type Order, shownPictures } from "./results/pictureList";
import { binsOf, countsOf, spanOf } from "./results/statistics";
import type { Project, Results } from "./types";

export const BINS = 48;

export const project = signal<Project | null>(null);
export const names = signal<readonly string[]>([]);
export const results = signal<Results>([]);

export const chosenThreshold = signal<number | null>(null);
export const chosenOrder = signal<Order | null>(null);
export const filter = signal<Filter>("all");
export const search = signal("");
/** The picture that keyboard shortcuts act on, on the wall or shown large. */
export const current = signal<number | null>(null);
export const isLarge = signal(false);

export const modelThreshold = computed(() => project.value?.threshold ?? 0);
export const threshold = computed(() => chosenThreshold.value ?? modelThreshold.value);
export const hasTruth = computed(() => project.value?.truth ?? false);
export const order = computed<Order>(() => chosenOrder.value ?? (hasTruth.value ? "errors" : "score"));

export const outcomes = computed(() => outcomesOf(results.value, threshold.value));
export const counts = computed(() => countsOf(results.value, outcomes.value));
/** While the threshold is moving, the wall keeps the order of this earlier threshold. */
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
export const markedCount = computed(() => results.value.filter((result) => result?.mark).length);

export const span = computed(() => spanOf(results.value, [modelThreshold.value, threshold.value]));
export const bins = computed(() => binsOf(results.value, span.value, BINS));
export const step = computed(() => niceStep(span.value.high - span.value.low));
export const scoreDecimals = computed(() => Math.max(2, decimalsOf(step.value)));
export const scoreText = (score: number) => fixed(score, scoreDecimals.value);

/** The rank of each picture when all pictures are sorted by descending score. */
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

/** Return the shown picture that comes `places` after the current one, clamped to the ends of the list. */
export function pictureAt(places: number): number | undefined {
  const list = shown.value;
  // The successor of a picture that left the list has taken its place.
  const from = place.value >= 0 ? place.value : lastPlace.value - (places > 0 ? 1 : 0);
  return list[Math.max(0, Math.min(list.length - 1, from + places))];
}

const CHOICES = { threshold: chosenThreshold, order: chosenOrder, filter, search };

/** Restore the user's choices from before a reload of the tab, and store every later change. */
export function persistChoices({ folder, model }: Project): void {
  const key = `groupcm review ${folder} ${model}`;
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    for (const [name, choice] of Object.entries(CHOICES)) if (name in stored) choice.value = stored[name];
  } catch {
    sessionStorage.removeItem(key);
  }
  effect(() => {
    const choices = Object.entries(CHOICES).map(([name, choice]) => [name, choice.value]);
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(choices)));
  });
}
