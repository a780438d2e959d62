// The state of the page.
import { batch, computed, signal } from "@preact/signals";
import type { MarkedObject } from "../shared/types";
import type { Sheet } from "./sync/sheets";
import type { ObjectId, Project, Summary } from "./types";

export type ToolName = "select" | "box" | "polygon" | "brush" | "eraser" | "candidate" | "hand";

export const project = signal<Project | null>(null);
export const names = signal<string[]>([]);
export const summaries = signal<Summary[]>([]);
export const categories = signal<string[]>([]);

/** The number of the open picture. */
export const current = signal(-1);
/** The open picture; null while it is being fetched. */
export const sheet = signal<Sheet | null>(null);
/** Why the open picture cannot be shown. */
export const pictureProblem = signal<string | null>(null);
/** The number of the picture whose pixels are on the stage. */
export const shownPicture = signal(-1);
/** Return whether the open picture is on the stage: only a visible picture can be annotated. */
export const openIsShown = () => sheet.peek() !== null && shownPicture.peek() === current.peek();
export const objects = computed<MarkedObject[]>(() => sheet.value?.content.value.objects ?? []);

export const selectedId = signal<ObjectId | null>(null);
export const selected = computed(() => objects.value.find(({ id }) => id === selectedId.value) ?? null);
/** The object that is selected only because it has just been drawn. */
const drawnId = signal<ObjectId | null>(null);
/** The selected object, if the user selected it. */
export const chosen = computed(() => (selectedId.value === drawnId.value ? null : selected.value));

export function choose(id: ObjectId | null): void {
  batch(() => {
    drawnId.value = null;
    selectedId.value = id;
  });
}

/** Select an object that was just drawn: it can be edited, but digits set the category of the next one. */
export function selectDrawn(id: ObjectId): void {
  batch(() => {
    drawnId.value = id;
    selectedId.value = id;
  });
}

/** Whether the menu for import and export is open. */
export const menuIsOpen = signal(false);

export const tool = signal<ToolName>("box");
export const brushSize = signal(24);

const chosenCategory = signal("");
/** The category of the next object. */
export const category = computed(() =>
  categories.value.includes(chosenCategory.value) ? chosenCategory.value : (categories.value[0] ?? "object"),
);
export const chooseCategory = (name: string) => (chosenCategory.value = name);

export function setSummary(picture: number, change: Partial<Summary>): void {
  const next = summaries.peek().slice();
  next[picture] = { ...next[picture]!, ...change };
  summaries.value = next;
}
