// Sheets: pictures that have been opened, with their content and the version on the server.
import { signal, type Signal } from "@preact/signals";
import type { MarkedObject } from "../../shared/types";
import { setSummary } from "../state";
import type { Content, PictureRecord } from "../types";
import { clearHistory } from "../undoHistory";

export interface Sheet {
  picture: number;
  name: string;
  width: number;
  height: number;
  version: number;
  /** Contents that the server may have unless another page changed it: the last confirmed one and those sent since. */
  own: Content[];
  content: Signal<Content>;
}

const sheets = new Map<number, Sheet>();

export const sheetOf = (picture: number) => sheets.get(picture);
export const allSheets = () => [...sheets.values()];

/** Apply the server's version, which cannot be undone; return whether it differs from what was shown. */
export function applyRecord(picture: number, record: PictureRecord): boolean {
  const { name, width, height, version, done, objects } = record;
  const known = sheets.get(picture);
  if (!known) {
    const content = signal<Content>({ done, objects });
    const own = [content.peek()];
    sheets.set(picture, { picture, name, width, height, version, own, content });
    return false;
  }
  known.version = version;
  known.own = [{ done, objects }];
  const before = known.content.peek();
  if (hasSameContent(before, record)) return false;
  clearHistory(known);
  show(known, { done, objects });
  return true;
}

export function show(sheet: Sheet, content: Content): void {
  sheet.content.value = content;
  setSummary(sheet.picture, { done: content.done, objects: content.objects.length });
}

/** Return whether objects are equal except for their ids, which the server may replace. */
const isSameObject = (one: MarkedObject, other: MarkedObject) => contentKey(one) === contentKey(other);

const contentKey = ({ category, region }: MarkedObject) =>
  JSON.stringify([category, region.type, ...Object.entries(region).sort(([a], [b]) => (a < b ? -1 : 1))]);

export function hasSameContent(one: Content, other: Content): boolean {
  return (
    one.done === other.done &&
    one.objects.length === other.objects.length &&
    one.objects.every((object, place) => isSameObject(object, other.objects[place]!))
  );
}

/**
 * Merge the changes of objects made here since `base` into the newer content; return null if there are none.
 *
 * Nothing of the newer content is lost: an object changed on both sides is kept in both versions. The
 * picture is not done, since the merged content has not been verified.
 */
export function merge(base: Content, mine: Content, newer: Content): Content | null {
  let objects = [...newer.objects];
  for (const before of base.objects) {
    const after = mine.objects.find(({ id }) => id === before.id);
    const place = objects.findIndex((each) => isSameObject(each, before));
    if (place < 0 || (after && isSameObject(before, after))) continue;
    const { id } = objects[place]!;
    objects.splice(place, 1, ...(after ? [{ ...after, id }] : []));
  }
  const isKnown = (object: MarkedObject) => [...base.objects, ...objects].some((each) => isSameObject(each, object));
  const added = mine.objects.filter((object) => !isKnown(object));
  objects = [...objects, ...added.map((object) => ({ ...object, id: `new-${crypto.randomUUID()}` }))];
  const content = { done: false, objects };
  return hasSameContent({ ...newer, done: false }, content) ? null : content;
}
