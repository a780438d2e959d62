// The stage: the picture with its layers. Pointer events are passed to the active tool.
import { useEffect, useRef } from "preact/hooks";
import { listenToPinch, type Pinch } from "../../shared/pinch";
import { panBy, resizeStage, view, zoomBy } from "../../shared/viewport";
import { current, names, pictureProblem, sheet, shownPicture, summaries, tool } from "../state";
import { activeTool } from "../tools";
import { levelAfter, setLevel } from "../tools/candidate";
import { selectTool } from "../tools/select";
import type { Tool } from "../tools/tool";
import { DraftLayer } from "./layers/DraftLayer";
import { ObjectLayer } from "./layers/ObjectLayer";
import { StrokeLayer } from "./layers/StrokeLayer";
import { endPan, isPanning, pansWith, panTo, startPan } from "./panning";
import { PicturePixels } from "./PicturePixels";
import { mouseAt } from "./pointer";
import { cancelEdit, isOnEditor, isOnHandle } from "./shapeEditor";
import { focusStage, onPicture, onStage, setStageElement } from "./stageElement";

const ZOOM_PER_PIXEL = 1.0018;

const TAP_TOLERANCE = 6;

/** The tool that handles the current press; handles of the selected shape work in drawing tools too. */
let pressedTool: Tool | null = null;
/** The press of a finger that has not moved yet, since it may be the first of two. */
let pendingPress: PointerEvent | null = null;

function press(event: PointerEvent): void {
  focusStage();
  if (pansWith(event)) {
    startPan(event);
    event.stopPropagation();
  } else if (event.button === 0 && shownPicture.peek() === sheet.peek()?.picture) {
    pressedTool = isOnHandle(event.target) ? selectTool : activeTool();
    if (pressedTool && !(pressedTool === selectTool && isOnEditor(event.target)))
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") pendingPress = event;
    else pressedTool?.press(onPicture(event), event);
  }
}

function pressNow(): void {
  const event = pendingPress;
  pendingPress = null;
  if (event) pressedTool?.press(onPicture(event), event);
}

const hasMoved = (from: PointerEvent, to: PointerEvent) =>
  Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY) >= TAP_TOLERANCE;

let lastPosition = { x: NaN, y: NaN };

/** Return whether the mouse is where it was: browsers also report a move when the page changes under it. */
function isUnmoved({ clientX: x, clientY: y }: PointerEvent): boolean {
  const before = lastPosition;
  lastPosition = { x, y };
  return before.x === x && before.y === y;
}

function move(event: PointerEvent): void {
  if (isPanning()) return panTo(event);
  const at = onPicture(event);
  mouseAt(at, !isUnmoved(event));
  if (pendingPress && !pressedTool?.taps && hasMoved(pendingPress, event)) pressNow();
  if (!pendingPress) (pressedTool ?? activeTool())?.move(at, event);
}

function release(event: PointerEvent): void {
  if (isPanning()) return endPan();
  pressNow();
  pressedTool?.release(onPicture(event), event);
  pressedTool = null;
}

/** Cancel the current press and whatever it began. */
function cancelPress(): void {
  endPan();
  const tool = pressedTool;
  pressedTool = null;
  // A pending press has begun nothing; vertices that were set before stay.
  if (!pendingPress) tool?.cancel();
  pendingPress = null;
}

const PINCH: Pinch = {
  begin() {
    cancelPress();
    cancelEdit();
    mouseAt(null);
  },
  move(factor, at, dx, dy) {
    panBy(dx, dy);
    zoomBy(factor, onStage({ clientX: at.x, clientY: at.y }));
  },
};

function handleWheel(event: WheelEvent): void {
  event.preventDefault();
  if (event.altKey && tool.peek() === "candidate") setLevel(levelAfter(event.deltaY > 0 ? 1 : -1));
  else zoomBy(ZOOM_PER_PIXEL ** -(event.deltaY * (event.deltaMode === 1 ? 30 : 1)), onStage(event));
}

export function Stage() {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const stage = frame.current!;
    setStageElement(stage);
    const observer = new ResizeObserver(() => resizeStage(stage.clientWidth, stage.clientHeight));
    observer.observe(stage);
    // Preact adds passive wheel listeners, which cannot prevent scrolling.
    stage.addEventListener("wheel", handleWheel, { passive: false });
    const endPinch = listenToPinch(stage, PINCH);
    focusStage();
    return () => {
      endPinch();
      observer.disconnect();
      setStageElement(null);
    };
  }, []);
  const open = sheet.value;
  return (
    <div
      id="stage"
      ref={frame}
      class={isPanning() ? "stage pans" : "stage"}
      data-tool={tool.value}
      tabIndex={0}
      role="application"
      aria-label={`Picture ${names.value[current.value] ?? ""}. Press the question mark for the keys.`}
      onPointerDownCapture={press}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={cancelPress}
      onPointerLeave={() => mouseAt(null)}
      onDblClick={(event) => activeTool()?.doubleClick?.(event)}
      onContextMenu={(event) => event.preventDefault()}
      onAuxClick={(event) => event.preventDefault()}
    >
      {pictureProblem.value && (
        <p class="stage-message">{summaries.value[current.value]?.error ?? pictureProblem.value}</p>
      )}
      {!open && !pictureProblem.value && <p class="stage-message waits">Opening the picture …</p>}
      {open && <PlacedPicture width={open.width} height={open.height} />}
    </div>
  );
}

function PlacedPicture({ width, height }: { width: number; height: number }) {
  const { left, top, scale } = view.value;
  const style = {
    width: `${width * scale}px`,
    height: `${height * scale}px`,
    transform: `translate(${left}px, ${top}px)`,
  };
  return (
    <div class="placed" style={style}>
      <PicturePixels sheet={sheet.value!} />
      <StrokeLayer />
      <svg class="layer" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <ObjectLayer />
        <DraftLayer />
      </svg>
    </div>
  );
}
