// The list of keys, section by section.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Key } from "./keyboard";

export const helpIsOpen = signal(false);

export function KeyHelp({ keys }: { keys: readonly Key[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpIsOpen.value;
  useEffect(() => {
    if (!open) return dialog.current?.close();
    dialog.current?.showModal();
    dialog.current?.querySelector("button")?.focus();
  }, [open]);
  const sections = [...new Set(keys.map((key) => key.section))];
  return (
    <dialog ref={dialog} class="key-help" aria-label="Keys" onClose={() => (helpIsOpen.value = false)}>
      <div class="key-help-sections">
        {sections.map((section) => (
          <section key={section}>
            <h2>{section}</h2>
            <dl>
              {keys
                .filter((key) => key.section === section)
                .map((key) => (
                  <div key={key.does} class="spread">
                    <dt>{key.does}</dt>
                    <dd>
                      {(key.shown ?? key.keys.map(shown)).map((each) => (
                        <kbd key={each}>{each}</kbd>
                      ))}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <form method="dialog" class="row">
        <button>Close</button>
      </form>
    </dialog>
  );
}

const SHOWN: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

const shown = (key: string) =>
  key
    .split(/(?<=.)\+(?=.)/)
    .map((part) => SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");
