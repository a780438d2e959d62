// What the page knows and shows.
import { computed, signal } from "@preact/signals";
import type { MarkedObject } from "../shared/types";
import type { ObjectId, Project, Summary } from "./records";
import type { Sheet } from "./sheets";

export type ToolName = "select" | "box" | "polygon" | "brush" | "eraser" | "candidate" | "hand";

export const project = signal<Project | null>(null);
export const names = signal<string[]>([]);
export const summaries = signal<Summary[]>([]);
export const categories = signal<string[]>([]);

/** Number of the open picture. */
export const current = signal(-1);
/** Null while the picture is being fetched. */
export const sheet = signal<Sheet | null>(null);
/** Why the open picture cannot be shown. */
export const pictureProblem = signal<string | null>(null);
/** Number of the picture whose pixels are on the stage. */
export const shownPicture = signal(-1);
export const objects = computed<MarkedObject[]>(() => sheet.value?.content.value.objects ?? []);

export const selectedId = signal<ObjectId | null>(null);
export const selected = computed(() => objects.value.find(({ id }) => id === selectedId.value) ?? null);

/** Whether the menu of exports and imports is open. */
export const menuIsOpen = signal(false);

export const tool = signal<ToolName>("box");
export const brushSize = signal(24);

const chosen = signal("");
/** The category of the next object. */
export const category = computed(() =>
  categories.value.includes(chosen.value) ? chosen.value : (categories.value[0] ?? "object"),
);
export const chooseCategory = (name: string) => (chosen.value = name);

export function setSummary(picture: number, change: Partial<Summary>): void {
  const next = summaries.peek().slice();
  next[picture] = { ...next[picture]!, ...change };
  summaries.value = next;
}
