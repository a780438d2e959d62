// The threshold as a number; what is being typed stays as it is typed.
import { useState } from "preact/hooks";
import { setThreshold, stepThreshold } from "./threshold";
import { roundedThreshold, threshold } from "./state";

const STEPS: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

export function ThresholdNumber() {
  const [draft, write] = useState<string | null>(null);
  return (
    <input
      id="threshold-number"
      class="number"
      type="number"
      step="any"
      value={draft ?? roundedThreshold(threshold.value)}
      onInput={(event) => {
        write(event.currentTarget.value);
        setThreshold(event.currentTarget.valueAsNumber);
      }}
      onBlur={() => write(null)}
      onKeyDown={(event) => {
        if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
        const steps = STEPS[event.key];
        if (steps === undefined) return;
        event.preventDefault();
        write(null);
        stepThreshold(steps);
      }}
    />
  );
}
