// Zoom and pan of the stage.
import { computed, signal } from "@preact/signals";
import { fitted, panned, type Size, type View, zoomedAt } from "../view";

const stage = signal<Size>({ width: 0, height: 0 });
const picture = signal<Size>({ width: 1, height: 1 });
/** Null fits the picture to the stage. */
const moved = signal<View | null>(null);
const fit = computed(() => fitted(stage.value, picture.value));
export const view = computed(() => moved.value ?? fit.value);

export function fitToStage(): void {
  moved.value = null;
}

export function setStage(size: Size): void {
  stage.value = size;
}

export function setPicture({ width, height }: Size): void {
  if (picture.value.width !== width || picture.value.height !== height) picture.value = { width, height };
}

export function zoom(factor: number, x = stage.value.width / 2, y = stage.value.height / 2): void {
  moved.value = zoomedAt(view.value, factor, x, y, fit.value.scale / 2);
}

export function pan(dx: number, dy: number): void {
  moved.value = panned(view.value, dx, dy);
}
