// What the annotator says of a whole picture.
import { tell } from "../shared/notices";
import { setDone } from "./changing";
import { go, nextToDo, openPicture } from "./opening";
import { save } from "./saving";
import { current, names, objects, pictureProblem, sheet, summaries } from "./state";

function moveOn(decide: () => void): void {
  const next = nextToDo();
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

const skip = () => tell(`${names.peek()[current.peek()]} cannot be read; nothing is said of it.`);

export function noObjectHere(): void {
  if (pictureProblem.peek()) return moveOn(skip);
  if (!sheet.peek()) return;
  if (objects.peek().length > 0) tell("This picture has objects. Delete them first if nothing is here.");
  else moveOn(confirm);
}

export function doneAndNext(): void {
  if (pictureProblem.peek()) moveOn(skip);
  else if (sheet.peek()) moveOn(confirm);
}
