// The picture that is large is in the address (#17), so that reload and back come to it again.
import { batch } from "@preact/signals";
import { current, isLarge, names } from "./state";

const numbered = () => {
  const told = /^#(\d+)$/.exec(location.hash);
  return told ? Number(told[1]) : null;
};

function follow(): void {
  const picture = numbered();
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

/** The focus may lag behind quick keys; the current picture does not. */
export function openCurrentOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || current.value === null) return;
  event.preventDefault();
  open(current.value);
}

export function close(): void {
  history.replaceState(null, "", location.pathname);
  follow();
}

/** Move to a picture, large or not as the page is now. */
export function go(picture: number | undefined): void {
  if (picture === undefined) return;
  if (isLarge.value) open(picture);
  else current.value = picture;
}
