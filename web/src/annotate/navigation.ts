// Navigation between pictures: the address names the open one; its neighbours are prefetched.
import { get, isLargePicture, pixelsOf, previewOf, Refusal } from "../shared/api";
import { notify } from "../shared/Notices";
import { detectStaleness, staleness } from "../shared/staleness";
import { isToCorrect, isToDo, listing } from "./pictureList";
import { current, names, pictureProblem, project, selectedId, setSummary, sheet, summaries } from "./state";
import { isUnsaved } from "./sync/saving";
import { applyRecord, sheetOf } from "./sync/sheets";
import { mustFinishDrawing } from "./tools/drafts";
import type { PictureRecord } from "./types";

export async function openPicture(picture: number): Promise<void> {
  if (picture === current.peek() && sheet.peek()) return;
  if (mustFinishDrawing()) return setAddress(current.peek());
  current.value = picture;
  selectedId.value = null;
  pictureProblem.value = null;
  sheet.value = sheetOf(picture) ?? null;
  setAddress(picture);
  await refresh(picture);
  if (current.peek() !== picture) return;
  sheet.value = sheetOf(picture) ?? null;
  for (const neighbour of neighbours(picture)) void prefetch(neighbour);
}

/**
 * Fetch the server's version of a picture if it may be newer and nothing here is unsaved.
 *
 * `isExpected`: this page itself requested the change, such as an import, and need not report it.
 */
export async function refresh(picture: number, isExpected = false): Promise<void> {
  const known = sheetOf(picture);
  if (staleness.peek() !== null) return;
  if (known && (known.version >= summaries.peek()[picture]!.version || isUnsaved(picture))) return;
  try {
    const record = await get<PictureRecord>(`/api/pictures/${picture}`);
    const isSameProject = record.project === project.peek()!.project;
    if (detectStaleness(isSameProject, record.name === names.peek()[picture])) return;
    if (isUnsaved(picture) || record.version < (sheetOf(picture)?.version ?? 0)) return;
    const isChanged = applyRecord(picture, record);
    if (isChanged && !isExpected && picture === current.peek()) {
      notify(`${record.name} was changed elsewhere; the newer version is shown.`, { isError: true });
    }
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) setSummary(picture, { error: error.message });
    if (picture === current.peek() && !known) pictureProblem.value = (error as Error).message;
  }
}

async function prefetch(picture: number): Promise<void> {
  await refresh(picture);
  const known = sheetOf(picture);
  if (known && isLargePicture(known)) new Image().src = previewOf(picture);
  new Image().src = pixelsOf(picture);
}

function neighbours(picture: number): number[] {
  const list = listing.peek();
  const place = list.indexOf(picture);
  return [list[place + 1], list[place - 1]].filter((each) => each !== undefined);
}

export function go(steps: number): void {
  const list = listing.peek();
  const place = Math.min(list.length - 1, Math.max(0, list.indexOf(current.peek()) + steps));
  if (list[place] !== undefined) void openPicture(list[place]);
}

/** Return the next picture of the list to correct, or else to do, wrapping around at the end. */
export function nextToDo(): number | undefined {
  const list = listing.peek();
  const place = list.indexOf(current.peek());
  return firstToDo([...list.slice(place + 1), ...list.slice(0, Math.max(0, place))]);
}

function firstToDo(list: readonly number[]): number | undefined {
  const about = (picture: number) => summaries.peek()[picture]!;
  return list.find((each) => isToCorrect(about(each))) ?? list.find((each) => isToDo(about(each)));
}

export function openFirstToDo(): void {
  const first = firstToDo(listing.peek()) ?? listing.peek()[0];
  if (first !== undefined) void openPicture(first);
}

const setAddress = (picture: number) => window.history.replaceState(null, "", `#${picture}`);

export function pictureInAddress(): number {
  const digits = /^#(\d+)$/.exec(window.location.hash)?.[1];
  const picture = digits === undefined ? -1 : Number(digits);
  return picture < names.peek().length ? picture : -1;
}
