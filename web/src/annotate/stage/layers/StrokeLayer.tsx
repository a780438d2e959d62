// The layer of the brush stroke in progress, drawn pixel by pixel.
import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { colourOf } from "../../categoryColours";
import { category, sheet } from "../../state";
import { dirtyRectangle } from "../../tools/brush";
import { stroke } from "../../tools/drafts";

const OPACITY = 120;

export function StrokeLayer() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const painted = stroke.value;
    const dirty = dirtyRectangle.value;
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    if (!painted || !dirty) return context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    const [width, height] = [dirty.right - dirty.left, dirty.bottom - dirty.top];
    if (width < 1 || height < 1) return;
    const image = context.createImageData(width, height);
    const colour = colourOf(painted.object?.category ?? category.peek());
    const paint = new Uint32Array(new Uint8ClampedArray([...parts(colour), OPACITY]).buffer)[0]!;
    const painting = new Uint32Array(image.data.buffer);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const isInside = painted.bitmap.pixels[(y + dirty.top) * painted.bitmap.width + x + dirty.left];
        if (isInside) painting[y * width + x] = paint;
      }
    }
    context.putImageData(image, dirty.left, dirty.top);
  });
  return (
    <canvas
      ref={canvas}
      class="layer strokes"
      width={sheet.value?.width ?? 1}
      height={sheet.value?.height ?? 1}
      aria-hidden="true"
    />
  );
}

const parts = (colour: string) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
