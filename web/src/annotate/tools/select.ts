// The select tool: boxes and polygons have handles (see shapeEditor.ts), masks are dragged.
import { signal } from "@preact/signals";
import { type Point, view } from "../../shared/viewport";
import { setRegion } from "../edits";
import { moved, objectAt } from "../stage/regions";
import { commitEdit, isOnEditor } from "../stage/shapeEditor";
import { choose, objects, selected, selectedId, sheet } from "../state";
import type { Tool } from "./tool";

const MIN_DRAG_ON_SCREEN = 3;

interface Drag {
  from: Point;
  to: Point;
  onEditor: boolean;
}
const drag = signal<Drag | null>(null);

const isDragged = ({ from, to }: Drag) =>
  Math.hypot(to.x - from.x, to.y - from.y) * view.peek().scale >= MIN_DRAG_ON_SCREEN;

/** Return how far the selected mask is being dragged. */
export const maskShift = (): Point | null => {
  const dragged = drag.value;
  if (!dragged || dragged.onEditor || !isDragged(dragged)) return null;
  return { x: Math.round(dragged.to.x - dragged.from.x), y: Math.round(dragged.to.y - dragged.from.y) };
};

export const selectTool: Tool = {
  press(at, event) {
    const onEditor = isOnEditor(event.target);
    drag.value = { from: at, to: at, onEditor };
    if (!onEditor) choose(objectAt(objects.peek(), at)?.id ?? null);
  },
  move(at) {
    if (drag.peek()) drag.value = { ...drag.peek()!, to: at };
  },
  release() {
    const dragged = drag.peek();
    if (!dragged) return;
    const shift = maskShift();
    drag.value = null;
    const object = selected.peek();
    if (dragged.onEditor) {
      // A click on the selected shape may aim at a smaller object inside it.
      if (!commitEdit() && !isDragged(dragged)) {
        choose(objectAt(objects.peek(), dragged.from)?.id ?? selectedId.peek());
      }
    } else if (shift && object?.region.type === "mask") {
      setRegion(object.id, moved(object.region, shift.x, shift.y, sheet.peek()!));
    }
  },
  cancel() {
    const isUnderWay = drag.peek() !== null;
    drag.value = null;
    return isUnderWay;
  },
};
