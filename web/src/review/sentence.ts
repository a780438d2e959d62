// Why a candidate scores as it does, in one sentence.
import type { Explanation } from "./types";
import { familyInWords, featureInWords, isPlain } from "./words";

const FEWEST_SHARE = 0.1;

export function inOneSentence({ families, features }: Explanation): string {
  const largest = Math.max(0, ...families.map(({ contribution }) => Math.abs(contribution)));
  const most = (sign: 1 | -1) =>
    families
      .filter(({ contribution }) => sign * contribution > FEWEST_SHARE * largest)
      .sort((a, b) => sign * (b.contribution - a.contribution))
      .slice(0, 2)
      .map(({ family }) => {
        const lead = features.find((each) => each.family === family && sign * each.contribution > 0 && isPlain(each.name));
        const words = lead && featureInWords(lead.name, family);
        return words && words !== familyInWords(family) ? `${familyInWords(family)} (${words})` : familyInWords(family);
      })
      .join(" and ");
  const [raised, lowered] = [most(1), most(-1)];
  if (raised && lowered) return `Raised most by ${raised}; lowered most by ${lowered}.`;
  if (raised) return `Raised most by ${raised}; hardly lowered by anything.`;
  if (lowered) return `Lowered most by ${lowered}; hardly raised by anything.`;
  return "Nothing sets it apart from an average candidate.";
}
