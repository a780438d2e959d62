// Short messages at the bottom of the page.
import { signal } from "@preact/signals";

interface Notice {
  id: number;
  kind: string;
  text: string;
  isError: boolean;
}

const notices = signal<Notice[]>([]);
let next = 0;

/** The limit keeps the picture visible. */
const MAX_NOTICES = 3;

/** Show a message for a while, replacing one of the same `kind`; errors stay longer. */
export function notify(text: string, { isError = false, kind = text } = {}): void {
  const id = next++;
  const kept = [...notices.value.filter((each) => each.kind !== kind), { id, kind, text, isError }];
  const oldest = kept.find((each) => !each.isError && each.id !== id) ?? kept[0];
  notices.value = kept.length > MAX_NOTICES ? kept.filter((each) => each !== oldest) : kept;
  setTimeout(() => (notices.value = notices.value.filter((each) => each.id !== id)), isError ? 12_000 : 4_000);
}

export const notifyError = (error: unknown) =>
  notify(error instanceof Error ? error.message : String(error), { isError: true });

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, isError }) => (
        <div key={id} class={isError ? "notice bad" : "notice"}>
          {text}
        </div>
      ))}
    </div>
  );
}
