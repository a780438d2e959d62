// Whether the server still serves what this page was opened for.
import { signal } from "@preact/signals";
import type { Changes, PictureRecord } from "../types";
import { names, project } from "../state";

/** A sentence once it does not; the page then neither asks nor saves any more. */
export const staleness = signal<string | null>(null);

const ELSEWHERE = "groupcm now serves another folder, or another file of annotations, at this address.";
const OTHER_LIST = "The list of pictures has changed since this page was opened.";

function note(isSameProject: boolean, isSameList: boolean): boolean {
  if (isSameProject && isSameList) return false;
  staleness.value ??= isSameProject ? OTHER_LIST : ELSEWHERE;
  return true;
}

export const areStale = (changes: Changes) =>
  note(changes.project === project.peek()!.project, changes.list === project.peek()!.list);

export const isStale = (picture: number, record: PictureRecord) =>
  note(record.project === project.peek()!.project, record.name === names.peek()[picture]);
