// A chip in the colour of a category, with its number.
import { colourOf, numberOf } from "../categoryColours";

export function CategoryChip({ category }: { category: string }) {
  return (
    <span class="chip number" style={{ background: colourOf(category) }}>
      {numberOf(category) || "?"}
    </span>
  );
}
