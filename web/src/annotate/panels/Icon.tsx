// Small drawings on a field of 20 by 20.
import type { ToolName } from "../state";

const PATHS: Record<ToolName | "undo" | "redo", string> = {
  select: "M5 3l10 7-4.6 1L8 15.6z",
  box: "M3.5 5.5h13v9h-13z",
  polygon: "M10 3l7 5-2.6 8.5H5.6L3 8z",
  brush:
    "M16.5 3.5L9.6 10.4M9.2 10.2c-2.6-.4-3.4 1.4-3.6 3-.1 1.2-.8 2-2.1 2.3 1.8 1.4 7.3 1.5 7.6-2.4.1-1.300-.7-2.600-1.900-2.900z",
  eraser: "M8 16.500h9M4 12.500l7.500-8.500 5 4.500-7 8H7.500zM7.500 8.600l5 4.400",
  candidate:
    "M10 2.500l1.600 4.400 4.600 1.600-4.600 1.600L10 14.500l-1.600-4.400L3.800 8.500l4.600-1.600zM15.500 13.500v4M13.500 15.500h4",
  hand: "M6.500 10V5.600a1.200 1.200 0 012.400 0V4.200a1.200 1.200 0 012.400 0v1.200a1.200 1.200 0 012.400 0v1.800a1.100 1.100 0 012.300 0v4.600c0 3-1.800 5-4.600 5-2.600 0-3.700-1.200-4.800-3.200L4 9.900c-.6-1.200.9-2 1.700-1z",
  undo: "M7 4L3.500 7.500 7 11M3.500 7.500H12a4.200 4.200 0 010 8.500H8",
  redo: "M13 4l3.500 3.500L13 11M16.500 7.500H8a4.200 4.200 0 000 8.500h4",
};

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
