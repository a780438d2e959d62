// The tools, beside the picture.
import { redo, undo } from "../changing";
import { project, sheet, tool, type ToolName } from "../state";
import { chooseTool, TOOL_NAMES, TOOLS } from "../tools";
import { Icon } from "./Icon";

/** A click leaves the focus where it is: keys go on working. */
export const keepFocus = (event: MouseEvent) => event.preventDefault();

export function Toolbar() {
  const open = sheet.value;
  // The buttons follow every change of the content.
  void open?.content.value;
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
        disabled={!open?.history.canUndo}
        onClick={undo}
      >
        <Icon name="undo" />
      </button>
      <button
        id="redo"
        class="tool"
        title="Redo (Ctrl Y)"
        aria-label="Redo"
        disabled={!open?.history.canRedo}
        onClick={redo}
      >
        <Icon name="redo" />
      </button>
    </div>
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
