// The keyboard shortcuts of the annotate page.
import type { Shortcut } from "../shared/keyboard";
import { helpIsOpen } from "../shared/ShortcutHelp";
import { panelShortcuts } from "../shared/SidePanels";
import { fit, panBy, zoomBy, zoomPercent, zoomTo } from "../shared/viewport";
import { resetWindow } from "../shared/windowLevel";
import { doneAndNext, noObjectHere, toggleDone } from "./decisions";
import { deleteObject, redo, setCategory, setRegion } from "./edits";
import { go } from "./navigation";
import { openCategoryPicker } from "./panels/CategoryPicker";
import { spaceIsHeld } from "./stage/panning";
import { crosshair, hideCrosshair, isCrosshair, moveCrosshair, pointer } from "./stage/pointer";
import { moved } from "./stage/regions";
import { vertexIsSelected } from "./stage/shapeEditor";
import { stageHasFocus } from "./stage/stageElement";
import { categories, choose, menuIsOpen, objects, openIsShown, selected, selectedId, sheet, tool } from "./state";
import { importedFile } from "./sync/importExport";
import { activeTool, chooseTool, isDrawingTool, TOOL_NAMES, TOOLS, undoLast } from "./tools";
import { resizeBrush } from "./tools/brush";
import { levelAfter, setLevel } from "./tools/candidate";

interface PageShortcut extends Shortcut {
  /** If it returns false, the key is left to the browser. */
  when?: () => boolean;
}
type Unsectioned = Omit<PageShortcut, "section">;

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
const withArrows = (before: string) => ARROWS.map((arrow) => `${before}${arrow}`);

function handleSpace(): void {
  const drawsByKeyboard = isDrawingTool(tool.peek()) && (isCrosshair.peek() || pointer.peek() === null);
  if (drawsByKeyboard) openIsShown() && activeTool()?.set?.(crosshair());
  else spaceIsHeld.value = true;
}

function handleEscape(): void {
  if (menuIsOpen.peek()) menuIsOpen.value = false;
  else if (activeTool()?.cancel()) return;
  else if (selectedId.peek() !== null) selectedId.value = null;
  else hideCrosshair();
}

function deleteSelected(): void {
  const id = selectedId.peek();
  if (id !== null) deleteObject(id);
}

function chooseNumbered(number: number): void {
  const name = categories.peek()[number - 1];
  if (name !== undefined) setCategory(name);
}

/** Annotorious handles these keys while a vertex is selected. */
const noVertexIsSelected = () => !vertexIsSelected();

const pictures: Unsectioned[] = [
  {
    keys: ["Enter", "Shift+Enter"],
    shown: ["Enter"],
    title: "Done, next to do, if objects are marked",
    run: (event) => event.repeat || activeTool()?.finish?.(event) || doneAndNext(),
  },
  { keys: ["n"], title: "No object here, next to do", run: (event) => event.repeat || noObjectHere() },
  { keys: ["d"], title: "Done, or not yet", run: (event) => event.repeat || toggleDone() },
  {
    keys: ["j", "PageDown", "Ctrl+ArrowRight", "Ctrl+ArrowDown"],
    shown: ["J", "Page Down", "Ctrl →"],
    title: "Next",
    run: () => go(1),
  },
  {
    keys: ["k", "PageUp", "Ctrl+ArrowLeft", "Ctrl+ArrowUp"],
    shown: ["K", "Page Up", "Ctrl ←"],
    title: "Previous",
    run: () => go(-1),
  },
  { keys: ["Home"], title: "First", run: () => go(-Infinity) },
  { keys: ["End"], title: "Last", run: () => go(Infinity) },
  { keys: ["/"], title: "Search by name", run: () => document.getElementById("search")?.focus() },
];

const tools: Unsectioned[] = [
  ...TOOL_NAMES.map((name) => ({ keys: [TOOLS[name].key], title: TOOLS[name].title, run: () => chooseTool(name) })),
  { keys: ["[", ","], title: "Smaller brush", run: () => resizeBrush(1 / 1.25) },
  { keys: ["]", "."], title: "Larger brush", run: () => resizeBrush(1.25) },
];

const drawing: Unsectioned[] = [
  { keys: ARROWS, shown: ["← → ↑ ↓"], title: "Move crosshair, object or view", run: handleArrow },
  { keys: withArrows("Shift+"), shown: ["Shift ← → ↑ ↓"], title: "The same, ten times as far", run: handleArrow },
  { keys: ["Space"], title: "Set a corner, paint; with the mouse, pan", run: handleSpace },
  { keys: [], shown: ["Enter"], title: "Close the polygon, set the box, accept", run: () => {} },
  { keys: [], shown: ["Shift Enter"], title: "Close it as a part of the selected one", run: () => {} },
  { keys: ["Backspace"], title: "Remove the last corner", run: () => activeTool()?.removeLast?.(), when: noVertexIsSelected },
  { keys: ["Escape"], title: "Cancel, deselect", run: handleEscape },
];

