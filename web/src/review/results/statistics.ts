// Live counts at a threshold; a share of nothing is null.
import { isAlarm, type Outcome } from "./outcomes";
import type { Results } from "../types";

export interface Share {
  n: number;
  of: number;
}

export interface Counts {
  alarms: Share;
  detected: Share | null;
  falseAlarms: Share | null;
  falseAlarmsPerHundred: number | null;
  winnersOnObject: Share | null;
  /** Scored pictures of which the annotations do not say whether they show an object. */
  withoutTruth: number;
}

export function countsOf(results: Results, outcomes: readonly Outcome[]): Counts {
  const tally = new Map<Outcome, number>();
  let [alarms, placed, onObject] = [0, 0, 0];
  outcomes.forEach((outcome, picture) => {
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    if (isAlarm(outcome)) alarms++;
    const hit = results[picture]?.on_object ?? null;
    if (outcome === "true positive" && hit !== null) {
      placed++;
      if (hit) onObject++;
    }
  });
  const number = (outcome: Outcome) => tally.get(outcome) ?? 0;
  const scored = outcomes.length - number("waiting") - number("unreadable");
  const [detected, falseAlarms] = [number("true positive"), number("false positive")];
  const positives = detected + number("false negative");
  const negatives = falseAlarms + number("true negative");
  return {
    alarms: { n: alarms, of: scored },
    detected: share(detected, positives),
    falseAlarms: share(falseAlarms, negatives),
    falseAlarmsPerHundred: negatives ? (100 * falseAlarms) / (positives + negatives) : null,
    winnersOnObject: share(onObject, placed),
    withoutTruth: number("alarm") + number("no alarm"),
  };
}

const share = (n: number, of: number): Share | null => (of ? { n, of } : null);

export const percent = ({ n, of }: Share) => (of ? (100 * n) / of : 0);
