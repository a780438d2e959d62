// What is under review, how far scoring is, and help.
import { helpIsOpen } from "../../shared/ShortcutHelp";
import { PanelButton } from "../../shared/SidePanels";
import { ThemeButton } from "../../shared/ThemeButton";
import { duration, whole } from "../formatting";
import { names, pace, project, scoring } from "../state";
import { secondsLeft } from "../progress";

export function Header() {
  return (
    <header class="head">
      <PanelButton side="left" title="Threshold and counts" controls="left-panel" />
      <h1 class="clip">
        <b>{project.value?.folder ?? "…"}</b> <span class="quiet">scored by</span> <b>{project.value?.model ?? "…"}</b>
      </h1>
      <Progress />
      <span class="grow" />
      <ThemeButton />
      <button class="plain" title="Keys" onClick={() => (helpIsOpen.value = true)}>
        ?<span class="visually-hidden"> Keys</span>
      </button>
    </header>
  );
}

function Progress() {
  const { scored, failed, goesOn } = scoring.value;
  const total = names.value.length;
  if (!total) return null;
  const unread = failed ? ` · ${whole(failed)} unreadable` : "";
  if (!goesOn) {
    return (
      <span id="progress" class="quiet number">
        {whole(scored)} pictures{unread}
      </span>
    );
  }
  const left = secondsLeft(pace.value, total);
  return (
    <span id="progress" class="row quiet number">
      <progress max={total} value={scored + failed} aria-label="Scoring" />
      Scored {whole(scored)} of {whole(total)}
      {unread}
      {left !== null && ` · about ${duration(left)} left`}
    </span>
  );
}
