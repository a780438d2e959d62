// The DOM element of the stage: conversion of event coordinates, and the focus.
import { type Point, toPicture } from "../../shared/viewport";

let element: HTMLElement | null = null;

export const setStageElement = (stage: HTMLElement | null) => (element = stage);

interface OnScreen {
  clientX: number;
  clientY: number;
}

export function onStage({ clientX, clientY }: OnScreen): Point {
  const { left, top } = element!.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

export const onPicture = (event: OnScreen): Point => toPicture(onStage(event));

export const focusStage = () => element?.focus({ preventScroll: true });

/** Return whether keys act on the picture. */
export const stageHasFocus = () =>
  document.activeElement === document.body || (element?.contains(document.activeElement) ?? false);
