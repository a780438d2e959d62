// The header: what is annotated, the progress, and whether everything is saved.
import { helpIsOpen } from "../../shared/ShortcutHelp";
import { PanelButton } from "../../shared/SidePanels";
import { ThemeButton } from "../../shared/ThemeButton";
import { progress } from "../pictureList";
import { project } from "../state";
import { ImportExportMenu } from "./ImportExportMenu";
import { SavingIndicator } from "./SavingStatus";

export function Header() {
  const { folder, file } = project.value!;
  return (
    <header class="header">
      <PanelButton side="left" title="List of pictures" controls="pictures" />
      <h1 class="clip" title={`${folder}, ${file}`}>
        <b>{folder}</b> <span class="quiet">{file}</span>
      </h1>
      <Progress />
      <SavingIndicator />
      <ImportExportMenu />
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
