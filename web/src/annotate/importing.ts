// Annotations from a file of any format.
import { signal } from "@preact/signals";
import { tell, tellError } from "../shared/notices";
import { requestChange } from "./asking";
import { poll } from "./polling";
import { allSaved } from "./saving";
import { project } from "./state";

interface Imported {
  pictures: number;
  objects: number;
  skipped: string[];
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** Sentences on what was left out of the last import. */
export const skipped = signal<string[]>([]);

export async function importFile(file: File): Promise<void> {
  const limit = project.peek()!.import_limit;
  if (file.size > limit) {
    return tell(`${file.name} is larger than ${Math.floor(limit / 2 ** 20)} MB, the most that can be imported here.`, {
      bad: true,
    });
  }
  try {
    await allSaved();
    const imported = await requestChange<Imported>("POST", "/api/import?format=auto", file);
    skipped.value = imported.skipped;
    tell(`Imported ${counted(imported.objects, "object")} into ${counted(imported.pictures, "picture")}.`);
    await poll();
  } catch (error) {
    tellError(error);
  }
}
