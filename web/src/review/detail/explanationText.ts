// Explanations in plain language: names of features and families, and a sentence on a score.
import type { Explanation, FeatureContribution } from "../types";

const FAMILIES: Record<string, string> = {
  shape: "shape",
  colour: "colour",
  contrast: "contrast with its surroundings",
  sides: "contrast to each side",
  lines: "lines and spots",
  texture: "texture",
  gradients: "edges",
  place: "place in the picture",
  network: "network's features",
};

const PARTS: readonly [RegExp, string][] = [
  [/^colour_spread_(.+)$/, "variation of $1 inside"],
  [/^colour_(.+)$/, "$1"],
  [/^contrast_ring_size_(.+)$/, "difference in $1 to the rim"],
  [/^contrast_ring_(.+)$/, "$1 against the rim"],
  [/^contrast_picture_size_(.+)$/, "difference in $1 to the picture"],
  [/^contrast_picture_(.+)$/, "$1 against the picture"],
  [/^contrast_distinct_size_(.+)$/, "clear difference in $1 to the rim"],
  [/^contrast_distinct_(.+)$/, "$1 clearly above the rim"],
  [/^contrast_spread_(.+)$/, "variation of $1 against the rim"],
  [/^sides_below_all_(.+)$/, "$1 below all four sides"],
  [/^sides_above_all_(.+)$/, "$1 above all four sides"],
  [/^sides_below_opposite_(.+)$/, "$1 below two opposite sides"],
  [/^sides_above_opposite_(.+)$/, "$1 above two opposite sides"],
  [/^sides_least_(.+)$/, "$1 against the side highest in it"],
  [/^sides_second_(.+)$/, "$1 against the side second highest in it"],
  [/^sides_third_(.+)$/, "$1 against the side second lowest in it"],
  [/^sides_most_(.+)$/, "$1 against the side lowest in it"],
  [/^lines_(dark|bright)_(line|blob)_(thin|thick)_(.+)$/, "$3 $1 $2s against the $4"],
  [/^texture_pattern(\d)_brighter(\d)(.*)$/, "pattern at $1 px with $2 of 8 neighbours brighter$3"],
  [/^texture_pattern(\d)_mixed(.*)$/, "irregular pattern at $1 px$2"],
  [/^texture_pairs(\d)_(contrast|homogeneity|correlation|entropy)(.*)$/, "$2 of pixels $1 px apart$3"],
  [/^texture_(fine|middle|coarse)_(.+)$/, "$1 detail against the $2"],
  [/^gradients_outline_picture_(.+)$/, "edge of $1 along the outline"],
  [/^gradients_outline_inside_(.+)$/, "edge of $1 along the outline against inside"],
  [/^gradients_outline_signed_size_(.+)$/, "size of the step of $1 across the outline"],
  [/^gradients_outline_signed_(.+)$/, "step of $1 across the outline"],
  [/^gradients_outline_agreement_(.+)$/, "one-sidedness of the outline in $1"],
  [/^gradients_inside_strength_(.+)$/, "edges inside against the $1"],
  [/^gradients_inside_parallel(.*)$/, "parallel edges inside$1"],
  [/^gradients_inside_radial_size$/, "edges inside along the radius"],
  [/^gradients_inside_radial$/, "edges inside towards the centre"],
  [/^gradients_turned_(\d)$/, "edge directions, part $1"],
  [/^gradients_cell_(\d)_(\d)_(\d)$/, "edge direction $3 in cell $1, $2"],
  [/^shape_aspect_size$/, "how oblong its box is"],
  [/^shape_aspect$/, "width against height"],
  [/^shape_extent$/, "share of its box filled"],
  [/^shape_solidity$/, "freedom from dents"],
  [/^shape_strips$/, "number of pieces in a column"],
  [/^shape_lopsided$/, "lopsidedness"],
  [/^place_(x|y)(_size)?$/, "position along $1"],
  [/^place_away$/, "distance from the centre"],
  [/^place_border$/, "touching the border"],
];

const CHANNELS: readonly [RegExp, string][] = [
  [/\bgreen_red\b/, "redness"],
  [/\bblue_yellow\b/, "yellowness"],
  [/\bhue_(cos|sin)\b/, "hue ($1)"],
  [/\bred_share\b/, "share of red"],
  [/\bgreen_share\b/, "share of green"],
  [/\bred_minus_green\b/, "red over green"],
  [/\byellow_minus_blue\b/, "yellow over blue"],
  [/\brank\b/, "rank of lightness"],
  [/\bthin (dark|bright) blobs\b/, "small $1 spots"],
  [/\bthick (dark|bright) blobs\b/, "large $1 spots"],
  [/_ring\b/, " against the rim"],
  [/\bring\b/, "rim"],
];

const FOR_EXPERTS = /_cell_|_turned_|_pattern\d|_pairs\d|_hue_|^network_/;

/** Return whether a user without knowledge of image features can picture what it measures. */
const isPlain = (name: string) => !FOR_EXPERTS.test(name);

export const familyInWords = (family: string) => FAMILIES[family] ?? family.replaceAll("_", " ");

export function featureInWords(name: string, family: string): string {
  const known = PARTS.find(([pattern]) => pattern.test(name));
  let words = known ? name.replace(...known) : withoutPrefix(name, `${family}_`);
  for (const [pattern, word] of CHANNELS) words = words.replace(pattern, word);
  return words.replaceAll("_", " ");
}

const withoutPrefix = (name: string, prefix: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);

const MIN_SHARE = 0.1;
const CONSIDERABLE_SHARE = 0.2;
type Sign = 1 | -1;

/** Describe in one sentence why a candidate has its score. */
export function explanationSentence(explanation: Explanation): string {
  if (explanation.features.every(({ contribution }) => contribution === 0)) {
    return "Nothing sets it apart from an average candidate.";
  }
  const directions: [Sign, Sign] = familiesInWords(explanation, 1) ? [1, -1] : [-1, 1];
  const [first, second] = directions.map((sign) => directionInWords(explanation, sign));
  return `${first![0]!.toUpperCase()}${first!.slice(1)}; ${second}.`;
}

/** Describe what moves the score in one direction: families, or else the strongest single feature. */
function directionInWords(explanation: Explanation, sign: Sign): string {
  const verb = sign > 0 ? "raised" : "lowered";
  const families = familiesInWords(explanation, sign);
  if (families) return `${verb} most by ${families}`;
  const { features } = explanation;
  const most = strongest(features, sign);
  if (!most) return `not ${verb} by any feature`;
  const largest = Math.max(...features.map(({ contribution }) => Math.abs(contribution)));
  const isLittle = Math.abs(most.contribution) < CONSIDERABLE_SHARE * largest;
  return `${verb} ${isLittle ? "little, " : ""}most by ${featureInWords(most.name, most.family)}`;
}

function familiesInWords({ families, features }: Explanation, sign: Sign): string {
  const largest = Math.max(0, ...families.map(({ contribution }) => Math.abs(contribution)));
  return families
    .filter(({ contribution }) => sign * contribution > MIN_SHARE * largest)
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
