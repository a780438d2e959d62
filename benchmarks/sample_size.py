"""``python -m benchmarks.sample_size``: whether studies of the planned size keep the promise.

Pilots of several sizes are drawn, a study is planned from each, and studies of the planned number
of patients are then drawn from the same population: the width of their confidence intervals of the
group AUC, and the share that find the difference of two models. A score is 1.5 (of the other model
1.0) for a positive frame, an effect of the patient and noise, both N(0, 1), five frames per
patient; the models share the effect. A third of the patients has positive frames.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

from benchmarks.support.measure import say
from benchmarks.support.text_table import aligned
from groupcm.metrics import bootstrap_interval, compare, sample_size

__all__ = ["main"]

PILOTS = (40, 100, 400)
WIDTH, POWER, DIFFERENCE = 0.1, 0.8, 0.04
FRAMES = 5


def main(arguments: list[str] | None = None) -> int:
    """Print planned numbers of patients, and what studies of these sizes show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sample_size", description=__doc__)
    parser.add_argument("--pilots", type=int, default=40)
    parser.add_argument("--studies", type=int, default=10)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines = [("pilot", "goal", "promised", "planned, median (middle half)", "found on average")]
    for n_pilot in PILOTS:
        for goal in ("width", "power"):
            planned, found = _measure(goal, n_pilot, options.pilots, options.studies)
            low, middle, high = np.quantile(planned, [0.25, 0.5, 0.75])
            promised = WIDTH if goal == "width" else POWER
            numbers = f"{middle:.0f} ({low:.0f} to {high:.0f})"
            lines.append((str(n_pilot), goal, f"{promised:g}", numbers, f"{found:.3f}"))
        say(f"    pilots of {n_pilot} patients: done")
    print(f"{options.pilots} pilots each, {options.studies} studies of each planned size;")
    print(f"the power is that of finding a difference of {DIFFERENCE:g}")
    print(aligned(lines))
    return 0


def _measure(goal: str, n_pilot: int, n_pilots: int, n_studies: int) -> tuple[list[int], float]:
    rng = np.random.default_rng([n_pilot, len(goal)])
    planned, found = [], []
    for _ in range(n_pilots):
        y, scores, other, patients = _draw(rng, n_pilot)
        wanted = {"width": WIDTH}
        if goal == "power":
            wanted = {"power": POWER, "difference": DIFFERENCE}
        plan = sample_size(
            y,
            scores,
            clusters=patients,
            other=other if goal == "power" else None,
            n_studies=500,
            **wanted,
        )
        planned.append(plan.n_patients or plan.sizes[-1])
        found += [_study(goal, rng, planned[-1]) for _ in range(n_studies)]
    return planned, float(np.mean(found))


def _study(goal: str, rng: np.random.Generator, n_patients: int) -> float:
    y, scores, other, patients = _draw(rng, n_patients)
    if goal == "width":
        interval = bootstrap_interval(y, scores, clusters=patients, n_resamples=500)
        return interval.high - interval.low
    found = compare(y, scores, other, clusters=patients, n_resamples=500)
    return float(found.p_value < 0.05 and found.difference.estimate > 0)


def _draw(rng: np.random.Generator, n: int):
    """Draw patients, such that the AUC of the models differs by about `DIFFERENCE`."""
    patients = np.repeat(np.arange(n), FRAMES)
    ill = np.arange(n) % 3 == 0
    y = ill[patients] & (rng.random(n * FRAMES) < 0.6)
    effect = rng.standard_normal(n)[patients]
    one, two = rng.standard_normal((2, n * FRAMES))
    return y, 1.5 * y + effect + one, SECOND * y + effect + two, patients


# Φ(1.5 / 2) − Φ(SECOND / 2) = DIFFERENCE
SECOND = 1.2461


if __name__ == "__main__":
    sys.exit(main())
