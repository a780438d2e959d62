// The picture that is large: its candidates, the selected one, and why that one scores as it does.
import { computed, effect, signal } from "@preact/signals";
import { tellError } from "../../shared/Notices";
import { askAhead, askForExplanation, askForPicture } from "../sync/pictureDetails";
import { refresh } from "../sync/polling";
import { current, isLarge, names, outcomes, pictureAt, results, scoring } from "../state";
import type { Explanation, ScoredPicture } from "../types";

interface Answer<Value> {
  picture: number;
  value?: Value;
  /** The server's sentence where it refuses. */
  refused?: string;
}

const answer = signal<Answer<ScoredPicture> | null>(null);
export const large = computed(() => {
  const { picture, value, refused } = answer.value ?? {};
  return picture === current.value ? { picture: value, refused } : {};
});
const explained = signal<Answer<Explanation> | null>(null);
export const explanation = computed(() => explained.value);

const chosen = signal<number | null>(null);
export const hovered = signal<number | null>(null);
export const selected = computed(() => chosen.value ?? large.value.picture?.winner ?? null);
export const showsCandidates = signal(true);
export const showsTruth = signal(true);

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));

const wanted = computed(() => (isLarge.value && current.value !== null ? current.value : null));
const isUnreadable = computed(() => wanted.value !== null && outcomes.value[wanted.value] === "unreadable");
effect(() => {
  const picture = wanted.value;
  chosen.value = null;
  hovered.value = null;
  explained.value = null;
  if (picture === null || isUnreadable.value || names.value.length === 0) return;
  showLarge(picture);
});

function showLarge(picture: number): void {
  const keep = (told: Partial<Answer<ScoredPicture>>) => {
    if (wanted.peek() === picture) answer.value = { picture, ...told };
  };
  askForPicture(picture).then(
    (value) => {
      keep({ value });
      if (wasReplaced(value, picture)) refresh().catch(tellError);
    },
    (error) => keep({ refused: sentence(error) }),
  );
}

/** Whether the result on the wall is of an older file; the server then has a new one by now. */
function wasReplaced({ stamp }: ScoredPicture, picture: number): boolean {
  const before = results.peek()[picture]?.stamp;
  return before != null && before !== stamp;
}

const stampOfResult = computed(() => (wanted.value === null ? null : results.value[wanted.value]?.stamp));
effect(() => {
  const [stamp, shown, picture] = [stampOfResult.value, large.peek().picture, wanted.peek()];
  if (stamp && shown && picture !== null && shown.stamp !== stamp) showLarge(picture);
});

const next = computed(() => {
  const picture = wanted.value === null || scoring.value.goesOn ? undefined : pictureAt(1);
  return picture === undefined || outcomes.value[picture] === "unreadable" ? null : picture;
});
effect(() => {
  if (large.value.picture && next.value !== null) askAhead(next.value);
});

effect(() => {
  const [picture, candidate] = [large.value.picture ? wanted.value : null, selected.value];
  if (picture === null || candidate === null) return;
  const isStill = () => wanted.peek() === picture && selected.peek() === candidate;
  askForExplanation(picture, candidate).then(
    (value) => isStill() && (explained.value = { picture, value }),
    (error) => isStill() && (explained.value = { picture, refused: sentence(error) }),
  );
});

export function select(candidate: number | null): void {
  chosen.value = candidate;
}

/** Select the candidate some ranks weaker (or, below 0, stronger) than the selected one. */
export function selectWeaker(ranks: number): void {
  const n = large.value.picture?.candidates.length ?? 0;
  if (n && selected.value !== null) select(Math.max(0, Math.min(n - 1, selected.value + ranks)));
}
