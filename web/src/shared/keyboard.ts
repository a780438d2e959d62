// Keyboard shortcuts: their declaration, and the listener that runs them.

export interface Shortcut {
  /** As the browser names them ("n", "Enter", "?"), with the prefix "Ctrl+" or "Shift+" where needed. */
  keys: string[];
  title: string;
  /** The keys as shown in the help, where they differ from `keys`. */
  shown?: string[];
  section: string;
  run: (event: KeyboardEvent) => void;
}

/** Return the pressed key in the notation of `Shortcut.keys`; Command counts as Ctrl. */
export function pressed(event: KeyboardEvent): string {
  const letter = event.key.length === 1;
  const name = letter ? event.key.toLowerCase() : event.key;
  // A character such as "?" implies its Shift.
  const shift = event.shiftKey && (!letter || /[a-z]/.test(name));
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shift ? "Shift+" : ""}${name === " " ? "Space" : name}`;
}

const acceptsText = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("textarea, select, input:not([type=range], [type=checkbox], [type=radio])"));

/** Return whether the focused element handles the key itself: buttons Enter and Space, sliders arrows. */
function isHandledByFocused(name: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches("input[type=range]")) return /Arrow|Home|End|Page/.test(name);
  if (target.matches("input[type=checkbox], input[type=radio]")) return name === "Space";
  return (name === "Enter" || name === "Space") && target.closest("button, a, summary") !== null;
}

/**
 * Run shortcuts unless a text field has the focus or a dialog is open.
 *
 * With `first`, the listener precedes every other listener of the page and hides handled keys from them.
 */
export function listenForShortcuts(shortcuts: () => readonly Shortcut[], { first = false } = {}): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.altKey || event.defaultPrevented || acceptsText(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const name = pressed(event);
    if (isHandledByFocused(name, event.target)) return;
    const shortcut = shortcuts().find((each) => each.keys.includes(name));
    if (!shortcut) return;
    event.preventDefault();
    if (first) event.stopPropagation();
    shortcut.run(event);
  };
  window.addEventListener("keydown", listen, first);
  return () => window.removeEventListener("keydown", listen, first);
}
