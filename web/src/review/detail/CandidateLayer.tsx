// Candidates over the picture: stronger lines for higher scores, the winner thick, the truth dashed.
import { useMemo } from "preact/hooks";
import { candidatePath, regionPath } from "../../shared/outlines";
import { hovered, select, selected, showsCandidates, showsTruth } from "./openPicture";
import { scoreText, threshold } from "../state";
import type { ScoredPicture } from "../types";
import { useOutlines } from "../useOutlines";

const OPACITY = { above: [0.5, 0.9], below: [0.05, 0.6] } as const;

export function Candidates({ picture, wasDragged }: { picture: ScoredPicture; wasDragged: () => boolean }) {
  const { width, height, candidates, winner, objects } = picture;
  const outlines = useOutlines(candidates, (each) => candidatePath(each, width, height));
  const truth = useMemo(() => (objects ?? []).map(({ region }) => regionPath(region)), [objects]);
  // Small ones lie over large ones, so that the pointer reaches them.
  const largeFirst = useMemo(
    () => candidates.map((_, k) => k).sort((a, b) => area(candidates[b]!.box) - area(candidates[a]!.box)),
    [candidates],
  );
  const strength = strengthIn(picture);
  const numberOf = (target: EventTarget | null) => {
    const told = target instanceof Element ? target.getAttribute("data-candidate") : null;
    return told === null ? null : Number(told);
  };
  const emphasised = [...new Set([winner, selected.value, hovered.value])].filter((k) => k !== null);
  return (
    <svg
      class="candidates"
      viewBox={`0 0 ${width} ${height}`}
      onPointerMove={(event) => (hovered.value = numberOf(event.target))}
      onPointerLeave={() => (hovered.value = null)}
      onClick={(event) => {
        const k = numberOf(event.target);
        if (k !== null && !wasDragged()) select(k);
      }}
    >
      {showsCandidates.value && (
        <g>
          {largeFirst.map((k) => {
            const isAbove = (candidates[k]!.score ?? -Infinity) >= threshold.value;
            const [weakest, strongest] = OPACITY[isAbove ? "above" : "below"];
            return (
              <path
                key={k}
                data-candidate={k}
                class={isAbove ? "candidate above" : "candidate"}
                style={{ strokeOpacity: weakest + (strongest - weakest) * strength(k) }}
                d={outlines[k] ?? ""}
              />
            );
          })}
        </g>
      )}
      {showsTruth.value && truth.map((d, place) => <Haloed key={place} class="truth" d={d} />)}
      {emphasised.map((k) => (
        <Haloed key={k} class={rolesOf(k, winner)} d={outlines[k] ?? ""} />
      ))}
    </svg>
  );
}

const Haloed = ({ class: kind, d }: { class: string; d: string }) => (
  <g class={kind}>
    <path class="halo" d={d} />
    <path class="line" d={d} />
  </g>
);

function rolesOf(k: number, winner: number): string {
  const roles = { chosen: true, winner: k === winner, selected: k === selected.value, hovered: k === hovered.value };
  return Object.entries(roles)
    .filter(([, holds]) => holds)
    .map(([role]) => role)
    .join(" ");
}

const area = ([, , width, height]: readonly [number, number, number, number]) => width * height;

/** From 0 for the median candidate and below to 1 for the best, so that most stay faint. */
function strengthIn({ candidates }: ScoredPicture): (k: number) => number {
  const scores = candidates.map(({ score }) => score ?? 0).sort((a, b) => b - a);
  const [high, middle] = [scores[0] ?? 0, scores[scores.length >> 1] ?? 0];
  const share = (score: number) => Math.max(0, (score - middle) / (high - middle));
  return (k) => (high > middle ? share(candidates[k]!.score ?? middle) ** 3 : 1);
}

export function HoverNote({ picture }: { picture: ScoredPicture }) {
  const k = hovered.value;
  const score = k === null ? null : picture.candidates[k]?.score;
  if (k === null || score == null) return null;
  return (
    <div class="hover-note number" id="hover-note">
      Candidate {k + 1} · {scoreText(score)}
      {score >= threshold.value ? " · above the threshold" : ""}
    </div>
  );
}
