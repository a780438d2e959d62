"""``python -m benchmarks.coverage``: how often intervals cover the truth, and guarantees hold.

Studies of 10, 20, 50 and 200 patients with five frames each are simulated: a score is the sum of
1.5 for a positive frame, an effect of the patient and noise, both of deviation 1. The true group
AUC is computed in closed form.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings

import numpy as np
from scipy.stats import norm

from benchmarks.support.measure import say
from benchmarks.support.text_table import aligned
from groupcm.metrics import (
    bootstrap_interval,
    delong_interval,
    obuchowski_interval,
    operating_point,
)

__all__ = ["main"]

PATIENTS = (10, 20, 50, 200)
FRAMES = 5
SHIFT = 1.5
SHARE = 0.3


def main(arguments: list[str] | None = None) -> int:
    """Print coverage of 95 % intervals, and broken guarantees of a sensitivity of 0.9."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=400)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines = [
        ("patients", "Obuchowski", "bootstrap", "DeLong (ignores patients)", "guarantee broken")
    ]
    for n_patients in PATIENTS:
        shares = _coverage(n_patients, options.studies, options.resamples)
        lines.append((str(n_patients), *(f"{share:.3f}" for share in shares)))
        say(f"    {n_patients} patients: done")
    print(f"{options.studies} studies each; 95 % intervals; sensitivity 0.9 with confidence 0.9")
    print(aligned(lines))
    return 0


def _coverage(n_patients: int, n_studies: int, n_resamples: int) -> list[float]:
    rng = np.random.default_rng(n_patients)
    truth = norm.cdf(SHIFT / 2.0)
    patients = np.repeat(np.arange(n_patients), FRAMES)
    hits, n_valid = np.zeros(4), 0
    for _ in range(n_studies):
        y = rng.random(len(patients)) < SHARE
        if y.all() or not y.any():
            continue
        n_valid += 1
        effect = rng.standard_normal(n_patients)[patients]
        scores = SHIFT * y + effect + rng.standard_normal(len(patients))
        found = [
            obuchowski_interval(y, scores, clusters=patients),
            bootstrap_interval(y, scores, clusters=patients, n_resamples=n_resamples),
            delong_interval(y, scores),
        ]
        hits[:3] += [each.low <= truth <= each.high for each in found]
        point = operating_point(y, scores, sensitivity=0.9, confidence=0.9, clusters=patients)
        # NaN, where the patients are too few for a guarantee, breaks nothing.
        hits[3] += norm.sf((point.threshold - SHIFT) / math.sqrt(2.0)) < 0.9
    return (hits / n_valid).tolist()


if __name__ == "__main__":
    sys.exit(main())
