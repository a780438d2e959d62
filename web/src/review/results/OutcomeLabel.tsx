// An outcome with its icon, whose shape distinguishes it without relying on colour.
import type { Outcome } from "./outcomes";

const PATHS: Record<Outcome, string> = {
  "true positive": "M2.5 6.5 5 9 9.5 3.5",
  "false positive": "M6 1.8 11 10.5H1ZM6 5v2.6M6 8.9v.2",
  "false negative": "M2.5 2.5l7 7M9.5 2.5l-7 7",
  "true negative": "M2.5 6h7",
  alarm: "M6 1.8 11 10.5H1Z",
  "no alarm": "M2.5 6h7",
  unreadable: "M6 1.5a4.5 4.5 0 1 0 .01 0M3 3l6 6",
  waiting: "M3 6h.1M6 6h.1M9 6h.1",
};

const OutcomeIcon = ({ outcome }: { outcome: Outcome }) => (
  <svg class="sign" viewBox="0 0 12 12" aria-hidden="true">
    <path d={PATHS[outcome]} />
  </svg>
);

export const OutcomeLabel = ({ outcome }: { outcome: Outcome }) => (
  <span class="outcome" data-kind={outcome}>
    <OutcomeIcon outcome={outcome} />
    {outcome}
  </span>
);
