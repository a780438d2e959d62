// Below the picture: what the tool does, where the pointer is, how the picture is shown.
import type { Signal } from "@preact/signals";
import { pointer, within } from "../pointer";
import { brightness, brushSize, contrast, objects, selected, sheet, tool } from "../state";
import { TOOLS } from "../tools";
import { continuedMask } from "../tools/brush";
import { proposals, proposed } from "../tools/candidate";
import { fit, percent, zoomBy } from "../view";
import { keepFocus } from "./Toolbar";

export function StatusBar() {
  const open = sheet.value;
  return (
    <footer class="status-bar">
      <span id="hint" class="clip" title={hint()}>
        {hint()}
      </span>
      <Position />
      <span class="quiet number picture-size">{open ? `${open.width} × ${open.height}` : ""}</span>
      {(tool.value === "brush" || tool.value === "eraser") && (
        <Slider id="brush-size" title="Brush" value={brushSize} least={1} most={200} usual={24} unit=" px" />
      )}
      <Slider id="brightness" title="Brightness" value={brightness} least={30} most={300} usual={100} unit=" %" />
      <Slider id="contrast" title="Contrast" value={contrast} least={30} most={300} usual={100} unit=" %" />
      <span class="row zoom" onMouseDown={keepFocus}>
        <button class="plain small" aria-label="Smaller" title="Smaller (−)" onClick={() => zoomBy(1 / 1.25)}>
          −
        </button>
        <button
          id="zoom"
          class="plain small number"
          title="Fit (0)"
          aria-label={`Zoom ${percent.value} %, fit`}
          onClick={fit}
        >
          {percent.value} %
        </button>
        <button class="plain small" aria-label="Larger" title="Larger (+)" onClick={() => zoomBy(1.25)}>
          +
        </button>
      </span>
    </footer>
  );
}

function hint(): string {
  const chosen = selected.value;
  if (tool.value === "brush" && chosen && chosen === continuedMask.value) {
    return `Adds to object ${objects.value.indexOf(chosen) + 1}; Esc: a new one`;
  }
  if (tool.value === "candidate") {
    const found = proposals.value;
    if (found === null) return "Finding regions…";
    const shown = proposed.value;
    if (!shown) return `${found.length} regions proposed; point at one`;
    return `Region ${shown.place + 1} of ${shown.of} here${shown.score === null ? "" : ` · score ${shown.score.toFixed(2)}`} · click accepts · Tab: larger`;
  }
  return TOOLS[tool.value].hint;
}

function Position() {
  const at = pointer.value;
  if (!at) return <span class="position" />;
  const { x, y } = within(at);
  return (
    <span class="quiet number position">
      {Math.floor(x)}, {Math.floor(y)}
    </span>
  );
}

interface SliderProps {
  id: string;
  title: string;
  value: Signal<number>;
  least: number;
  most: number;
  usual: number;
  unit: string;
}

function Slider({ id, title, value, least, most, usual, unit }: SliderProps) {
  return (
    <label class="slider" title={`${title} ${value.value}${unit}; a double click sets it back`}>
      <span class="quiet">{title}</span>
      <input
        id={id}
        type="range"
        min={least}
        max={most}
        value={value.value}
        onInput={(event) => (value.value = Number(event.currentTarget.value))}
        onDblClick={() => (value.value = usual)}
      />
    </label>
  );
}
