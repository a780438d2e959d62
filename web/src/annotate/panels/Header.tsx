// What is annotated, how far it is, whether it is saved.
import { helpIsOpen } from "../../shared/ShortcutHelp";
import { PanelButton } from "../../shared/SidePanels";
import { ThemeButton } from "../../shared/ThemeButton";
import { progress } from "../pictureList";
import { savingState } from "../sync/saving";
import { project } from "../state";
import { ExchangeMenu } from "./ImportExportMenu";

export function Header() {
  const { folder, file } = project.value!;
  return (
    <header class="header">
      <PanelButton side="left" title="List of pictures" controls="pictures" />
      <h1 class="clip" title={`${folder}, ${file}`}>
        <b>{folder}</b> <span class="quiet">{file}</span>
      </h1>
      <Progress />
      <Saving />
      <ExchangeMenu />
      <ThemeButton />
      <button class="plain" title="Keys (?)" aria-label="Keys" onClick={() => (helpIsOpen.value = true)}>
        ?
      </button>
      <PanelButton side="right" title="Objects and categories" controls="right-panel" />
    </header>
  );
}

function Progress() {
  const { readable, unreadable, done, withObjects, empty, inProgress } = progress.value;
  return (
    <div class="progress number">
      <progress id="progress" max={readable} value={done} aria-label="Pictures done" />
      <span id="counts">
        <b>{done}</b> of {readable} done{" "}
        <span class="quiet">
          · {withObjects} with objects, {empty} verified empty{inProgress > 0 && ` · ${inProgress} in progress`}
        </span>
        {unreadable > 0 && <span class="unreadable"> · {unreadable} unreadable</span>}
      </span>
    </div>
  );
}

function Saving() {
  const { state, text, why } = savingState.value;
  return (
    <div id="saving" class={`saving ${state} clip`} role="status" aria-live="polite" data-state={state} title={why ?? text}>
      {text}
    </div>
  );
}
