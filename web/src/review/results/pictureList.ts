// The pictures that the wall shows, filtered and sorted.
import type { Results } from "../types";
import { isAlarm, type Outcome } from "./outcomes";

export type Order = "errors" | "score" | "name";
export type Filter = "all" | "false positives" | "false negatives" | "alarms" | "marked" | "unreadable";

interface Choice {
  names: readonly string[];
  results: Results;
  outcomes: readonly Outcome[];
  threshold: number;
}

function belongs(filter: Filter, picture: number, { results, outcomes }: Choice): boolean {
  const outcome = outcomes[picture]!;
  if (filter === "all") return true;
  if (filter === "false positives") return outcome === "false positive";
  if (filter === "false negatives") return outcome === "false negative";
  if (filter === "alarms") return isAlarm(outcome);
  if (filter === "marked") return Boolean(results[picture]?.mark);
  return outcome === "unreadable";
}

export function shownPictures(choice: Choice, filter: Filter, order: Order, search: string): number[] {
  const wanted = search.trim().toLowerCase();
  const pictures: number[] = [];
  for (let picture = 0; picture < choice.names.length; picture++) {
    if (!belongs(filter, picture, choice)) continue;
    if (wanted && !choice.names[picture]!.toLowerCase().includes(wanted)) continue;
    pictures.push(picture);
  }
  if (order === "name") return pictures;
  const sections = Uint8Array.from(choice.names, (_, picture) => section(choice, picture, order));
  const keys = Float64Array.from(choice.names, (_, picture) => sortKey(choice, picture, order));
  return pictures.sort((a, b) => sections[a]! - sections[b]! || keys[a]! - keys[b]! || a - b);
}

function section({ results, outcomes }: Choice, picture: number, order: Order): number {
  if (outcomes[picture] === "unreadable") return 3;
  if (outcomes[picture] === "waiting") return 2;
  return order === "errors" && results[picture]!.truth === null ? 1 : 0;
}

/**
 * Return the key by which a picture is sorted, in ascending order.
 *
 * Errors come first, sorted by the distance of their score from the threshold: false positives by
 * descending and false negatives by ascending score, on one scale. Correct pictures follow, the
 * closest calls first, and then unannotated pictures by descending score.
 */
function sortKey({ results, threshold }: Choice, picture: number, order: Order): number {
  const { score = null, truth = null } = results[picture] ?? {};
  if (score === null) return 0;
  if (order === "score" || truth === null) return -score;
  return truth ? score - threshold : threshold - score;
}