const onObjects: Unsectioned[] = [
  { keys: ["Tab"], title: "Next object, larger region", run: () => stepThrough(1), when: () => canStep(1) },
  { keys: ["Shift+Tab"], title: "Previous object, smaller region", run: () => stepThrough(-1), when: () => canStep(-1) },
  { keys: ["Delete"], title: "Delete the object", run: deleteSelected, when: noVertexIsSelected },
  { keys: withArrows("Ctrl+Shift+"), shown: ["Ctrl Shift ← → ↑ ↓"], title: "Resize a box", run: resizeByArrow },
  {
    keys: [..."123456789"],
    shown: ["1 … 9"],
    title: "Category of the next or selected object",
    run: ({ key }) => chooseNumbered(Number(key)),
  },
  { keys: ["t"], title: "Find a category by name or number", run: () => openCategoryPicker() },
  { keys: ["Ctrl+z"], title: "Undo, also on earlier pictures", run: undoLast },
  { keys: ["Ctrl+y", "Ctrl+Shift+z"], title: "Redo", run: redo },
];

const viewing: Unsectioned[] = [
  { keys: ["+", "="], title: "Zoom in", run: () => zoomBy(1.25) },
  { keys: ["-"], title: "Zoom out", run: () => zoomBy(1 / 1.25) },
  { keys: ["0"], title: "Fit", run: fit },
  { keys: ["z"], title: "100 %, or fit again", run: () => (zoomPercent.peek() === 100 ? fit() : zoomTo(1)) },
  { keys: ["x"], title: "Reset window and level", run: resetWindow },
  ...panelShortcuts({ left: "List of pictures", right: "Objects and categories" }),
  { keys: ["?"], title: "These keys", run: () => (helpIsOpen.value = true) },
];

const inSection = (section: string, shortcuts: Unsectioned[]): PageShortcut[] =>
  shortcuts.map((shortcut) => ({ section, ...shortcut }));

export const SHORTCUTS: readonly PageShortcut[] = [
  ...inSection("Pictures", pictures),
  ...inSection("Tools", tools),
  ...inSection("Drawing by keys", drawing),
  ...inSection("Objects", onObjects),
  ...inSection("View", viewing),
];

/** A dialog that is about to open already receives the keys. */
const dialogOpens = () => helpIsOpen.peek() || importedFile.peek() !== null;

export const activeShortcuts = () => (dialogOpens() ? [] : SHORTCUTS.filter(({ when }) => when?.() ?? true));

const PAN_PER_STEP = 40;
const DIRECTIONS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const listHasFocus = () => document.activeElement?.closest("#pictures") != null;

/** Move the picture list, the crosshair, the selected object or the view, whichever is active. */
function handleArrow(event: KeyboardEvent): void {
  const [x, y] = DIRECTIONS[event.key]!;
  const step = event.shiftKey ? 10 : 1;
  const object = selected.peek();
  if (listHasFocus()) go(y);
  else if (isDrawingTool(tool.peek())) moveCrosshair(x * step, y * step);
  else if (object && tool.peek() === "select") {
    setRegion(object.id, moved(object.region, x * step, y * step, sheet.peek()!), `move ${object.id}`);
  } else panBy(-x * step * PAN_PER_STEP, -y * step * PAN_PER_STEP);
}

/** Move the right or the bottom side of the selected box. */
function resizeByArrow(event: KeyboardEvent): void {
  const [x, y] = DIRECTIONS[event.key]!;
  const object = selected.peek();
  const open = sheet.peek();
  if (!open || object?.region.type !== "box") return;
  const box = object.region;
  const width = Math.min(open.width - box.x, Math.max(1, box.width + x));
  const height = Math.min(open.height - box.y, Math.max(1, box.height + y));
  setRegion(object.id, { ...box, width, height }, `resize ${object.id}`);
}

const placeOfSelected = () => objects.peek().findIndex(({ id }) => id === selectedId.peek());

function objectAfter(steps: number) {
  const place = placeOfSelected();
  const wanted = place < 0 && steps < 0 ? objects.peek().length - 1 : place + steps;
  return objects.peek()[wanted];
}

/** Return whether Tab can step to another object or region; otherwise it moves the focus. */
function canStep(steps: number): boolean {
  if (!stageHasFocus()) return false;
  if (tool.peek() === "candidate") return levelAfter(steps) !== null;
  return tool.peek() === "select" && objectAfter(steps) !== undefined;
}

function stepThrough(steps: number): void {
  if (tool.peek() === "candidate") setLevel(levelAfter(steps));
  else choose(objectAfter(steps)?.id ?? null);
}
