// The candidate tool: shows the smallest proposed region under the pointer; a click accepts it.
import { computed, effect, signal } from "@preact/signals";
import { get } from "../../shared/api";
import { notify, notifyError } from "../../shared/Notices";
import type { Candidate, Region } from "../../shared/types";
import { addObject } from "../edits";
import { pictureAfter } from "../pictureList";
import { isPointing, confirmPointing, pointer } from "../stage/pointer";
import { areaOf, holds, regionOfCandidate, sameRegion } from "../stage/regions";
import { choose, objects, openIsShown, project, sheet, tool } from "../state";
import { type Sheet, sheetOf } from "../sync/sheets";
import type { Tool } from "./tool";

interface Proposal {
  region: Region;
  area: number;
  score: number | null;
}

/** The proposals per picture, smallest first; null while they are being computed. */
const proposalsByPicture = signal<ReadonlyMap<number, Proposal[] | null>>(new Map());
const MAX_PICTURES = 8;

/** The number of steps from the smallest region to larger ones. */
const level = signal(0);

export const proposals = computed(() => (sheet.value ? (proposalsByPicture.value.get(sheet.value.picture) ?? null) : null));

const under = computed(() => {
  const at = pointer.value;
  return tool.value === "candidate" && at ? (proposals.value ?? []).filter(({ region }) => holds(region, at)) : [];
});

export const proposed = computed(() => {
  const stack = under.value;
  const place = Math.min(level.value, stack.length - 1);
  return stack.length ? { ...stack[place]!, place, of: stack.length } : null;
});

// Another stack of regions starts with its smallest.
let stackBefore = "";
effect(() => {
  const stack = under.value.map(({ region }) => proposals.peek()?.findIndex((each) => each.region === region)).join();
  if (stack !== stackBefore) level.value = 0;
  stackBefore = stack;
});

effect(() => {
  if (tool.value === "candidate" && sheet.value && project.value?.suggestions) void fetchWithNext(sheet.value);
});

/** Fetch the proposals of this picture, and then prefetch those of the next one. */
async function fetchWithNext(open: Sheet): Promise<void> {
  await fetchProposals(open);
  const next = sheetOf(pictureAfter(open.picture));
  if (next && sheet.peek() === open) await fetchProposals(next);
}

async function fetchProposals(of: Sheet): Promise<void> {
  const { picture } = of;
  if (proposalsByPicture.peek().has(picture)) return;
  const put = (value: Proposal[] | null) => {
    const kept = [...proposalsByPicture.peek()].filter(([each]) => each !== picture).slice(1 - MAX_PICTURES);
    proposalsByPicture.value = new Map([...kept, [picture, value]]);
  };
  put(null);
  try {
    const { candidates } = await get<{ candidates: Candidate[] }>(`/api/pictures/${picture}/candidates`);
    const fetched = candidates.map((candidate) => {
      const region = regionOfCandidate(candidate, of);
      return { region, area: areaOf(region), score: candidate.score };
    });
    put(fetched.sort((one, other) => one.area - other.area));
  } catch (error) {
    put([]);
    notifyError(error);
  }
}

/** Return the level after some steps, or null beyond the ends of the stack. */
export function levelAfter(steps: number): number | null {
  const wanted = Math.min(level.peek(), under.peek().length - 1) + steps;
  return wanted < 0 || wanted >= under.peek().length ? null : wanted;
}

/** Set the level. Like moving the pointer, this shows which region the user wants. */
export function setLevel(wanted: number | null): void {
  level.value = wanted ?? level.peek();
  confirmPointing();
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
    if (!proposed.peek()) notify(proposals.peek() ? "No region is proposed here." : "The regions are being found.");
    else accept();
  },
  move() {},
  release() {},
  set: () => void accept(),
  /** A repeated Enter must not accept a region under the unmoved pointer in the next picture. */
  finish: () => isPointing() && accept(),
  cancel: () => false,
};
