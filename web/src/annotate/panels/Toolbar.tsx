// The toolbar next to the picture: tools, undo, redo, and the category of the next object.
import { redo } from "../edits";
import { category, project, tool, type ToolName } from "../state";
import { chooseTool, TOOL_NAMES, TOOLS, undoLast } from "../tools";
import { canRedo, canUndo } from "../undoHistory";
import { CategoryChip } from "./CategoryChip";
import { openCategoryPicker } from "./CategoryPicker";

/** Prevent a click from moving the focus, so that keyboard shortcuts keep working. */
export const keepFocus = (event: MouseEvent) => event.preventDefault();

export function Toolbar() {
  return (
    <div class="toolbar" role="toolbar" aria-label="Tools" aria-orientation="vertical" onMouseDown={keepFocus}>
      {TOOL_NAMES.filter((name) => name !== "candidate" || project.value!.suggestions).map((name) => (
        <ToolButton key={name} name={name} />
      ))}
      <hr />
      <button
        id="undo"
        class="tool"
        title="Undo (Ctrl Z)"
        aria-label="Undo"
        disabled={!canUndo.value}
        onClick={undoLast}
      >
        <Icon name="undo" />
      </button>
      <button
        id="redo"
        class="tool"
        title="Redo (Ctrl Y)"
        aria-label="Redo"
        disabled={!canRedo.value}
        onClick={redo}
      >
        <Icon name="redo" />
      </button>
      <hr />
      <NextCategory />
    </div>
  );
}

/** The category of the next object, visible even if the panels are closed. */
function NextCategory() {
  const name = category.value;
  return (
    <button
      id="next-category"
      class="tool"
      data-category-of-next={name}
      aria-label={`The next object is ${name}; choose another category`}
      title={`The next object is ${name}; click to choose another category`}
      onClick={() => openCategoryPicker("next")}
    >
      <CategoryChip category={name} />
    </button>
  );
}

function ToolButton({ name }: { name: ToolName }) {
  const { title, key } = TOOLS[name];
  const letter = key.toUpperCase();
  return (
    <button
      class="tool"
      data-tool={name}
      aria-pressed={tool.value === name}
      aria-keyshortcuts={letter}
      aria-label={title}
      title={`${title} (${letter})`}
      onClick={() => chooseTool(name)}
    >
      <Icon name={name} />
      <span class="tool-key" aria-hidden="true">
        {letter}
      </span>
    </button>
  );
}

/** Icons on a grid of 20 by 20. */
const ICON_PATHS: Record<ToolName | "undo" | "redo", string> = {
  select: "M5 3l10 7-4.6 1L8 15.6z",
  box: "M3.5 5.5h13v9h-13z",
  polygon: "M10 3l7 5-2.6 8.5H5.6L3 8z",
  brush:
    "M16.5 3.5L9.6 10.4M9.2 10.2c-2.6-.4-3.4 1.4-3.6 3-.1 1.2-.8 2-2.1 2.3 1.8 1.4 7.3 1.5 7.6-2.4.1-1.300-.7-2.600-1.900-2.900z",
  eraser: "M8 16.500h9M4 12.500l7.500-8.500 5 4.500-7 8H7.500zM7.500 8.600l5 4.400",
  candidate:
    "M10 2.500l1.600 4.400 4.600 1.600-4.600 1.600L10 14.500l-1.600-4.400L3.800 8.500l4.600-1.600zM15.500 13.500v4M13.500 15.500h4",
  hand: "M6.500 10V5.600a1.200 1.200 0 012.400 0V4.200a1.200 1.200 0 012.400 0v1.200a1.200 1.200 0 012.400 0v1.800a1.100 1.100 0 012.300 0v4.600c0 3-1.800 5-4.600 5-2.600 0-3.700-1.200-4.800-3.200L4 9.900c-.6-1.200.9-2 1.700-1z",
  undo: "M7 4L3.500 7.500 7 11M3.500 7.500H12a4.200 4.200 0 010 8.500H8",
  redo: "M13 4l3.500 3.500L13 11M16.500 7.500H8a4.200 4.200 0 000 8.500h4",
};

function Icon({ name }: { name: keyof typeof ICON_PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
