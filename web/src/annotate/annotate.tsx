import "../shared/theme.css";
import "@annotorious/annotorious/annotorious.css";
import "./annotate.css";
import "./stage.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { get } from "../shared/api";
import { listenToKeys } from "../shared/keys";
import { setCoveringPanels } from "../shared/side_panels";
import { App } from "./App";
import { keysNow } from "./keys";
import { firsts, orderBy } from "./listing";
import { openFirstToDo, openPicture, pictureInAddress } from "./opening";
import { watchSpace } from "./panning";
import { pollFrom } from "./polling";
import type { Listed, Project } from "./records";
import { resume } from "./resuming";
import { warnBeforeLeaving } from "./saving";
import { categories, current, names, project, sheet, summaries } from "./state";
import { activeTool } from "./tools";
import { fit } from "./view";

const page = document.getElementById("page")!;

async function start(): Promise<void> {
  const [about, listed] = await Promise.all([get<Project>("/api/project"), get<Listed>("/api/pictures")]);
  project.value = about;
  categories.value = about.categories;
  names.value = listed.names;
  summaries.value = listed.summaries;
  firsts.value = listed.summaries.flatMap(({ first }, picture) => (first ? [picture] : []));
  if (about.model) await orderBy("useful");
  const before = await resume();
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
  fit();
});
setCoveringPanels(["left", "right"]);
listenToKeys(keysNow, { first: true });
watchSpace();
warnBeforeLeaving();
window.addEventListener("hashchange", () => {
  const picture = pictureInAddress();
  if (picture >= 0) void openPicture(picture);
});
start().catch((error: Error) => render(<p class="failed-start">{error.message}</p>, page));
