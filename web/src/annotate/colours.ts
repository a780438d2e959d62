// Colours of categories: light, told apart on tissue and by the colour-blind; a number goes with each.
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
export const colourOf = (category: string) => COLOURS[Math.max(0, numberOf(category) - 1) % COLOURS.length]!;
