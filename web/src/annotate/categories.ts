// Categories: adding, renaming and deleting them on the server.
import { notifyError } from "../shared/Notices";
import { categories, category, chooseCategory } from "./state";
import { poll } from "./sync/polling";
import { allSaved, requestChange } from "./sync/saving";
import { allSheets } from "./sync/sheets";
import type { Content } from "./types";
import { rewriteHistory } from "./undoHistory";

interface Answer {
  categories: string[];
}

async function changeCategories(method: string, path: string, name?: string): Promise<boolean> {
  try {
    // The server changes pictures itself: no older change may arrive after this one.
    await allSaved();
    const body = name === undefined ? undefined : { name };
    categories.value = (await requestChange<Answer>(method, `/api/categories${path}`, body)).categories;
    return true;
  } catch (error) {
    notifyError(error);
    return false;
  }
}

export async function addCategory(name: string): Promise<boolean> {
  const added = await changeCategories("POST", "", name);
  if (added) chooseCategory(categories.peek().at(-1)!);
  return added;
}

export async function renameCategory(before: string, after: string): Promise<void> {
  const wasChosen = category.peek() === before;
  if (after.trim() === "" || after === before) return;
  const place = categories.peek().indexOf(before);
  if (!(await changeCategories("PUT", `/${place}`, after))) return;
  const named = categories.peek()[place]!;
  const renamed = (content: Content): Content => ({
    ...content,
    objects: content.objects.map((each) => (each.category === before ? { ...each, category: named } : each)),
  });
  rewriteHistory(renamed);
  for (const sheet of allSheets()) {
    sheet.content.value = renamed(sheet.content.peek());
    sheet.own = sheet.own.map(renamed);
  }
  if (wasChosen) chooseCategory(named);
  await poll(true);
}

export const deleteCategory = (name: string) => changeCategories("DELETE", `/${categories.peek().indexOf(name)}`);
