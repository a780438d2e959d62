// The point of the picture under the mouse, or under the crosshair that arrow keys move.
import { signal } from "@preact/signals";
import { current, sheet } from "../state";
import { bringIntoSight, centreOfView, type Point } from "./viewport";

/** Null while the mouse is elsewhere. */
export const pointer = signal<Point | null>(null);
/** Whether arrow keys placed it, which shows the crosshair. */
export const isCrosshair = signal(false);
/** Whether the pointer was moved since this picture was opened; else it merely rests where it was. */
let wasMoved = false;
current.subscribe(() => void (wasMoved = false));
export const pointHere = () => void (wasMoved = true);
export const isPointedHere = () => pointer.peek() !== null && wasMoved;

export function within({ x, y }: Point): Point {
  const open = sheet.peek();
  const between = (value: number, most: number) => Math.min(most, Math.max(0, value));
  return open ? { x: between(x, open.width), y: between(y, open.height) } : { x, y };
}

export function mouseAt(at: Point | null, hasMoved = true): void {
  if (isCrosshair.peek() && (at === null || !hasMoved)) return;
  if (hasMoved) pointHere();
  isCrosshair.value = false;
  pointer.value = at;
}

/** Where the crosshair is; it begins where the mouse is, or in the middle. */
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
  pointHere();
  pointer.value = at;
  bringIntoSight(at);
  return at;
}

export function hideCrosshair(): void {
  if (!isCrosshair.peek()) return;
  isCrosshair.value = false;
  pointer.value = null;
}
