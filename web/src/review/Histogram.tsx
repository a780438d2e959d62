// Scores around the slider: pictures with an object above it, without one below it.
import { BINS, bins, knowsTruth, span, threshold } from "./state";

const HEIGHT = 44;
const LEAST_HEIGHT = 1.5;

export function Histogram({ half }: { half: "upper" | "lower" }) {
  const { positive, negative, unknown } = bins.value;
  if (half === "lower" && !knowsTruth.value) return null;
  const [numbers, kind] = !knowsTruth.value
    ? [unknown, "unknown"]
    : half === "upper"
      ? [positive, "positive"]
      : [negative, "negative"];
  const largest = Math.max(1, ...numbers);
  const { low, high } = span.value;
  const at = ((threshold.value - low) / (high - low)) * BINS;
  return (
    <svg class={`histogram ${half}`} viewBox={`0 0 ${BINS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {numbers.map((number, bin) => {
        if (!number) return null;
        const height = Math.max(LEAST_HEIGHT, (number / largest) * (HEIGHT - 2));
        const isAbove = bin + 0.5 >= at;
        const isWrong = kind === "positive" ? !isAbove : kind === "negative" && isAbove;
        const y = half === "upper" ? HEIGHT - height : 0;
        const side = isWrong ? "wrong" : isAbove ? "above" : "below";
        return <rect key={bin} class={side} x={bin + 0.08} y={y} width={0.84} height={height} />;
      })}
      <line x1={at} x2={at} y1={0} y2={HEIGHT} />
    </svg>
  );
}
