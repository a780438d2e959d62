// The geometry of regions, in pixels of the picture.
import { areaOfCounts, boundsOf, countsHold, emptyBitmap, fromCounts, maskOf } from "../../shared/masks";
import { regionPath } from "../../shared/outlines";
import type { Candidate, MarkedObject, Region } from "../../shared/types";
import type { Point } from "../../shared/viewport";

type Bounds = [left: number, top: number, width: number, height: number];

interface Size {
  width: number;
  height: number;
}

export function areaOf(region: Region): number {
  if (region.type === "box") return region.width * region.height;
  if (region.type === "mask") return areaOfCounts(region.counts);
  return region.parts.reduce((sum, part) => sum + areaOfPart(part), 0);
}

/** Compute the area of a polygon: half the sum of the cross products of neighbouring vertices. */
function areaOfPart(part: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < part.length; at += 2) {
    const next = (at + 2) % part.length;
    sum += part[at]! * part[next + 1]! - part[next]! * part[at + 1]!;
  }
  return Math.abs(sum) / 2;
}

export function holds(region: Region, { x, y }: Point): boolean {
  if (region.type === "box") {
    return x >= region.x && y >= region.y && x <= region.x + region.width && y <= region.y + region.height;
  }
  if (region.type === "mask") return countsHold(region.counts, region.height, Math.floor(x), Math.floor(y));
  return region.parts.some((part) => partHolds(part, x, y));
}

/** Return whether a ray to the right crosses the border an odd number of times. */
function partHolds(part: readonly number[], x: number, y: number): boolean {
  let inside = false;
  for (let at = 0, before = part.length - 2; at < part.length; before = at, at += 2) {
    const [x0, y0, x1, y1] = [part[before]!, part[before + 1]!, part[at]!, part[at + 1]!];
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
  }
  return inside;
}

const boundsCache = new WeakMap<Region, Bounds>();

export function boundsOfRegion(region: Region): Bounds {
  const known = boundsCache.get(region) ?? findBounds(region);
  boundsCache.set(region, known);
  return known;
}

function findBounds(region: Region): Bounds {
  if (region.type === "box") return [region.x, region.y, region.width, region.height];
  if (region.type === "mask") return boundsOf(fromCounts(region.counts, region.width, region.height)) ?? [0, 0, 0, 0];
  const xs = region.parts.flatMap((part) => part.filter((_, place) => place % 2 === 0));
  const ys = region.parts.flatMap((part) => part.filter((_, place) => place % 2 === 1));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/** Return where to write the number of a region: its top, or the top of the leftmost column of a mask. */
export function anchorOf(region: Region): Point {
  if (region.type === "box") return region;
  if (region.type === "mask") {
    const first = region.counts[0] ?? 0;
    return { x: Math.floor(first / region.height), y: first % region.height };
  }
  const corners = region.parts.flatMap((part) =>
    part.flatMap((x, place) => (place % 2 ? [] : [{ x, y: part[place + 1]! }])),
  );
  return corners.reduce((top, corner) => (corner.y < top.y ? corner : top));
}

const pathCache = new WeakMap<Region, string>();

export function pathOf(region: Region): string {
  const known = pathCache.get(region) ?? regionPath(region);
  pathCache.set(region, known);
  return known;
}

/** Return the smallest object at a point. */
export const objectAt = (objects: readonly MarkedObject[], at: Point) =>
  objects.filter(({ region }) => holds(region, at)).sort((one, other) => areaOf(one.region) - areaOf(other.region))[0];

/** Move a region, but not out of the picture. */
export function moved(region: Region, dx: number, dy: number, picture: Size): Region {
  const [left, top, width, height] = boundsOfRegion(region);
  const x = Math.min(Math.max(dx, -left), picture.width - width - left);
  const y = Math.min(Math.max(dy, -top), picture.height - height - top);
  if (region.type === "box") return { ...region, x: region.x + x, y: region.y + y };
  if (region.type === "mask") return movedMask(region, Math.round(x), Math.round(y));
  return { ...region, parts: region.parts.map((part) => part.map((value, place) => value + (place % 2 ? y : x))) };
}

function movedMask(region: Extract<Region, { type: "mask" }>, dx: number, dy: number): Region {
  const before = fromCounts(region.counts, region.width, region.height);
  const after = emptyBitmap(region.width, region.height);
  const [left, top, width, height] = boundsOfRegion(region);
  for (let y = top; y < top + height; y++) {
    const row = before.pixels.subarray(y * region.width + left, y * region.width + left + width);
    after.pixels.set(row, (y + dy) * region.width + left + dx);
  }
  return maskOf(after);
}

export const regionOfCandidate = ({ box, counts }: Candidate, { width, height }: Size): Region =>
  counts === null
    ? { type: "box", x: box[0], y: box[1], width: box[2], height: box[3] }
    : { type: "mask", width, height, counts };

export const sameRegion = (one: Region, other: Region) => pathOf(one) === pathOf(other);
