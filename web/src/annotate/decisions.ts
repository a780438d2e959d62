// Decisions on a whole picture: done, or no object here. Annotating alone decides nothing.
import { notify } from "../shared/Notices";
import { setDone } from "./edits";
import { go, nextToDo, openPicture } from "./navigation";
import { current, names, objects, openIsShown, pictureProblem, sheet, summaries } from "./state";
import { save } from "./sync/saving";
import { mustFinishDrawing } from "./tools/drafts";
import { lastStep, type Step, wasChangedLast } from "./undoHistory";

/** A picture that was opened with Enter, by finishing an edited one or from the search. */
let openedByEnter: { picture: number; after: Step | undefined } | null = null;
/** Guard against a repeated Enter; any later change of the picture lifts the guard. */
const guardAgainstEnter = (picture: number) => (openedByEnter = { picture, after: lastStep() });

const nameOfCurrent = () => names.peek()[current.peek()];

function moveOn(decide: () => void): void {
  const next = nextToDo();
  const open = sheet.peek();
  const wasEdited = open !== null && wasChangedLast(open);
  openedByEnter = null;
  decide();
  if (next !== undefined && wasEdited) guardAgainstEnter(next);
  if (next !== undefined) return void openPicture(next);
  go(1);
  notify("Every picture in this list is done.");
}

/** Mark as done. Confirming a picture that is flagged to be corrected removes its flag. */
function confirm(): void {
  const isFlagged = summaries.peek()[current.peek()]!.first;
  if (!setDone(true) && isFlagged) save(sheet.peek()!);
}

const skip = () => notify(`${nameOfCurrent()} cannot be read; it is skipped.`);

/** Open a picture with Enter, such that an accidental second press does not finish it. */
export function openByEnter(picture: number): void {
  if (picture !== current.peek()) void openPicture(picture);
  guardAgainstEnter(picture);
}

/** Return whether the open picture can be decided: it is on the stage, and no drawing is in progress. */
function canDecide(): boolean {
  if (current.peek() < 0 || mustFinishDrawing()) return false;
  const isShown = openIsShown();
  if (!isShown) notify(`${nameOfCurrent()} is not shown yet; it stays to do.`);
  return isShown;
}

export function noObjectHere(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!canDecide()) return;
  if (objects.peek().length > 0) notify("This picture has objects. Delete them first if nothing is here.");
  else moveOn(confirm);
}

/** Finish a picture with objects; an empty one needs `noObjectHere`. */
export function doneAndNext(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!canDecide()) return;
  const { done, first } = summaries.peek()[current.peek()]!;
  if (objects.peek().length === 0) {
    if (done && !first) moveOn(() => {});
    else if (done) notify(`${nameOfCurrent()} is verified empty and flagged to be corrected. N: it is right. J: leave the flag.`);
    else notify("No object is marked here. N: there is none. J: leave it to do.");
  } else if (isRepeatedEnter()) {
    openedByEnter = null;
    notify(`Press Enter again if all objects of ${nameOfCurrent()} are marked.`);
  } else moveOn(confirm);
}

/** Enter also closes polygons: an accidental second press must not finish the next picture. */
const isRepeatedEnter = () => openedByEnter?.picture === current.peek() && openedByEnter.after === lastStep();

export function toggleDone(): void {
  if (canDecide()) setDone(!sheet.peek()!.content.peek().done);
}
