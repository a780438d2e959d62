// A tab outlives the server it was opened from; another one may now answer at its address.
import { signal } from "@preact/signals";
import { Refusal } from "../../shared/api";

const SOMETHING_ELSE = 412;

/** Why the page no longer is of what the server shows; then nothing from it is taken any more. */
export const outdated = signal<string | null>(null);

export class Outdated extends Error {
  constructor(sentence = "groupcm now shows something else here than this page; reload the page.") {
    super(sentence);
    outdated.value = sentence;
  }
}

/** Throw what a request threw, as `Outdated` where the server said so. */
export function rethrow(error: unknown): never {
  if (error instanceof Refusal && error.status === SOMETHING_ELSE) throw new Outdated(error.message);
  throw error;
}
