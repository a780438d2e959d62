// What the annotator says of a whole picture.
import { tell } from "../shared/notices";
import { setDone } from "./changing";
import { goToNextToDo } from "./opening";
import { objects, sheet } from "./state";

const moveOn = () => {
  setDone(true);
  if (!goToNextToDo()) tell("Every picture in this list is done.");
};

export function noObjectHere(): void {
  if (!sheet.peek()) return;
  if (objects.peek().length > 0) tell("This picture has objects. Delete them first if nothing is here.");
  else moveOn();
}

export function doneAndNext(): void {
  if (sheet.peek()) moveOn();
}
