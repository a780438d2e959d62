// How long scoring may still take, from its pace since the page looked on.

export interface Seen {
  at: number;
  done: number;
}

const FEWEST_SECONDS = 3;
const REMEMBERED = 60;

export const remember = (seen: readonly Seen[], now: Seen): Seen[] => [...seen, now].slice(-REMEMBERED);

/** Seconds, or null while the pace is not known. */
export function secondsLeft(seen: readonly Seen[], total: number): number | null {
  const [first, last] = [seen[0], seen.at(-1)];
  if (!first || !last) return null;
  const seconds = (last.at - first.at) / 1000;
  const done = last.done - first.done;
  return seconds < FEWEST_SECONDS || done <= 0 ? null : ((total - last.done) * seconds) / done;
}
