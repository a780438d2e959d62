// A grid of any length of which only the rows in sight, and a few beyond, are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  count: number;
  /** Least width of a cell; cells share what is left of a row. One column if larger than the grid. */
  cellWidth: number;
  cellHeight: number;
  /** Scrolled into sight whenever it changes. */
  current?: number;
  label: string;
  role?: "listbox" | "list";
  /** The id of the chosen cell of a listbox. */
  active?: string;
  children: (index: number) => ComponentChildren;
}

const LEAST_ROWS_BEYOND = 6;

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
  }, [current, columns, size.height, cellHeight]);

  const rowsInSight = Math.ceil(size.height / cellHeight);
  const rowsBeyond = Math.max(LEAST_ROWS_BEYOND, rowsInSight);
  const first = Math.max(0, Math.floor(top / cellHeight) - rowsBeyond) * columns;
  const last = Math.min(count, first + (rowsInSight + 2 * rowsBeyond) * columns);
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
