// One picture large, to zoom by wheel and to pan by dragging.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isLargePicture, previewOf, thumbnailOf } from "../../shared/api";
import { listenToPinch } from "../../shared/pinch";
import { depth, findDepth, forgetDepth, lightFilter, renditionOf } from "../../shared/windowLevel";
import { pixelsAt } from "../sync/pictureDetails";
import { Candidates, HoverNote } from "./CandidateLayer";
import { large } from "./openPicture";
import { Legend } from "../Legend";
import { fitToStage, pan, setPicture, setStage, view, zoom } from "./viewport";
import { results } from "../state";
import type { Size } from "../view";

const SMOOTH_UP_TO = 6;
const A_CLICK_MOVES_LESS = 4;

export function Stage({ number, name }: { number: number; name: string }) {
  const stage = useRef<HTMLDivElement>(null);
  const drag = useRef({ isOn: false, x: 0, y: 0, way: 0 });
  const { picture, refused } = large.value;
  const { error, stamp } = results.value[number] ?? {};
  const size = sizeOf(number);

  useEffect(() => {
    fitToStage();
    forgetDepth();
    if (!error) findDepth(number);
  }, [number, error]);
  useEffect(() => {
    if (size) setPicture(size);
  }, [size?.width, size?.height]);
  useLayoutEffect(() => {
    const element = stage.current!;
    const observer = new ResizeObserver(() => setStage({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - left, event.clientY - top);
    };
    element.addEventListener("wheel", turn, { passive: false });
    const endPinch = listenToPinch(element, {
      begin: () => (drag.current = { ...drag.current, isOn: false, way: A_CLICK_MOVES_LESS }),
      move(factor, at, dx, dy) {
        const { left, top } = element.getBoundingClientRect();
        pan(dx, dy);
        zoom(factor, at.x - left, at.y - top);
      },
    });
    return () => {
      endPinch();
      observer.disconnect();
      element.removeEventListener("wheel", turn);
    };
  }, []);

  const { scale, x, y } = view.value;
  const sentence = error ?? refused;
  const address = renditionOf(number) ?? pixelsAt(number, picture?.stamp ?? stamp);
  return (
    <div
      ref={stage}
      class="stage"
      id="stage"
      onPointerDown={(event) => {
        if (event.button === 0) drag.current = { isOn: true, x: event.clientX, y: event.clientY, way: 0 };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from.isOn || !(event.buttons & 1)) return;
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        const way = from.way + Math.hypot(dx, dy);
        drag.current = { isOn: true, x: event.clientX, y: event.clientY, way };
        if (way >= A_CLICK_MOVES_LESS) pan(dx, dy);
      }}
      onPointerUp={() => (drag.current.isOn = false)}
    >
      {sentence ? (
        <p class="empty">{sentence}</p>
      ) : (
        size ? (
          <div
            class="sheet"
            style={{
              left: `${x}px`,
              top: `${y}px`,
              width: `${size.width * scale}px`,
              height: `${size.height * scale}px`,
              "--light": lightFilter.value,
            }}
          >
            <div class="stand-in" style={{ backgroundImage: standInsOf(number, size) }} />
            <Whole
              key={number}
              address={address}
              waitsFor={isLargePicture(size) ? previewOf(number) : null}
              name={name}
              exact={scale > SMOOTH_UP_TO}
            />
            {picture && <Candidates picture={picture} wasDragged={() => drag.current.way >= A_CLICK_MOVES_LESS} />}
          </div>
        ) : (
          <p class="empty quiet">Opening the picture …</p>
        )
      )}
      {size && !picture && !sentence && <p class="hover-note">Looking for candidates …</p>}
      {picture && <HoverNote picture={picture} />}
      {picture && <Legend />}
    </div>
  );
}

/** Known from the candidates, from the score, or from the file alone. */
function sizeOf(number: number): Size | null {
  if (large.value.picture) return large.value.picture;
  const { width, height } = results.value[number] ?? {};
  return width && height ? { width, height } : depth.value;
}

/** Copies of the picture under it, the larger on top, so that the stage is never blank. */
const standInsOf = (number: number, size: Size) =>
  [...(isLargePicture(size) ? [previewOf(number)] : []), thumbnailOf(number)].map((each) => `url(${each})`).join(", ");

interface WholeProps {
  address: string;
  /** The server makes this first, and alone. */
  waitsFor: string | null;
  name: string;
  exact: boolean;
}

function Whole({ address, waitsFor, name, exact }: WholeProps) {
  const [isAwaited, setAwaited] = useState(waitsFor !== null);
  useEffect(() => {
    if (waitsFor === null) return;
    const image = new Image();
    image.src = waitsFor;
    void image.decode().catch(() => undefined).then(() => setAwaited(false));
  }, [waitsFor]);
  if (isAwaited) return null;
  return <img id="picture" src={address} alt={name} draggable={false} style={{ imageRendering: exact ? "pixelated" : "auto" }} />;
}
