// Polling for changes by others, every few seconds and whenever the page gets the focus.
import { batch, signal } from "@preact/signals";
import { get } from "../../shared/api";
import { detectStaleness, staleness } from "../../shared/staleness";
import { refresh } from "../navigation";
import { order, orderBy } from "../pictureList";
import { categories, current, project, summaries } from "../state";
import { isDrawing } from "../tools/drafts";
import type { Changes } from "../types";
import { isUnsaved } from "./saving";

const POLL_MS = 3000;
let revision = 0;

export const isScoring = signal(false);

export function pollFrom(start: number): void {
  revision = start;
  setInterval(() => void poll(), POLL_MS);
  window.addEventListener("focus", () => void poll());
}

/** Fetch what has changed. `isExpected`: this page itself requested the change. */
export async function poll(isExpected = false): Promise<void> {
  if (staleness.peek() !== null) return;
  let changes: Changes;
  try {
    changes = await get<Changes>(`/api/changes?since=${revision}`);
  } catch {
    return; // Saving reports the problem if there are unsaved changes.
  }
  const opened = project.peek()!;
  if (detectStaleness(changes.project === opened.project, changes.list === opened.list)) return;
  revision = changes.revision;
  batch(() => {
    isScoring.value = changes.scoring;
    if (changes.categories.join("\n") !== categories.peek().join("\n")) categories.value = changes.categories;
    updateSummaries(changes.summaries);
  });
  updateOrder(changes);
  await refresh(current.peek(), isExpected);
}

function updateSummaries(changed: Changes["summaries"]): void {
  const entries = Object.entries(changed);
  if (entries.length === 0) return;
  const next = summaries.peek().slice();
  for (const [key, summary] of entries) {
    const picture = Number(key);
    const before = next[picture]!;
    const isOlder = summary.version < before.version;
    // Unsaved changes of this page take precedence.
    const { score, error } = summary;
    next[picture] = isUnsaved(picture) || isOlder ? { ...before, score, error } : summary;
  }
  summaries.value = next;
}

const REORDER_MS = 15_000;
let scoredAtLastOrder = 0;
let timeOfLastOrder = 0;

/** Update the order "most useful first" while pictures are scored, but never during a stroke. */
function updateOrder({ scored, scoring }: Changes): void {
  if (order.peek() !== "useful" || scored === scoredAtLastOrder || isDrawing()) return;
  if (scoring && Date.now() - timeOfLastOrder < REORDER_MS) return;
  scoredAtLastOrder = scored;
  timeOfLastOrder = Date.now();
  void orderBy("useful");
}
