// The editor of the selected box or polygon (Annotorious), which holds no other shape.
import {
  createImageAnnotator,
  type ImageAnnotation,
  type ImageAnnotator,
  type MultiPolygonGeometry,
  type PolygonGeometry,
  type RectangleGeometry,
  type Shape,
  ShapeType,
} from "@annotorious/annotorious";
import { effect, signal } from "@preact/signals";
import type { BoxRegion, MarkedObject, PolygonsRegion } from "../../shared/types";
import { colourOf } from "../categoryColours";
import { setRegion } from "../edits";
import { selected, sheet } from "../state";
import { boundsOfRegion, sameRegion } from "./regions";

let annotator: ImageAnnotator | null = null;
/** Whether the editor draws the selected shape; otherwise the layer of objects does. */
export const isEditing = signal(false);
let shown: MarkedObject | null = null;
/** A new id each time, so that no handles are reused for a shape of another type. */
let shownId = "";
let timesShown = 0;

/** Start the editor on a loaded picture; return a function that ends it. */
export function startEditor(image: HTMLImageElement): () => void {
  annotator = createImageAnnotator(image, { drawingEnabled: false, autoSave: false });
  const { element } = annotator;
  const stopLabelling = labelHandles(element);
  // Annotorious deletes selected vertices with its own keys.
  element.addEventListener("keyup", commitEdit);
  isEditing.value = true;
  const stopShowing = effect(() => showSelected(selected.value));
  annotator.on("selectionChanged", (chosen: ImageAnnotation[]) => {
    // A click next to a handle deselects the shape in Annotorious, but not on the page.
    if (chosen.length === 0 && shown && selected.peek() === shown) queueMicrotask(() => reselect());
  });
  return () => {
    isEditing.value = false;
    stopShowing();
    stopLabelling();
    annotator?.destroy();
    annotator = null;
    shown = null;
  };
}

function showSelected(object: MarkedObject | null): void {
  shown = null;
  annotator!.cancelSelected();
  const region = object?.region;
  if (!object || !region || region.type === "mask") return annotator!.setAnnotations([], true);
  const colour = colourOf(object.category);
  annotator!.setStyle({ stroke: colour, strokeWidth: 2, fill: colour, fillOpacity: 0.12 });
  shownId = `shown-${++timesShown}`;
  const target = { annotation: shownId, selector: shapeOf(region) };
  annotator!.setAnnotations([{ id: shownId, bodies: [], target }], true);
  annotator!.setSelected(shownId, true);
  shown = object;
}

/** Cancel the edit in progress: show the selected shape as it was before. */
export function cancelEdit(): void {
  if (annotator) showSelected(selected.peek());
}

const reselect = () => shown && annotator?.setSelected(shownId, true);

export const isOnEditor = (target: EventTarget | null) =>
  target instanceof Element && target.closest(".a9s-annotation.selected") !== null;

export const isOnHandle = (target: EventTarget | null) =>
  target instanceof Element && target.closest(".a9s-handle, .a9s-edge-handle, .a9s-polygon-midpoint") !== null;

export const vertexIsSelected = () => annotator?.element.querySelector(".a9s-handle-selected") != null;

/** Store the shape as edited; return false if it is unchanged. */
export function commitEdit(): boolean {
  const edited = annotator?.getAnnotationById(shownId);
  if (!edited || !shown || shown.region.type === "mask") return false;
  const size = sheet.peek()!;
  const region = regionOf(edited.target.selector, size);
  if (sameRegion(region, regionOf(shapeOf(shown.region), size))) return false;
  setRegion(shown.id, region);
  return true;
}

/** Label handles as they appear, and leave the keyboard to the stage. */
function labelHandles(element: HTMLElement): () => void {
  const label = () => {
    const layer = element.querySelector("svg")!;
    layer.setAttribute("aria-label", "Shape being edited");
    layer.tabIndex = -1;
    for (const handle of element.querySelectorAll<SVGElement>("[role=button]:not([aria-label])")) {
      handle.setAttribute("aria-label", "Handle");
      handle.setAttribute("tabindex", "-1");
    }
  };
  const observer = new MutationObserver(label);
  observer.observe(element, { childList: true, subtree: true });
  label();
  return () => observer.disconnect();
}

type ShapeRegion = BoxRegion | PolygonsRegion;

/** Convert a region to a shape of Annotorious. */
function shapeOf(region: ShapeRegion): Shape {
  const boundsAt = ([x, y, w, h]: number[]) => ({ minX: x!, minY: y!, maxX: x! + w!, maxY: y! + h! });
  const bounds = boundsAt(boundsOfRegion(region));
  if (region.type === "box") {
    const { x, y, width: w, height: h } = region;
    return { type: ShapeType.RECTANGLE, geometry: { x, y, w, h, rot: 0, bounds } } as Shape;
  }
  const rings = region.parts.map(pairs);
  if (rings.length === 1) return { type: ShapeType.POLYGON, geometry: { points: rings[0], bounds } } as Shape;
  const polygons = rings.map((points, place) => ({
    rings: [{ points }],
    bounds: boundsAt(boundsOfRegion({ type: "polygons", parts: [region.parts[place]!] })),
  }));
  return { type: ShapeType.MULTIPOLYGON, geometry: { polygons, bounds } } as Shape;
}

const pairs = (part: number[]) => part.flatMap((x, place) => (place % 2 ? [] : [[x, part[place + 1]!]]));

/** Convert a shape to a region inside the picture: boxes in whole pixels, vertices in tenths of a pixel. */
function regionOf(shape: Shape, { width, height }: { width: number; height: number }): ShapeRegion {
  const between = (value: number, most: number) => Math.min(most, Math.max(0, value));
  if (shape.type === ShapeType.RECTANGLE) {
    const { x: left, y: top, w, h } = shape.geometry as RectangleGeometry;
    const [x, y] = [Math.round(between(left, width - 1)), Math.round(between(top, height - 1))];
    const right = Math.max(x + 1, Math.round(between(left + w, width)));
    const bottom = Math.max(y + 1, Math.round(between(top + h, height)));
    return { type: "box", x, y, width: right - x, height: bottom - y };
  }
  const rings =
    shape.type === ShapeType.POLYGON
      ? [(shape.geometry as PolygonGeometry).points]
      : (shape.geometry as MultiPolygonGeometry).polygons.map((each) => each.rings[0]!.points);
  const tenth = (value: number) => Math.round(value * 10) / 10;
  const flat = (ring: number[][]) => ring.flatMap(([x, y]) => [tenth(between(x!, width)), tenth(between(y!, height))]);
  return { type: "polygons", parts: rings.map(flat) };
}
