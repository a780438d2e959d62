// Boxes and polygons as shapes of Annotorious, and back.
import {
  ShapeType,
  type MultiPolygonGeometry,
  type PolygonGeometry,
  type RectangleGeometry,
  type Shape,
} from "@annotorious/annotorious";
import type { BoxRegion, PolygonsRegion } from "../shared/types";
import { boundsOfRegion } from "./stage/regions";

type ShapeRegion = BoxRegion | PolygonsRegion;

export function shapeOf(region: ShapeRegion): Shape {
  const boundsAt = ([x, y, w, h]: number[]) => ({ minX: x!, minY: y!, maxX: x! + w!, maxY: y! + h! });
  const bounds = boundsAt(boundsOfRegion(region));
  if (region.type === "box") {
    const { x, y, width: w, height: h } = region;
    return { type: ShapeType.RECTANGLE, geometry: { x, y, w, h, rot: 0, bounds } } as Shape;
  }
  const rings = region.parts.map(pairs);
  if (rings.length === 1) return { type: ShapeType.POLYGON, geometry: { points: rings[0], bounds } } as Shape;
  const polygons = rings.map((points, place) => ({
    rings: [{ points }],
    bounds: boundsAt(boundsOfRegion({ type: "polygons", parts: [region.parts[place]!] })),
  }));
  return { type: ShapeType.MULTIPOLYGON, geometry: { polygons, bounds } } as Shape;
}

const pairs = (part: number[]) => part.flatMap((x, place) => (place % 2 ? [] : [[x, part[place + 1]!]]));

/** Within the picture; boxes on whole pixels, corners of polygons on tenths. */
export function regionOf(shape: Shape, { width, height }: { width: number; height: number }): ShapeRegion {
  const between = (value: number, most: number) => Math.min(most, Math.max(0, value));
  if (shape.type === ShapeType.RECTANGLE) {
    const { x: left, y: top, w, h } = shape.geometry as RectangleGeometry;
    const [x, y] = [Math.round(between(left, width - 1)), Math.round(between(top, height - 1))];
    const right = Math.max(x + 1, Math.round(between(left + w, width)));
    const bottom = Math.max(y + 1, Math.round(between(top + h, height)));
    return { type: "box", x, y, width: right - x, height: bottom - y };
  }
  const rings =
    shape.type === ShapeType.POLYGON
      ? [(shape.geometry as PolygonGeometry).points]
      : (shape.geometry as MultiPolygonGeometry).polygons.map((each) => each.rings[0]!.points);
  const tenth = (value: number) => Math.round(value * 10) / 10;
  const flat = (ring: number[][]) => ring.flatMap(([x, y]) => [tenth(between(x!, width)), tenth(between(y!, height))]);
  return { type: "polygons", parts: rings.map(flat) };
}
