// The layer of drafts: the shape being drawn, the proposed region, the crosshair and the brush size.
import { boxPath } from "../../../shared/outlines";
import { view } from "../../../shared/viewport";
import { colourOf } from "../../categoryColours";
import { brushSize, category, sheet, tool } from "../../state";
import { draftedBox } from "../../tools/box";
import { proposed } from "../../tools/candidate";
import { corners } from "../../tools/drafts";
import { closesAt, draftedPolygon } from "../../tools/polygon";
import { isCrosshair, pointer, within } from "../pointer";
import { pathOf } from "../regions";

export function DraftLayer() {
  return (
    <g>
      <Proposed />
      <Drafted />
      <Crosshair />
      <BrushRing />
    </g>
  );
}

function Drafted() {
  const box = draftedBox();
  const polygon = draftedPolygon();
  const colour = colourOf(category.value);
  if (box) return <Path d={boxPath(box.x, box.y, box.width, box.height)} colour={colour} />;
  if (!polygon) return null;
  const radius = 4 / view.value.scale;
  const closes = pointer.value !== null && closesAt(pointer.value);
  return (
    <g>
      <Path d={`M${polygon.map(({ x, y }) => `${x} ${y}`).join("L")}${closes ? "Z" : ""}`} colour={colour} />
      {corners.value.map(({ x, y }, place) => (
        <circle
          key={place}
          class="corner"
          cx={x}
          cy={y}
          r={place === 0 && closes ? 1.8 * radius : radius}
          fill={colour}
        />
      ))}
    </g>
  );
}

function Proposed() {
  const shown = proposed.value;
  return shown && <Path d={pathOf(shown.region)} colour={colourOf(category.value)} dashed />;
}

function Path({ d, colour, dashed = false }: { d: string; colour: string; dashed?: boolean }) {
  return (
    <g fill-rule="evenodd">
      <path class="halo" d={d} />
      <path class={dashed ? "outline dashed" : "outline"} d={d} stroke={colour} fill={colour} />
    </g>
  );
}

function Crosshair() {
  const at = pointer.value;
  const open = sheet.value;
  if (!isCrosshair.value || !at || !open) return null;
  const lines = `M0 ${at.y}H${open.width}M${at.x} 0V${open.height}`;
  return (
    <g id="crosshair" data-x={at.x} data-y={at.y}>
      <path class="halo" d={lines} />
      <path class="crosshair" d={lines} />
    </g>
  );
}

function BrushRing() {
  const at = pointer.value;
  if (!at || (tool.value !== "brush" && tool.value !== "eraser")) return null;
  const { x, y } = isCrosshair.value ? within(at) : at;
  return (
    <g>
      <circle class="halo" cx={x} cy={y} r={brushSize.value / 2} />
      <circle
        class={tool.value === "eraser" ? "brush-ring dashed" : "brush-ring"}
        cx={x}
        cy={y}
        r={brushSize.value / 2}
      />
    </g>
  );
}
