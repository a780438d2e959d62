// How many tiles of the wall stand side by side and one above the other.

const grid = () => document.querySelector<HTMLElement>("#wall .virtual-grid-cells");

export function columnsOfWall(): number {
  const columns = grid()?.style.gridTemplateColumns ?? "";
  return Math.max(1, Number(/repeat\((\d+)/.exec(columns)?.[1] ?? 1));
}

export function rowsOfWall(): number {
  const cells = grid();
  const row = Number.parseFloat(cells?.style.gridAutoRows ?? "");
  const height = cells?.closest(".virtual-grid")?.clientHeight ?? 0;
  return Math.max(1, Math.floor(height / row) || 1);
}
