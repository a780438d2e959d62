// The picture with all its layers; what the pointer does goes to the tool in hand.
import { useEffect, useRef } from "preact/hooks";
import { listenToPinch, type Pinch } from "../../shared/pinch";
import { DraftLayer } from "./layers/DraftLayer";
import { ObjectLayer } from "./layers/ObjectLayer";
import { StrokeLayer } from "./layers/StrokeLayer";
import { endPan, isPanning, pansWith, panTo, startPan } from "./panning";
import { PicturePixels } from "./PicturePixels";
import { mouseAt } from "./pointer";
import { giveUpEditing, isOnEditor, isOnHandle } from "./shapeEditor";
import { focusStage, onPicture, onStage, setStageElement } from "./stageElement";
import { current, names, pictureProblem, sheet, shownPicture, summaries, tool } from "../state";
import { activeTool } from "../tools";
import { levelAfter, setLevel } from "../tools/candidate";
import { selectTool } from "../tools/select";
import type { Tool } from "../tools/tool";
import { panBy, resizeStage, view, zoomBy } from "./viewport";

const ZOOM_PER_PIXEL = 1.0018;

const A_TAP_MOVES_LESS = 6;

/** The tool that has the press: handles of the selected shape work in the drawing tools too. */
let inHand: Tool | null = null;
/** The press of a finger that has not moved yet: it may be the first of two. */
let waiting: PointerEvent | null = null;

function press(event: PointerEvent): void {
  focusStage();
  if (pansWith(event)) {
    startPan(event);
    event.stopPropagation();
  } else if (event.button === 0 && shownPicture.peek() === sheet.peek()?.picture) {
    inHand = isOnHandle(event.target) ? selectTool : activeTool();
    if (inHand && !(inHand === selectTool && isOnEditor(event.target)))
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") waiting = event;
    else inHand?.press(onPicture(event), event);
  }
}

function pressNow(): void {
  const event = waiting;
  waiting = null;
  if (event) inHand?.press(onPicture(event), event);
}

const hasMoved = (from: PointerEvent, to: PointerEvent) =>
  Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY) >= A_TAP_MOVES_LESS;

/** Browsers also report moves of a resting mouse under which the page has changed. */
let restedAt = { x: NaN, y: NaN };
function hasRested({ clientX: x, clientY: y }: PointerEvent): boolean {
  const before = restedAt;
  restedAt = { x, y };
  return before.x === x && before.y === y;
}

function move(event: PointerEvent): void {
  if (isPanning()) return panTo(event);
  const at = onPicture(event);
  mouseAt(at, !hasRested(event));
  if (waiting && !inHand?.taps && hasMoved(waiting, event)) pressNow();
  if (!waiting) (inHand ?? activeTool())?.move(at, event);
}

function release(event: PointerEvent): void {
  if (isPanning()) return endPan();
  pressNow();
  inHand?.release(onPicture(event), event);
  inHand = null;
}

/** The press is of no tool any more, and what it began is as if it had not been. */
function letGo(): void {
  endPan();
  const tool = inHand;
  inHand = null;
  // A finger that waits has begun nothing; corners that were set before stay.
  if (!waiting) tool?.cancel();
  waiting = null;
}

const PINCH: Pinch = {
  begin() {
    letGo();
    giveUpEditing();
    mouseAt(null);
  },
  move(factor, at, dx, dy) {
    panBy(dx, dy);
    zoomBy(factor, onStage({ clientX: at.x, clientY: at.y }));
  },
};

function turn(event: WheelEvent): void {
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
    // Preact's own listeners of the wheel are passive.
    stage.addEventListener("wheel", turn, { passive: false });
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
      aria-label={`Picture ${names.value[current.value] ?? ""}. Keys are shown by the question mark.`}
      onPointerDownCapture={press}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={letGo}
      onPointerLeave={() => mouseAt(null)}
      onDblClick={(event) => activeTool()?.doubleClick?.(event)}
      onContextMenu={(event) => event.preventDefault()}
      onAuxClick={(event) => event.preventDefault()}
    >
      {pictureProblem.value && (
        <p class="stage-message">{summaries.value[current.value]?.error ?? pictureProblem.value}</p>
      )}
      {!open && !pictureProblem.value && <p class="stage-message waits">Opening the picture …</p>}
      {open && <Placed width={open.width} height={open.height} />}
    </div>
  );
}

function Placed({ width, height }: { width: number; height: number }) {
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
