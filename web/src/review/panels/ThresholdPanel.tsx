// The threshold: a slider between two histograms, a number field, and a button that resets it.
import { useState } from "preact/hooks";
import { BINS, bins, hasTruth, modelThreshold, project, span, threshold } from "../state";
import { resetThreshold, roundedThreshold, setThreshold, setThresholdNear, stepThreshold, thresholdText } from "../threshold";

const SLIDER_STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

const ownThreshold = () => (project.value?.threshold === null ? "The model has none" : "The model’s own");

export function ThresholdPanel() {
  const isModels = threshold.value === modelThreshold.value;
  return (
    <section aria-label="Threshold">
      <div class="spread">
        <h2>
          <label for="threshold-number">Alarm from score</label>
        </h2>
        <ThresholdNumber />
      </div>
      {hasTruth.value && <p class="quiet histogram-title">with object</p>}
      <Histogram half="upper" />
      <ThresholdSlider />
      <Histogram half="lower" />
      {hasTruth.value && <p class="quiet histogram-title lower">without object</p>}
      <div class="spread threshold-foot">
        <span class="quiet number">
          {isModels ? ownThreshold() : `${ownThreshold()}: ${thresholdText(modelThreshold.value)}`}
        </span>
        <button id="reset-threshold" disabled={isModels} onClick={resetThreshold}>
          Reset
        </button>
      </div>
    </section>
  );
}

function ThresholdSlider() {
  const { low, high } = span.value;
  return (
    <input
      id="threshold"
      type="range"
      min={low}
      max={high}
      step="any"
      value={threshold.value}
      aria-label="Threshold"
      aria-valuetext={thresholdText(threshold.value)}
      onInput={(event) => setThresholdNear(event.currentTarget.valueAsNumber)}
      onKeyDown={(event) => {
        const steps = SLIDER_STEPS[event.key];
        if (steps === undefined || event.altKey || event.ctrlKey) return;
        event.preventDefault();
        stepThreshold(event.shiftKey ? 10 * steps : steps);
      }}
    />
  );
}

const NUMBER_STEPS: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** The threshold as a number field. A draft is kept as it is typed. */
function ThresholdNumber() {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      id="threshold-number"
      class="number"
      type="number"
      step="any"
      value={draft ?? roundedThreshold(threshold.value)}
      onInput={(event) => {
        setDraft(event.currentTarget.value);
        setThreshold(event.currentTarget.valueAsNumber);
      }}
      onBlur={() => setDraft(null)}
      onKeyDown={(event) => {
        if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
        const steps = NUMBER_STEPS[event.key];
        if (steps === undefined) return;
        event.preventDefault();
        setDraft(null);
        stepThreshold(steps);
      }}
    />
  );
}

const HISTOGRAM_HEIGHT = 44;
const MIN_HEIGHT = 1.5;

/** Scores next to the slider: pictures with an object above it, without one below it. */
function Histogram({ half }: { half: "upper" | "lower" }) {
  const { positive, negative, unknown } = bins.value;
  if (half === "lower" && !hasTruth.value) return null;
  const [numbers, kind] = !hasTruth.value
    ? [unknown, "unknown"]
    : half === "upper"
      ? [positive, "positive"]
      : [negative, "negative"];
  const largest = Math.max(1, ...numbers);
  const { low, high } = span.value;
  const at = ((threshold.value - low) / (high - low)) * BINS;
  return (
    <svg class={`histogram ${half}`} viewBox={`0 0 ${BINS} ${HISTOGRAM_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {numbers.map((number, bin) => {
        if (!number) return null;
        const height = Math.max(MIN_HEIGHT, (number / largest) * (HISTOGRAM_HEIGHT - 2));
        const isAbove = bin + 0.5 >= at;
        const isWrong = kind === "positive" ? !isAbove : kind === "negative" && isAbove;
        const y = half === "upper" ? HISTOGRAM_HEIGHT - height : 0;
        const side = isWrong ? "wrong" : isAbove ? "above" : "below";
        return <rect key={bin} class={side} x={bin + 0.08} y={y} width={0.84} height={height} />;
      })}
      <line x1={at} x2={at} y1={0} y2={HISTOGRAM_HEIGHT} />
    </svg>
  );
}
