// All tools: their titles, keys and hints.
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

interface ToolEntry {
  title: string;
  key: string;
  hint: string;
  handler: Tool | null;
  /** The type of region that it continues if such an object is selected. */
  continues?: Region["type"];
}

export const TOOLS: Record<ToolName, ToolEntry> = {
  select: { title: "Select and edit", key: "v", handler: selectTool, hint: "Click selects, drag moves, Tab: next object" },
  box: { title: "Box", key: "b", handler: boxTool, hint: "Drag from corner to corner" },
  polygon: {
    title: "Polygon",
    key: "p",
    handler: polygonTool,
    hint: "Click corners, Enter closes",
    continues: "polygons",
  },
  brush: { title: "Brush", key: "r", handler: brushTool, hint: "Paint a mask; [ ] size", continues: "mask" },
  eraser: {
    title: "Eraser",
    key: "e",
    handler: eraserTool,
    hint: "Erase from a mask; [ ] size",
    continues: "mask",
  },
  candidate: {
    title: "Accept a proposed region",
    key: "c",
    handler: candidateTool,
    hint: "Click accepts, Tab or Alt+wheel: larger",
  },
  hand: { title: "Hand", key: "h", handler: null, hint: "Drag moves the picture" },
};

export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];
export const isDrawingTool = (name: ToolName) => name !== "select" && name !== "hand";
export const activeTool = () => TOOLS[tool.peek()].handler;

/** Remove the last vertex of the shape being drawn, or else undo the last change. */
export const undoLast = () => void (activeTool()?.removeLast?.() || undo());

/** Return whether choosing a tool deselects: a drawing tool does, unless it continues the selected object. */
function deselects(name: ToolName): boolean {
  const kind = selected.peek()?.region.type;
  return isDrawingTool(name) && (name === tool.peek() || kind !== TOOLS[name].continues);
}

export function chooseTool(name: ToolName): void {
  batch(() => {
    activeTool()?.cancel();
    if (!isDrawingTool(name)) hideCrosshair();
    if (deselects(name)) selectedId.value = null;
    else if (name === "select") choose(selectedId.peek());
    tool.value = name;
  });
}
