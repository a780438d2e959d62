// The list of pictures, one row per picture: a thumbnail, the name and the state.
import { notify } from "../../shared/Notices";
import { closeIfCovering } from "../../shared/SidePanels";
import { Thumbnail } from "../../shared/Thumbnail";
import { VirtualGrid } from "../../shared/VirtualGrid";
import { openByEnter } from "../decisions";
import { openFirstToDo, openPicture } from "../navigation";
import {
  filter,
  FILTER_NAMES,
  filterCounts,
  FILTERS,
  firstMatch,
  listing,
  order,
  orderBy,
  reasons,
  restriction,
  shortened,
  showAll,
  search,
  stateOf,
  STATES,
  whatToCorrect,
  type FilterName,
} from "../pictureList";
import { focusStage } from "../stage/stageElement";
import { current, names, project, summaries } from "../state";
import { isScoring } from "../sync/polling";
import type { Summary } from "../types";

const ROW_HEIGHT = 54;

export function PictureList() {
  const list = listing.value;
  return (
    <nav id="pictures" class="panel pictures left-panel" aria-label="Pictures">
      <ListControls />
      <div class="picture-rows">
        <VirtualGrid
          count={list.length}
          cellWidth={10_000}
          cellHeight={ROW_HEIGHT}
          current={list.indexOf(current.value)}
          label="Pictures"
          role="listbox"
          active={`row-${current.value}`}
        >
          {(place) => <Row key={list[place]} picture={list[place]!} place={place} of={list.length} />}
        </VirtualGrid>
        {list.length === 0 && <p class="quiet nothing">No picture matches.</p>}
      </div>
    </nav>
  );
}

function Row({ picture, place, of }: { picture: number; place: number; of: number }) {
  const name = names.value[picture]!;
  const summary = summaries.value[picture]!;
  const choose = () => {
    void openPicture(picture);
    closeIfCovering("left");
    focusStage();
  };
  return (
    <div
      id={`row-${picture}`}
      class="picture-row"
      role="option"
      aria-selected={picture === current.value}
      aria-setsize={of}
      aria-posinset={place + 1}
      data-picture={picture}
      data-done={summary.done}
      onClick={choose}
    >
      <Thumbnail picture={picture} />
      <div class="picture-text">
        <div class="picture-name" title={name}>
          <bdi>{shortened(name)}</bdi>
        </div>
        <div class="row quiet number">
          <span class={`dot ${stateOf(summary)}`} />
          <span class="clip" title={summary.error ?? undefined}>
            {descriptionOf(summary, order.value === "useful" ? reasons.value.get(picture) : undefined)}
          </span>
          {summary.first && (
            <span class="to-correct" title={whatToCorrect(summary)}>
              ⚑<span class="visually-hidden">to correct</span>
            </span>
          )}
          <span class="picture-score">{summary.score?.toFixed(2)}</span>
        </div>
      </div>
    </div>
  );
}

function descriptionOf(summary: Summary, why?: string): string {
  const state = stateOf(summary);
  if (state === "todo" && why) return why;
  if (state !== "progress" && state !== "positive") return STATES[state];
  return `${summary.objects === 1 ? "1 object" : `${summary.objects} objects`}, ${STATES[state]}`;
}

function ListControls() {
  const isOffered = (name: FilterName) =>
    (name !== "correct" && name !== "unreadable") || filterCounts.value[name] > 0 || filter.value === name;
  return (
    <div class="list-controls">
      <input
        id="search"
        type="search"
        placeholder="Search names  /"
        aria-label="Search pictures by name"
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <div class="list-choices">
        <select
          id="filter"
          aria-label="Which pictures"
          value={filter.value}
          onChange={(event) => {
            filter.value = event.currentTarget.value as FilterName;
            focusStage();
          }}
        >
          {FILTER_NAMES.filter(isOffered).map((name) => (
            <option key={name} value={name}>
              {FILTERS[name].title} ({filterCounts.value[name]})
            </option>
          ))}
        </select>
        {project.value?.model && <OrderChoice />}
      </div>
      {restriction.value && (
        <p id="restriction" class="spread quiet number">
          {restriction.value}
          <button
            class="plain small"
            onClick={() => {
              showAll();
              focusStage();
            }}
          >
            Show all
          </button>
        </p>
      )}
    </div>
  );
}

/** Enter opens the first match; Escape clears the search and returns the focus to the stage. */
function handleKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  if (event.key === "Escape") search.value = "";
  else if (search.peek().trim() !== "") {
    const match = firstMatch();
    if (match === undefined) return notify("No picture in this list matches.");
    openByEnter(match);
    closeIfCovering("left");
  }
  focusStage();
}

function OrderChoice() {
  return (
    <select
      id="order"
      aria-label="Order"
      value={order.value}
      onChange={(event) => {
        void orderBy(event.currentTarget.value as "name" | "useful").then(openFirstToDo);
        focusStage();
      }}
    >
      <option value="name">By name</option>
      <option value="useful">{isScoring.value ? "Most useful first (scoring…)" : "Most useful first"}</option>
    </select>
  );
}
