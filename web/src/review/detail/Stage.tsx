// The stage of one picture, which the wheel zooms and dragging pans.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isLargePicture, previewOf, thumbnailOf } from "../../shared/api";
import { listenToPinch } from "../../shared/pinch";
import { fit, panBy, resizeStage, setPictureSize, type Size, view, zoomBy } from "../../shared/viewport";
import { clearDepth, depth, fetchDepth, lightFilter, renditionOf } from "../../shared/windowLevel";
import { results } from "../state";
import { pixelsAt } from "../sync/pictureDetails";
import { CandidateLayer, HoverNote, Legend } from "./CandidateLayer";
import { openPicture } from "./openPicture";

const MAX_SMOOTH_SCALE = 6;
const CLICK_TOLERANCE = 4;

export function Stage({ number, name }: { number: number; name: string }) {
  const stage = useRef<HTMLDivElement>(null);
  const drag = useRef({ isActive: false, x: 0, y: 0, distance: 0 });
  const { picture, refusal } = openPicture.value;
  const { error, stamp } = results.value[number] ?? {};
  const size = sizeOf(number);

  useEffect(() => {
    fit();
    clearDepth();
    if (!error) fetchDepth(number);
  }, [number, error]);
  useEffect(() => {
    if (size) setPictureSize(size);
  }, [size?.width, size?.height]);
  useLayoutEffect(() => {
    const element = stage.current!;
    const observer = new ResizeObserver(() => resizeStage(element.clientWidth, element.clientHeight));
    observer.observe(element);
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY * 0.0015), { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener("wheel", turn, { passive: false });
    const endPinch = listenToPinch(element, {
      begin: () => (drag.current = { ...drag.current, isActive: false, distance: CLICK_TOLERANCE }),
      move(factor, at, dx, dy) {
        const { left, top } = element.getBoundingClientRect();
        panBy(dx, dy);
        zoomBy(factor, { x: at.x - left, y: at.y - top });
      },
    });
    return () => {
      endPinch();
      observer.disconnect();
      element.removeEventListener("wheel", turn);
    };
  }, []);

  const { scale, left, top } = view.value;
  const message = error ?? refusal;
  const address = renditionOf(number) ?? pixelsAt(number, picture?.stamp ?? stamp);
  return (
    <div
      ref={stage}
      class="stage"
      id="stage"
      onPointerDown={(event) => {
        if (event.button === 0) drag.current = { isActive: true, x: event.clientX, y: event.clientY, distance: 0 };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from.isActive || !(event.buttons & 1)) return;
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        const distance = from.distance + Math.hypot(dx, dy);
        drag.current = { isActive: true, x: event.clientX, y: event.clientY, distance };
        if (distance >= CLICK_TOLERANCE) panBy(dx, dy);
      }}
      onPointerUp={() => (drag.current.isActive = false)}
    >
      {message ? (
        <p class="empty">{message}</p>
      ) : (
        size ? (
          <div
            class="sheet"
            style={{
              left: `${left}px`,
              top: `${top}px`,
              width: `${size.width * scale}px`,
              height: `${size.height * scale}px`,
              "--light": lightFilter.value,
            }}
          >
            <div class="placeholder" style={{ backgroundImage: placeholdersOf(number, size) }} />
            <Picture
              key={number}
              address={address}
              waitsFor={isLargePicture(size) ? previewOf(number) : null}
              name={name}
              exact={scale > MAX_SMOOTH_SCALE}
            />
            {picture && <CandidateLayer picture={picture} wasDragged={() => drag.current.distance >= CLICK_TOLERANCE} />}
          </div>
        ) : (
          <p class="empty quiet">Opening the picture …</p>
        )
      )}
      {size && !picture && !message && <p class="hover-note">Looking for candidates …</p>}
      {picture && <HoverNote picture={picture} />}
      {picture && <Legend />}
    </div>
  );
}

/** Return the size of the picture as known from its candidates, its result or its file. */
function sizeOf(number: number): Size | null {
  if (openPicture.value.picture) return openPicture.value.picture;
  const { width, height } = results.value[number] ?? {};
  return width && height ? { width, height } : depth.value;
}

/** Return smaller copies as a background, the larger on top, so that the stage is never blank. */
const placeholdersOf = (number: number, size: Size) =>
  [...(isLargePicture(size) ? [previewOf(number)] : []), thumbnailOf(number)].map((each) => `url(${each})`).join(", ");

interface PictureProps {
  address: string;
  /** An image to load first: the server renders it before anything else. */
  waitsFor: string | null;
  name: string;
  exact: boolean;
}

function Picture({ address, waitsFor, name, exact }: PictureProps) {
  const [isWaiting, setWaiting] = useState(waitsFor !== null);
  useEffect(() => {
    if (waitsFor === null) return;
    const image = new Image();
    image.src = waitsFor;
    void image.decode().catch(() => undefined).then(() => setWaiting(false));
  }, [waitsFor]);
  if (isWaiting) return null;
  return <img id="picture" src={address} alt={name} draggable={false} style={{ imageRendering: exact ? "pixelated" : "auto" }} />;
}
