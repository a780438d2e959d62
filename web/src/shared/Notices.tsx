// Short messages at the foot of the page.
import { signal } from "@preact/signals";

interface Notice {
  id: number;
  kind: string;
  text: string;
  bad: boolean;
}

const notices = signal<Notice[]>([]);
let next = 0;

/** So many at once leave the picture in sight. */
const MOST = 3;

/** Show a sentence for a while, in place of one of the same `kind`; bad ones stay longer. */
export function tell(text: string, { bad = false, kind = text } = {}): void {
  const id = next++;
  const kept = [...notices.value.filter((each) => each.kind !== kind), { id, kind, text, bad }];
  const leaving = kept.find((each) => !each.bad && each.id !== id) ?? kept[0];
  notices.value = kept.length > MOST ? kept.filter((each) => each !== leaving) : kept;
  setTimeout(() => (notices.value = notices.value.filter((each) => each.id !== id)), bad ? 12_000 : 4_000);
}

export const tellError = (error: unknown) =>
  tell(error instanceof Error ? error.message : String(error), { bad: true });

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, bad }) => (
        <div key={id} class={bad ? "notice bad" : "notice"}>
          {text}
        </div>
      ))}
    </div>
  );
}
