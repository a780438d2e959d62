// Statistics of the scored pictures: counts at a threshold, and histograms of the scores.
import type { Results } from "../types";
import { isAlarm, type Outcome } from "./outcomes";

export interface Share {
  n: number;
  of: number;
}

/** A share is null where its denominator is zero. */
export interface Counts {
  alarms: Share;
  detected: Share | null;
  falseAlarms: Share | null;
  falseAlarmsPerHundred: number | null;
  winnersOnObject: Share | null;
  /** Scored pictures that are unannotated. */
  withoutTruth: number;
}

export function countsOf(results: Results, outcomes: readonly Outcome[]): Counts {
  const tally = new Map<Outcome, number>();
  let [alarms, placed, onObject] = [0, 0, 0];
  outcomes.forEach((outcome, picture) => {
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    if (isAlarm(outcome)) alarms++;
    const hit = results[picture]?.on_object ?? null;
    if (outcome === "true positive" && hit !== null) {
      placed++;
      if (hit) onObject++;
    }
  });
  const number = (outcome: Outcome) => tally.get(outcome) ?? 0;
  const scored = outcomes.length - number("waiting") - number("unreadable");
  const [detected, falseAlarms] = [number("true positive"), number("false positive")];
  const positives = detected + number("false negative");
  const negatives = falseAlarms + number("true negative");
  return {
    alarms: { n: alarms, of: scored },
    detected: share(detected, positives),
    falseAlarms: share(falseAlarms, negatives),
    falseAlarmsPerHundred: negatives ? (100 * falseAlarms) / (positives + negatives) : null,
    winnersOnObject: share(onObject, placed),
    withoutTruth: number("alarm") + number("no alarm"),
  };
}

const share = (n: number, of: number): Share | null => (of ? { n, of } : null);

export const percent = ({ n, of }: Share) => (of ? (100 * n) / of : 0);

interface Span {
  low: number;
  high: number;
}

/** The number of pictures in each bin: with an object, without one, and unannotated. */
interface Bins {
  positive: number[];
  negative: number[];
  unknown: number[];
}

/** Return the range of all scores and thresholds, with a small margin on both sides. */
export function spanOf(results: Results, thresholds: readonly number[]): Span {
  let [low, high] = [Math.min(...thresholds), Math.max(...thresholds)];
  for (const result of results) {
    if (result == null || result.score === null) continue;
    low = Math.min(low, result.score);
    high = Math.max(high, result.score);
  }
  const margin = (high - low) * 0.03 || 1;
  return { low: low - margin, high: high + margin };
}

export function binsOf(results: Results, { low, high }: Span, n: number): Bins {
  const bins: Bins = { positive: new Array(n).fill(0), negative: new Array(n).fill(0), unknown: new Array(n).fill(0) };
  for (const result of results) {
    if (result == null || result.score === null) continue;
    const bin = Math.min(n - 1, Math.floor(((result.score - low) / (high - low)) * n));
    const kind = result.truth === null ? bins.unknown : result.truth ? bins.positive : bins.negative;
    kind[bin]!++;
  }
  return bins;
}
