// What to do when no picture is shown.
import type { Filter } from "./results/pictureList";
import { filter, names, project, scoring, search } from "./state";

const NOTHING: Record<Filter, string> = {
  all: "There is no picture here.",
  "false positives": "No false positive at this threshold.",
  "false negatives": "No false negative at this threshold.",
  alarms: "No picture reaches this threshold.",
  marked: "Nothing is marked yet. Press M on a picture whose annotation is wrong.",
  unreadable: "Every picture could be read.",
};

export function EmptyWall() {
  const all = () => {
    filter.value = "all";
    search.value = "";
  };
  if (project.value === null) return <div class="empty quiet">Reading the list of pictures …</div>;
  if (names.value.length === 0) {
    return (
      <div class="empty" id="empty">
        <p>The folder {project.value.folder} holds no picture.</p>
        <p class="quiet">Start groupcm review again with a folder of PNG, JPEG or TIFF files.</p>
      </div>
    );
  }
  return (
    <div class="empty" id="empty">
      <p>{search.value.trim() ? `No picture here has “${search.value.trim()}” in its name.` : NOTHING[filter.value]}</p>
      {scoring.value.goesOn && <p class="quiet">Scores are still being made; pictures appear as they are done.</p>}
      <button onClick={all}>Show all {names.value.length} pictures</button>
    </div>
  );
}
