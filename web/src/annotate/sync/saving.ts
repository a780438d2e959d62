// Saving: every change is sent to the server immediately, one request at a time per picture.
import { computed, signal } from "@preact/signals";
import { Refusal, request } from "../../shared/api";
import { notify } from "../../shared/Notices";
import { OTHER_PROJECT_STATUS, staleness } from "../../shared/staleness";
import { project, setSummary, summaries } from "../state";
import type { PictureRecord } from "../types";
import { record } from "../undoHistory";
import { applyRecord, hasSameContent, merge, type Sheet, show } from "./sheets";

const RETRY_MS = 2000;
const CONFLICT_STATUS = 409;
/** Statuses of refusals that a retry cannot change. */
const FINAL_STATUSES = [400, 404, 410, 413, 422];

/** Send a change with the identity of the project, so that the server can refuse it after a restart. */
export const requestChange = <Answer>(method: string, path: string, body?: unknown) =>
  request<Answer>(method, path, body, { "Groupcm-Project": project.peek()!.project });

/** Pictures with changes that the server has not confirmed, and the error of each, if any. */
const unsaved = signal<ReadonlyMap<Sheet, string | null>>(new Map());
const sending = new Set<Sheet>();
const retries = new Map<Sheet, number>();
/** Pictures that are marked to be corrected, until their correction is saved. */
const corrected = new Set<Sheet>();

export const savingState = computed(() => {
  if (unsaved.value.size === 0) return { state: "saved", text: "Saved", why: null };
  const why = [...unsaved.value.values()].find((each) => each !== null) ?? null;
  return why === null ? { state: "saving", text: "Saving…", why } : { state: "failed", text: "Not saved", why };
});

export const unsavedSheets = () => [...unsaved.value.keys()];
export const isUnsaved = (picture: number) => [...unsaved.peek().keys()].some((each) => each.picture === picture);

export function save(sheet: Sheet): void {
  if (!unsaved.peek().has(sheet)) setProblem(sheet, null);
  if (summaries.peek()[sheet.picture]!.first) {
    corrected.add(sheet);
    setSummary(sheet.picture, { first: false });
  }
  void send(sheet);
}

const setProblem = (sheet: Sheet, problem: string | null) =>
  (unsaved.value = new Map(unsaved.peek()).set(sheet, problem));

async function send(sheet: Sheet): Promise<void> {
  if (sending.has(sheet) || staleness.peek() !== null) return;
  clearTimeout(retries.get(sheet));
  sending.add(sheet);
  try {
    let sent;
    do {
      sent = sheet.content.peek();
      const body = { name: sheet.name, version: sheet.version, ...sent };
      sheet.own.push(sent);
      sheet.version = (await requestChange<{ version: number }>("PUT", `/api/pictures/${sheet.picture}`, body)).version;
      sheet.own = [sent];
    } while (sent !== sheet.content.peek());
    settle(sheet);
  } catch (error) {
    handleError(error as Error, sheet);
  } finally {
    sending.delete(sheet);
  }
}

function handleError(error: Error, sheet: Sheet): void {
  const status = error instanceof Refusal ? error.status : 0;
  const newer = error instanceof Refusal ? (error.body.picture as PictureRecord | undefined) : undefined;
  if (status === CONFLICT_STATUS && newer) handleConflict(sheet, newer);
  else if (FINAL_STATUSES.includes(status)) revert(sheet, error.message);
  else {
    setProblem(sheet, error.message);
    if (status === OTHER_PROJECT_STATUS) staleness.value ??= error.message;
    else retries.set(sheet, window.setTimeout(() => void send(sheet), RETRY_MS));
  }
}

function handleConflict(sheet: Sheet, newer: PictureRecord): void {
  if (sheet.own.some((each) => hasSameContent(newer, each))) {
    // The server has this page's own content: it was restarted, or its answer was lost.
    sheet.version = newer.version;
    queueMicrotask(() => void send(sheet));
    return;
  }
  const combined = merge(sheet.own[0]!, sheet.content.peek(), newer);
  if (applyRecord(sheet.picture, newer)) {
    if (combined) record(sheet, combined);
    const mine = combined ? "Undo adds what you changed." : "Your change was not saved.";
    notify(`Changed elsewhere; the newer version is shown. ${mine}`, { isError: true });
  }
  settle(sheet);
}

/** Show what the server has; the refused change stays in the undo history. */
function revert(sheet: Sheet, message: string): void {
  const confirmed = sheet.own[0]!;
  sheet.own = [confirmed];
  record(sheet, sheet.content.peek());
  show(sheet, confirmed);
  if (corrected.has(sheet)) setSummary(sheet.picture, { first: true });
  settle(sheet);
  const text = message.endsWith(".") ? message : `${message}.`;
  notify(`Not saved: ${text} The change was reverted; Undo tries it again.`, { isError: true });
}

function settle(sheet: Sheet): void {
  const left = new Map(unsaved.peek());
  left.delete(sheet);
  unsaved.value = left;
  corrected.delete(sheet);
  setSummary(sheet.picture, { version: sheet.version });
}

/** Resolve once everything is saved. */
export function allSaved(): Promise<void> {
  return new Promise((resolve) => {
    const stop = unsaved.subscribe((left) => {
      if (left.size === 0) queueMicrotask(() => (stop(), resolve()));
    });
  });
}

let isStored = false;
/** Allow leaving the page without a warning, since unsaved changes are stored in the session. */
export const allowLeaving = () => (isStored = true);

export function warnBeforeLeaving(): void {
  window.addEventListener("beforeunload", (event) => {
    if (unsaved.peek().size > 0 && !isStored) event.preventDefault();
  });
}
