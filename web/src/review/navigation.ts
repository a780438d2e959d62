// Navigation: the picture that is shown large is in the address (#17), so that reload and back work.
import { batch } from "@preact/signals";
import { current, isLarge, names } from "./state";

const pictureInAddress = () => {
  const match = /^#(\d+)$/.exec(location.hash);
  return match ? Number(match[1]) : null;
};

function follow(): void {
  const picture = pictureInAddress();
  batch(() => {
    if (picture !== null) current.value = picture;
    isLarge.value = picture !== null && (names.value.length === 0 || picture < names.value.length);
  });
}

export function followAddress(): void {
  follow();
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
}

export function open(picture: number): void {
  const change = isLarge.value ? "replaceState" : "pushState";
  history[change](null, "", `#${picture}`);
  follow();
}

/** Open the current picture rather than the focused one: the focus may lag behind quick keystrokes. */
export function openCurrentOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || current.value === null) return;
  event.preventDefault();
  open(current.value);
}

export function close(): void {
  history.replaceState(null, "", location.pathname);
  follow();
}

/** Go to a picture and keep showing pictures large, or the wall. */
export function go(picture: number | undefined): void {
  if (picture === undefined) return;
  if (isLarge.value) open(picture);
  else current.value = picture;
}
