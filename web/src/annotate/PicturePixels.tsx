// The picture itself. It is put in place once it is loaded; the one before stays for a moment.
import { useEffect, useRef } from "preact/hooks";
import { pixelsOf } from "../shared/api";
import { poll } from "./polling";
import { editOn } from "./shapes";
import type { Sheet } from "./sheets";
import { brightness, contrast, pictureProblem, shownPicture } from "./state";
import { percent, PIXELS_FROM } from "./view";

const OLD_STAYS_MS = 150;

/** No filter at all where none is needed: it costs time at every frame. */
const light = () =>
  brightness.value === 100 && contrast.value === 100
    ? "none"
    : `brightness(${brightness.value}%) contrast(${contrast.value}%)`;

export function PicturePixels({ sheet }: { sheet: Sheet }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const image = new Image();
    image.id = "picture";
    image.alt = sheet.name;
    image.draggable = false;
    image.src = pixelsOf(sheet.picture);
    let stopEditing = () => {};
    let isGone = false;
    const emptying = setTimeout(() => host.current!.replaceChildren(), OLD_STAYS_MS);
    image
      .decode()
      .then(() => {
        if (isGone) return;
        clearTimeout(emptying);
        host.current!.replaceChildren(image);
        shownPicture.value = sheet.picture;
        host.current!.dataset.loaded = String(sheet.picture);
        stopEditing = editOn(image);
      })
      .catch(() => {
        if (isGone) return;
        pictureProblem.value = `${sheet.name} cannot be shown.`;
        void poll(); // which tells why
      });
    return () => {
      isGone = true;
      clearTimeout(emptying);
      stopEditing();
    };
  }, [sheet]);
  return (
    <div
      ref={host}
      id="pixels"
      class={percent.value >= 100 * PIXELS_FROM ? "pixels exact" : "pixels"}
      style={{ "--light": light() }}
    />
  );
}
