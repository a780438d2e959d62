// The keyboard shortcuts of the review page.
import type { Shortcut } from "../shared/keyboard";
import { helpIsOpen } from "../shared/ShortcutHelp";
import { panelShortcuts } from "../shared/SidePanels";
import { nextTheme } from "../shared/ThemeButton";
import { fit, zoomBy } from "../shared/viewport";
import { resetWindow } from "../shared/windowLevel";
import { candidatesAreShown, select, selectWeaker, truthIsShown } from "./detail/openPicture";
import { close, go, open } from "./navigation";
import { chosenOrder, current, filter, isLarge, order, pictureAt, shown } from "./state";
import { toggleMark } from "./sync/marks";
import { resetThreshold, stepThreshold } from "./threshold";
import { columnsOfWall, rowsOfWall } from "./wall/Wall";
import { offeredFilters, offeredOrders } from "./wall/WallToolbar";

const focus = (id: string) => document.getElementById(id)?.focus();

const move = (places: number) => () => go(pictureAt(places));

const always: Shortcut[] = [
  { section: "Pictures", keys: ["j"], title: "Next picture", run: move(1) },
  { section: "Pictures", keys: ["k"], title: "Previous picture", run: move(-1) },
  { section: "Pictures", keys: ["Home"], title: "First picture", run: () => go(shown.value[0]) },
  { section: "Pictures", keys: ["End"], title: "Last picture", run: () => go(shown.value.at(-1)) },
  { section: "Marks", keys: ["m"], title: "Mark to correct, or unmark", run: () => void toggleMark(current.value) },
  { section: "Threshold", keys: [","], title: "Lower", run: () => stepThreshold(-1) },
  { section: "Threshold", keys: ["."], title: "Raise", run: () => stepThreshold(1) },
  { section: "Threshold", keys: ["<", ";"], title: "Lower by ten steps", run: () => stepThreshold(-10) },
  { section: "Threshold", keys: [">", ":"], title: "Raise by ten steps", run: () => stepThreshold(10) },
  { section: "Threshold", keys: ["r"], title: "Reset to the model’s", run: resetThreshold },
  { section: "Threshold", keys: ["s"], title: "Focus the slider (then arrows)", run: () => focus("threshold") },
  ...panelShortcuts({ left: "Threshold and counts" }).map((each) => ({ section: "Page", ...each })),
  { section: "Page", keys: ["d"], title: "Light, dark or system theme", run: nextTheme },
  { section: "Page", keys: ["?"], title: "Keys", run: () => (helpIsOpen.value = true) },
];

const onWall: Shortcut[] = [
  { section: "Wall", keys: ["Enter"], title: "Show large", run: () => current.value !== null && open(current.value) },
  { section: "Wall", keys: ["ArrowRight"], title: "Right", run: move(1) },
  { section: "Wall", keys: ["ArrowLeft"], title: "Left", run: move(-1) },
  { section: "Wall", keys: ["ArrowDown"], title: "Down", run: () => go(pictureAt(columnsOfWall())) },
  { section: "Wall", keys: ["ArrowUp"], title: "Up", run: () => go(pictureAt(-columnsOfWall())) },
  { section: "Wall", keys: ["PageDown"], title: "A page down", run: () => go(pictureAt(columnsOfWall() * rowsOfWall())) },
  { section: "Wall", keys: ["PageUp"], title: "A page up", run: () => go(pictureAt(-columnsOfWall() * rowsOfWall())) },
  { section: "Wall", keys: ["/"], title: "Search by name", run: () => focus("search") },
  { section: "Wall", keys: ["f"], title: "Next filter", run: () => (filter.value = next(offeredFilters(), filter.value)) },
  { section: "Wall", keys: ["o"], title: "Next order", run: () => (chosenOrder.value = next(offeredOrders(), order.value)) },
];

const onLarge: Shortcut[] = [
  { section: "One picture", keys: ["Escape"], title: "Back to the wall", run: close },
  { section: "One picture", keys: ["ArrowRight"], title: "Next picture", run: move(1) },
  { section: "One picture", keys: ["ArrowLeft"], title: "Previous picture", run: move(-1) },
  { section: "One picture", keys: ["ArrowDown"], title: "Next weaker candidate", run: () => selectWeaker(1) },
  { section: "One picture", keys: ["ArrowUp"], title: "Next stronger candidate", run: () => selectWeaker(-1) },
  { section: "One picture", keys: ["w"], title: "Select the winner", run: () => select(null) },
  { section: "One picture", keys: ["c"], title: "Candidates on or off", run: () => (candidatesAreShown.value = !candidatesAreShown.value) },
  { section: "One picture", keys: ["t"], title: "Truth on or off", run: () => (truthIsShown.value = !truthIsShown.value) },
  { section: "One picture", keys: ["n"], title: "Write a note", run: () => focus("note") },
  { section: "One picture", keys: ["+", "="], title: "Zoom in", run: () => zoomBy(1.4) },
  { section: "One picture", keys: ["-"], title: "Zoom out", run: () => zoomBy(1 / 1.4) },
  { section: "One picture", keys: ["0"], title: "Fit", run: fit },
  { section: "One picture", keys: ["x"], title: "Reset window and level", run: resetWindow },
  ...panelShortcuts({ right: "About this picture" }).map((each) => ({ section: "One picture", ...each })),
];

function next<Item>(items: readonly Item[], item: Item): Item {
  return items[(items.indexOf(item) + 1) % items.length]!;
}

export const SHORTCUTS: readonly Shortcut[] = [...always, ...onWall, ...onLarge];

export const activeShortcuts = (): readonly Shortcut[] => [...always, ...(isLarge.value ? onLarge : onWall)];
