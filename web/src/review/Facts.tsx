// Score, probability, threshold and rank of the large picture.
import { large } from "./detail/openPicture";
import { inPercent, whole } from "./formatting";
import { ranks, results, scoreText, threshold, thresholdText } from "./state";

export function Facts({ number }: { number: number }) {
  const result = results.value[number];
  // A picture may be looked at before its turn.
  const { score = null, probability = null } = result?.score != null ? result : (large.value.picture ?? {});
  if (score === null) return null;
  const rank = ranks.value.get(number);
  const facts: [string, string, string][] = [["score", "Score", scoreText(score)]];
  if (probability !== null) facts.push(["probability", "Probability", inPercent(100 * probability)]);
  facts.push(["at-threshold", "Threshold", thresholdText(threshold.value)]);
  if (rank !== undefined) facts.push(["rank", "Rank", `${whole(rank)} of ${whole(ranks.value.size)}`]);
  return (
    <dl class="facts">
      {facts.map(([id, title, told]) => (
        <div key={id}>
          <dt class="quiet">{title}</dt>
          <dd id={`fact-${id}`} class="number">
            {told}
          </dd>
        </div>
      ))}
    </dl>
  );
}
