// Side panels that a button or a key opens and closes; their state is stored.
import { computed, signal } from "@preact/signals";
import type { Shortcut } from "./keyboard";

type Side = "left" | "right";
const NARROW = window.matchMedia("(max-width: 900px)");
const isNarrow = signal(NARROW.matches);
NARROW.addEventListener("change", () => (isNarrow.value = NARROW.matches));

/** Until the project is loaded, the title of the document names the page. */
const STORAGE_KEY = `${document.title} panels`;

/** Sides whose panels cover the page in a narrow window: closed at first, and at most one is open. */
let covering: readonly Side[] = [];
export const setCoveringPanels = (sides: readonly Side[]) => (covering = sides);

type Open = Partial<Record<`${"wide" | "narrow"} ${Side}`, boolean>>;
const chosen = signal<Open>(storedState());

function storedState(): Open {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {};
  }
}

const nameOf = (side: Side) => `${isNarrow.value ? "narrow" : "wide"} ${side}` as const;

const covers = (side: Side) => isNarrow.value && covering.includes(side);
const isOpen = (side: Side) => chosen.value[nameOf(side)] ?? !covers(side);
export const panelStates = computed(() => ({
  "data-left": isOpen("left") ? "open" : "closed",
  "data-right": isOpen("right") ? "open" : "closed",
}));

function setPanel(side: Side, open: boolean): void {
  const others = open && covers(side) ? covering.map((each) => [nameOf(each), false]) : [];
  chosen.value = { ...chosen.peek(), ...Object.fromEntries(others), [nameOf(side)]: open };
  localStorage.setItem(STORAGE_KEY, JSON.stringify(chosen.peek()));
}

const togglePanel = (side: Side) => setPanel(side, !isOpen(side));

/** Close a panel that covers the page, after a choice was made in it. */
export function closeIfCovering(side: Side): void {
  if (covers(side) && isOpen(side)) setPanel(side, false);
}

const PANEL_KEYS: Record<Side, string> = { left: "l", right: "i" };

export const panelShortcuts = (titles: Partial<Record<Side, string>>): Omit<Shortcut, "section">[] =>
  (Object.entries(titles) as [Side, string][]).map(([side, title]) => ({
    keys: [PANEL_KEYS[side]],
    title: `${title} open or closed`,
    run: () => togglePanel(side),
  }));

/** The icon shows the side of the panel. */
export function PanelButton({ side, title, controls }: { side: Side; title: string; controls: string }) {
  const open = isOpen(side);
  const letter = PANEL_KEYS[side].toUpperCase();
  return (
    <button
      id={`toggle-${side}`}
      class="plain panel-button"
      aria-expanded={open}
      aria-controls={controls}
      aria-label={title}
      title={`${title}: ${open ? "close" : "open"} (${letter})`}
      onClick={() => togglePanel(side)}
    >
      <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2.5 4h15v12h-15z" />
        <path d={side === "left" ? "M7.5 4v12" : "M12.5 4v12"} />
        {open && <path class="filled" d={side === "left" ? "M2.5 4h5v12h-5z" : "M12.5 4h5v12h-5z"} />}
      </svg>
    </button>
  );
}
