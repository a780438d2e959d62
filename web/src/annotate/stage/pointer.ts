// The point of the picture under the mouse, or under the crosshair that the arrow keys move.
import { signal } from "@preact/signals";
import { centreOfView, type Point, scrollIntoView } from "../../shared/viewport";
import { current, sheet } from "../state";

/** Null while the mouse is outside the stage. */
export const pointer = signal<Point | null>(null);
/** Whether the arrow keys placed the pointer, which shows the crosshair. */
export const isCrosshair = signal(false);
/** Whether the pointer was moved since this picture was opened. */
let wasMoved = false;
current.subscribe(() => void (wasMoved = false));
export const confirmPointing = () => void (wasMoved = true);
export const isPointing = () => pointer.peek() !== null && wasMoved;

export function within({ x, y }: Point): Point {
  const open = sheet.peek();
  const between = (value: number, most: number) => Math.min(most, Math.max(0, value));
  return open ? { x: between(x, open.width), y: between(y, open.height) } : { x, y };
}

export function mouseAt(at: Point | null, hasMoved = true): void {
  if (isCrosshair.peek() && (at === null || !hasMoved)) return;
  if (hasMoved) confirmPointing();
  isCrosshair.value = false;
  pointer.value = at;
}

/** Show the crosshair, starting at the mouse or else in the middle; return its position. */
export function crosshair(): Point {
  const begin = pointer.peek() ?? centreOfView();
  const at = isCrosshair.peek() ? begin : within({ x: Math.round(begin.x), y: Math.round(begin.y) });
  isCrosshair.value = true;
  pointer.value = at;
  return at;
}

export function moveCrosshair(dx: number, dy: number): Point {
  const { x, y } = crosshair();
  const at = within({ x: x + dx, y: y + dy });
  confirmPointing();
  pointer.value = at;
  scrollIntoView(at);
  return at;
}

export function hideCrosshair(): void {
  if (!isCrosshair.peek()) return;
  isCrosshair.value = false;
  pointer.value = null;
}
