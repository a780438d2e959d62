// The list of pictures, and what changes in it while the server scores.
import { batch } from "@preact/signals";
import { get } from "../../shared/api";
import { tellError } from "../../shared/Notices";
import { Outdated, outdated } from "./staleness";
import { rememberChoices } from "../remembered";
import { current, names, pace, project, results, scoring, shown } from "../state";
import { remember } from "../progress";
import type { Changes, PictureList, Project } from "../types";

const PAUSE = { scoring: 1500, idle: 5000 };
let revision = 0;

export async function load(): Promise<void> {
  const [about, list] = await Promise.all([get<Project>("/api/project"), get<PictureList>("/api/pictures")]);
  if (list.project !== about.project) throw new Outdated();
  revision = list.revision;
  batch(() => {
    project.value = about;
    names.value = list.names;
    results.value = list.results;
    tellScoring(list.scored, list.failed, list.scored + list.failed < list.names.length);
  });
  rememberChoices(about);
  document.title = `${about.folder} – groupcm review`;
  if (current.value === null) current.value = shown.value[0] ?? null;
  void keepUp();
}

async function keepUp(): Promise<void> {
  for (;;) {
    await pause(scoring.value.goesOn ? PAUSE.scoring : PAUSE.idle);
    if (outdated.value !== null) return;
    if (document.hidden) continue;
    await refresh().catch(tellError);
  }
}

let asked = Promise.resolve();

/** One at a time, so that an older answer never follows a newer one. */
export function refresh(): Promise<void> {
  const mine = asked.then(askForChanges);
  asked = mine.catch(() => undefined);
  return mine;
}

async function askForChanges(): Promise<void> {
  const changes = await get<Changes>(`/api/changes?since=${revision}`);
  if (changes.project !== project.value?.project) throw new Outdated();
  const changed = Object.entries(changes.results);
  revision = changes.revision;
  batch(() => {
    if (changed.length) {
      const updated = [...results.value];
      for (const [picture, result] of changed) updated[Number(picture)] = result;
      results.value = updated;
    }
    tellScoring(changes.scored, changes.failed, changes.scoring);
  });
}

function tellScoring(scored: number, failed: number, goesOn: boolean): void {
  const before = scoring.value;
  if (before.scored !== scored || before.failed !== failed || before.goesOn !== goesOn) {
    scoring.value = { scored, failed, goesOn };
  }
  if (goesOn) pace.value = remember(pace.value, { at: performance.now(), done: scored + failed });
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

