// Every key of the page.
import { helpIsOpen } from "../shared/ShortcutHelp";
import type { Key } from "../shared/keyboard";
import { panelKeys } from "../shared/SidePanels";
import { nextTheme } from "../shared/ThemeButton";
import { resetWindow } from "../shared/windowLevel";
import { close, go, open } from "./navigation";
import { select, selectWeaker, showsCandidates, showsTruth } from "./detail/openPicture";
import { toggleMark } from "./sync/marks";
import { resetThreshold, stepThreshold } from "./threshold";
import { fitToStage, zoom } from "./detail/viewport";
import { chosenOrder, current, filter, isLarge, order, pictureAt, shown } from "./state";
import { offeredFilters, offeredOrders } from "./wall/WallToolbar";
import { columnsOfWall, rowsOfWall } from "./wallSize";

const focus = (id: string) => document.getElementById(id)?.focus();

const move = (places: number) => () => go(pictureAt(places));

const always: Key[] = [
  { section: "Pictures", keys: ["j"], does: "Next picture", run: move(1) },
  { section: "Pictures", keys: ["k"], does: "Previous picture", run: move(-1) },
  { section: "Pictures", keys: ["Home"], does: "First picture", run: () => go(shown.value[0]) },
  { section: "Pictures", keys: ["End"], does: "Last picture", run: () => go(shown.value.at(-1)) },
  { section: "Marks", keys: ["m"], does: "Mark to correct, or unmark", run: () => void toggleMark(current.value) },
  { section: "Threshold", keys: [","], does: "Lower", run: () => stepThreshold(-1) },
  { section: "Threshold", keys: ["."], does: "Raise", run: () => stepThreshold(1) },
  { section: "Threshold", keys: ["<", ";"], does: "Lower by ten steps", run: () => stepThreshold(-10) },
  { section: "Threshold", keys: [">", ":"], does: "Raise by ten steps", run: () => stepThreshold(10) },
  { section: "Threshold", keys: ["r"], does: "Back to the model’s", run: resetThreshold },
  { section: "Threshold", keys: ["s"], does: "To the slider (then arrows)", run: () => focus("threshold") },
  ...panelKeys({ left: "Threshold and counts" }).map((key) => ({ section: "Page", ...key })),
  { section: "Page", keys: ["d"], does: "Light, dark or as the system", run: nextTheme },
  { section: "Page", keys: ["?"], does: "Keys", run: () => (helpIsOpen.value = true) },
];

const onWall: Key[] = [
  { section: "Wall", keys: ["Enter"], does: "Show large", run: () => current.value !== null && open(current.value) },
  { section: "Wall", keys: ["ArrowRight"], does: "Right", run: move(1) },
  { section: "Wall", keys: ["ArrowLeft"], does: "Left", run: move(-1) },
  { section: "Wall", keys: ["ArrowDown"], does: "Down", run: () => go(pictureAt(columnsOfWall())) },
  { section: "Wall", keys: ["ArrowUp"], does: "Up", run: () => go(pictureAt(-columnsOfWall())) },
  { section: "Wall", keys: ["PageDown"], does: "A page down", run: () => go(pictureAt(columnsOfWall() * rowsOfWall())) },
  { section: "Wall", keys: ["PageUp"], does: "A page up", run: () => go(pictureAt(-columnsOfWall() * rowsOfWall())) },
  { section: "Wall", keys: ["/"], does: "Search by name", run: () => focus("search") },
  { section: "Wall", keys: ["f"], does: "Next filter", run: () => (filter.value = next(offeredFilters(), filter.value)) },
  { section: "Wall", keys: ["o"], does: "Next order", run: () => (chosenOrder.value = next(offeredOrders(), order.value)) },
];

const onLarge: Key[] = [
  { section: "One picture", keys: ["Escape"], does: "Back to the wall", run: close },
  { section: "One picture", keys: ["ArrowRight"], does: "Next picture", run: move(1) },
  { section: "One picture", keys: ["ArrowLeft"], does: "Previous picture", run: move(-1) },
  { section: "One picture", keys: ["ArrowDown"], does: "Next weaker candidate", run: () => selectWeaker(1) },
  { section: "One picture", keys: ["ArrowUp"], does: "Next stronger candidate", run: () => selectWeaker(-1) },
  { section: "One picture", keys: ["w"], does: "Select the winner", run: () => select(null) },
  { section: "One picture", keys: ["c"], does: "Candidates on or off", run: () => (showsCandidates.value = !showsCandidates.value) },
  { section: "One picture", keys: ["t"], does: "Truth on or off", run: () => (showsTruth.value = !showsTruth.value) },
  { section: "One picture", keys: ["n"], does: "Write a note", run: () => focus("note") },
  { section: "One picture", keys: ["+", "="], does: "Larger", run: () => zoom(1.4) },
  { section: "One picture", keys: ["-"], does: "Smaller", run: () => zoom(1 / 1.4) },
  { section: "One picture", keys: ["0"], does: "Fit", run: fitToStage },
  { section: "One picture", keys: ["x"], does: "Window and level as usual", run: resetWindow },
  ...panelKeys({ right: "About this picture" }).map((key) => ({ section: "One picture", ...key })),
];

function next<Item>(items: readonly Item[], item: Item): Item {
  return items[(items.indexOf(item) + 1) % items.length]!;
}

export const ALL_KEYS: readonly Key[] = [...always, ...onWall, ...onLarge];

export const keysNow = (): readonly Key[] => [...always, ...(isLarge.value ? onLarge : onWall)];
