// The picture that is shown large: its candidates, the selected one, and the explanation of its score.
import { computed, effect, signal } from "@preact/signals";
import { notifyError } from "../../shared/Notices";
import { scoring } from "../progress";
import { current, isLarge, names, outcomes, pictureAt, results } from "../state";
import { fetchExplanation, fetchPicture, prefetch } from "../sync/pictureDetails";
import { refresh } from "../sync/polling";
import type { Explanation, ScoredPicture } from "../types";

interface Answer<Value> {
  picture: number;
  value?: Value;
  /** The server's message if it refused the request. */
  refusal?: string;
}

const pictureAnswer = signal<Answer<ScoredPicture> | null>(null);
export const openPicture = computed(() => {
  const { picture, value, refusal } = pictureAnswer.value ?? {};
  return picture === current.value ? { picture: value, refusal } : {};
});
const explanationAnswer = signal<Answer<Explanation> | null>(null);
export const explanation = computed(() => explanationAnswer.value);

const chosen = signal<number | null>(null);
export const hovered = signal<number | null>(null);
export const selected = computed(() => chosen.value ?? openPicture.value.picture?.winner ?? null);
export const candidatesAreShown = signal(true);
export const truthIsShown = signal(true);

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const wanted = computed(() => (isLarge.value && current.value !== null ? current.value : null));
const isUnreadable = computed(() => wanted.value !== null && outcomes.value[wanted.value] === "unreadable");
effect(() => {
  const picture = wanted.value;
  chosen.value = null;
  hovered.value = null;
  explanationAnswer.value = null;
  if (picture === null || isUnreadable.value || names.value.length === 0) return;
  loadPicture(picture);
});

function loadPicture(picture: number): void {
  const keep = (answer: Partial<Answer<ScoredPicture>>) => {
    if (wanted.peek() === picture) pictureAnswer.value = { picture, ...answer };
  };
  fetchPicture(picture).then(
    (value) => {
      keep({ value });
      if (wasReplaced(value, picture)) refresh().catch(notifyError);
    },
    (error) => keep({ refusal: messageOf(error) }),
  );
}

/** Return whether the result on the wall belongs to an older version of the file. */
function wasReplaced({ stamp }: ScoredPicture, picture: number): boolean {
  const before = results.peek()[picture]?.stamp;
  return before != null && before !== stamp;
}

const stampOfResult = computed(() => (wanted.value === null ? null : results.value[wanted.value]?.stamp));
effect(() => {
  const [stamp, shown, picture] = [stampOfResult.value, openPicture.peek().picture, wanted.peek()];
  if (stamp && shown && picture !== null && shown.stamp !== stamp) loadPicture(picture);
});

const next = computed(() => {
  const picture = wanted.value === null || scoring.value.isRunning ? undefined : pictureAt(1);
  return picture === undefined || outcomes.value[picture] === "unreadable" ? null : picture;
});
effect(() => {
  if (openPicture.value.picture && next.value !== null) prefetch(next.value);
});

effect(() => {
  const [picture, candidate] = [openPicture.value.picture ? wanted.value : null, selected.value];
  if (picture === null || candidate === null) return;
  const isStillSelected = () => wanted.peek() === picture && selected.peek() === candidate;
  fetchExplanation(picture, candidate).then(
    (value) => isStillSelected() && (explanationAnswer.value = { picture, value }),
    (error) => isStillSelected() && (explanationAnswer.value = { picture, refusal: messageOf(error) }),
  );
});

export function select(candidate: number | null): void {
  chosen.value = candidate;
}

/** Select the candidate that ranks this many places below the selected one (above it if negative). */
export function selectWeaker(ranks: number): void {
  const n = openPicture.value.picture?.candidates.length ?? 0;
  if (n && selected.value !== null) select(Math.max(0, Math.min(n - 1, selected.value + ranks)));
}
