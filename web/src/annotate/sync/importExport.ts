// Import and export of annotations in every supported format.
import { signal } from "@preact/signals";
import { download } from "../../shared/api";
import { notify, notifyError } from "../../shared/Notices";
import { focusStage } from "../stage/stageElement";
import { project } from "../state";
import { clearHistory } from "../undoHistory";
import { poll } from "./polling";
import { allSaved, requestChange } from "./saving";

interface Imported {
  pictures: number;
  objects: number;
  skipped: string[];
  /** The number of pictures of the file in each state. */
  annotated?: number;
  verified_empty?: number;
  todo?: number;
  in_progress?: number;
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** The file that the user has chosen, until the import starts or is cancelled. */
export const importedFile = signal<File | null>(null);
/** The state of pictures that the file lists without annotations. */
export const unannotated = signal<"todo" | "negative">("todo");
/** Messages about what the last import left out. */
export const skipped = signal<string[]>([]);

export function chooseImport(file: File): void {
  const limit = project.peek()!.import_limit;
  if (file.size > limit) {
    return notify(`${file.name} is larger than ${Math.floor(limit / 2 ** 20)} MB, the maximum for an import.`, {
      isError: true,
    });
  }
  unannotated.value = "todo";
  importedFile.value = file;
}

export function cancelImport(): void {
  importedFile.value = null;
  focusStage();
}

export async function importChosenFile(): Promise<void> {
  const file = importedFile.peek();
  if (!file) return;
  importedFile.value = null;
  try {
    await allSaved();
    const path = `/api/import?format=auto&unannotated=${unannotated.peek()}`;
    const imported = await requestChange<Imported>("POST", path, file);
    // Undoing earlier steps would remove parts of what was imported.
    if (imported.pictures > 0) clearHistory();
    skipped.value = imported.skipped;
    notify(summaryOf(imported));
    await poll(true);
  } catch (error) {
    notifyError(error);
  }
}

function summaryOf(imported: Imported): string {
  const { objects, pictures, annotated, verified_empty, todo, in_progress = 0 } = imported;
  const total = `Imported ${counted(objects, "object")} into ${counted(pictures, "picture")}.`;
  if (annotated === undefined || verified_empty === undefined || todo === undefined) return total;
  const inProgress = in_progress > 0 ? `${in_progress} in progress, ` : "";
  const states = `${annotated} annotated, ${verified_empty} verified empty, ${inProgress}${todo - in_progress} to do`;
  return `${total} Its pictures: ${states}.`;
}

export const exportPath = (format: string) => `/api/export?format=${encodeURIComponent(format)}`;

/** Download all annotations in a format; report what the format cannot represent. */
export async function exportAs(format: string): Promise<void> {
  try {
    await allSaved();
    for (const warning of await download(exportPath(format))) notify(warning);
  } catch (error) {
    notifyError(error);
  }
}
