// Keys of a page: what each does, and what the help says of it.

export interface Key {
  /** As the keyboard names it ("n", "Enter", "?"), with "Ctrl+" or "Shift+" before it where needed. */
  keys: string[];
  does: string;
  /** What the help shows in place of many keys. */
  shown?: string[];
  section: string;
  run: (event: KeyboardEvent) => void;
}

/** What was pressed, in the words of `Key.keys`; Command counts as Ctrl. */
export function pressed(event: KeyboardEvent): string {
  const letter = event.key.length === 1;
  const name = letter ? event.key.toLowerCase() : event.key;
  // A sign such as "?" tells its Shift itself.
  const shift = event.shiftKey && (!letter || /[a-z]/.test(name));
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shift ? "Shift+" : ""}${name === " " ? "Space" : name}`;
}

const typesText = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("textarea, select, input:not([type=range], [type=checkbox], [type=radio])"));

/** Enter and Space are for the button that has the focus, arrows for the slider. */
function belongsToFocused(name: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches("input[type=range]")) return /Arrow|Home|End|Page/.test(name);
  if (target.matches("input[type=checkbox], input[type=radio]")) return name === "Space";
  return (name === "Enter" || name === "Space") && target.closest("button, a, summary") !== null;
}

/**
 * Act on keys anywhere but where text is typed and where a dialog is open.
 * `first`: before any other listener of the page, which then sees nothing of keys that are listed.
 */
export function listenToKeys(keys: () => readonly Key[], { first = false } = {}): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.altKey || event.defaultPrevented || typesText(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const name = pressed(event);
    if (belongsToFocused(name, event.target)) return;
    const key = keys().find((each) => each.keys.includes(name));
    if (!key) return;
    event.preventDefault();
    if (first) event.stopPropagation();
    key.run(event);
  };
  window.addEventListener("keydown", listen, first);
  return () => window.removeEventListener("keydown", listen, first);
}
