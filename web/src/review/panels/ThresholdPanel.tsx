// The threshold: a slider between the histograms, a number, and the way back to the model's own.
import { Histogram } from "../Histogram";
import { resetThreshold, setThresholdNear, stepThreshold } from "../threshold";
import { knowsTruth, modelThreshold, project, span, threshold, thresholdText } from "../state";
import { ThresholdNumber } from "../ThresholdNumber";

const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

const ownThreshold = () => (project.value?.threshold === null ? "The model names none" : "The model’s own");

export function Threshold() {
  const isModels = threshold.value === modelThreshold.value;
  return (
    <section aria-label="Threshold">
      <div class="spread">
        <h2>
          <label for="threshold-number">Alarm from score</label>
        </h2>
        <ThresholdNumber />
      </div>
      {knowsTruth.value && <p class="quiet histogram-title">with object</p>}
      <Histogram half="upper" />
      <Slider />
      <Histogram half="lower" />
      {knowsTruth.value && <p class="quiet histogram-title lower">without object</p>}
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

function Slider() {
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
        const steps = STEPS[event.key];
        if (steps === undefined || event.altKey || event.ctrlKey) return;
        event.preventDefault();
        stepThreshold(event.shiftKey ? 10 * steps : steps);
      }}
    />
  );
}
