// One picture large, with all that is known of it beside it.
import { WindowControls } from "../../shared/WindowControls";
import { Contributions } from "./Contributions";
import { DetailToolbar, ZoomButtons } from "./DetailToolbar";
import { Facts } from "../Facts";
import { large, selected } from "./openPicture";
import { MarkEditor } from "./MarkEditor";
import { OutcomeLabel } from "../results/OutcomeLabel";
import { Stage } from "./Stage";
import { current, names, outcomes, scoreText, threshold } from "../state";

export function Detail() {
  const number = current.value!;
  const name = names.value[number] ?? "";
  const { picture } = large.value;
  return (
    <div class="detail" id="detail" data-picture={number} data-outcome={outcomes.value[number]}>
      <DetailToolbar name={name} />
      <Stage number={number} name={name} />
      <div class="stage-bar">
        <WindowControls />
        <ZoomButtons />
      </div>
      <div id="beside" class="beside right-panel" role="region" aria-label="About this picture" tabIndex={0}>
        <OutcomeLabel outcome={outcomes.value[number] ?? "waiting"} />
        <Facts number={number} />
        <MarkEditor number={number} />
        {picture && <SelectedCandidate />}
      </div>
    </div>
  );
}

function SelectedCandidate() {
  const { candidates, winner } = large.value.picture!;
  const k = selected.value;
  const score = k === null ? null : candidates[k]?.score;
  if (k === null || score == null) return <p class="quiet">The picture has no candidate.</p>;
  return (
    <section aria-label="Selected candidate" class="selected-candidate">
      <h2 id="selected" data-candidate={k}>
        {k === winner ? "Winner" : `Candidate ${k + 1}`} <span class="number">of {candidates.length}</span>
        <span class="number selected-score">
          {scoreText(score)} {score >= threshold.value ? "· above the threshold" : "· below"}
        </span>
      </h2>
      <Contributions />
    </section>
  );
}
