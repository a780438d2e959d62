// Panning with the middle button, with Space held down, or with the hand tool.
import { signal } from "@preact/signals";
import { panBy } from "../../shared/viewport";
import { tool } from "../state";

const from = signal<{ x: number; y: number } | null>(null);
export const spaceIsHeld = signal(false);

export const isPanning = () => from.value !== null;

export const pansWith = (event: PointerEvent) =>
  event.button === 1 || (event.button === 0 && (spaceIsHeld.peek() || tool.peek() === "hand"));

export function startPan(event: PointerEvent): void {
  from.value = { x: event.clientX, y: event.clientY };
  (event.currentTarget as Element).setPointerCapture(event.pointerId);
  event.preventDefault();
}

export function panTo({ clientX: x, clientY: y }: PointerEvent): void {
  const before = from.peek()!;
  panBy(x - before.x, y - before.y);
  from.value = { x, y };
}

export function endPan(): void {
  from.value = null;
}

export function watchSpace(): void {
  window.addEventListener("keyup", (event) => {
    if (event.key === " ") spaceIsHeld.value = false;
  });
  window.addEventListener("blur", () => (spaceIsHeld.value = false));
}
