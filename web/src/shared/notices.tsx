// Short messages at the foot of the page.
import { signal } from "@preact/signals";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
}

const notices = signal<Notice[]>([]);
let next = 0;

/** Show a sentence for a while; bad ones stay longer. */
export function tell(text: string, { bad = false } = {}): void {
  const id = next++;
  notices.value = [...notices.value.filter((each) => each.text !== text), { id, text, bad }];
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
