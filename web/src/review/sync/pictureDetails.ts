// Candidates of pictures from the server; a few are kept, so that going back and on is at once.
import { get, pixelsOf, Refusal } from "../../shared/api";
import { Outdated } from "./staleness";
import { names, results } from "../state";
import type { Explanation, ScoredPicture } from "../types";

const KEPT = 12;
const kept = new Map<number, Promise<ScoredPicture>>();

export function askForPicture(picture: number): Promise<ScoredPicture> {
  const answer = ask(picture, kept.get(picture));
  kept.delete(picture);
  kept.set(picture, answer);
  answer.catch(() => kept.get(picture) === answer && kept.delete(picture));
  for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
  return answer;
}

/** What is known already is taken if the server says that the file is still the same. */
async function ask(picture: number, before?: Promise<ScoredPicture>): Promise<ScoredPicture> {
  const known = await before?.catch(() => undefined);
  const since = known ? `?known=${encodeURIComponent(known.stamp)}` : "";
  const told = await get<ScoredPicture | { unchanged: true }>(`/api/pictures/${picture}${since}`);
  if ("unchanged" in told) return known!;
  if (told.name !== names.value[picture]) throw new Outdated();
  return told;
}

/** Browsers show an address that they have shown before as it was; another file has another one. */
export const pixelsAt = (picture: number, stamp: string | null | undefined) =>
  stamp ? `${pixelsOf(picture)}?v=${encodeURIComponent(stamp)}` : pixelsOf(picture);

export function askAhead(picture: number): void {
  new Image().src = pixelsAt(picture, results.value[picture]?.stamp);
  askForPicture(picture).catch(() => undefined);
}

const CANNOT_BE_EXPLAINED = 422;
let refused: Refusal | null = null;

/** A model whose scores are no sums over features is asked only once. */
export async function askForExplanation(picture: number, candidate: number): Promise<Explanation> {
  if (refused) throw refused;
  try {
    return await get<Explanation>(`/api/pictures/${picture}/explanation?candidate=${candidate}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === CANNOT_BE_EXPLAINED) refused = error;
    throw error;
  }
}
