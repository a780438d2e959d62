// The element of the stage: points of events on it and on the picture, and the focus.
import { toPicture, type Point } from "./view";

let element: HTMLElement | null = null;

export const setStageElement = (stage: HTMLElement | null) => (element = stage);

export function onStage({ clientX, clientY }: MouseEvent): Point {
  const { left, top } = element!.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

export const onPicture = (event: MouseEvent): Point => toPicture(onStage(event));

export const focusStage = () => element?.focus({ preventScroll: true });

/** Whether keys are meant for the picture. */
export const stageHasFocus = () =>
  document.activeElement === document.body || (element?.contains(document.activeElement) ?? false);
