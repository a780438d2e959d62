// What is being drawn and is no object yet: it must be finished or given up before anything is decided.
import { signal } from "@preact/signals";
import type { Bitmap } from "../../shared/masks";
import { tell } from "../../shared/Notices";
import type { MarkedObject } from "../../shared/types";
import type { Point } from "../stage/viewport";

/** A box between two corners. */
export interface BoxDraft {
  from: Point;
  to: Point;
}
export const boxDraft = signal<BoxDraft | null>(null);

/** The corners of a polygon that is not closed. */
export const corners = signal<readonly Point[]>([]);

export interface Stroke {
  object: MarkedObject | null;
  bitmap: Bitmap;
  value: 0 | 1;
  last: Point;
}
/** The stroke of the brush or the eraser that is under way. */
export const stroke = signal<Stroke | null>(null);

function unfinished(): string | null {
  if (corners.peek().length > 0) return "The polygon is not closed yet. Enter closes it, Esc gives it up.";
  if (boxDraft.peek()) return "The box is not finished yet. Enter sets it, Esc gives it up.";
  if (stroke.peek()) return "The stroke is not finished yet. Release the button first; Esc gives it up.";
  return null;
}

export const isDrawing = () => unfinished() !== null;

/** Whether something is being drawn; if so, tell the user to finish it or give it up first. */
export function mustFinishDrawing(): boolean {
  const sentence = unfinished();
  if (sentence !== null) tell(sentence);
  return sentence !== null;
}
