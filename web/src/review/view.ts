// Where a picture lies on the stage: scale in screen pixels a picture pixel, and its corner.

export interface Size {
  width: number;
  height: number;
}

export interface View {
  scale: number;
  x: number;
  y: number;
}

const LARGEST_SCALE = 40;
const MARGIN = 12;

export function fitted(stage: Size, picture: Size): View {
  const room = { width: Math.max(1, stage.width - 2 * MARGIN), height: Math.max(1, stage.height - 2 * MARGIN) };
  const scale = Math.min(room.width / picture.width, room.height / picture.height);
  return { scale, x: (stage.width - picture.width * scale) / 2, y: (stage.height - picture.height * scale) / 2 };
}

/** Zoom while the point (x, y) of the stage stays where it is. */
export function zoomedAt(view: View, factor: number, x: number, y: number, least: number): View {
  const scale = Math.min(LARGEST_SCALE, Math.max(least, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

export const panned = (view: View, dx: number, dy: number): View => ({ ...view, x: view.x + dx, y: view.y + dy });
