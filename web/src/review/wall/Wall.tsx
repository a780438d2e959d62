// The wall of pictures in the chosen order.
import { useLayoutEffect, useRef } from "preact/hooks";
import { VirtualGrid } from "../../shared/VirtualGrid";
import { EmptyWall } from "../EmptyWall";
import { current, filter, isLarge, names, order, outcomes, place, results, search, shown } from "../state";
import { Tile } from "./Tile";
import { UnreadableRow } from "../UnreadableRow";

const TILE = { width: 172, height: 190 };
const ROW = { width: 100_000, height: 48 };

export function Wall() {
  const wall = useRef<HTMLDivElement>(null);
  const pictures = shown.value;
  const view = `${filter.value} ${order.value} ${search.value}`;
  const seen = useRef(view);
  useLayoutEffect(() => {
    if (seen.current !== view) current.value = shown.value[0] ?? null;
    seen.current = view;
  }, [view]);
  // Scores that come in sort the wall anew: who looks at its beginning goes on looking at it.
  const isAtFirst = useRef(place.value <= 0);
  useLayoutEffect(() => {
    if (isAtFirst.current && !isLarge.peek()) current.value = pictures[0] ?? null;
  }, [pictures]);
  useLayoutEffect(() => {
    isAtFirst.current = place.value <= 0;
    const tile = wall.current?.querySelector<HTMLElement>("a[aria-current]");
    if (!document.activeElement?.matches("input, select, dialog *")) tile?.focus({ preventScroll: true });
  }, [current.value]);
  if (pictures.length === 0) return <EmptyWall />;
  const isList = filter.value === "unreadable";
  const cell = isList ? ROW : TILE;
  const Cell = isList ? UnreadableRow : Tile;
  return (
    <div class="wall" id="wall" ref={wall}>
      <VirtualGrid
        key={view}
        count={pictures.length}
        cellWidth={cell.width}
        cellHeight={cell.height}
        current={place.value}
        label="Pictures"
      >
        {(index) => {
          const picture = pictures[index]!;
          return (
            <Cell
              key={picture}
              picture={picture}
              name={names.value[picture]!}
              result={results.value[picture] ?? null}
              outcome={outcomes.value[picture]!}
              isCurrent={picture === current.value}
              place={index}
              of={pictures.length}
            />
          );
        }}
      </VirtualGrid>
    </div>
  );
}
