// Scores in bins: pictures with an object, without one, and of unknown truth.
import type { Results } from "./types";

export interface Span {
  low: number;
  high: number;
}

export interface Bins {
  positive: number[];
  negative: number[];
  unknown: number[];
}

/** From the least to the largest score and threshold, with some room; rounded to steps. */
export function spanOf(results: Results, thresholds: readonly number[]): Span {
  let [low, high] = [Math.min(...thresholds), Math.max(...thresholds)];
  for (const result of results) {
    if (result == null || result.score === null) continue;
    low = Math.min(low, result.score);
    high = Math.max(high, result.score);
  }
  const room = (high - low) * 0.03 || 1;
  return { low: low - room, high: high + room };
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
