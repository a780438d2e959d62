// A virtual grid of any length: only the visible rows, and some above and below, are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  count: number;
  /** The minimum width of a cell; cells grow to fill the row. A width above the grid's gives one column. */
  cellWidth: number;
  cellHeight: number;
  /** The index of the cell that is scrolled into view whenever it changes. */
  current?: number;
  label: string;
  role?: "listbox" | "list";
  /** The id of the selected cell of a listbox. */
  active?: string;
  children: (index: number) => ComponentChildren;
}

const MIN_EXTRA_ROWS = 6;

export function VirtualGrid({ count, cellWidth, cellHeight, current, label, role, active, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });

  useLayoutEffect(() => {
    const element = frame.current!;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const columns = Math.max(1, Math.floor(size.width / cellWidth));
  useEffect(() => {
    const element = frame.current!;
    if (current === undefined || current < 0 || size.height === 0) return;
    const row = Math.floor(current / columns) * cellHeight;
    if (row < element.scrollTop) element.scrollTop = row;
    else if (row + cellHeight > element.scrollTop + size.height) {
      element.scrollTop = row + cellHeight - size.height;
    }
    setTop(element.scrollTop); // Render its rows before the next frame; the event of the scrolling comes later.
  }, [current, columns, size.height, cellHeight]);

  const visibleRows = Math.ceil(size.height / cellHeight);
  const extraRows = Math.max(MIN_EXTRA_ROWS, visibleRows);
  const first = Math.max(0, Math.floor(top / cellHeight) - extraRows) * columns;
  const last = Math.min(count, first + (visibleRows + 2 * extraRows) * columns);
  const cells = [];
  for (let index = first; index < last; index++) cells.push(children(index));
  return (
    <div
      ref={frame}
      class="virtual-grid"
      role={role ?? "list"}
      aria-label={label}
      aria-activedescendant={active}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="virtual-grid-space" style={{ height: `${Math.ceil(count / columns) * cellHeight}px` }}>
        <div
          class="virtual-grid-cells"
          style={{
            transform: `translateY(${(first / columns) * cellHeight}px)`,
            gridTemplateColumns: `repeat(${columns}, 1fr)`,
            gridAutoRows: `${cellHeight}px`,
          }}
        >
          {cells}
        </div>
      </div>
    </div>
  );
}
