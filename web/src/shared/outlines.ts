// Outlines of regions as SVG paths, in pixels of the picture.
import { type Bitmap, fromCounts, fromCountsWithin } from "./masks";
import type { Candidate, Region } from "./types";

export const boxPath = (x: number, y: number, width: number, height: number) =>
  `M${x} ${y}h${width}v${height}h${-width}Z`;

const polygonsPath = (parts: readonly number[][]) =>
  parts.map((part) => `M${part.map((value, place) => (place % 2 ? `${value}` : ` ${value} `)).join("")}Z`).join("");

/** Trace the border between inside and outside along the sides of the pixels, joined into loops. */
function bitmapPath({ width, height, pixels }: Bitmap, left = 0, top = 0): string {
  const inside = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && pixels[y * width + x] === 1;
  const corner = (x: number, y: number) => y * (width + 1) + x;
  // Each directed side connects two corners and has the inside on its right.
  const onward = new Map<number, number[]>();
  const lead = (from: number, to: number) => {
    const known = onward.get(from);
    if (known) known.push(to);
    else onward.set(from, [to]);
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!inside(x, y)) continue;
      if (!inside(x, y - 1)) lead(corner(x, y), corner(x + 1, y));
      if (!inside(x + 1, y)) lead(corner(x + 1, y), corner(x + 1, y + 1));
      if (!inside(x, y + 1)) lead(corner(x + 1, y + 1), corner(x, y + 1));
      if (!inside(x - 1, y)) lead(corner(x, y + 1), corner(x, y));
    }
  }
  const loops: string[] = [];
  for (const start of onward.keys()) {
    while (onward.get(start)?.length) {
      const corners = [start];
      let step = 0;
      let at = start;
      do {
        const to = onward.get(at)!.pop()!;
        // The direction is unchanged: extend the last segment.
        if (to - at === step) corners[corners.length - 1] = to;
        else corners.push(to);
        step = to - at;
        at = to;
      } while (at !== start);
      const written = corners.map((each) => `${left + (each % (width + 1))} ${top + Math.floor(each / (width + 1))}`);
      loops.push(`M${written.join("L")}Z`);
    }
  }
  return loops.join("");
}

export function regionPath(region: Region): string {
  if (region.type === "box") return boxPath(region.x, region.y, region.width, region.height);
  if (region.type === "polygons") return polygonsPath(region.parts);
  return bitmapPath(fromCounts(region.counts, region.width, region.height));
}

export function candidatePath({ box, counts }: Candidate, _width: number, height: number): string {
  if (counts === null) return boxPath(...box);
  return bitmapPath(fromCountsWithin(counts, height, box), Math.floor(box[0]), Math.floor(box[1]));
}
