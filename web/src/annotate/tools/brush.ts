// The brush and the eraser: strokes add to the selected mask or begin a new one, or erase.
import { computed, signal } from "@preact/signals";
import { boundsOf, emptyBitmap, fromCounts, maskOf } from "../../shared/masks";
import { notify } from "../../shared/Notices";
import type { MarkedObject } from "../../shared/types";
import type { Point } from "../../shared/viewport";
import { addObject, deleteObject, setRegion } from "../edits";
import { holds, objectAt, sameRegion } from "../stage/regions";
import { onPicture } from "../stage/stageElement";
import { brushSize, category, chosen, objects, selectDrawn, selected, selectedId, sheet } from "../state";
import { stroke } from "./drafts";
import type { Tool } from "./tool";

interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The rectangle that the stroke in progress has just changed. */
export const dirtyRectangle = signal<Rectangle | null>(null);

const isMask = (object: MarkedObject | null | undefined) => object?.region.type === "mask";

/** The mask that a stroke adds to: one just drawn only while the next object has its category. */
export const continuedMask = computed(() => {
  const object = selected.value;
  const goesOn = object !== null && (chosen.value !== null || object.category === category.value);
  return goesOn && isMask(object) ? object : null;
});

/** Return the mask to erase from: the one the user selected, else the one under the eraser, else the last. */
function erasedMask(at: Point): MarkedObject | null {
  if (isMask(chosen.peek())) return chosen.peek();
  const drawnLast = isMask(selected.peek()) ? selected.peek() : null;
  if (drawnLast && holds(drawnLast.region, at)) return drawnLast;
  return objectAt(objects.peek().filter(isMask), at) ?? drawnLast;
}

function begin(at: Point, value: 0 | 1): void {
  const open = sheet.peek();
  if (!open) return;
  const object = value === 1 ? continuedMask.peek() : erasedMask(at);
  if (value === 0 && !object) return notify("There is no mask here to erase from.");
  const region = object?.region;
  const bitmap =
    region?.type === "mask"
      ? fromCounts(region.counts, region.width, region.height)
      : emptyBitmap(open.width, open.height);
  stroke.value = { object, bitmap, value, last: at };
  dirtyRectangle.value = { left: 0, top: 0, right: open.width, bottom: open.height };
  dab(at);
}

/** Paint all pixels whose centre the brush covers on its way from the last point. */
function dab(to: Point): void {
  const { bitmap, value, last } = stroke.peek()!;
  const radius = brushSize.peek() / 2;
  const { width, height, pixels } = bitmap;
  const left = Math.max(0, Math.floor(Math.min(last.x, to.x) - radius));
  const right = Math.min(width, Math.ceil(Math.max(last.x, to.x) + radius));
  const top = Math.max(0, Math.floor(Math.min(last.y, to.y) - radius));
  const bottom = Math.min(height, Math.ceil(Math.max(last.y, to.y) + radius));
  const [wayX, wayY] = [to.x - last.x, to.y - last.y];
  const way = wayX * wayX + wayY * wayY;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const [fromX, fromY] = [x + 0.5 - last.x, y + 0.5 - last.y];
      const along = way === 0 ? 0 : Math.min(1, Math.max(0, (fromX * wayX + fromY * wayY) / way));
      const [offX, offY] = [fromX - along * wayX, fromY - along * wayY];
      if (offX * offX + offY * offY <= radius * radius) pixels[y * width + x] = value;
    }
  }
  stroke.peek()!.last = to;
  dirtyRectangle.value = { left, top, right, bottom };
}

function end(): void {
  const { object, bitmap, value } = stroke.peek()!;
  stroke.value = null;
  dirtyRectangle.value = null;
  const isEmpty = boundsOf(bitmap) === null;
  if (object && isEmpty) deleteObject(object.id);
  else if (object) {
    const region = maskOf(bitmap);
    if (value === 0 && sameRegion(object.region, region)) {
      notify(`The stroke erased nothing of object ${objects.peek().indexOf(object) + 1}. Start it on the mask to erase from.`);
    }
    setRegion(object.id, region);
    if (selectedId.peek() !== object.id) selectDrawn(object.id);
  } else if (!isEmpty) addObject(maskOf(bitmap));
}

const brushWith = (value: 0 | 1): Tool => ({
  press: (at) => begin(at, value),
  move(_, event) {
    if (!stroke.peek()) return;
    const passed = event.getCoalescedEvents?.() ?? [];
    for (const each of passed.length ? passed : [event]) dab(onPicture(each));
  },
  release() {
    if (stroke.peek()) end();
  },
  set(at) {
    begin(at, value);
    if (stroke.peek()) end();
  },
  cancel() {
    const wasDrawing = stroke.peek() !== null;
    stroke.value = null;
    dirtyRectangle.value = null;
    return wasDrawing;
  },
});

export const brushTool = brushWith(1);
export const eraserTool = brushWith(0);

export const resizeBrush = (factor: number) => {
  const size = Math.round(brushSize.peek() * factor);
  brushSize.value = Math.min(400, Math.max(1, size === brushSize.peek() ? size + Math.sign(factor - 1) : size));
};
