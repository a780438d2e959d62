// What others changed: asked every few seconds, and when the page is looked at again.
import { batch, signal } from "@preact/signals";
import { get } from "../../shared/api";
import type { Changes } from "../types";
import { refresh } from "../navigation";
import { followScores } from "../reordering";
import { isUnsaved } from "./saving";
import { areStale, staleness } from "./staleness";
import { categories, current, summaries } from "../state";

const EVERY_MS = 3000;
let revision = 0;

export const isScoring = signal(false);

export function pollFrom(start: number): void {
  revision = start;
  setInterval(() => void poll(), EVERY_MS);
  window.addEventListener("focus", () => void poll());
}

/** `isExpected`: what has changed was asked for by this page. */
export async function poll(isExpected = false): Promise<void> {
  if (staleness.peek() !== null) return;
  let changes: Changes;
  try {
    changes = await get<Changes>(`/api/changes?since=${revision}`);
  } catch {
    return; // Saving tells what is wrong, if anything waits.
  }
  if (areStale(changes)) return;
  revision = changes.revision;
  batch(() => {
    isScoring.value = changes.scoring;
    if (changes.categories.join("\n") !== categories.peek().join("\n")) categories.value = changes.categories;
    takeSummaries(changes.summaries);
  });
  followScores(changes);
  await refresh(current.peek(), isExpected);
}

function takeSummaries(changed: Changes["summaries"]): void {
  const entries = Object.entries(changed);
  if (entries.length === 0) return;
  const next = summaries.peek().slice();
  for (const [key, summary] of entries) {
    const picture = Number(key);
    const before = next[picture]!;
    const isOlder = summary.version < before.version;
    // What is not yet saved is shown as it is here.
    const { score, error } = summary;
    next[picture] = isUnsaved(picture) || isOlder ? { ...before, score, error } : summary;
  }
  summaries.value = next;
}
