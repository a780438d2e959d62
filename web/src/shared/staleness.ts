// Whether the server still serves the project that this page was opened for.
import { signal } from "@preact/signals";

/** The status with which the server refuses a change that is meant for another project. */
export const OTHER_PROJECT_STATUS = 412;

/** Why the page is stale, in a sentence, or null. A stale page neither polls nor saves. */
export const staleness = signal<string | null>(null);

/** An answer of the server belongs to another project; creating the error marks the page as stale. */
export class StaleError extends Error {
  constructor(sentence = "groupcm now serves another project at this address; reload the page.") {
    super(sentence);
    staleness.value = sentence;
  }
}

const OTHER_PROJECT = "groupcm now serves another folder, or another file of annotations, at this address.";
const OTHER_LIST = "The list of pictures has changed since this page was opened.";

/** Mark the page as stale if the project or the list of pictures is another; return whether it is. */
export function detectStaleness(isSameProject: boolean, isSameList: boolean): boolean {
  if (isSameProject && isSameList) return false;
  staleness.value ??= isSameProject ? OTHER_LIST : OTHER_PROJECT;
  return true;
}
