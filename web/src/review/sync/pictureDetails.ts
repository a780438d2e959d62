// Candidates and explanations of single pictures; the latest are cached, so that going back is instant.
import { get, pixelsOf, Refusal } from "../../shared/api";
import { StaleError } from "../../shared/staleness";
import { names, results } from "../state";
import type { Explanation, ScoredPicture } from "../types";

const CACHE_SIZE = 12;
const cache = new Map<number, Promise<ScoredPicture>>();

export function fetchPicture(picture: number): Promise<ScoredPicture> {
  const answer = revalidate(picture, cache.get(picture));
  cache.delete(picture);
  cache.set(picture, answer);
  answer.catch(() => cache.get(picture) === answer && cache.delete(picture));
  for (const oldest of cache.keys()) if (cache.size > CACHE_SIZE) cache.delete(oldest);
  return answer;
}

/** Return the cached answer if the server confirms that the file is unchanged, else a new one. */
async function revalidate(picture: number, before?: Promise<ScoredPicture>): Promise<ScoredPicture> {
  const known = await before?.catch(() => undefined);
  const since = known ? `?known=${encodeURIComponent(known.stamp)}` : "";
  const answer = await get<ScoredPicture | { unchanged: true }>(`/api/pictures/${picture}${since}`);
  if ("unchanged" in answer) return known!;
  if (answer.name !== names.value[picture]) throw new StaleError();
  return answer;
}

/** Return an address that changes with the file, since browsers cache pictures by their address. */
export const pixelsAt = (picture: number, stamp: string | null | undefined) =>
  stamp ? `${pixelsOf(picture)}?v=${encodeURIComponent(stamp)}` : pixelsOf(picture);

export function prefetch(picture: number): void {
  new Image().src = pixelsAt(picture, results.value[picture]?.stamp);
  fetchPicture(picture).catch(() => undefined);
}

const NOT_EXPLAINABLE_STATUS = 422;
let refusal: Refusal | null = null;

/** Fetch an explanation. Once the server answers that the model has none, do not request any other. */
export async function fetchExplanation(picture: number, candidate: number): Promise<Explanation> {
  if (refusal) throw refusal;
  try {
    return await get<Explanation>(`/api/pictures/${picture}/explanation?candidate=${candidate}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === NOT_EXPLAINABLE_STATUS) refusal = error;
    throw error;
  }
}
