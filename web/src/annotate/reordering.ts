// The order "most useful first" follows the scores while they come, but never in the middle of a stroke.
import { order, orderBy } from "./pictureList";
import type { Changes } from "./types";
import { isDrawing } from "./tools/drafts";

const EVERY_MS = 15_000;
let scoredThen = 0;
let then = 0;

export function followScores({ scored, scoring }: Changes): void {
  if (order.peek() !== "useful" || scored === scoredThen || isDrawing()) return;
  if (scoring && Date.now() - then < EVERY_MS) return;
  scoredThen = scored;
  then = Date.now();
  void orderBy("useful");
}
