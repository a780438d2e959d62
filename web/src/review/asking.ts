// Candidates of pictures from the server; a few are kept, so that going back and on is at once.
import { get, pixelsOf, Refusal } from "../shared/api";
import type { Explanation, ScoredPicture } from "./types";

const KEPT = 12;
const kept = new Map<number, Promise<ScoredPicture>>();

export function askForPicture(picture: number): Promise<ScoredPicture> {
  const known = kept.get(picture) ?? get<ScoredPicture>(`/api/pictures/${picture}`);
  kept.delete(picture);
  kept.set(picture, known);
  known.catch(() => kept.delete(picture));
  for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
  return known;
}

export function askAhead(picture: number): void {
  new Image().src = pixelsOf(picture);
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
