// The explanation of the selected candidate's score: a sentence, families, single features.
import { useState } from "preact/hooks";
import { brief, withSign } from "../formatting";
import { scoreText } from "../state";
import type { Explanation } from "../types";
import { explanationSentence, familyInWords, featureInWords } from "./explanationText";
import { explanation } from "./openPicture";

const INITIALLY_SHOWN = 12;

export function Contributions() {
  const answer = explanation.value;
  if (answer?.refusal) return <p class="quiet" id="explanation-refused">{answer.refusal}</p>;
  if (!answer?.value) return <p class="quiet">…</p>;
  return <Explained explanation={answer.value} />;
}

function Explained({ explanation }: { explanation: Explanation }) {
  const [isExpanded, setExpanded] = useState(false);
  const { families, features, baseline, base, score } = explanation;
  const shown = isExpanded ? features : features.slice(0, INITIALLY_SHOWN);
  const largest = (list: readonly { contribution: number }[]) =>
    Math.max(Number.MIN_VALUE, ...list.map(({ contribution }) => Math.abs(contribution)));
  const [widestFamily, widestFeature] = [largest(families), largest(features)];
  return (
    <>
      <p id="sentence">{explanationSentence(explanation)}</p>
      <p class="quiet number">
        Baseline ({baseline}) {scoreText(base)}; this candidate {withSign(score - base, 2)}, together {scoreText(score)}.
      </p>
      <table class="contributions" id="families">
        <caption class="visually-hidden">Contributions of the families of features</caption>
        <tbody>
          {families.map(({ family, contribution }) => (
            <tr key={family}>
              <th scope="row">{familyInWords(family)}</th>
              <Bar contribution={contribution} largest={widestFamily} />
            </tr>
          ))}
        </tbody>
      </table>
      <table class="contributions features" id="features">
        <caption class="visually-hidden">Contributions of single features</caption>
        <tbody>
          {shown.map(({ name, family, value, typical, contribution }) => (
            <tr key={name}>
              <th scope="row" title={name}>
                <span class="feature-name">{name}</span>
                <small class="number quiet">
                  {featureInWords(name, family)}: {brief(value)}
                  {typical !== null && `, typically ${brief(typical)}`}
                </small>
              </th>
              <Bar contribution={contribution} largest={widestFeature} />
            </tr>
          ))}
        </tbody>
      </table>
      {features.length > INITIALLY_SHOWN && (
        <button class="plain" onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? "Show fewer" : `Show all ${features.length} features`}
        </button>
      )}
    </>
  );
}

function Bar({ contribution, largest }: { contribution: number; largest: number }) {
  const share = (50 * Math.abs(contribution)) / largest;
  const up = contribution >= 0;
  return (
    <>
      <td class="bar" aria-hidden="true">
        <i class={up ? "up" : "down"} style={{ left: `${up ? 50 : 50 - share}%`, width: `${share}%` }} />
      </td>
      <td class="number adds">{withSign(contribution, 2)}</td>
    </>
  );
}
