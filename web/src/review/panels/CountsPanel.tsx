// Live counts at the threshold; counts that need annotations are shown only with annotations.
import { fixed, inPercent, whole } from "../formatting";
import { percent, type Share } from "../results/statistics";
import { counts, hasTruth } from "../state";

interface Line {
  id: string;
  title: string;
  share: Share;
  text: string;
  hint: string;
}

function lines(): Line[] {
  const { alarms, detected, falseAlarms, falseAlarmsPerHundred, winnersOnObject } = counts.value;
  const of = ({ n, of }: Share) => `${whole(n)} of ${whole(of)}`;
  const found: (Line | null)[] = [
    { id: "alarms", title: "Alarms", share: alarms, text: of(alarms), hint: "Pictures that score at least the threshold" },
    detected && {
      id: "sensitivity",
      title: "Sensitivity",
      share: detected,
      text: of(detected),
      hint: "Alarms among pictures with an object",
    },
    falseAlarms && {
      id: "false-alarms",
      title: "False alarms",
      share: falseAlarms,
      text: `${of(falseAlarms)} · ${fixed(falseAlarmsPerHundred!, 1)} per 100 pictures`,
      hint: "Alarms among pictures without object; and in a hundred pictures of known truth",
    },
    winnersOnObject && {
      id: "on-object",
      title: "Winner on the object, if found",
      share: winnersOnObject,
      text: of(winnersOnObject),
      hint: "Among pictures with an object that raised an alarm",
    },
  ];
  return found.filter((line) => line !== null);
}

export function CountsPanel() {
  if (counts.value.alarms.of === 0) return null;
  return (
    <section aria-label="Counts at this threshold">
      <dl class="counts">
        {lines().map(({ id, title, share, text, hint }) => (
          <div key={id} id={id} title={hint}>
            <dt class="spread">
              {title} <b class="number">{inPercent(percent(share))}</b>
            </dt>
            <dd class="quiet number">{text}</dd>
            <dd class="count-bar" aria-hidden="true">
              <i style={{ width: `${percent(share)}%` }} />
            </dd>
          </div>
        ))}
      </dl>
      {hasTruth.value && counts.value.withoutTruth > 0 && (
        <p id="without-truth" class="quiet number">
          {whole(counts.value.withoutTruth)} of these {counts.value.withoutTruth === 1 ? "is" : "are"} unannotated and
          left out of sensitivity and false alarms.
        </p>
      )}
      {!hasTruth.value && (
        <p class="quiet">Start with --annotations FILE to see sensitivity and false alarms.</p>
      )}
    </section>
  );
}
