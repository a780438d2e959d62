// All keys of the page.
import { helpIsOpen } from "../shared/ShortcutHelp";
import type { Key } from "../shared/keyboard";
import { panelKeys } from "../shared/SidePanels";
import { resetWindow } from "../shared/windowLevel";
import { followArrow, resizeByArrow } from "./arrows";
import { openCategoryPicker } from "./category_picker";
import { deleteObject, redo, setCategory } from "./edits";
import { doneAndNext, noObjectHere, toggleDone } from "./decisions";
import { importedFile } from "./sync/importExport";
import { go } from "./navigation";
import { spaceIsHeld } from "./stage/panning";
import { crosshair, hideCrosshair, isCrosshair, pointer } from "./stage/pointer";
import { cornerIsSelected } from "./stage/shapeEditor";
import { canStep, stepThrough } from "./stepping";
import { categories, menuIsOpen, openIsShown, selectedId, tool } from "./state";
import { activeTool, chooseTool, isDrawingTool, TOOL_NAMES, TOOLS, undoLast } from "./tools";
import { resizeBrush } from "./tools/brush";
import { fit, percent, zoomBy, zoomTo } from "./stage/viewport";

interface PageKey extends Key {
  /** Else the key is left to the browser. */
  when?: () => boolean;
}
type Described = Omit<PageKey, "section">;

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
const withArrows = (before: string) => ARROWS.map((arrow) => `${before}${arrow}`);

function space(): void {
  const acts = isDrawingTool(tool.peek()) && (isCrosshair.peek() || pointer.peek() === null);
  if (acts) openIsShown() && activeTool()?.set?.(crosshair());
  else spaceIsHeld.value = true;
}

function escape(): void {
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

/** A selected corner of a polygon has these keys for itself. */
const noCorner = () => !cornerIsSelected();

const pictures: Described[] = [
  {
    keys: ["Enter", "Shift+Enter"],
    shown: ["Enter"],
    does: "Done, next to do, if objects are marked",
    run: (event) => event.repeat || activeTool()?.finish?.(event) || doneAndNext(),
  },
  { keys: ["n"], does: "No object here, next to do", run: (event) => event.repeat || noObjectHere() },
  { keys: ["d"], does: "Done, or not yet", run: (event) => event.repeat || toggleDone() },
  {
    keys: ["j", "PageDown", "Ctrl+ArrowRight", "Ctrl+ArrowDown"],
    shown: ["J", "Page Down", "Ctrl →"],
    does: "Next",
    run: () => go(1),
  },
  {
    keys: ["k", "PageUp", "Ctrl+ArrowLeft", "Ctrl+ArrowUp"],
    shown: ["K", "Page Up", "Ctrl ←"],
    does: "Previous",
    run: () => go(-1),
  },
  { keys: ["Home"], does: "First", run: () => go(-Infinity) },
  { keys: ["End"], does: "Last", run: () => go(Infinity) },
  { keys: ["/"], does: "Search by name", run: () => document.getElementById("search")?.focus() },
];

const tools: Described[] = [
  ...TOOL_NAMES.map((name) => ({ keys: [TOOLS[name].key], does: TOOLS[name].title, run: () => chooseTool(name) })),
  { keys: ["[", ","], does: "Smaller brush", run: () => resizeBrush(1 / 1.25) },
  { keys: ["]", "."], does: "Larger brush", run: () => resizeBrush(1.25) },
];

const drawing: Described[] = [
  { keys: ARROWS, shown: ["← → ↑ ↓"], does: "Move crosshair, object or view", run: followArrow },
  { keys: withArrows("Shift+"), shown: ["Shift ← → ↑ ↓"], does: "The same, ten times as far", run: followArrow },
  { keys: ["Space"], does: "Set a corner, paint; with the mouse, pan", run: space },
  { keys: [], shown: ["Enter"], does: "Close the polygon, set the box, accept", run: () => {} },
  { keys: [], shown: ["Shift Enter"], does: "Close it as a part of the selected one", run: () => {} },
  { keys: ["Backspace"], does: "Take the last corner back", run: () => activeTool()?.takeBack?.(), when: noCorner },
  { keys: ["Escape"], does: "Give up, let go", run: escape },
];

const onObjects: Described[] = [
  { keys: ["Tab"], does: "Next object, larger region", run: () => stepThrough(1), when: () => canStep(1) },
  { keys: ["Shift+Tab"], does: "Object before, smaller region", run: () => stepThrough(-1), when: () => canStep(-1) },
  { keys: ["Delete"], does: "Delete the object", run: deleteSelected, when: noCorner },
  { keys: withArrows("Ctrl+Shift+"), shown: ["Ctrl Shift ← → ↑ ↓"], does: "Resize a box", run: resizeByArrow },
  {
    keys: [..."123456789"],
    shown: ["1 … 9"],
    does: "Category of the next or selected object",
    run: ({ key }) => chooseNumbered(Number(key)),
  },
  { keys: ["t"], does: "Find a category by name or number", run: () => openCategoryPicker() },
  { keys: ["Ctrl+z"], does: "Undo, also on the picture before", run: undoLast },
  { keys: ["Ctrl+y", "Ctrl+Shift+z"], does: "Redo", run: redo },
];

const looking: Described[] = [
  { keys: ["+", "="], does: "Larger", run: () => zoomBy(1.25) },
  { keys: ["-"], does: "Smaller", run: () => zoomBy(1 / 1.25) },
  { keys: ["0"], does: "Fit", run: fit },
  { keys: ["z"], does: "100 %, or fit again", run: () => (percent.peek() === 100 ? fit() : zoomTo(1)) },
  { keys: ["x"], does: "Window and level as usual", run: resetWindow },
  ...panelKeys({ left: "List of pictures", right: "Objects and categories" }),
  { keys: ["?"], does: "These keys", run: () => (helpIsOpen.value = true) },
];

const inSection = (section: string, keys: Described[]): PageKey[] => keys.map((key) => ({ section, ...key }));

export const KEYS: readonly PageKey[] = [
  ...inSection("Pictures", pictures),
  ...inSection("Tools", tools),
  ...inSection("Drawing by keys", drawing),
  ...inSection("Objects", onObjects),
  ...inSection("View", looking),
];

/** A dialog that is about to open has the keys already. */
const dialogOpens = () => helpIsOpen.peek() || importedFile.peek() !== null;

export const keysNow = () => (dialogOpens() ? [] : KEYS.filter(({ when }) => when?.() ?? true));
