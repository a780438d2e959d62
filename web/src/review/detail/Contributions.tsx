// Why the selected candidate scores as it does: a sentence, families, then single features.
import { useState } from "preact/hooks";
import { explanation } from "./openPicture";
import { brief, withSign } from "../formatting";
import { inOneSentence } from "../sentence";
import { scoreText } from "../state";
import type { Explanation } from "../types";
import { familyInWords, featureInWords } from "./explanationText";

const FIRST_SHOWN = 12;

export function Contributions() {
  const told = explanation.value;
  if (told?.refused) return <p class="quiet" id="explanation-refused">{told.refused}</p>;
  if (!told?.value) return <p class="quiet">…</p>;
  return <Explained explanation={told.value} />;
}

function Explained({ explanation }: { explanation: Explanation }) {
  const [showsAll, showAll] = useState(false);
  const { families, features, baseline, base, score } = explanation;
  const shown = showsAll ? features : features.slice(0, FIRST_SHOWN);
  const largest = (list: readonly { contribution: number }[]) =>
    Math.max(Number.MIN_VALUE, ...list.map(({ contribution }) => Math.abs(contribution)));
  const [widestFamily, widestFeature] = [largest(families), largest(features)];
  return (
    <>
      <p id="sentence">{inOneSentence(explanation)}</p>
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
      {features.length > FIRST_SHOWN && (
        <button class="plain" onClick={() => showAll(!showsAll)}>
          {showsAll ? "Show fewer" : `Show all ${features.length} features`}
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
