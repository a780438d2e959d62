// The layer of objects, except the shape that the editor draws.
import type { MarkedObject } from "../../../shared/types";
import { view } from "../../../shared/viewport";
import { colourOf, numberOf } from "../../categoryColours";
import { objects, selectedId } from "../../state";
import { stroke } from "../../tools/drafts";
import { maskShift } from "../../tools/select";
import { anchorOf, pathOf } from "../regions";
import { isEditing } from "../shapeEditor";

export function ObjectLayer() {
  const painted = stroke.value?.object?.id;
  return (
    <g>
      {objects.value.map((object) => (
        <g key={object.id} data-drawn={object.id}>
          {object.id !== painted && <Outline object={object} />}
          <Tag object={object} />
        </g>
      ))}
    </g>
  );
}

function Outline({ object }: { object: MarkedObject }) {
  const isSelected = object.id === selectedId.value;
  if (isSelected && isEditing.value && object.region.type !== "mask") return null;
  const path = pathOf(object.region);
  const shift = isSelected ? maskShift() : null;
  return (
    <g transform={shift ? `translate(${shift.x} ${shift.y})` : undefined} fill-rule="evenodd">
      <path class="halo" d={path} />
      <path
        class={isSelected ? "outline selected" : "outline"}
        d={path}
        stroke={colourOf(object.category)}
        fill={colourOf(object.category)}
      />
    </g>
  );
}

/** A tag with the number of the category. */
function Tag({ object }: { object: MarkedObject }) {
  const { x, y } = anchorOf(object.region);
  const { scale } = view.value;
  const text = String(numberOf(object.category) || "?");
  const width = 6 + 7 * text.length;
  return (
    <g class="tag" transform={`translate(${x} ${y}) scale(${1 / scale}) translate(0 ${y * scale < 20 ? 4 : -20})`}>
      <rect width={width} height="15" rx="3" fill={colourOf(object.category)} />
      <text x={width / 2} y="11.5" text-anchor="middle">
        {text}
      </text>
    </g>
  );
}
