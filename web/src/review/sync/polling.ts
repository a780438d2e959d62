// Loading the list of pictures, and polling for new scores and marks.
import { batch } from "@preact/signals";
import { get } from "../../shared/api";
import { notifyError } from "../../shared/Notices";
import { StaleError, staleness } from "../../shared/staleness";
import { scoring, updateProgress } from "../progress";
import { current, names, persistChoices, project, results, shown } from "../state";
import type { Changes, PictureList, Project } from "../types";

const POLL_MS = { scoring: 1500, idle: 5000 };
let revision = 0;

export async function load(): Promise<void> {
  const [about, list] = await Promise.all([get<Project>("/api/project"), get<PictureList>("/api/pictures")]);
  if (list.project !== about.project) throw new StaleError();
  revision = list.revision;
  batch(() => {
    project.value = about;
    names.value = list.names;
    results.value = list.results;
    updateProgress(list.scored, list.failed, list.scored + list.failed < list.names.length);
  });
  persistChoices(about);
  document.title = `${about.folder} – groupcm review`;
  if (current.value === null) current.value = shown.value[0] ?? null;
  void poll();
}

async function poll(): Promise<void> {
  for (;;) {
    await pause(scoring.value.isRunning ? POLL_MS.scoring : POLL_MS.idle);
    if (staleness.value !== null) return;
    if (document.hidden) continue;
    await refresh().catch(notifyError);
  }
}

let pending = Promise.resolve();

/** Fetch what has changed. Requests are sent one at a time, so that no older answer follows a newer one. */
export function refresh(): Promise<void> {
  const mine = pending.then(fetchChanges);
  pending = mine.catch(() => undefined);
  return mine;
}

async function fetchChanges(): Promise<void> {
  const changes = await get<Changes>(`/api/changes?since=${revision}`);
  if (changes.project !== project.value?.project) throw new StaleError();
  const changed = Object.entries(changes.results);
  revision = changes.revision;
  batch(() => {
    if (changed.length) {
      const updated = [...results.value];
      for (const [picture, result] of changed) updated[Number(picture)] = result;
      results.value = updated;
    }
    updateProgress(changes.scored, changes.failed, changes.scoring);
  });
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
