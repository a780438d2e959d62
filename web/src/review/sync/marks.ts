// Annotations to correct: errors that the reviewer marks, each with a note if there is one.
import { request } from "../../shared/api";
import { tellError } from "../../shared/Notices";
import { rethrow } from "./staleness";
import { refresh } from "./polling";
import { names, project, results, threshold } from "../state";
import type { Mark } from "../types";

export const markOf = (picture: number): Mark | null => results.value[picture]?.mark ?? null;

interface Change {
  note: string;
  /** By which the picture has the outcome that is shown. */
  threshold: number;
}

async function change(method: "PUT" | "DELETE", picture: number, body?: Change): Promise<void> {
  // So that a server that has begun anew knows what is meant by the number.
  const meant = { project: project.value?.project, name: names.value[picture] };
  try {
    await request(method, `/api/pictures/${picture}/mark`, { ...meant, ...body }).catch(rethrow);
    await refresh();
  } catch (error) {
    tellError(error);
  }
}

export const setNote = (picture: number, note: string) =>
  change("PUT", picture, { note, threshold: threshold.value });

export async function toggleMark(picture: number | null): Promise<void> {
  if (picture === null) return;
  await (markOf(picture) ? change("DELETE", picture) : setNote(picture, ""));
}
