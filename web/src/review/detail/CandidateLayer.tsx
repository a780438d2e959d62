// The layer of candidates over the picture: higher scores have stronger lines, the winner a thick one,
// the annotated objects dashed ones.
import { useEffect, useMemo, useState } from "preact/hooks";
import { candidatePath, regionPath } from "../../shared/outlines";
import { scoreText, threshold } from "../state";
import type { ScoredPicture } from "../types";
import { candidatesAreShown, hovered, openPicture, select, selected, truthIsShown } from "./openPicture";

const OPACITY = { above: [0.5, 0.9], below: [0.05, 0.6] } as const;

export function CandidateLayer({ picture, wasDragged }: { picture: ScoredPicture; wasDragged: () => boolean }) {
  const { width, height, candidates, winner, objects } = picture;
  const outlines = useOutlines(candidates, (each) => candidatePath(each, width, height));
  const truth = useMemo(() => (objects ?? []).map(({ region }) => regionPath(region)), [objects]);
  // Small candidates are drawn over large ones, so that the pointer can reach them.
  const largeFirst = useMemo(
    () => candidates.map((_, k) => k).sort((a, b) => area(candidates[b]!.box) - area(candidates[a]!.box)),
    [candidates],
  );
  const strength = strengthIn(picture);
  const numberOf = (target: EventTarget | null) => {
    const number = target instanceof Element ? target.getAttribute("data-candidate") : null;
    return number === null ? null : Number(number);
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
      {candidatesAreShown.value && (
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
      {truthIsShown.value && truth.map((d, place) => <Haloed key={place} class="truth" d={d} />)}
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

/** Map the scores to [0, 1]: the median candidate and those below it to 0, the best to 1. Most stay faint. */
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

/** The meaning of the lines over the picture. */
export function Legend() {
  const hasObjects = Boolean(openPicture.value.picture?.objects?.length);
  return (
    <div class="legend">
      <LegendEntry kind="chosen winner" title="winner" />
      {candidatesAreShown.value && <LegendEntry kind="candidate above" title="above the threshold" />}
      {candidatesAreShown.value && <LegendEntry kind="candidate" title="below" />}
      {hasObjects && truthIsShown.value && <LegendEntry kind="truth" title="annotated" />}
    </div>
  );
}

const LegendEntry = ({ kind, title }: { kind: string; title: string }) => (
  <span>
    <svg viewBox="0 0 18 8" aria-hidden="true">
      <g class={kind}>
        <path class="line" d="M1 4h16" />
      </g>
    </svg>
    {title}
  </span>
);

const MILLISECONDS_PER_FRAME = 10;

/** Compute the outlines of many candidates, a few milliseconds per frame, so that the page stays responsive. */
function useOutlines<Item>(items: readonly Item[], outline: (item: Item) => string): string[] {
  const [computed, setComputed] = useState<{ of: readonly Item[]; paths: string[] }>({ of: [], paths: [] });
  useEffect(() => {
    const paths: string[] = [];
    let frame = 0;
    const work = () => {
      const until = performance.now() + MILLISECONDS_PER_FRAME;
      while (paths.length < items.length && performance.now() < until) paths.push(outline(items[paths.length]!));
      setComputed({ of: items, paths: [...paths] });
      if (paths.length < items.length) frame = requestAnimationFrame(work);
    };
    work();
    return () => cancelAnimationFrame(frame);
  }, [items]);
  return computed.of === items ? computed.paths : [];
}
