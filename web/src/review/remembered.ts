// The user's choices outlive a reload of the tab.
import { effect } from "@preact/signals";
import { chosenOrder, chosenThreshold, filter, search } from "./state";
import type { Project } from "./types";

const CHOICES = { threshold: chosenThreshold, order: chosenOrder, filter, search };

export function rememberChoices({ folder, model }: Project): void {
  const key = `groupcm review ${folder} ${model}`;
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    for (const [name, choice] of Object.entries(CHOICES)) if (name in kept) choice.value = kept[name];
  } catch {
    sessionStorage.removeItem(key);
  }
  effect(() => {
    const choices = Object.entries(CHOICES).map(([name, choice]) => [name, choice.value]);
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(choices)));
  });
}
