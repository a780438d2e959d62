// The pixels of the picture. Until they are loaded, smaller copies take their place, and for a moment
// the previous picture.
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isLargePicture, pixelsOf, previewOf, thumbnailOf } from "../../shared/api";
import { view } from "../../shared/viewport";
import { clearDepth, fetchDepth, lightFilter, renditionOf } from "../../shared/windowLevel";
import { pictureProblem, shownPicture } from "../state";
import { poll } from "../sync/polling";
import type { Sheet } from "../sync/sheets";
import { startEditor } from "./shapeEditor";

const KEEP_PREVIOUS_MS = 150;
/** From this scale on, pixels are drawn as squares. */
const EXACT_FROM_SCALE = 3;

function imageOf({ name }: Sheet, id: string, address: string): HTMLImageElement {
  const image = new Image();
  image.id = id;
  image.alt = name;
  image.draggable = false;
  image.src = address;
  return image;
}

/** Show a picture in an element, smaller copies first; return a function that ends it. */
function showIn(host: HTMLElement, sheet: Sheet): () => void {
  const { picture } = sheet;
  const cleanups: (() => void)[] = [];
  let hasEnded = false;
  /** Copies replace each other from small to large; a smaller one that arrives late is ignored. */
  let shownSize = 0;
  const put = (image: HTMLImageElement, size: number) => {
    if (hasEnded || size <= shownSize) return false;
    shownSize = size;
    clearTimeout(emptying);
    host.replaceChildren(image);
    return true;
  };
  const ignore = () => undefined;
  const showCopy = async (address: string, size: number) => {
    const image = imageOf(sheet, "preview", address);
    await image.decode();
    return put(image, size);
  };
  const showPixels = async () => {
    const image = imageOf(sheet, "picture", pixelsOf(picture));
    await image.decode();
    if (!put(image, 3)) return;
    shownPicture.value = picture;
    host.dataset.loaded = String(picture);
    fetchDepth(picture);
    cleanups.push(startEditor(image));
    cleanups.push(
      effect(() => {
        const address = renditionOf(picture) ?? pixelsOf(picture);
        if (image.getAttribute("src") !== address) image.src = address;
      }),
    );
  };
  const showPreview = async () => {
    if (!(await showCopy(previewOf(picture), 2))) return;
    shownPicture.value = picture;
    host.dataset.preview = String(picture);
  };
  const showThumbnail = () => void showCopy(thumbnailOf(picture), 1).catch(ignore);
  const emptying = setTimeout(() => {
    host.replaceChildren();
    showThumbnail();
  }, KEEP_PREVIOUS_MS);
  const fail = () => {
    if (hasEnded) return;
    pictureProblem.value = `${sheet.name} cannot be shown.`;
    void poll(); // It reports the reason.
  };
  if (isLargePicture(sheet)) {
    showThumbnail();
    // The server renders the preview before anything else.
    void showPreview().catch(ignore).then(() => (hasEnded ? undefined : showPixels())).catch(fail);
  } else void showPixels().catch(fail);
  return () => {
    hasEnded = true;
    shownPicture.value = -1;
    clearTimeout(emptying);
    for (const clean of cleanups) clean();
  };
}

export function PicturePixels({ sheet }: { sheet: Sheet }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    clearDepth();
    return showIn(host.current!, sheet);
  }, [sheet]);
  return (
    <div
      ref={host}
      id="pixels"
      class={view.value.scale >= EXACT_FROM_SCALE ? "pixels exact" : "pixels"}
      style={{ "--light": lightFilter.value }}
    />
  );
}
