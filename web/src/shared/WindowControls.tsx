// Sliders of window and level, and the way back.
import type { Signal } from "@preact/signals";
import { depth, isUsual, levelPercent, resetWindow, shownValues, USUAL, windowPercent } from "./windowLevel";

export function WindowControls() {
  // A deeper picture may have values far above those that are shown by default.
  const isDeep = (depth.value?.bits ?? 8) > 8;
  return (
    <div class="window-controls" role="group" aria-label="Window and level" title={shownValues.value}>
      <Slider id="window" title="Window" value={windowPercent} least={5} most={isDeep ? 400 : 200} usual={USUAL.window} />
      <Slider id="level" title="Level" value={levelPercent} least={0} most={isDeep ? 200 : 100} usual={USUAL.level} />
      <button
        id="reset-window"
        class="plain small"
        title="Window and level as usual (X)"
        aria-label="Window and level as usual"
        disabled={isUsual.value}
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
  least: number;
  most: number;
  usual: number;
  unit?: string;
}

export function Slider({ id, title, value, least, most, usual, unit = " %" }: SliderProps) {
  const told = `${value.value}${unit}`;
  return (
    <label class="slider" title={`${title} ${told}; a double click sets it back`}>
      <span class="quiet">{title}</span>
      <input
        id={id}
        type="range"
        min={least}
        max={most}
        value={value.value}
        aria-valuetext={told}
        onInput={(event) => (value.value = Number(event.currentTarget.value))}
        onDblClick={() => (value.value = usual)}
      />
    </label>
  );
}
