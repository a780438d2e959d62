// Why a candidate scores as it does, in one sentence.
import type { Explanation, FeatureContribution } from "./types";
import { familyInWords, featureInWords, isPlain } from "./detail/explanationText";

const FEWEST_SHARE = 0.1;
const CONSIDERABLE_SHARE = 0.2;
type Sign = 1 | -1;

export function inOneSentence(explanation: Explanation): string {
  if (explanation.features.every(({ contribution }) => contribution === 0)) {
    return "Nothing sets it apart from an average candidate.";
  }
  const ways: [Sign, Sign] = familiesInWords(explanation, 1) ? [1, -1] : [-1, 1];
  const [first, second] = ways.map((sign) => inWords(explanation, sign));
  return `${first![0]!.toUpperCase()}${first!.slice(1)}; ${second}.`;
}

/** What moves the score one way: whole families, or where none does the feature that does it most. */
function inWords(explanation: Explanation, sign: Sign): string {
  const verb = sign > 0 ? "raised" : "lowered";
  const families = familiesInWords(explanation, sign);
  if (families) return `${verb} most by ${families}`;
  const { features } = explanation;
  const most = strongest(features, sign);
  if (!most) return `${verb} by nothing`;
  const largest = Math.max(...features.map(({ contribution }) => Math.abs(contribution)));
  const isLittle = Math.abs(most.contribution) < CONSIDERABLE_SHARE * largest;
  return `${verb} ${isLittle ? "little, " : ""}most by ${featureInWords(most.name, most.family)}`;
}

function familiesInWords({ families, features }: Explanation, sign: Sign): string {
  const largest = Math.max(0, ...families.map(({ contribution }) => Math.abs(contribution)));
  return families
    .filter(({ contribution }) => sign * contribution > FEWEST_SHARE * largest)
    .sort((a, b) => sign * (b.contribution - a.contribution))
    .slice(0, 2)
    .map(({ family }) => {
      const lead = strongest(features.filter((each) => each.family === family && isPlain(each.name)), sign);
      const words = lead && featureInWords(lead.name, family);
      return words && words !== familyInWords(family) ? `${familyInWords(family)} (${words})` : familyInWords(family);
    })
    .join(" and ");
}

const strongest = (features: readonly FeatureContribution[], sign: Sign) =>
  features
    .filter(({ contribution }) => sign * contribution > 0)
    .reduce<FeatureContribution | undefined>(
      (best, each) => (best && Math.abs(best.contribution) >= Math.abs(each.contribution) ? best : each),
      undefined,
    );
