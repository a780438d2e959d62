// Window and level: which values of the picture are displayed as black and as white.
//
// Both are percentages of the default display range (all values of an 8-bit picture; the values
// between two percentiles of a picture of more bits). A CSS filter applies them immediately; a picture
// of more bits is then rendered again by the server, which has all of its values.
import { computed, effect, signal } from "@preact/signals";
import { get, pixelsOf } from "./api";

export const DEFAULTS = { window: 100, level: 50 };
const DEBOUNCE_MS = 200;

export const windowPercent = signal(DEFAULTS.window);
export const levelPercent = signal(DEFAULTS.level);
export const isDefaultWindow = computed(
  () => windowPercent.value === DEFAULTS.window && levelPercent.value === DEFAULTS.level,
);

export function resetWindow(): void {
  windowPercent.value = DEFAULTS.window;
  levelPercent.value = DEFAULTS.level;
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

/** The depth of a picture; `low` and `high` are displayed as black and white by default. */
interface Depth {
  bits: 8 | 16 | 32;
  low: number;
  high: number;
  width: number;
  height: number;
}

/** The picture on the stage, with its depth once that is known. */
const onStage = signal<{ picture: number; depth: Depth | null } | null>(null);
export const depth = computed(() => onStage.value?.depth ?? null);

/** The range with which the server rendered the picture on the stage; null for the default. */
const rendition = signal<(Range & { picture: number; address: string }) | null>(null);
export const renditionOf = (picture: number) => (rendition.value?.picture === picture ? rendition.value.address : null);

/** Clear the depth; to be called when another picture is opened. */
export function clearDepth(): void {
  onStage.value = null;
  rendition.value = null;
}

/** Fetch the depth; to be called when the pixels of a picture are on the stage. */
export function fetchDepth(picture: number): void {
  onStage.value = { picture, depth: null };
  get<Depth>(`/api/pictures/${picture}/depth`).then(
    (answer) => onStage.peek()?.picture === picture && (onStage.value = { picture, depth: answer }),
    () => undefined, // The component that shows the pixels reports why they cannot be read.
  );
}

let debounce: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const { low, high } = wanted.value;
  const shown = onStage.value;
  clearTimeout(debounce);
  if (!shown?.depth || shown.depth.bits === 8) return;
  debounce = setTimeout(() => void render(shown.picture, shown.depth!, { low, high }), DEBOUNCE_MS);
});

async function render(picture: number, { low, high }: Depth, range: Range): Promise<void> {
  const before = rendition.peek() ?? WHOLE;
  if (before.low === range.low && before.high === range.high) return;
  if (isDefaultWindow.peek()) return void (rendition.value = null);
  const value = (share: number) => low + share * (high - low);
  const address = `${pixelsOf(picture)}?low=${value(range.low)}&high=${value(range.high)}`;
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch {
    return; // The filter keeps showing the window.
  }
  if (onStage.peek()?.picture === picture) rendition.value = { picture, address, ...range };
}

/**
 * The CSS filter that maps the rendered picture to the wanted window.
 *
 * With black at l and white at h, y = (x − l) / (h − l) equals brightness(1 / (l + h)) followed by
 * contrast((l + h) / (h − l)), and also contrast(1 / (1 − 2l)) followed by brightness((1 − 2l) / (h − l)).
 * The first clips nothing between its steps if l + h ≥ 1, the second otherwise.
 */
export const lightFilter = computed(() => {
  const rendered = rendition.value ?? WHOLE;
  const at = (share: number) => (share - rendered.low) / (rendered.high - rendered.low);
  const [l, h] = [at(wanted.value.low), at(wanted.value.high)];
  // Even an identity filter costs time in every frame.
  if (Math.abs(l) < 1e-9 && Math.abs(h - 1) < 1e-9) return "none";
  const short = (value: number) => Number(value.toPrecision(6));
  return l + h >= 1
    ? `brightness(${short(1 / (l + h))}) contrast(${short((l + h) / (h - l))})`
    : `contrast(${short(1 / (1 - 2 * l))}) brightness(${short((1 - 2 * l) / (h - l))})`;
});

/** The values displayed as black and white, in the units of the picture. */
export const shownValues = computed(() => {
  const { low, high, bits } = depth.value ?? { low: 0, high: 255, bits: 8 };
  const valueText = (share: number) => {
    const value = low + share * (high - low);
    return bits === 32 ? value.toPrecision(3) : Math.round(value).toLocaleString("en");
  };
  return `black at ${valueText(wanted.value.low)}, white at ${valueText(wanted.value.high)}`;
});
