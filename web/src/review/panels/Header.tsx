// The header: what is under review, the progress of scoring, and help.
import { helpIsOpen } from "../../shared/ShortcutHelp";
import { PanelButton } from "../../shared/SidePanels";
import { ThemeButton } from "../../shared/ThemeButton";
import { duration, whole } from "../formatting";
import { scoring, secondsLeft } from "../progress";
import { names, project } from "../state";

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
  const { scored, failed, isRunning } = scoring.value;
  const total = names.value.length;
  if (!total) return null;
  const unread = failed ? ` · ${whole(failed)} unreadable` : "";
  if (!isRunning) {
    return (
      <span id="progress" class="quiet number">
        {whole(scored)} pictures{unread}
      </span>
    );
  }
  const left = secondsLeft(total);
  return (
    <span id="progress" class="row quiet number">
      <progress max={total} value={scored + failed} aria-label="Scoring" />
      Scored {whole(scored)} of {whole(total)}
      {unread}
      {left !== null && ` · about ${duration(left)} left`}
    </span>
  );
}
