// Marks on annotations that are to be corrected, each with an optional note.
import { Refusal, request } from "../../shared/api";
import { notifyError } from "../../shared/Notices";
import { OTHER_PROJECT_STATUS, StaleError } from "../../shared/staleness";
import { names, project, results, threshold } from "../state";
import type { Mark } from "../types";
import { refresh } from "./polling";

export const markOf = (picture: number): Mark | null => results.value[picture]?.mark ?? null;

interface Change {
  note: string;
  /** The threshold at which the picture has the outcome that is shown. */
  threshold: number;
}

async function change(method: "PUT" | "DELETE", picture: number, body?: Change): Promise<void> {
  // A restarted server may number its pictures differently: the name identifies the picture.
  const identity = { project: project.value?.project, name: names.value[picture] };
  try {
    await request(method, `/api/pictures/${picture}/mark`, { ...identity, ...body });
    await refresh();
  } catch (error) {
    const isStale = error instanceof Refusal && error.status === OTHER_PROJECT_STATUS;
    notifyError(isStale ? new StaleError(error.message) : error);
  }
}

export const setNote = (picture: number, note: string) =>
  change("PUT", picture, { note, threshold: threshold.value });

export async function toggleMark(picture: number | null): Promise<void> {
  if (picture === null) return;
  await (markOf(picture) ? change("DELETE", picture) : setNote(picture, ""));
}
