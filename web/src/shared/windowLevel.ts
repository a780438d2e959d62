// Window and level: which values of the picture are shown black and white.
//
// Both are percentages of the range in which the picture is shown by default (all values of an 8-bit
// picture; those between the percentiles of a deeper one). A filter of the browser shows them at once;
// a deeper picture is then rendered anew by the server, which has all of its values.
import { computed, effect, signal } from "@preact/signals";
import { get, pixelsOf } from "./api";

export const USUAL = { window: 100, level: 50 };
const REST_MS = 200;

export const windowPercent = signal(USUAL.window);
export const levelPercent = signal(USUAL.level);
export const isUsual = computed(
  () => windowPercent.value === USUAL.window && levelPercent.value === USUAL.level,
);

export function resetWindow(): void {
  windowPercent.value = USUAL.window;
  levelPercent.value = USUAL.level;
}

/** Black and white as fractions of the default range. */
interface Range {
  low: number;
  high: number;
}
const WHOLE: Range = { low: 0, high: 1 };

const wanted = computed<Range>(() => ({
  low: (levelPercent.value - windowPercent.value / 2) / 100,
  high: (levelPercent.value + windowPercent.value / 2) / 100,
}));

/** What the server knows of a picture; `low` and `high` are the values shown black and white by default. */
export interface Depth {
  bits: 8 | 16 | 32;
  low: number;
  high: number;
  width: number;
  height: number;
}

/** The picture on the stage. */
const onStage = signal<{ picture: number; depth: Depth | null } | null>(null);
export const depth = computed(() => onStage.value?.depth ?? null);

/** How the server rendered the picture on the stage; null as it does by default. */
const rendition = signal<(Range & { picture: number; address: string }) | null>(null);
export const renditionOf = (picture: number) => (rendition.value?.picture === picture ? rendition.value.address : null);

/** To be called when another picture is opened. */
export function forgetDepth(): void {
  onStage.value = null;
  rendition.value = null;
}

/** To be called when the pixels of a picture are on the stage. */
export function findDepth(picture: number): void {
  onStage.value = { picture, depth: null };
  get<Depth>(`/api/pictures/${picture}/depth`).then(
    (told) => onStage.peek()?.picture === picture && (onStage.value = { picture, depth: told }),
    () => undefined, // Whoever shows the pixels tells why they cannot be read.
  );
}

let rest: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const { low, high } = wanted.value;
  const shown = onStage.value;
  clearTimeout(rest);
  if (!shown?.depth || shown.depth.bits === 8) return;
  rest = setTimeout(() => void render(shown.picture, shown.depth!, { low, high }), REST_MS);
});

async function render(picture: number, { low, high }: Depth, range: Range): Promise<void> {
  const before = rendition.peek() ?? WHOLE;
  if (before.low === range.low && before.high === range.high) return;
  if (isUsual.peek()) return void (rendition.value = null);
  const value = (share: number) => low + share * (high - low);
  const address = `${pixelsOf(picture)}?low=${value(range.low)}&high=${value(range.high)}`;
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch {
    return; // The filter goes on showing the window.
  }
  if (onStage.peek()?.picture === picture) rendition.value = { picture, address, ...range };
}

/**
 * The filter that shows the wanted window of what is rendered.
 *
 * With black at l and white at h, y = (x − l) / (h − l) is both brightness(1 / (l + h)) after which
 * contrast((l + h) / (h − l)), and contrast(1 / (1 − 2l)) after which brightness((1 − 2l) / (h − l)).
 * The first loses nothing between its steps where l + h ≥ 1, the second elsewhere.
 */
export const lightFilter = computed(() => {
  const rendered = rendition.value ?? WHOLE;
  const at = (share: number) => (share - rendered.low) / (rendered.high - rendered.low);
  const [l, h] = [at(wanted.value.low), at(wanted.value.high)];
  // No filter at all where none is needed: it costs time at every frame.
  if (Math.abs(l) < 1e-9 && Math.abs(h - 1) < 1e-9) return "none";
  const short = (value: number) => Number(value.toPrecision(6));
  return l + h >= 1
    ? `brightness(${short(1 / (l + h))}) contrast(${short((l + h) / (h - l))})`
    : `contrast(${short(1 / (1 - 2 * l))}) brightness(${short((1 - 2 * l) / (h - l))})`;
});

/** The values shown black and white, in the picture's own numbers. */
export const shownValues = computed(() => {
  const { low, high, bits } = depth.value ?? { low: 0, high: 255, bits: 8 };
  const told = (share: number) => {
    const value = low + share * (high - low);
    return bits === 32 ? value.toPrecision(3) : Math.round(value).toLocaleString("en");
  };
  return `black at ${told(wanted.value.low)}, white at ${told(wanted.value.high)}`;
});
