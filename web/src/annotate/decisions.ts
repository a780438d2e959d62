// What the annotator decides about a whole picture: nothing here is decided by marking alone.
import { tell } from "../shared/Notices";
import { setDone } from "./edits";
import { isChangedLast, lastStep, type Step } from "./undoHistory";
import { go, nextToDo, openPicture } from "./navigation";
import { save } from "./sync/saving";
import { current, names, objects, openIsShown, pictureProblem, sheet, summaries } from "./state";
import { mustFinishDrawing } from "./tools/drafts";

/** A picture that Enter opened, by finishing one in which something was drawn or from the search. */
let openedByEnter: { picture: number; after: Step | undefined } | null = null;
/** A change after this shows that the next Enter is meant. */
const expectEnter = (picture: number) => (openedByEnter = { picture, after: lastStep() });

const nameOfCurrent = () => names.peek()[current.peek()];

function moveOn(decide: () => void): void {
  const next = nextToDo();
  const open = sheet.peek();
  const wasDrawnIn = open !== null && isChangedLast(open);
  openedByEnter = null;
  decide();
  if (next !== undefined && wasDrawnIn) expectEnter(next);
  if (next !== undefined) return void openPicture(next);
  go(1);
  tell("Every picture in this list is done.");
}

/** A picture that was to be corrected may be right as it is; saying so takes its flag away. */
function confirm(): void {
  const isToCorrect = summaries.peek()[current.peek()]!.first;
  if (!setDone(true) && isToCorrect) save(sheet.peek()!);
}

const skip = () => tell(`${nameOfCurrent()} cannot be read; nothing is decided about it.`);

/** Open a picture by Enter: one press too many must not finish it. */
export function openByEnter(picture: number): void {
  if (picture !== current.peek()) void openPicture(picture);
  expectEnter(picture);
}

/** Whether the open picture can be decided: it is on the stage, and nothing is being drawn in it. */
function canDecide(): boolean {
  if (current.peek() < 0 || mustFinishDrawing()) return false;
  const isShown = openIsShown();
  if (!isShown) tell(`${nameOfCurrent()} is not shown yet; nothing is decided about it.`);
  return isShown;
}

export function noObjectHere(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!canDecide()) return;
  if (objects.peek().length > 0) tell("This picture has objects. Delete them first if nothing is here.");
  else moveOn(confirm);
}

/** Finish a picture with objects; that an empty one has none is for `noObjectHere` to say. */
export function doneAndNext(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!canDecide()) return;
  const { done, first } = summaries.peek()[current.peek()]!;
  if (objects.peek().length === 0) {
    if (done && !first) moveOn(() => {});
    else if (done) tell(`${nameOfCurrent()} is verified empty and flagged to be corrected. N: it is right. J: leave the flag.`);
    else tell("No object is marked here. N: there is none. J: leave it to do.");
  } else if (isOneTooMany()) {
    openedByEnter = null;
    tell(`Press Enter again if all objects of ${nameOfCurrent()} are marked.`);
  } else moveOn(confirm);
}

/** Enter also closes polygons: one press too many after a drawing must not finish the next picture. */
const isOneTooMany = () => openedByEnter?.picture === current.peek() && openedByEnter.after === lastStep();

export function toggleDone(): void {
  if (canDecide()) setDone(!sheet.peek()!.content.peek().done);
}
