// Ways to move the threshold; the wall follows when it rests.
import { batch } from "@preact/signals";
import { chosenThreshold, heldThreshold, step, threshold } from "./state";

const REST_MILLISECONDS = 150;
let rest: ReturnType<typeof setTimeout> | undefined;

function choose(value: number | null): void {
  batch(() => {
    heldThreshold.value ??= threshold.value;
    chosenThreshold.value = value;
  });
  clearTimeout(rest);
  rest = setTimeout(settleThreshold, REST_MILLISECONDS);
}

/** The wall follows now. */
export function settleThreshold(): void {
  clearTimeout(rest);
  heldThreshold.value = null;
}

export function setThreshold(value: number): void {
  if (Number.isFinite(value) && value !== threshold.value) choose(value);
}

export const resetThreshold = () => choose(null);

/** To the whole step nearest to a value. */
export function setThresholdNear(value: number): void {
  setThreshold(Number((Math.round(value / step.value) * step.value).toPrecision(10)));
}

export const stepThreshold = (steps: number) => setThresholdNear(threshold.value + steps * step.value);
