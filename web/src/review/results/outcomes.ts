// The outcome of a picture at a threshold.
import type { Result, Results } from "../types";

export type Outcome =
  | "true positive"
  | "false positive"
  | "false negative"
  | "true negative"
  | "alarm"
  | "no alarm"
  | "unreadable"
  | "waiting";

function outcomeOf(result: Result | null, threshold: number): Outcome {
  if (result === null) return "waiting";
  if (result.score === null) return result.error === null ? "waiting" : "unreadable";
  const alarm = result.score >= threshold;
  if (result.truth === null) return alarm ? "alarm" : "no alarm";
  if (result.truth) return alarm ? "true positive" : "false negative";
  return alarm ? "false positive" : "true negative";
}

export const outcomesOf = (results: Results, threshold: number): Outcome[] =>
  results.map((result) => outcomeOf(result, threshold));

const ALARMS: ReadonlySet<Outcome> = new Set<Outcome>(["true positive", "false positive", "alarm"]);

export const isAlarm = (outcome: Outcome) => ALARMS.has(outcome);
