// The bar below the picture: a hint on the tool, the position of the pointer, window, level and zoom.
import { fit, zoomBy, zoomPercent } from "../../shared/viewport";
import { Slider, WindowControls } from "../../shared/WindowControls";
import { go } from "../navigation";
import { pointer, within } from "../stage/pointer";
import { brushSize, objects, selected, sheet, tool } from "../state";
import { TOOLS } from "../tools";
import { continuedMask } from "../tools/brush";
import { proposals, proposed } from "../tools/candidate";
import { keepFocus } from "./Toolbar";

export function StatusBar() {
  const open = sheet.value;
  return (
    <footer class="status-bar">
      <span id="hint">{hint()}</span>
      <Position />
      <span class="quiet number picture-size">{open ? `${open.width} × ${open.height}` : ""}</span>
      {(tool.value === "brush" || tool.value === "eraser") && (
        <Slider id="brush-size" title="Brush" value={brushSize} min={1} max={200} initial={24} unit=" px" />
      )}
      <WindowControls />
      <span class="row zoom steps" onMouseDown={keepFocus}>
        <button class="plain small" aria-label="Previous picture" title="Previous picture (K)" onClick={() => go(-1)}>
          ‹
        </button>
        <button class="plain small" aria-label="Next picture" title="Next picture (J)" onClick={() => go(1)}>
          ›
        </button>
      </span>
      <span class="row zoom" onMouseDown={keepFocus}>
        <button class="plain small" aria-label="Zoom out" title="Zoom out (−)" onClick={() => zoomBy(1 / 1.25)}>
          −
        </button>
        <button
          id="zoom"
          class="plain small number"
          title="Fit (0)"
          aria-label={`Zoom ${zoomPercent.value} %, fit`}
          onClick={fit}
        >
          {zoomPercent.value} %
        </button>
        <button class="plain small" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoomBy(1.25)}>
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
