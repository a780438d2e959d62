// Every change goes to the server at once; one request at a time for a picture.
import { computed, signal } from "@preact/signals";
import { Refusal, request } from "../shared/api";
import { tell } from "../shared/notices";
import type { PictureRecord } from "./records";
import { saysTheSame, takeRecord, type Sheet } from "./sheets";
import { setSummary } from "./state";

const RETRY_MS = 2000;

const unsaved = signal<ReadonlySet<number>>(new Set());
const problem = signal<string | null>(null);
const sending = new Set<number>();

export const savingState = computed(() => {
  if (unsaved.value.size === 0) return { state: "saved", text: "Saved" };
  if (problem.value === null) return { state: "saving", text: "Saving…" };
  return { state: "failed", text: `Not saved: ${problem.value}` };
});

export const isUnsaved = (picture: number) => unsaved.peek().has(picture);

export function save(sheet: Sheet): void {
  if (!isUnsaved(sheet.picture)) unsaved.value = new Set(unsaved.peek()).add(sheet.picture);
  void send(sheet);
}

async function send(sheet: Sheet): Promise<void> {
  const { picture } = sheet;
  if (sending.has(picture)) return;
  sending.add(picture);
  try {
    let sent;
    do {
      sent = sheet.content.peek();
      const body = { version: sheet.version, ...sent };
      sheet.own.push(sent);
      sheet.version = (await request<{ version: number }>("PUT", `/api/pictures/${picture}`, body)).version;
      sheet.own = [sent];
    } while (sent !== sheet.content.peek());
    settle(sheet);
  } catch (error) {
    const newer = error instanceof Refusal && error.status === 409 ? (error.body.picture as PictureRecord) : null;
    if (newer && sheet.own.some((each) => saysTheSame(newer, each))) {
      // Nobody else's work: the server was restarted, or its answer was lost.
      sheet.version = newer.version;
      queueMicrotask(() => void send(sheet));
    } else if (newer) {
      if (takeRecord(picture, newer)) {
        tell("Changed elsewhere; the newer version is shown. Undo brings yours back.", { bad: true });
      }
      settle(sheet);
    } else {
      problem.value = error instanceof Error ? error.message : String(error);
      setTimeout(() => void send(sheet), RETRY_MS);
    }
  } finally {
    sending.delete(picture);
  }
}

function settle(sheet: Sheet): void {
  const left = new Set(unsaved.peek());
  left.delete(sheet.picture);
  unsaved.value = left;
  problem.value = null;
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

export function warnBeforeLeaving(): void {
  window.addEventListener("beforeunload", (event) => {
    if (unsaved.peek().size > 0) event.preventDefault();
  });
}
