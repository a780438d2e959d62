// Regions that the machine proposes: the smallest one under the pointer is shown, and taken by a click.
import { computed, effect, signal } from "@preact/signals";
import { get } from "../../shared/api";
import { tell, tellError } from "../../shared/Notices";
import type { Candidate, Region } from "../../shared/types";
import { addObject } from "../edits";
import { isPointedHere, pointer, pointHere } from "../stage/pointer";
import { areaOf, holds, regionOfCandidate, sameRegion } from "../stage/regions";
import { pictureAfter } from "../pictureList";
import { sheetOf, type Sheet } from "../sync/sheets";
import { choose, objects, openIsShown, project, sheet, tool } from "../state";
import type { Tool } from "./tool";

interface Proposal {
  region: Region;
  area: number;
  score: number | null;
}

/** By picture, smallest first; null while they are being found. */
const found = signal<ReadonlyMap<number, Proposal[] | null>>(new Map());
const MOST_PICTURES = 8;

/** How many steps from the smallest to larger ones. */
const level = signal(0);

export const proposals = computed(() => (sheet.value ? (found.value.get(sheet.value.picture) ?? null) : null));

const under = computed(() => {
  const at = pointer.value;
  return tool.value === "candidate" && at ? (proposals.value ?? []).filter(({ region }) => holds(region, at)) : [];
});

export const proposed = computed(() => {
  const stack = under.value;
  const place = Math.min(level.value, stack.length - 1);
  return stack.length ? { ...stack[place]!, place, of: stack.length } : null;
});

// Another stack of regions begins with its smallest again.
let stackBefore = "";
effect(() => {
  const stack = under.value.map(({ region }) => proposals.peek()?.findIndex((each) => each.region === region)).join();
  if (stack !== stackBefore) level.value = 0;
  stackBefore = stack;
});

effect(() => {
  if (tool.value === "candidate" && sheet.value && project.value?.suggestions) void findWithNext(sheet.value);
});

/** Those of the next picture are found while the user looks at this one. */
async function findWithNext(open: Sheet): Promise<void> {
  await find(open);
  const next = sheetOf(pictureAfter(open.picture));
  if (next && sheet.peek() === open) await find(next);
}

async function find(of: Sheet): Promise<void> {
  const { picture } = of;
  if (found.peek().has(picture)) return;
  const put = (value: Proposal[] | null) => {
    const kept = [...found.peek()].filter(([each]) => each !== picture).slice(1 - MOST_PICTURES);
    found.value = new Map([...kept, [picture, value]]);
  };
  put(null);
  try {
    const { candidates } = await get<{ candidates: Candidate[] }>(`/api/pictures/${picture}/candidates`);
    const told = candidates.map((candidate) => {
      const region = regionOfCandidate(candidate, of);
      return { region, area: areaOf(region), score: candidate.score };
    });
    put(told.sort((one, other) => one.area - other.area));
  } catch (error) {
    put([]);
    tellError(error);
  }
}

/** Null beyond the ends of the stack. */
export function levelAfter(steps: number): number | null {
  const wanted = Math.min(level.peek(), under.peek().length - 1) + steps;
  return wanted < 0 || wanted >= under.peek().length ? null : wanted;
}

/** Stepping through the regions says as well as moving the pointer which one is meant. */
export function setLevel(wanted: number | null): void {
  level.value = wanted ?? level.peek();
  pointHere();
}

function accept(): boolean {
  const region = proposed.peek()?.region;
  if (!region || !openIsShown()) return false;
  const taken = objects.peek().find((each) => sameRegion(each.region, region));
  if (taken) {
    choose(taken.id);
    return false;
  }
  addObject(region);
  return true;
}

export const candidateTool: Tool = {
  taps: true,
  press() {
    if (!proposed.peek()) tell(proposals.peek() ? "No region is proposed here." : "The regions are being found.");
    else accept();
  },
  move() {},
  release() {},
  set: () => void accept(),
  /** One press too many must not take what lies under the resting pointer in the next picture. */
  finish: () => isPointedHere() && accept(),
  cancel: () => false,
};
