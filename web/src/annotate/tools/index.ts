// All tools: what each is called, its key, what it says of itself.
import { batch } from "@preact/signals";
import { hideCrosshair } from "../pointer";
import { tool, type ToolName } from "../state";
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
}

export const TOOLS: Record<ToolName, Described> = {
  select: { title: "Select and edit", key: "v", acts: selectTool, hint: "Click selects, drag moves, Tab: next object" },
  box: { title: "Box", key: "b", acts: boxTool, hint: "Drag from corner to corner" },
  polygon: { title: "Polygon", key: "p", acts: polygonTool, hint: "Click corners, Enter closes" },
  brush: { title: "Brush", key: "r", acts: brushTool, hint: "Paint a mask; [ ] size" },
  eraser: { title: "Eraser", key: "e", acts: eraserTool, hint: "Takes away from a mask; [ ] size" },
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

export function chooseTool(name: ToolName): void {
  batch(() => {
    activeTool()?.cancel();
    if (!isDrawingTool(name)) hideCrosshair();
    tool.value = name;
  });
}
