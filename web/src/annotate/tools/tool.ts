// What every tool of the stage answers to. Points are pixels of the picture.
import type { Point } from "../stage/viewport";

export interface Tool {
  /** Whether a press alone acts: a finger then acts when it is lifted, as a second one may follow. */
  taps?: boolean;
  press(at: Point, event: PointerEvent): void;
  /** With or without a button held. */
  move(at: Point, event: PointerEvent): void;
  release(at: Point, event: PointerEvent): void;
  doubleClick?(event: MouseEvent): void;
  /** Space at the crosshair. */
  set?(at: Point): void;
  /** Enter; false if there was nothing to finish. */
  finish?(event: KeyboardEvent): boolean;
  /** Backspace; false if there was nothing to take back. */
  takeBack?(): boolean;
  /** Escape, or another tool or picture was chosen; false if there was nothing to give up. */
  cancel(): boolean;
}
