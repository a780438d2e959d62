// The interface of the tools. Points are in pixels of the picture.
import type { Point } from "../../shared/viewport";

export interface Tool {
  /** Whether a press alone acts; a finger then acts when it is lifted, since a second one may follow. */
  taps?: boolean;
  press(at: Point, event: PointerEvent): void;
  /** With or without a button held. */
  move(at: Point, event: PointerEvent): void;
  release(at: Point, event: PointerEvent): void;
  doubleClick?(event: MouseEvent): void;
  /** Space at the crosshair. */
  set?(at: Point): void;
  /** Enter; returns false if there was nothing to finish. */
  finish?(event: KeyboardEvent): boolean;
  /** Backspace; returns false if there was nothing to remove. */
  removeLast?(): boolean;
  /** Escape, or a change of the tool or picture; returns false if there was nothing to cancel. */
  cancel(): boolean;
}
