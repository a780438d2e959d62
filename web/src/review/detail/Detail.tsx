// One picture shown large, with the panel of its facts, its mark and the explanation of its score.
import { WindowControls } from "../../shared/WindowControls";
import { inPercent, whole } from "../formatting";
import { OutcomeLabel } from "../results/OutcomeLabel";
import { current, names, outcomes, ranks, results, scoreText, threshold } from "../state";
import { thresholdText } from "../threshold";
import { Contributions } from "./Contributions";
import { DetailToolbar, ZoomButtons } from "./DetailToolbar";
import { MarkEditor } from "./MarkEditor";
import { openPicture, selected } from "./openPicture";
import { Stage } from "./Stage";

export function Detail() {
  const number = current.value!;
  const name = names.value[number] ?? "";
  const { picture } = openPicture.value;
  return (
    <div class="detail" id="detail" data-picture={number} data-outcome={outcomes.value[number]}>
      <DetailToolbar name={name} />
      <Stage number={number} name={name} />
      <div class="stage-bar">
        <WindowControls />
        <ZoomButtons />
      </div>
      <div id="detail-panel" class="detail-panel right-panel" role="region" aria-label="About this picture" tabIndex={0}>
        <OutcomeLabel outcome={outcomes.value[number] ?? "waiting"} />
        <Facts number={number} />
        <MarkEditor number={number} />
        {picture && <SelectedCandidate />}
      </div>
    </div>
  );
}

function SelectedCandidate() {
  const { candidates, winner } = openPicture.value.picture!;
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

/** Score, probability, threshold and rank. */
function Facts({ number }: { number: number }) {
  const result = results.value[number];
  // A picture may be opened before it is scored on the wall.
  const { score = null, probability = null } = result?.score != null ? result : (openPicture.value.picture ?? {});
  if (score === null) return null;
  const rank = ranks.value.get(number);
  const facts: [string, string, string][] = [["score", "Score", scoreText(score)]];
  if (probability !== null) facts.push(["probability", "Probability", inPercent(100 * probability)]);
  facts.push(["at-threshold", "Threshold", thresholdText(threshold.value)]);
  if (rank !== undefined) facts.push(["rank", "Rank", `${whole(rank)} of ${whole(ranks.value.size)}`]);
  return (
    <dl class="facts">
      {facts.map(([id, title, text]) => (
        <div key={id}>
          <dt class="quiet">{title}</dt>
          <dd id={`fact-${id}`} class="number">
            {text}
          </dd>
        </div>
      ))}
    </dl>
  );
}
