// A page that is out of date loads itself anew; what it could not save comes along.
import { get } from "../../shared/api";
import { tell } from "../../shared/Notices";
import { record as recordStep } from "../undoHistory";
import type { Content, PictureRecord } from "../types";
import { leaveFreely, save, unsavedSheets } from "./saving";
import { saysTheSame, sheetOf, show, takeRecord } from "./sheets";
import { names, project, sheet } from "../state";

const KEY = "groupcm-annotate-unsaved";

interface Kept {
  project: string;
  open: string | null;
  unsaved: { name: string; content: Content; own: Content[] }[];
}

export function reload(): void {
  const kept: Kept = {
    project: project.peek()!.project,
    open: sheet.peek()?.name ?? null,
    unsaved: unsavedSheets().map(({ name, content, own }) => ({ name, content: content.peek(), own })),
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
    leaveFreely();
  } catch {
    // There is no room for it: the browser asks before it leaves.
  }
  window.history.replaceState(null, "", "/");
  window.location.reload();
}

/** Save what an earlier page kept, if it is of this project; the number of the picture it had open. */
export async function resume(): Promise<number> {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (text === null) return -1;
  const kept = JSON.parse(text) as Kept;
  const isSame = kept.project === project.peek()!.project;
  const lost: string[] = [];
  for (const { name, content, own } of kept.unsaved) {
    if (!(isSame && (await saveAgain(names.peek().indexOf(name), content, own)))) lost.push(name);
  }
  if (lost.length) tell(`Not saved: the last change of ${lost.join(", ")}.`, { bad: true });
  return isSame && kept.open !== null ? names.peek().indexOf(kept.open) : -1;
}

async function saveAgain(picture: number, content: Content, own: Content[]): Promise<boolean> {
  if (picture < 0) return false;
  const record = await get<PictureRecord>(`/api/pictures/${picture}`).catch(() => null);
  if (record === null || !own.some((each) => saysTheSame(record, each))) return false;
  takeRecord(picture, record);
  const opened = sheetOf(picture)!;
  recordStep(opened, opened.content.peek());
  show(opened, content);
  save(opened);
  return true;
}
