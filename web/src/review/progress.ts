// The progress of scoring, and an estimate of the time left from its pace since the page was opened.
import { signal } from "@preact/signals";

export const scoring = signal({ scored: 0, failed: 0, isRunning: true });

interface Measurement {
  time: number;
  done: number;
}

const MIN_SECONDS = 3;
const MAX_MEASUREMENTS = 60;
const measurements = signal<readonly Measurement[]>([]);

export function updateProgress(scored: number, failed: number, isRunning: boolean): void {
  const before = scoring.value;
  if (before.scored !== scored || before.failed !== failed || before.isRunning !== isRunning) {
    scoring.value = { scored, failed, isRunning };
  }
  if (isRunning) {
    const now = { time: performance.now(), done: scored + failed };
    measurements.value = [...measurements.value, now].slice(-MAX_MEASUREMENTS);
  }
}

/** Return the estimated number of seconds left, or null while the pace is unknown. */
export function secondsLeft(total: number): number | null {
  const [first, last] = [measurements.value[0], measurements.value.at(-1)];
  if (!first || !last) return null;
  const seconds = (last.time - first.time) / 1000;
  const done = last.done - first.done;
  return seconds < MIN_SECONDS || done <= 0 ? null : ((total - last.done) * seconds) / done;
}
