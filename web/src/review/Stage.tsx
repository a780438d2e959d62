// One picture large, to zoom by wheel and to pan by dragging.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { thumbnailOf } from "../shared/api";
import { pixelsAt } from "./asking";
import { Candidates, HoverNote } from "./Candidates";
import { large } from "./large";
import { Legend } from "./Legend";
import { fitToStage, pan, setPicture, setStage, view, zoom } from "./stageView";
import { results } from "./state";

const SMOOTH_UP_TO = 6;
const A_CLICK_MOVES_LESS = 4;

export function Stage({ number, name }: { number: number; name: string }) {
  const stage = useRef<HTMLDivElement>(null);
  const drag = useRef({ isOn: false, x: 0, y: 0, way: 0 });
  const { picture, refused } = large.value;
  const { width, height, error, stamp } = results.value[number] ?? {};

  useEffect(fitToStage, [number]);
  useEffect(() => {
    if (picture) setPicture(picture);
    else if (width && height) setPicture({ width, height });
  }, [picture, width, height]);
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
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", turn);
    };
  }, []);

  const { scale, x, y } = view.value;
  const size = picture ?? (width && height ? { width, height } : null);
  const sentence = error ?? refused;
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
              backgroundImage: `url(${thumbnailOf(number)})`,
            }}
          >
            <img
              key={number}
              src={pixelsAt(number, picture?.stamp ?? stamp)}
              alt={name}
              draggable={false}
              style={{ imageRendering: scale > SMOOTH_UP_TO ? "pixelated" : "auto" }}
            />
            {picture && <Candidates picture={picture} wasDragged={() => drag.current.way >= A_CLICK_MOVES_LESS} />}
          </div>
        ) : (
          <p class="empty quiet">Looking for candidates …</p>
        )
      )}
      {picture && <HoverNote picture={picture} />}
      {picture && <Legend />}
    </div>
  );
}
