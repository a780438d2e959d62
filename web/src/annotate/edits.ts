// Edits of the open picture; each is recorded for undo and saved.
import { notify } from "../shared/Notices";
import type { MarkedObject, Region } from "../shared/types";
import { openPicture } from "./navigation";
import { sameRegion } from "./stage/regions";
import { category, chooseCategory, chosen, current, objects, selectDrawn, selected, selectedId, sheet } from "./state";
import { save } from "./sync/saving";
import { show } from "./sync/sheets";
import { mustFinishDrawing } from "./tools/drafts";
import type { Content, ObjectId } from "./types";
import { popRedo, popUndo, record, type Step } from "./undoHistory";

/** Apply a change. Rapid consecutive changes of the same `kind` are undone together. */
export function change(next: (content: Content) => Content, kind?: string): void {
  const open = sheet.peek();
  if (!open) return;
  const before = open.content.peek();
  record(open, before, kind);
  show(open, next(before));
  save(open);
}

/** Change the objects. Adding the first or deleting the last one resets Done. */
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

/** Set the category of the object that the user has selected, or else of the next object. */
export function setCategory(name: string): void {
  const object = chosen.peek();
  if (!object) return void chooseCategory(name);
  if (object.category === name) return;
  changeObjects((objects) => objects.map((each) => (each === object ? { ...each, category: name } : each)));
}

/** Set Done; return false if it is set already. */
export function setDone(done: boolean): boolean {
  if (sheet.peek()?.content.peek().done === done) return false;
  change(({ objects }) => ({ done, objects }));
  return true;
}

export const undo = () => mustFinishDrawing() || restore(popUndo(), "Undone");
export const redo = () => mustFinishDrawing() || restore(popRedo(), "Redone");

/** Restore a step; a step of another picture opens that picture, so that the change is visible. */
function restore(step: Step | undefined, word: string): void {
  if (!step) return;
  const { sheet: changed, content } = step;
  show(changed, content);
  save(changed);
  if (changed.picture === current.peek()) {
    if (!selected.peek()) selectedId.value = null;
    return;
  }
  void openPicture(changed.picture);
  notify(`${word} in ${changed.name}.`, { kind: "undo" });
}
