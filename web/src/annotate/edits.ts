// Changes of the open picture: each can be undone and is saved.
import { tell } from "../shared/Notices";
import type { MarkedObject, Region } from "../shared/types";
import { record, takeRedone, takeUndone, type Step } from "./undoHistory";
import { openPicture } from "./navigation";
import type { Content, ObjectId } from "./types";
import { sameRegion } from "./stage/regions";
import { save } from "./sync/saving";
import { show } from "./sync/sheets";
import { category, chooseCategory, chosen, current, objects, selectDrawn, selected, selectedId, sheet } from "./state";
import { mustFinishDrawing } from "./tools/drafts";

/** `kind`: quick changes of one kind in a row are undone together. */
export function change(next: (content: Content) => Content, kind?: string): void {
  const open = sheet.peek();
  if (!open) return;
  const before = open.content.peek();
  record(open, before, kind);
  show(open, next(before));
  save(open);
}

/** A first object contradicts "no object here", and a last one deleted does not say so: both undo Done. */
const changeObjects = (next: (objects: MarkedObject[]) => MarkedObject[], kind?: string) =>
  change(({ done, objects }) => {
    const after = next(objects);
    return { done: done && objects.length > 0 === after.length > 0, objects: after };
  }, kind);

export function addObject(region: Region): void {
  const object = { id: `new-${crypto.randomUUID()}`, category: category.peek(), region, score: null };
  changeObjects((objects) => [...objects, object]);
  selectDrawn(object.id);
}

export function setRegion(id: ObjectId, region: Region, kind?: string): void {
  const before = objects.peek().find((each) => each.id === id);
  if (!before || sameRegion(before.region, region)) return;
  changeObjects((objects) => objects.map((each) => (each.id === id ? { ...each, region } : each)), kind);
}

export function deleteObject(id: ObjectId): void {
  changeObjects((objects) => objects.filter((each) => each.id !== id));
  if (selectedId.peek() === id) selectedId.value = null;
}

/** Set the category of the object that the user selected, else of the next one. */
export function setCategory(name: string): void {
  const object = chosen.peek();
  if (!object) return void chooseCategory(name);
  if (object.category === name) return;
  changeObjects((objects) => objects.map((each) => (each === object ? { ...each, category: name } : each)));
}

/** False if it is so already. */
export function setDone(done: boolean): boolean {
  if (sheet.peek()?.content.peek().done === done) return false;
  change(({ objects }) => ({ done, objects }));
  return true;
}

export const undo = () => mustFinishDrawing() || take(takeUndone(), "Undone");
export const redo = () => mustFinishDrawing() || take(takeRedone(), "Redone");

/** A step of another picture shows that picture, so that nothing changes unseen. */
function take(step: Step | undefined, word: string): void {
  if (!step) return;
  const { sheet: changed, content } = step;
  show(changed, content);
  save(changed);
  if (changed.picture === current.peek()) {
    if (!selected.peek()) selectedId.value = null;
    return;
  }
  void openPicture(changed.picture);
  tell(`${word} in ${changed.name}.`, { kind: "undo" });
}
