// The tools, beside the picture.
import { openCategoryPicker } from "../category_picker";
import { redo } from "../edits";
import { canRedo, canUndo } from "../undoHistory";
import { category, project, tool, type ToolName } from "../state";
import { chooseTool, TOOL_NAMES, TOOLS, undoLast } from "../tools";
import { CategoryChip } from "./CategoryChip";
import { Icon } from "./Icon";

/** A click leaves the focus where it is: keys go on working. */
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

/** The category of the next object, wherever the user looks. */
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
