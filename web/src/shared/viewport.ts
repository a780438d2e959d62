// The position of the picture on the stage: fit, zoom and pan.
import { computed, signal } from "@preact/signals";

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Left and top in pixels of the stage; the scale in screen pixels per pixel of the picture. */
interface View {
  left: number;
  top: number;
  scale: number;
}

const MAX_SCALE = 40;
const MARGIN = 12;
let minScaleOf = (fittedScale: number) => Math.min(0.05, fittedScale);

/** Set the rule that limits zooming out, given the scale at which the picture fits the stage. */
export const setMinScale = (rule: typeof minScaleOf) => (minScaleOf = rule);

const stageSize = signal<Size>({ width: 0, height: 0 });
const pictureSize = signal<Size>({ width: 1, height: 1 });
/** The view that the user has chosen; null fits the picture to the stage, whatever its size. */
const chosenView = signal<View | null>(null);

const fittedView = computed<View>(() => {
  const { width, height } = stageSize.value;
  const picture = pictureSize.value;
  const scaleAlong = (room: number, size: number) => Math.max(1, room - 2 * MARGIN) / size;
  const scale = Math.min(MAX_SCALE, scaleAlong(width, picture.width), scaleAlong(height, picture.height));
  return { scale, left: (width - picture.width * scale) / 2, top: (height - picture.height * scale) / 2 };
});
export const view = computed(() => chosenView.value ?? fittedView.value);
export const zoomPercent = computed(() => Math.round(view.value.scale * 100));

export function fit(): void {
  chosenView.value = null;
}

export function resizeStage(width: number, height: number): void {
  stageSize.value = { width, height };
}

export function setPictureSize({ width, height }: Size): void {
  const before = pictureSize.peek();
  if (before.width !== width || before.height !== height) pictureSize.value = { width, height };
}

/** Zoom while a point of the stage, its centre by default, stays where it is. */
export function zoomTo(wanted: number, at: Point = centre()): void {
  const { left, top, scale: before } = view.peek();
  const scale = Math.min(MAX_SCALE, Math.max(minScaleOf(fittedView.peek().scale), wanted));
  const ratio = scale / before;
  chosenView.value = { scale, left: at.x - (at.x - left) * ratio, top: at.y - (at.y - top) * ratio };
}

export const zoomBy = (factor: number, at?: Point) => zoomTo(view.peek().scale * factor, at);

export function panBy(dx: number, dy: number): void {
  const { left, top, scale } = view.peek();
  chosenView.value = { scale, left: left + dx, top: top + dy };
}

/** Convert a point of the stage to a point of the picture. */
export const toPicture = (at: Point): Point => {
  const { left, top, scale } = view.peek();
  return { x: (at.x - left) / scale, y: (at.y - top) / scale };
};

/** Pan by the smallest distance that makes a point of the picture visible. */
export function scrollIntoView({ x, y }: Point): void {
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
