// The polygon tool: one click per vertex; Enter, a double click or the first vertex closes it.
import { notify } from "../../shared/Notices";
import { type Point, view } from "../../shared/viewport";
import { addObject, setRegion } from "../edits";
import { pointer, within } from "../stage/pointer";
import { objectAt } from "../stage/regions";
import { choose, objects, selected } from "../state";
import { corners } from "./drafts";
import type { Tool } from "./tool";

const NEAR_ON_SCREEN = 8;
/** A finger is less precise, and has no Enter key. */
const NEAR_FOR_FINGERS = 22;
const closingDistance = () => (window.matchMedia("(pointer: coarse)").matches ? NEAR_FOR_FINGERS : NEAR_ON_SCREEN);

const near = (one: Point, other: Point, distance = NEAR_ON_SCREEN) =>
  Math.hypot(one.x - other.x, one.y - other.y) * view.peek().scale < distance;

export const closesAt = (at: Point) => corners.peek().length > 2 && near(corners.peek()[0]!, at, closingDistance());

function addCorner(at: Point): void {
  const tenth = (value: number) => Math.round(value * 10) / 10;
  const { x, y } = within(at);
  corners.value = [...corners.peek(), { x: tenth(x), y: tenth(y) }];
}

/** Close the polygon. With `joins`, it becomes another part of the selected object. */
function close(joins: boolean): boolean {
  const drawn = corners.peek();
  if (drawn.length === 0) return false;
  if (drawn.length < 3) {
    notify("A polygon needs three corners. Backspace removes one, Esc cancels.");
    return true;
  }
  corners.value = [];
  const part = drawn.flatMap(({ x, y }) => [x, y]);
  const object = selected.peek();
  if (joins && object?.region.type === "polygons") {
    setRegion(object.id, { type: "polygons", parts: [...object.region.parts, part] });
  } else addObject({ type: "polygons", parts: [part] });
  return true;
}

export const polygonTool: Tool = {
  taps: true,
  press(at, event) {
    const last = corners.peek().at(-1);
    if (closesAt(at)) close(event.shiftKey);
    else if (!last || !near(last, at)) addCorner(at);
  },
  move() {},
  release() {},
  doubleClick(event) {
    const drawn = corners.peek();
    if (drawn.length > 2) close(event.shiftKey);
    else if (drawn.length === 1) {
      // A double click in one place selects the object there.
      choose(objectAt(objects.peek(), drawn[0]!)?.id ?? null);
      corners.value = [];
    }
  },
  set(at) {
    if (closesAt(at)) close(false);
    else addCorner(at);
  },
  finish: (event) => close(event.shiftKey),
  removeLast() {
    const drawn = corners.peek();
    corners.value = drawn.slice(0, -1);
    return drawn.length > 0;
  },
  cancel() {
    const drawn = corners.peek().length > 0;
    corners.value = [];
    return drawn;
  },
};

/** Return the vertices set so far, and the one that follows the pointer. */
export const draftedPolygon = () =>
  corners.value.length === 0 ? null : pointer.value ? [...corners.value, within(pointer.value)] : corners.value;
