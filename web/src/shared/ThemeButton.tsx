// The button that switches between the light, the dark and the system theme; the choice is stored.
import { signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEY = "groupcm theme";

const stored = localStorage.getItem(KEY) as Theme | null;
const theme = signal<Theme>(stored && THEMES.includes(stored) ? stored : "system");

function apply(): void {
  document.documentElement.dataset.theme = theme.value;
}
apply();

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  localStorage.setItem(KEY, theme.value);
  apply();
}

export function ThemeButton() {
  return (
    <button class="plain" onClick={nextTheme} title="Light, dark or system theme">
      {{ system: "◐", light: "☀", dark: "☾" }[theme.value]}
      <span class="visually-hidden">Theme: {theme.value}</span>
    </button>
  );
}
