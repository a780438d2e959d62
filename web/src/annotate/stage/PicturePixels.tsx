// The picture itself. It is put in place once it is loaded; until then smaller copies stand for it,
// and the picture before stays for a moment.
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isLargePicture, pixelsOf, previewOf, thumbnailOf } from "../../shared/api";
import { findDepth, forgetDepth, lightFilter, renditionOf } from "../../shared/windowLevel";
import { poll } from "../sync/polling";
import { editOn } from "./shapeEditor";
import type { Sheet } from "../sync/sheets";
import { pictureProblem, shownPicture } from "../state";
import { percent, PIXELS_FROM } from "./viewport";

const OLD_STAYS_MS = 150;

function imageOf({ name }: Sheet, id: string, address: string): HTMLImageElement {
  const image = new Image();
  image.id = id;
  image.alt = name;
  image.draggable = false;
  image.src = address;
  return image;
}

/** Show a picture in a host, first its copies; returns what ends it. */
function showIn(host: HTMLElement, sheet: Sheet): () => void {
  const { picture } = sheet;
  const endings: (() => void)[] = [];
  let isGone = false;
  /** Copies follow each other from small to large; what comes too late is not shown. */
  let shownSize = 0;
  const put = (image: HTMLImageElement, size: number) => {
    if (isGone || size <= shownSize) return false;
    shownSize = size;
    clearTimeout(emptying);
    host.replaceChildren(image);
    return true;
  };
  const ignore = () => undefined;
  const standIn = async (address: string, size: number) => {
    const image = imageOf(sheet, "preview", address);
    await image.decode();
    return put(image, size);
  };
  const showWhole = async () => {
    const image = imageOf(sheet, "picture", pixelsOf(picture));
    await image.decode();
    if (!put(image, 3)) return;
    shownPicture.value = picture;
    host.dataset.loaded = String(picture);
    findDepth(picture);
    endings.push(editOn(image));
    endings.push(
      effect(() => {
        const address = renditionOf(picture) ?? pixelsOf(picture);
        if (image.getAttribute("src") !== address) image.src = address;
      }),
    );
  };
  const showPreview = async () => {
    if (!(await standIn(previewOf(picture), 2))) return;
    shownPicture.value = picture;
    host.dataset.preview = String(picture);
  };
  const showThumbnail = () => void standIn(thumbnailOf(picture), 1).catch(ignore);
  const emptying = setTimeout(() => {
    host.replaceChildren();
    showThumbnail();
  }, OLD_STAYS_MS);
  const fail = () => {
    if (isGone) return;
    pictureProblem.value = `${sheet.name} cannot be shown.`;
    void poll(); // which tells why
  };
  if (isLargePicture(sheet)) {
    showThumbnail();
    // The server makes the preview first, and alone.
    void showPreview().catch(ignore).then(() => (isGone ? undefined : showWhole())).catch(fail);
  } else void showWhole().catch(fail);
  return () => {
    isGone = true;
    shownPicture.value = -1;
    clearTimeout(emptying);
    for (const end of endings) end();
  };
}

export function PicturePixels({ sheet }: { sheet: Sheet }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    forgetDepth();
    return showIn(host.current!, sheet);
  }, [sheet]);
  return (
    <div
      ref={host}
      id="pixels"
      class={percent.value >= 100 * PIXELS_FROM ? "pixels exact" : "pixels"}
      style={{ "--light": lightFilter.value }}
    />
  );
}
