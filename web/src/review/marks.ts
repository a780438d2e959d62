// Annotations to correct: errors that the reviewer marks, each with a note if there is one.
import { request } from "../shared/api";
import { tellError } from "../shared/notices";
import { refresh } from "./loading";
import { results } from "./state";
import type { Mark } from "./types";

export const markOf = (picture: number): Mark | null => results.value[picture]?.mark ?? null;

async function change(method: "PUT" | "DELETE", picture: number, body?: { note: string }): Promise<void> {
  try {
    await request(method, `/api/pictures/${picture}/mark`, body);
    await refresh();
  } catch (error) {
    tellError(error);
  }
}

export const setNote = (picture: number, note: string) => change("PUT", picture, { note });

export async function toggleMark(picture: number | null): Promise<void> {
  if (picture === null) return;
  await (markOf(picture) ? change("DELETE", picture) : setNote(picture, ""));
}
