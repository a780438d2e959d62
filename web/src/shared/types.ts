// Types of the JSON that both pages exchange with the server.

export interface BoxRegion {
  type: "box";
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PolygonsRegion {
  type: "polygons";
  /** The vertices of each part: x0, y0, x1, y1, … */
  parts: number[][];
}

export interface MaskRegion {
  type: "mask";
  height: number;
  width: number;
  /** Run lengths, column by column; the first run is background. */
  counts: number[];
}

export type Region = BoxRegion | PolygonsRegion | MaskRegion;

export interface MarkedObject {
  id: string | number;
  category: string;
  region: Region;
  score: number | null;
}

/** A proposed region; without counts it is its box. */
export interface Candidate {
  box: [number, number, number, number];
  counts: number[] | null;
  score: number | null;
}
