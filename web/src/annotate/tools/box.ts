// The box tool: drag from corner to corner, or set two corners with the crosshair.
import type { BoxRegion } from "../../shared/types";
import { view } from "../../shared/viewport";
import { addObject } from "../edits";
import { pointer, within } from "../stage/pointer";
import { objectAt } from "../stage/regions";
import { choose, objects } from "../state";
import { type BoxDraft, boxDraft as draft } from "./drafts";
import type { Tool } from "./tool";

const MIN_DRAG_ON_SCREEN = 4;

let isDragged = false;

export const draftedBox = () => draft.value && boxBetween(draft.value);

function boxBetween({ from, to }: BoxDraft): BoxRegion {
  const [left, right] = [from.x, to.x].map(Math.round).sort((a, b) => a - b) as [number, number];
  const [top, bottom] = [from.y, to.y].map(Math.round).sort((a, b) => a - b) as [number, number];
  return { type: "box", x: left, y: top, width: right - left, height: bottom - top };
}

function complete(): boolean {
  const drafted = draft.peek();
  draft.value = null;
  const box = drafted && boxBetween(drafted);
  if (!box || box.width < 1 || box.height < 1) return false;
  addObject(box);
  return true;
}

export const boxTool: Tool = {
  press(at) {
    isDragged = true;
    draft.value = { from: within(at), to: within(at) };
  },
  move(at) {
    if (draft.peek()) draft.value = { from: draft.peek()!.from, to: within(at) };
  },
  release(at) {
    if (!isDragged || !draft.peek()) return;
    isDragged = false;
    const { from, to } = draft.peek()!;
    const dragged = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y)) * view.peek().scale;
    if (dragged >= MIN_DRAG_ON_SCREEN) complete();
    else {
      draft.value = null;
      choose(objectAt(objects.peek(), at)?.id ?? null);
    }
  },
  set(at) {
    if (draft.peek()) complete();
    else draft.value = { from: at, to: at };
  },
  finish: () => draft.peek() !== null && (complete(), true),
  removeLast: () => boxTool.cancel(),
  cancel() {
    const drawn = draft.peek() !== null;
    draft.value = null;
    isDragged = false;
    return drawn;
  },
};

/** The open corner follows the crosshair. */
pointer.subscribe((at) => {
  if (at && draft.peek() && !isDragged) draft.value = { from: draft.peek()!.from, to: at };
});
