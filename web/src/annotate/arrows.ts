// Arrow keys: the crosshair in a drawing tool, else the selected object, else the picture.
import { setRegion } from "./edits";
import { go } from "./navigation";
import { moveCrosshair } from "./stage/pointer";
import { moved } from "./stage/regions";
import { selected, sheet, tool } from "./state";
import { isDrawingTool } from "./tools";
import { panBy } from "./stage/viewport";

const PAN_PER_STEP = 40;
const DIRECTIONS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const listHasFocus = () => document.activeElement?.closest("#pictures") != null;

export function followArrow(event: KeyboardEvent): void {
  const [x, y] = DIRECTIONS[event.key]!;
  const step = event.shiftKey ? 10 : 1;
  const object = selected.peek();
  if (listHasFocus()) go(y);
  else if (isDrawingTool(tool.peek())) moveCrosshair(x * step, y * step);
  else if (object && tool.peek() === "select") {
    setRegion(object.id, moved(object.region, x * step, y * step, sheet.peek()!), `move ${object.id}`);
  } else panBy(-x * step * PAN_PER_STEP, -y * step * PAN_PER_STEP);
}

/** The right or lower side of a selected box moves. */
export function resizeByArrow(event: KeyboardEvent): void {
  const [x, y] = DIRECTIONS[event.key]!;
  const object = selected.peek();
  const open = sheet.peek();
  if (!open || object?.region.type !== "box") return;
  const box = object.region;
  const width = Math.min(open.width - box.x, Math.max(1, box.width + x));
  const height = Math.min(open.height - box.y, Math.max(1, box.height + y));
  setRegion(object.id, { ...box, width, height }, `resize ${object.id}`);
}
