// Every change goes to the server at once; one request at a time for a picture.
import { computed, signal } from "@preact/signals";
import { Refusal } from "../../shared/api";
import { tell } from "../../shared/Notices";
import { requestChange } from "../asking";
import { record } from "../undoHistory";
import type { PictureRecord } from "../types";
import { merged, saysTheSame, show, takeRecord, type Sheet } from "./sheets";
import { staleness } from "./staleness";
import { setSummary, summaries } from "../state";

const RETRY_MS = 2000;
const CHANGED_MEANWHILE = 409;
const OF_SOMETHING_ELSE = 412;
/** Refusals that stay the same however often they are asked for. */
const LASTING = [400, 404, 410, 413, 422];

/** Pictures with changes that the server has not confirmed, and what went wrong with each. */
const unsaved = signal<ReadonlyMap<Sheet, string | null>>(new Map());
const sending = new Set<Sheet>();
const retries = new Map<Sheet, number>();
/** Pictures that were to be corrected, until their correction is saved. */
const corrected = new Set<Sheet>();

export const savingState = computed(() => {
  if (unsaved.value.size === 0) return { state: "saved", text: "Saved", why: null };
  const why = [...unsaved.value.values()].find((each) => each !== null) ?? null;
  return why === null ? { state: "saving", text: "Saving…", why } : { state: "failed", text: "Not saved", why };
});

export const unsavedSheets = () => [...unsaved.value.keys()];
export const isUnsaved = (picture: number) => [...unsaved.peek().keys()].some((each) => each.picture === picture);

export function save(sheet: Sheet): void {
  if (!unsaved.peek().has(sheet)) note(sheet, null);
  if (summaries.peek()[sheet.picture]!.first) {
    corrected.add(sheet);
    setSummary(sheet.picture, { first: false });
  }
  void send(sheet);
}

const note = (sheet: Sheet, problem: string | null) =>
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
    answerTo(error as Error, sheet);
  } finally {
    sending.delete(sheet);
  }
}

function answerTo(error: Error, sheet: Sheet): void {
  const status = error instanceof Refusal ? error.status : 0;
  const newer = error instanceof Refusal ? (error.body.picture as PictureRecord | undefined) : undefined;
  if (status === CHANGED_MEANWHILE && newer) takeNewer(sheet, newer);
  else if (LASTING.includes(status)) takeBack(sheet, error.message);
  else {
    note(sheet, error.message);
    if (status === OF_SOMETHING_ELSE) staleness.value ??= error.message;
    else retries.set(sheet, window.setTimeout(() => void send(sheet), RETRY_MS));
  }
}

function takeNewer(sheet: Sheet, newer: PictureRecord): void {
  if (sheet.own.some((each) => saysTheSame(newer, each))) {
    // Nobody else's work: the server was restarted, or its answer was lost.
    sheet.version = newer.version;
    queueMicrotask(() => void send(sheet));
    return;
  }
  const both = merged(sheet.own[0]!, sheet.content.peek(), newer);
  if (takeRecord(sheet.picture, newer)) {
    if (both) record(sheet, both);
    const mine = both ? "Undo adds what you changed." : "Your change was not saved.";
    tell(`Changed elsewhere; the newer version is shown. ${mine}`, { bad: true });
  }
  settle(sheet);
}

/** Show what the server has; what it refuses stays in the history. */
function takeBack(sheet: Sheet, sentence: string): void {
  const confirmed = sheet.own[0]!;
  sheet.own = [confirmed];
  record(sheet, sheet.content.peek());
  show(sheet, confirmed);
  if (corrected.has(sheet)) setSummary(sheet.picture, { first: true });
  settle(sheet);
  const told = sentence.endsWith(".") ? sentence : `${sentence}.`;
  tell(`Not saved: ${told} The change was taken back; Undo tries it again.`, { bad: true });
}

function settle(sheet: Sheet): void {
  const left = new Map(unsaved.peek());
  left.delete(sheet);
  unsaved.value = left;
  corrected.delete(sheet);
  setSummary(sheet.picture, { version: sheet.version });
}

/** Resolves once nothing is unsaved. */
export function allSaved(): Promise<void> {
  return new Promise((resolve) => {
    const stop = unsaved.subscribe((left) => {
      if (left.size === 0) queueMicrotask(() => (stop(), resolve()));
    });
  });
}

let isKept = false;
/** What is unsaved is kept elsewhere: the page may be left. */
export const leaveFreely = () => (isKept = true);

export function warnBeforeLeaving(): void {
  window.addEventListener("beforeunload", (event) => {
    if (unsaved.peek().size > 0 && !isKept) event.preventDefault();
  });
}
