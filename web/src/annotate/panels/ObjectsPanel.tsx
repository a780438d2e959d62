// The panel of the objects of the picture, and the decision on the whole picture.
import type { MarkedObject } from "../../shared/types";
import { doneAndNext, noObjectHere, toggleDone } from "../decisions";
import { deleteObject } from "../edits";
import { isToCorrect, shortened, stateOf, STATES, whatToCorrect } from "../pictureList";
import { areaOf } from "../stage/regions";
import { choose, chosen, current, names, objects, selectedId, sheet, summaries } from "../state";
import { CategoriesPanel } from "./CategoriesPanel";
import { CategoryChip } from "./CategoryChip";

export function ObjectsPanel() {
  return (
    <aside id="right-panel" class="panel objects right-panel" aria-label="Objects and categories">
      <section id="objects" aria-label="Objects">
        <h2>
          Objects <span class="number">{objects.value.length || ""}</span>
        </h2>
        {objects.value.length === 0 && <p class="quiet nothing">None yet.</p>}
        <ul class="plain-list">
          {objects.value.map((object, place) => (
            <ObjectEntry key={object.id} object={object} place={place} />
          ))}
        </ul>
      </section>
      <CategoriesPanel />
    </aside>
  );
}

const KINDS = { box: "box", polygons: "polygon", mask: "mask" };

function ObjectEntry({ object, place }: { object: MarkedObject; place: number }) {
  const { id, category, region } = object;
  const kind = KINDS[region.type];
  return (
    <li class="entry" data-object={id} data-kind={region.type}>
      <button
        class={chosen.value?.id === id ? "plain entry-choice" : "plain entry-choice drawn"}
        aria-pressed={selectedId.value === id}
        onClick={() => choose(id)}
      >
        <CategoryChip category={category} />
        <span class="clip" title={category}>
          {category}
        </span>
        <span class="entry-detail number">
          {kind}
          {/* The area of a polygon in COCO counts its pixels, which are known only after the export. */}
          {region.type !== "polygons" && ` · ${Math.round(areaOf(region)).toLocaleString("en")} px`}
        </span>
      </button>
      <span class="entry-actions">
        <button
          class="plain small"
          title="Delete (Delete)"
          aria-label={`Delete object ${place + 1}, ${category}`}
          onClick={() => deleteObject(id)}
        >
          ×
        </button>
      </span>
    </li>
  );
}

export function Decision() {
  const isDone = sheet.value?.content.value.done ?? false;
  const summary = summaries.value[current.value];
  const state = summary && stateOf(summary);
  const name = names.value[current.value];
  return (
    <section class="panel decision" aria-label="This picture">
      <div class="open-picture">
        <span id="open-name" title={name}>
          <bdi>{name && shortened(name)}</bdi>
        </span>
        <span id="state" class="quiet">
          <span class={`dot ${state}`} />
          {state && STATES[state]}
        </span>
        {summary && isToCorrect(summary) && <span id="to-correct">⚑ {whatToCorrect(summary)}</span>}
      </div>
      <button id="no-object" onClick={noObjectHere}>
        No object here <kbd>N</kbd>
      </button>
      <button id="done-next" class={objects.value.length > 0 ? "primary" : ""} onClick={doneAndNext}>
        Done, next <kbd>Enter</kbd>
      </button>
      <label class="done-box">
        <input
          id="done"
          type="checkbox"
          checked={isDone}
          onChange={(event) => {
            toggleDone();
            // The browser has toggled the box even if the decision was refused.
            event.currentTarget.checked = sheet.peek()?.content.peek().done ?? false;
          }}
        />
        Done
        <kbd>D</kbd>
      </label>
    </section>
  );
}
