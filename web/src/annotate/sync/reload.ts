// Reloading a stale page; unsaved changes are stored in the session and saved afterwards.
import { get } from "../../shared/api";
import { notify } from "../../shared/Notices";
import { names, project, sheet } from "../state";
import type { Content, PictureRecord } from "../types";
import { record as recordStep } from "../undoHistory";
import { allowLeaving, save, unsavedSheets } from "./saving";
import { applyRecord, hasSameContent, sheetOf, show } from "./sheets";

const STORAGE_KEY = "groupcm-annotate-unsaved";

interface Stored {
  project: string;
  open: string | null;
  unsaved: { name: string; content: Content; own: Content[] }[];
}

export function reload(): void {
  const stored: Stored = {
    project: project.peek()!.project,
    open: sheet.peek()?.name ?? null,
    unsaved: unsavedSheets().map(({ name, content, own }) => ({ name, content: content.peek(), own })),
  };
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
    allowLeaving();
  } catch {
    // The storage is full: the browser asks the user before it leaves the page.
  }
  window.history.replaceState(null, "", "/");
  window.location.reload();
}

/** Save what was stored before a reload, if it belongs to this project; return the picture that was open. */
export async function restoreUnsaved(): Promise<number> {
  const text = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  if (text === null) return -1;
  const stored = JSON.parse(text) as Stored;
  const isSame = stored.project === project.peek()!.project;
  const lost: string[] = [];
  for (const { name, content, own } of stored.unsaved) {
    if (!(isSame && (await saveAgain(names.peek().indexOf(name), content, own)))) lost.push(name);
  }
  if (lost.length) notify(`Not saved: the last change of ${lost.join(", ")}.`, { isError: true });
  return isSame && stored.open !== null ? names.peek().indexOf(stored.open) : -1;
}

async function saveAgain(picture: number, content: Content, own: Content[]): Promise<boolean> {
  if (picture < 0) return false;
  const record = await get<PictureRecord>(`/api/pictures/${picture}`).catch(() => null);
  if (record === null || !own.some((each) => hasSameContent(record, each))) return false;
  applyRecord(picture, record);
  const opened = sheetOf(picture)!;
  recordStep(opened, opened.content.peek());
  show(opened, content);
  save(opened);
  return true;
}
