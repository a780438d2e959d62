// Annotorious edits the selected box or polygon; it holds nothing else.
import { createImageAnnotator, type ImageAnnotation, type ImageAnnotator } from "@annotorious/annotorious";
import { effect, signal } from "@preact/signals";
import type { MarkedObject } from "../../shared/types";
import { setRegion } from "../edits";
import { colourOf } from "../categoryColours";
import { sameRegion } from "./regions";
import { regionOf, shapeOf } from "../shape_regions";
import { selected, sheet } from "../state";

let annotator: ImageAnnotator | null = null;
/** Whether the selected shape is drawn here; else it is drawn like any other. */
export const isEditing = signal(false);
let shown: MarkedObject | null = null;
/** A new one each time, so that no editor is taken over for a shape of another kind. */
let shownId = "";
let timesShown = 0;

/** Edit on top of a picture that is loaded; returns what ends it. */
export function editOn(image: HTMLImageElement): () => void {
  annotator = createImageAnnotator(image, { drawingEnabled: false, autoSave: false });
  const { element } = annotator;
  const stopNaming = nameHandles(element);
  // Its own keys delete selected corners.
  element.addEventListener("keyup", takeEdited);
  isEditing.value = true;
  const stopShowing = effect(() => showSelected(selected.value));
  annotator.on("selectionChanged", (chosen: ImageAnnotation[]) => {
    // A click beside a handle lets go of the shape; what is selected is decided elsewhere.
    if (chosen.length === 0 && shown && selected.peek() === shown) queueMicrotask(() => reselect());
  });
  return () => {
    isEditing.value = false;
    stopShowing();
    stopNaming();
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

/** Show the selected shape as it was before it was edited, and let go of its handles. */
export function giveUpEditing(): void {
  if (annotator) showSelected(selected.peek());
}

const reselect = () => shown && annotator?.setSelected(shownId, true);

export const isOnEditor = (target: EventTarget | null) =>
  target instanceof Element && target.closest(".a9s-annotation.selected") !== null;

export const isOnHandle = (target: EventTarget | null) =>
  target instanceof Element && target.closest(".a9s-handle, .a9s-edge-handle, .a9s-polygon-midpoint") !== null;

export const cornerIsSelected = () => annotator?.element.querySelector(".a9s-handle-selected") != null;

/** Take the shape as it was edited; false if it is as it was. */
export function takeEdited(): boolean {
  const edited = annotator?.getAnnotationById(shownId);
  if (!edited || !shown || shown.region.type === "mask") return false;
  const size = sheet.peek()!;
  const region = regionOf(edited.target.selector, size);
  if (sameRegion(region, regionOf(shapeOf(shown.region), size))) return false;
  setRegion(shown.id, region);
  return true;
}

/** Handles come and go; each gets a name, and the keyboard is served by the stage itself. */
function nameHandles(element: HTMLElement): () => void {
  const name = () => {
    const layer = element.querySelector("svg")!;
    layer.setAttribute("aria-label", "Shape being edited");
    layer.tabIndex = -1;
    for (const handle of element.querySelectorAll<SVGElement>("[role=button]:not([aria-label])")) {
      handle.setAttribute("aria-label", "Handle");
      handle.setAttribute("tabindex", "-1");
    }
  };
  const observer = new MutationObserver(name);
  observer.observe(element, { childList: true, subtree: true });
  name();
  return () => observer.disconnect();
}
