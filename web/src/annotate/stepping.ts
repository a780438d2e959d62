// Tab on the stage: from object to object, or from region to larger region; then on through the page.
import { stageHasFocus } from "./stage/stageElement";
import { choose, objects, selectedId, tool } from "./state";
import { levelAfter, setLevel } from "./tools/candidate";

const placeOfSelected = () => objects.peek().findIndex(({ id }) => id === selectedId.peek());

function objectAfter(steps: number) {
  const place = placeOfSelected();
  const wanted = place < 0 && steps < 0 ? objects.peek().length - 1 : place + steps;
  return objects.peek()[wanted];
}

export function canStep(steps: number): boolean {
  if (!stageHasFocus()) return false;
  if (tool.peek() === "candidate") return levelAfter(steps) !== null;
  return tool.peek() === "select" && objectAfter(steps) !== undefined;
}

export function stepThrough(steps: number): void {
  if (tool.peek() === "candidate") setLevel(levelAfter(steps));
  else choose(objectAfter(steps)?.id ?? null);
}
