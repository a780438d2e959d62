// What the lines over the picture mean.
import { large, showsCandidates, showsTruth } from "./detail/openPicture";

export function Legend() {
  const hasObjects = Boolean(large.value.picture?.objects?.length);
  return (
    <div class="legend">
      <Entry kind="chosen winner" title="winner" />
      {showsCandidates.value && <Entry kind="candidate above" title="from the threshold" />}
      {showsCandidates.value && <Entry kind="candidate" title="below" />}
      {hasObjects && showsTruth.value && <Entry kind="truth" title="annotated" />}
    </div>
  );
}

const Entry = ({ kind, title }: { kind: string; title: string }) => (
  <span>
    <svg viewBox="0 0 18 8" aria-hidden="true">
      <g class={kind}>
        <path class="line" d="M1 4h16" />
      </g>
    </svg>
    {title}
  </span>
);
