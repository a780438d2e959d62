// Colours and numbers of categories. The colours are light, distinct on tissue and safe for colour-blind users.
import { categories } from "./state";

const COLOURS: readonly `#${string}`[] = [
  "#4fd1e8",
  "#f5e04a",
  "#57d98b",
  "#b79bff",
  "#f4f6f8",
  "#6ea8ff",
  "#c6f04f",
  "#ff9ed8",
  "#ffb257",
];

export const numberOf = (category: string) => categories.value.indexOf(category) + 1;
export const colourOf = (category: string) => colourAt(Math.max(0, numberOf(category) - 1));

const GOLDEN_ANGLE = 137.508;

/** After the hand-picked colours, step the hue by the golden angle, which keeps neighbours far apart. */
function colourAt(place: number): `#${string}` {
  if (place < COLOURS.length) return COLOURS[place]!;
  return fromHue((place * GOLDEN_ANGLE) % 360, 0.75, place % 2 ? 0.8 : 0.7);
}

/** Convert hue (in degrees), saturation and lightness to a hexadecimal colour. */
function fromHue(hue: number, saturation: number, lightness: number): `#${string}` {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const at = (offset + hue / 30) % 12;
    const value = lightness - spread * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}
