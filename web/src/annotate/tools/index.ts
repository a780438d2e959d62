// All tools: what each is called, its key, what it says of itself.
import { batch } from "@preact/signals";
import type { Region } from "../../shared/types";
import { undo } from "../edits";
import { hideCrosshair } from "../stage/pointer";
import { choose, selected, selectedId, tool, type ToolName } from "../state";
import { boxTool } from "./box";
import { brushTool, eraserTool } from "./brush";
import { candidateTool } from "./candidate";
import { polygonTool } from "./polygon";
import { selectTool } from "./select";
import type { Tool } from "./tool";

interface Described {
  title: string;
  key: string;
  hint: string;
  acts: Tool | null;
  /** The kind of region it goes on with, if such an object is selected. */
  goesOnWith?: Region["type"];
}

export const TOOLS: Record<ToolName, Described> = {
  select: { title: "Select and edit", key: "v", acts: selectTool, hint: "Click selects, drag moves, Tab: next object" },
  box: { title: "Box", key: "b", acts: boxTool, hint: "Drag from corner to corner" },
  polygon: {
    title: "Polygon",
    key: "p",
    acts: polygonTool,
    hint: "Click corners, Enter closes",
    goesOnWith: "polygons",
  },
  brush: { title: "Brush", key: "r", acts: brushTool, hint: "Paint a mask; [ ] size", goesOnWith: "mask" },
  eraser: {
    title: "Eraser",
    key: "e",
    acts: eraserTool,
    hint: "Takes away from a mask; [ ] size",
    goesOnWith: "mask",
  },
  candidate: {
    title: "Accept a proposed region",
    key: "c",
    acts: candidateTool,
    hint: "Click accepts, Tab or Alt+wheel: larger",
  },
  hand: { title: "Hand", key: "h", acts: null, hint: "Drag moves the picture" },
};

export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];
export const isDrawingTool = (name: ToolName) => name !== "select" && name !== "hand";
export const activeTool = () => TOOLS[tool.peek()].acts;

/** Take back a corner of what is being drawn, else undo the last change. */
export const undoLast = () => void (activeTool()?.takeBack?.() || undo());

/** Who takes up a tool to draw is done with the object before; chosen again, any tool lets go of it. */
function letsGo(name: ToolName): boolean {
  const kind = selected.peek()?.region.type;
  return isDrawingTool(name) && (name === tool.peek() || kind !== TOOLS[name].goesOnWith);
}

export function chooseTool(name: ToolName): void {
  batch(() => {
    activeTool()?.cancel();
    if (!isDrawingTool(name)) hideCrosshair();
    if (letsGo(name)) selectedId.value = null;
    else if (name === "select") choose(selectedId.peek());
    tool.value = name;
  });
}
