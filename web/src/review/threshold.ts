// The alarm threshold: setting it, stepping it, and writing it with enough decimals.
import { batch } from "@preact/signals";
import { fixed } from "./formatting";
import { chosenThreshold, heldThreshold, results, scoreDecimals, step, threshold } from "./state";
import type { Results } from "./types";

const SETTLE_MS = 150;
let settling: ReturnType<typeof setTimeout> | undefined;

function choose(value: number | null): void {
  batch(() => {
    heldThreshold.value ??= threshold.value;
    chosenThreshold.value = value;
  });
  clearTimeout(settling);
  settling = setTimeout(settleThreshold, SETTLE_MS);
}

/** Let the wall follow the threshold now instead of after a pause. */
export function settleThreshold(): void {
  clearTimeout(settling);
  heldThreshold.value = null;
}

export function setThreshold(value: number): void {
  if (Number.isFinite(value) && value !== threshold.value) choose(value);
}

export const resetThreshold = () => choose(null);

/** Set the threshold to the multiple of the step size that is nearest to a value. */
export function setThresholdNear(value: number): void {
  setThreshold(Number((Math.round(value / step.value) * step.value).toPrecision(10)));
}

export const stepThreshold = (steps: number) => setThresholdNear(threshold.value + steps * step.value);

const MAX_DECIMALS = 20;

/** Return the fewest decimals for which the rounded threshold raises the same alarms. */
function thresholdDecimals(wanted: number): number {
  const isTheSame = (rounded: number) => (result: Results[number]) =>
    result?.score == null || result.score >= wanted === result.score >= rounded;
  let decimals = scoreDecimals.value;
  while (decimals < MAX_DECIMALS) {
    const rounded = Number(wanted.toFixed(decimals));
    if (rounded === wanted || results.value.every(isTheSame(rounded))) break;
    decimals++;
  }
  return decimals;
}

export const thresholdText = (wanted: number) => fixed(wanted, thresholdDecimals(wanted));
export const roundedThreshold = (wanted: number) => Number(wanted.toFixed(thresholdDecimals(wanted)));
