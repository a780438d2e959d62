// Annotations from a file of any format.
import { signal } from "@preact/signals";
import { tell, tellError } from "../../shared/Notices";
import { requestChange } from "../asking";
import { forget } from "../undoHistory";
import { poll } from "./polling";
import { allSaved } from "./saving";
import { focusStage } from "../stage/stageElement";
import { project } from "../state";

interface Imported {
  pictures: number;
  objects: number;
  skipped: string[];
  /** How many pictures of the file are in each state. */
  annotated?: number;
  verified_empty?: number;
  todo?: number;
  in_progress?: number;
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** The file that the user chose, until the import begins or is given up. */
export const importedFile = signal<File | null>(null);
/** What pictures without annotations in the file mean. */
export const unannotated = signal<"todo" | "negative">("todo");
/** Sentences on what was left out of the last import. */
export const skipped = signal<string[]>([]);

export function chooseImport(file: File): void {
  const limit = project.peek()!.import_limit;
  if (file.size > limit) {
    return tell(`${file.name} is larger than ${Math.floor(limit / 2 ** 20)} MB, the most that can be imported here.`, {
      bad: true,
    });
  }
  unannotated.value = "todo";
  importedFile.value = file;
}

export function giveUpImport(): void {
  importedFile.value = null;
  focusStage();
}

export async function importChosen(): Promise<void> {
  const file = importedFile.peek();
  if (!file) return;
  importedFile.value = null;
  try {
    await allSaved();
    const path = `/api/import?format=auto&unannotated=${unannotated.peek()}`;
    const imported = await requestChange<Imported>("POST", path, file);
    // Steps from before would take back parts of what was imported.
    if (imported.pictures > 0) forget();
    skipped.value = imported.skipped;
    tell(sentenceOn(imported));
    await poll(true);
  } catch (error) {
    tellError(error);
  }
}

function sentenceOn(imported: Imported): string {
  const { objects, pictures, annotated, verified_empty, todo, in_progress = 0 } = imported;
  const brought = `Imported ${counted(objects, "object")} into ${counted(pictures, "picture")}.`;
  if (annotated === undefined || verified_empty === undefined || todo === undefined) return brought;
  const begun = in_progress > 0 ? `${in_progress} in progress, ` : "";
  const states = `${annotated} annotated, ${verified_empty} verified empty, ${begun}${todo - in_progress} to do`;
  return `${brought} Its pictures: ${states}.`;
}
