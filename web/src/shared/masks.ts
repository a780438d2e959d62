// Masks and their run-length encoding: column by column, the first run is background (as in COCO).
import type { MaskRegion } from "./types";

/** One byte per pixel, row by row; 1 is inside. */
export interface Bitmap {
  width: number;
  height: number;
  pixels: Uint8Array;
}

export function emptyBitmap(width: number, height: number): Bitmap {
  return { width, height, pixels: new Uint8Array(width * height) };
}

export function fromCounts(counts: readonly number[], width: number, height: number): Bitmap {
  const bitmap = emptyBitmap(width, height);
  let place = 0;
  counts.forEach((length, index) => {
    if (index % 2 === 1) {
      for (let each = place; each < place + length; each++) {
        bitmap.pixels[(each % height) * width + Math.floor(each / height)] = 1;
      }
    }
    place += length;
  });
  return bitmap;
}

/** Decode only the part of a mask that is inside a box. */
export function fromCountsWithin(counts: readonly number[], height: number, [x, y, w, h]: readonly [number, number, number, number]): Bitmap {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const bitmap = emptyBitmap(Math.ceil(x + w) - left, Math.ceil(y + h) - top);
  let place = 0;
  counts.forEach((length, index) => {
    for (let each = place; index % 2 === 1 && each < place + length; each++) {
      const [column, row] = [Math.floor(each / height) - left, (each % height) - top];
      if (column >= 0 && row >= 0 && column < bitmap.width && row < bitmap.height) {
        bitmap.pixels[row * bitmap.width + column] = 1;
      }
    }
    place += length;
  });
  return bitmap;
}

function toCounts({ width, height, pixels }: Bitmap): number[] {
  const counts: number[] = [];
  let value = 0;
  let length = 0;
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) {
      if (pixels[y * width + x] !== value) {
        counts.push(length);
        value = 1 - value;
        length = 0;
      }
      length++;
    }
  }
  counts.push(length);
  return counts;
}

export const maskOf = (bitmap: Bitmap): MaskRegion => ({
  type: "mask",
  height: bitmap.height,
  width: bitmap.width,
  counts: toCounts(bitmap),
});

/** Left, top, width and height of what is inside; null if nothing is. */
export function boundsOf({ width, height, pixels }: Bitmap): [number, number, number, number] | null {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (pixels[y * width + x]) {
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = y;
      }
    }
  }
  return right < 0 ? null : [left, top, right - left + 1, bottom - top + 1];
}

export const areaOfCounts = (counts: readonly number[]) =>
  counts.reduce((sum, length, index) => (index % 2 ? sum + length : sum), 0);

/** Return whether the pixel in column x and row y is inside. */
export function countsHold(counts: readonly number[], height: number, x: number, y: number): boolean {
  if (y < 0 || y >= height || x < 0) return false;
  const wanted = x * height + y;
  let end = 0;
  for (let index = 0; index < counts.length; index++) {
    end += counts[index]!;
    if (wanted < end) return index % 2 === 1;
  }
  return false;
}
