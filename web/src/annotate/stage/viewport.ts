// Where the picture lies on the stage, and how large.
import { computed, signal } from "@preact/signals";
import { sheet } from "../state";

export interface Point {
  x: number;
  y: number;
}

const LARGEST = 40;
const SMALLEST = 0.05;
const MARGIN = 12;
/** Above this the pixels themselves are shown. */
export const PIXELS_FROM = 3;

export const stageSize = signal({ width: 0, height: 0 });
/** Left, top of the picture in pixels of the stage; screen pixels per pixel of the picture. */
export const view = signal({ left: 0, top: 0, scale: 1 });
export const percent = computed(() => Math.round(view.value.scale * 100));
let isFitted = true;

export function fit(): void {
  const open = sheet.peek();
  const { width, height } = stageSize.peek();
  if (!open || width === 0) return;
  const room = Math.min((width - 2 * MARGIN) / open.width, (height - 2 * MARGIN) / open.height);
  const scale = Math.min(LARGEST, room);
  isFitted = true;
  view.value = { scale, left: (width - open.width * scale) / 2, top: (height - open.height * scale) / 2 };
}

export function resizeStage(width: number, height: number): void {
  stageSize.value = { width, height };
  if (isFitted) fit();
}

/** Zoom so that the point of the stage stays where it is; its centre if none is given. */
export function zoomTo(wanted: number, at: Point = centre()): void {
  const { left, top, scale: before } = view.peek();
  const scale = Math.min(LARGEST, Math.max(SMALLEST, wanted));
  const ratio = scale / before;
  isFitted = false;
  view.value = { scale, left: at.x - (at.x - left) * ratio, top: at.y - (at.y - top) * ratio };
}

export const zoomBy = (factor: number, at?: Point) => zoomTo(view.peek().scale * factor, at);

export function panBy(dx: number, dy: number): void {
  const { left, top, scale } = view.peek();
  isFitted = false;
  view.value = { scale, left: left + dx, top: top + dy };
}

export const toPicture = (at: Point): Point => {
  const { left, top, scale } = view.peek();
  return { x: (at.x - left) / scale, y: (at.y - top) / scale };
};

/** Pan as little as shows a point of the picture. */
export function bringIntoSight({ x, y }: Point): void {
  const { left, top, scale } = view.peek();
  const { width, height } = stageSize.peek();
  const beyond = (at: number, size: number) => Math.max(0, MARGIN - at) - Math.max(0, at - size + MARGIN);
  const [dx, dy] = [beyond(left + x * scale, width), beyond(top + y * scale, height)];
  if (dx || dy) panBy(dx, dy);
}

function centre(): Point {
  const { width, height } = stageSize.peek();
  return { x: width / 2, y: height / 2 };
}

export const centreOfView = () => toPicture(centre());
