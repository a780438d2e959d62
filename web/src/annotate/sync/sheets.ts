// The pictures that were opened: their content, and the version the server has.
import { signal, type Signal } from "@preact/signals";
import type { MarkedObject } from "../../shared/types";
import { forget } from "../undoHistory";
import type { Content, PictureRecord } from "../types";
import { setSummary } from "../state";

export interface Sheet {
  picture: number;
  name: string;
  width: number;
  height: number;
  version: number;
  /** What the server may have if nobody else changed it: what it confirmed last, and what was sent since. */
  own: Content[];
  content: Signal<Content>;
}

const sheets = new Map<number, Sheet>();

export const sheetOf = (picture: number) => sheets.get(picture);
export const allSheets = () => [...sheets.values()];

/** Take what the server has, which cannot be undone here. True if it differs from what was shown. */
export function takeRecord(picture: number, record: PictureRecord): boolean {
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
  if (saysTheSame(before, record)) return false;
  forget(known);
  show(known, { done, objects });
  return true;
}

export function show(sheet: Sheet, content: Content): void {
  sheet.content.value = content;
  setSummary(sheet.picture, { done: content.done, objects: content.objects.length });
}

/** Equal but for the ids, which the server may replace by its own. */
const isSameObject = (one: MarkedObject, other: MarkedObject) => inWords(one) === inWords(other);

const inWords = ({ category, region }: MarkedObject) =>
  JSON.stringify([category, region.type, ...Object.entries(region).sort(([a], [b]) => (a < b ? -1 : 1))]);

export function saysTheSame(one: Content, other: Content): boolean {
  return (
    one.done === other.done &&
    one.objects.length === other.objects.length &&
    one.objects.every((object, place) => isSameObject(object, other.objects[place]!))
  );
}

/**
 * The newer content with the changes of objects that were made here since `base`; null if that changes nothing.
 *
 * What is newer is never lost: an object that was changed on both sides is kept in both versions, and the
 * picture is not done, as nobody has seen it so.
 */
export function merged(base: Content, mine: Content, newer: Content): Content | null {
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
  return saysTheSame({ ...newer, done: false }, content) ? null : content;
}
