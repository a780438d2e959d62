// The dialog that lists all keyboard shortcuts, section by section.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Shortcut } from "./keyboard";

export const helpIsOpen = signal(false);

export function ShortcutHelp({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpIsOpen.value;
  useEffect(() => {
    if (!open) return dialog.current?.close();
    dialog.current?.showModal();
    dialog.current?.querySelector("button")?.focus();
  }, [open]);
  const sections = [...new Set(shortcuts.map((each) => each.section))];
  return (
    <dialog ref={dialog} class="key-help" aria-label="Keys" onClose={() => (helpIsOpen.value = false)}>
      <div class="key-help-sections">
        {sections.map((section) => (
          <section key={section}>
            <h2>{section}</h2>
            <dl>
              {shortcuts
                .filter((each) => each.section === section)
                .map(({ title, keys, shown }) => (
                  <div key={title} class="spread">
                    <dt>{title}</dt>
                    <dd>
                      {(shown ?? keys.map(keyText)).map((each) => (
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

const KEY_TEXTS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

const keyText = (key: string) =>
  key
    .split(/(?<=.)\+(?=.)/)
    .map((part) => KEY_TEXTS[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");
