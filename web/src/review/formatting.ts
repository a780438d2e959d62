// Formatting of numbers and durations.

const MINUS = "−";
const signed = (text: string) => text.replace("-", MINUS);

/** Format with a fixed number of decimals and a true minus sign, never as "-0.00". */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return signed(Number(text) === 0 ? text.replace("-", "") : text);
}

export const withSign = (value: number, decimals: number) => {
  const text = fixed(value, decimals);
  return value > 0 && Number(value.toFixed(decimals)) !== 0 ? `+${text}` : text;
};

/** Format with three significant digits, for values of any size. */
export function brief(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return signed(value.toExponential(1));
  return signed(String(Number(value.toPrecision(3))));
}

export const whole = (value: number) => value.toLocaleString("en-GB");

export const inPercent = (percent: number) =>
  `${percent > 0 && percent < 10 ? fixed(percent, 1) : fixed(percent, 0)} %`;

/** Return the largest of 1, 2, 5 times a power of ten that fits two hundred times into the range. */
export function niceStep(range: number): number {
  if (!(range > 0) || !Number.isFinite(range)) return 0.01;
  const rough = range / 200;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([5, 2, 1].find((each) => each * power <= rough) ?? 1);
}

export const decimalsOf = (step: number) => Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)));

export function duration(seconds: number): string {
  if (seconds < 50) return `${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
  if (seconds < 3300) return `${Math.max(1, Math.round(seconds / 60))} min`;
  return `${fixed(seconds / 3600, 1)} h`;
}
