// Drafts: shapes being drawn, which must be finished or cancelled before a picture is left or decided.
import { signal } from "@preact/signals";
import type { Bitmap } from "../../shared/masks";
import { notify } from "../../shared/Notices";
import type { MarkedObject } from "../../shared/types";
import type { Point } from "../../shared/viewport";

/** A box between two corners. */
export interface BoxDraft {
  from: Point;
  to: Point;
}
export const boxDraft = signal<BoxDraft | null>(null);

/** The vertices of a polygon that is not closed. */
export const corners = signal<readonly Point[]>([]);

interface Stroke {
  object: MarkedObject | null;
  bitmap: Bitmap;
  value: 0 | 1;
  last: Point;
}
/** The stroke of the brush or the eraser in progress. */
export const stroke = signal<Stroke | null>(null);

function unfinished(): string | null {
  if (corners.peek().length > 0) return "The polygon is not closed yet. Enter closes it, Esc cancels it.";
  if (boxDraft.peek()) return "The box is not finished yet. Enter sets it, Esc cancels it.";
  if (stroke.peek()) return "The stroke is not finished yet. Release the button first; Esc cancels it.";
  return null;
}

export const isDrawing = () => unfinished() !== null;

/** Return whether a shape is being drawn; if so, ask the user to finish or cancel it first. */
export function mustFinishDrawing(): boolean {
  const sentence = unfinished();
  if (sentence !== null) notify(sentence);
  return sentence !== null;
}
