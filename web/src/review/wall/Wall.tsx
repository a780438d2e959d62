// The wall of pictures in the chosen order.
import { useLayoutEffect, useRef } from "preact/hooks";
import { VirtualGrid } from "../../shared/VirtualGrid";
import { scoring } from "../progress";
import type { Filter } from "../results/pictureList";
import { current, filter, isLarge, names, order, outcomes, place, project, results, search, shown } from "../state";
import { Tile, UnreadableRow } from "./Tile";

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
  // New scores reorder the wall: a user who looks at its beginning stays at its beginning.
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

const NOTHING: Record<Filter, string> = {
  all: "There is no picture here.",
  "false positives": "No false positive at this threshold.",
  "false negatives": "No false negative at this threshold.",
  alarms: "No picture reaches this threshold.",
  marked: "Nothing is marked yet. Press M on a picture whose annotation is wrong.",
  unreadable: "Every picture could be read.",
};

function EmptyWall() {
  const all = () => {
    filter.value = "all";
    search.value = "";
  };
  if (project.value === null) return <div class="empty quiet">Reading the list of pictures …</div>;
  if (names.value.length === 0) {
    return (
      <div class="empty" id="empty">
        <p>The folder {project.value.folder} holds no picture.</p>
        <p class="quiet">Start groupcm review again with a folder of PNG, JPEG or TIFF files.</p>
      </div>
    );
  }
  return (
    <div class="empty" id="empty">
      <p>{search.value.trim() ? `No picture here has “${search.value.trim()}” in its name.` : NOTHING[filter.value]}</p>
      {scoring.value.isRunning && <p class="quiet">Scoring is still running; pictures appear as they are scored.</p>}
      <button onClick={all}>Show all {names.value.length} pictures</button>
    </div>
  );
}

const grid = () => document.querySelector<HTMLElement>("#wall .virtual-grid-cells");

/** Return the number of tiles in a row of the wall. */
export function columnsOfWall(): number {
  const columns = grid()?.style.gridTemplateColumns ?? "";
  return Math.max(1, Number(/repeat\((\d+)/.exec(columns)?.[1] ?? 1));
}

/** Return the number of rows of tiles that are visible at once. */
export function rowsOfWall(): number {
  const cells = grid();
  const row = Number.parseFloat(cells?.style.gridAutoRows ?? "");
  const height = cells?.closest(".virtual-grid")?.clientHeight ?? 0;
  return Math.max(1, Math.floor(height / row) || 1);
}
