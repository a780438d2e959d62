// The entry point of the page of groupcm annotate.
import "../shared/theme.css";
import "@annotorious/annotorious/annotorious.css";
import "./layout.css";
import "./stage/stage.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { get } from "../shared/api";
import { listenForShortcuts } from "../shared/keyboard";
import { setCoveringPanels } from "../shared/SidePanels";
import { fit, setPictureSize } from "../shared/viewport";
import { App } from "./App";
import { openFirstToDo, openPicture, pictureInAddress } from "./navigation";
import { orderBy, picturesToCorrect } from "./pictureList";
import { activeShortcuts } from "./shortcuts";
import { watchSpace } from "./stage/panning";
import { categories, current, names, project, sheet, summaries } from "./state";
import { pollFrom } from "./sync/polling";
import { restoreUnsaved } from "./sync/reload";
import { warnBeforeLeaving } from "./sync/saving";
import { activeTool } from "./tools";
import type { Listed, Project } from "./types";

const page = document.getElementById("page")!;

async function start(): Promise<void> {
  const [about, listed] = await Promise.all([get<Project>("/api/project"), get<Listed>("/api/pictures")]);
  project.value = about;
  categories.value = about.categories;
  names.value = listed.names;
  summaries.value = listed.summaries;
  picturesToCorrect.value = listed.summaries.flatMap(({ first }, picture) => (first ? [picture] : []));
  if (about.model) await orderBy("useful");
  const before = await restoreUnsaved();
  render(<App />, page);
  const wanted = before >= 0 ? before : pictureInAddress();
  if (wanted >= 0) void openPicture(wanted);
  else openFirstToDo();
  pollFrom(listed.revision);
}

effect(() => {
  if (current.value >= 0) activeTool()?.cancel();
});
effect(() => {
  if (!sheet.value) return;
  document.title = `${sheet.value.name} · groupcm annotate`;
  setPictureSize(sheet.value);
  fit();
});
setCoveringPanels(["left", "right"]);
listenForShortcuts(activeShortcuts, { first: true });
watchSpace();
warnBeforeLeaving();
window.addEventListener("hashchange", () => {
  const picture = pictureInAddress();
  if (picture >= 0) void openPicture(picture);
});
start().catch((error: Error) => render(<p class="failed-start">{error.message}</p>, page));
