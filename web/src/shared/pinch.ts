// The pinch gesture: two fingers zoom and pan the stage, and cancel whatever the first finger began.

export interface Pinch {
  /** The second finger has been put down. */
  begin(): void;
  /** Zoom by a factor around a point of the window, after moving by dx and dy. */
  move(factor: number, at: { x: number; y: number }, dx: number, dy: number): void;
}

interface Fingers {
  x: number;
  y: number;
  apart: number;
}

/** Listen on a stage, before any of its elements; return a function that stops listening. */
export function listenToPinch(stage: HTMLElement, pinch: Pinch): () => void {
  const touches = new Map<number, { x: number; y: number }>();
  let before: Fingers | null = null;
  /** True from the second finger until all fingers are lifted. */
  let isPinching = false;

  const fingers = (): Fingers | null => {
    const [one, other] = [...touches.values()];
    if (!one || !other) return null;
    return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) };
  };
  const consume = (event: PointerEvent) => {
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  const down = (event: PointerEvent) => {
    if (event.pointerType !== "touch") return;
    // The first finger of a gesture: forget fingers whose lifting was missed.
    if (event.isPrimary) touches.clear();
    touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (touches.size === 2) {
      isPinching = true;
      pinch.begin();
    }
    before = fingers();
    if (isPinching) consume(event);
  };
  const move = (event: PointerEvent) => {
    if (!touches.has(event.pointerId)) return;
    touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (!isPinching) return;
    consume(event);
    const now = fingers();
    if (now && before) {
      pinch.move(before.apart > 0 ? now.apart / before.apart : 1, now, now.x - before.x, now.y - before.y);
    }
    before = now;
  };
  const up = (event: PointerEvent) => {
    if (!touches.delete(event.pointerId)) return;
    before = fingers();
    if (!isPinching) return;
    consume(event);
    if (touches.size === 0) isPinching = false;
  };
  const listeners = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up };
  for (const [name, listener] of Object.entries(listeners)) stage.addEventListener(name, listener as EventListener, true);
  return () => {
    for (const [name, listener] of Object.entries(listeners)) {
      stage.removeEventListener(name, listener as EventListener, true);
    }
  };
}
