// Sliders for window and level, and a button that resets them.
import type { Signal } from "@preact/signals";
import { DEFAULTS, depth, isDefaultWindow, levelPercent, resetWindow, shownValues, windowPercent } from "./windowLevel";

export function WindowControls() {
  // A picture of more than 8 bits may have values far above those that are shown by default.
  const isDeep = (depth.value?.bits ?? 8) > 8;
  return (
    <div class="window-controls" role="group" aria-label="Window and level" title={shownValues.value}>
      <Slider id="window" title="Window" value={windowPercent} min={5} max={isDeep ? 400 : 200} initial={DEFAULTS.window} />
      <Slider id="level" title="Level" value={levelPercent} min={0} max={isDeep ? 200 : 100} initial={DEFAULTS.level} />
      <button
        id="reset-window"
        class="plain small"
        title="Reset window and level (X)"
        aria-label="Reset window and level"
        disabled={isDefaultWindow.value}
        onClick={resetWindow}
      >
        ↺
      </button>
    </div>
  );
}

interface SliderProps {
  id: string;
  title: string;
  value: Signal<number>;
  min: number;
  max: number;
  initial: number;
  unit?: string;
}

export function Slider({ id, title, value, min, max, initial, unit = " %" }: SliderProps) {
  const text = `${value.value}${unit}`;
  return (
    <label class="slider" title={`${title} ${text}; double-click to reset`}>
      <span class="quiet">{title}</span>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        value={value.value}
        aria-valuetext={text}
        onInput={(event) => (value.value = Number(event.currentTarget.value))}
        onDblClick={() => (value.value = initial)}
      />
    </label>
  );
}
