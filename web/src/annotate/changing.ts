// Changes of the open picture: each is a step of its history and is saved.
import type { MarkedObject, Region } from "../shared/types";
import type { Content, ObjectId } from "./records";
import { sameRegion } from "./regions";
import { save } from "./saving";
import { show, type Sheet } from "./sheets";
import { category, chooseCategory, objects, selected, selectedId, sheet } from "./state";

/** `kind`: quick changes of one kind in a row are undone together. */
export function change(next: (content: Content) => Content, kind?: string): void {
  const open = sheet.peek();
  if (!open) return;
  const before = open.content.peek();
  open.history.record(before, kind);
  show(open, next(before));
  save(open);
}

const changeObjects = (next: (objects: MarkedObject[]) => MarkedObject[], kind?: string) =>
  change(({ objects }) => ({ done: true, objects: next(objects) }), kind);

export function addObject(region: Region): void {
  const object = { id: `new-${crypto.randomUUID()}`, category: category.peek(), region, score: null };
  changeObjects((objects) => [...objects, object]);
  selectedId.value = object.id;
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

/** The category of the selected object, and of the next. */
export function setCategory(name: string): void {
  chooseCategory(name);
  const object = selected.peek();
  if (!object || object.category === name) return;
  changeObjects((objects) => objects.map((each) => (each === object ? { ...each, category: name } : each)));
}

/** False if it is so already. */
export function setDone(done: boolean): boolean {
  if (sheet.peek()?.content.peek().done === done) return false;
  change(({ objects }) => ({ done, objects }));
  return true;
}

export const toggleDone = () => void setDone(!sheet.peek()?.content.peek().done);

export const undo = () => step((open) => open.history.undo(open.content.peek()));
export const redo = () => step((open) => open.history.redo(open.content.peek()));

function step(take: (open: Sheet) => Content | undefined): void {
  const open = sheet.peek();
  const content = open && take(open);
  if (!content) return;
  show(open, content);
  if (!selected.peek()) selectedId.value = null;
  save(open);
}
