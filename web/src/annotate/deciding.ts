// What the annotator decides about a whole picture: nothing here is decided by marking alone.
import { tell } from "../shared/notices";
import { setDone } from "./changing";
import { isChangedLast } from "./history";
import { go, nextToDo, openPicture } from "./opening";
import { save } from "./saving";
import { current, names, objects, pictureProblem, sheet, shownPicture, summaries } from "./state";

/** A picture that was opened by finishing one in which something was drawn. */
let openedByFinishing = -1;

const nameOfCurrent = () => names.peek()[current.peek()];

function moveOn(decide: () => void): void {
  const next = nextToDo();
  const open = sheet.peek();
  openedByFinishing = next !== undefined && open && isChangedLast(open) ? next : -1;
  decide();
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

/** Whether the picture is on the stage: only a picture that is seen can be decided. */
function isSeen(): boolean {
  if (current.peek() < 0) return false;
  const isShown = sheet.peek() !== null && shownPicture.peek() === current.peek();
  if (!isShown) tell(`${nameOfCurrent()} is not shown yet; nothing is decided about it.`);
  return isShown;
}

export function noObjectHere(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!isSeen()) return;
  if (objects.peek().length > 0) tell("This picture has objects. Delete them first if nothing is here.");
  else moveOn(confirm);
}

/** Finish a picture with objects; that an empty one has none is for `noObjectHere` to say. */
export function doneAndNext(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!isSeen()) return;
  const { done, first } = summaries.peek()[current.peek()]!;
  if (objects.peek().length === 0) {
    if (done && !first) moveOn(() => {});
    else tell("No object is marked here. N: there is none. J: leave it to do.");
  } else if (isOneTooMany()) {
    openedByFinishing = -1;
    tell(`Press Enter again if all objects of ${nameOfCurrent()} are marked.`);
  } else moveOn(confirm);
}

/** Enter also closes polygons: one press too many after a drawing must not finish the next picture. */
const isOneTooMany = () => openedByFinishing === current.peek() && !isChangedLast(sheet.peek()!);

export function toggleDone(): void {
  if (isSeen()) setDone(!sheet.peek()!.content.peek().done);
}
