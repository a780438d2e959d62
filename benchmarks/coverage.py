"""``python -m benchmarks.coverage``: how often intervals cover the truth, and guarantees hold.

Studies of 10, 20, 50 and 200 patients with five frames each are simulated: a score is the sum of
1.5 for a positive frame, an effect of the patient and noise, both of deviation 1. The true group
AUC is computed in closed form. Positive frames are spread over all patients, or they are in a third
of the patients, as polyps are: then the effect of a patient shifts frames of one class alone.

``--crossed`` simulates the design of the paper's experiment instead: models of 3 or 15 training
sets, tested on the same patients; the separation of a model varies between training sets, and some
suit some patients better. The intervals are those of `groupcm.experiments.areas`, and of a
bootstrap that draws patients and training sets.
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
from groupcm.experiments.areas import Areas
from groupcm.experiments.sizes import Trial
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
CROSSED_PATIENTS, SET_SPREAD, BOTH_SPREAD = 60, 0.4, 0.5


def main(arguments: list[str] | None = None) -> int:
    """Print coverage of 95 % intervals, and broken guarantees of a sensitivity of 0.9."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--crossed", action="store_true", help="training sets and test patients")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.crossed:
        print(aligned(_crossed_lines(options.studies, options.resamples)))
        return 0
    lines = [
        (
            *("positive frames in", "patients", "Obuchowski", "bootstrap"),
            *("DeLong (ignores patients)", "guarantee broken"),
        )
    ]
    for share_ill, where in ((1.0, "all"), (1.0 / 3.0, "a third")):
        for n_patients in PATIENTS:
            shares = _coverage(n_patients, share_ill, options.studies, options.resamples)
            lines.append((where, str(n_patients), *(f"{share:.3f}" for share in shares)))
            say(f"    {n_patients} patients: done")
    print(f"{options.studies} studies each; 95 % intervals; sensitivity 0.9 with confidence 0.9")
    print(aligned(lines))
    return 0


def _coverage(n_patients: int, share_ill: float, n_studies: int, n_resamples: int) -> list[float]:
    rng = np.random.default_rng(n_patients)
    truth = norm.cdf(SHIFT / 2.0)
    patients = np.repeat(np.arange(n_patients), FRAMES)
    hits, n_valid = np.zeros(4), 0
    for _ in range(n_studies):
        y = rng.random(len(patients)) < SHARE / share_ill
        y &= (np.arange(n_patients) < round(share_ill * n_patients))[patients]
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


def _crossed_lines(n_studies: int, n_resamples: int) -> list[tuple[str, ...]]:
    lines = [("training sets", "patients", "crossed, t", "bootstrap of both")]
    for n_sets in (3, 15):
        rng = np.random.default_rng(n_sets)
        shifts = SHIFT + SET_SPREAD * rng.standard_normal(1_000_000)
        truth = float(np.mean(norm.cdf(shifts / math.sqrt(2 * (2 + BOTH_SPREAD**2)))))
        hits = np.zeros(2)
        for _ in range(n_studies):
            hits += [low <= truth <= high for low, high in _study(rng, n_sets, n_resamples)]
        shares = (f"{share:.3f}" for share in hits / n_studies)
        lines.append((str(n_sets), str(CROSSED_PATIENTS), *shares))
        say(f"    {n_sets} training sets: done")
    return lines


def _study(rng: np.random.Generator, n_sets: int, n_resamples: int) -> list[tuple[float, float]]:
    """The intervals of the mean AUC in one study, crossed and by bootstrap."""
    n = CROSSED_PATIENTS
    patients = np.repeat(np.arange(n), FRAMES)
    y = rng.random(len(patients)) < SHARE
    effect = rng.standard_normal(n)[patients]
    auc, influence = np.empty(n_sets), np.empty((n_sets, n))
    above = []
    for r in range(n_sets):
        shift = SHIFT + SET_SPREAD * rng.standard_normal()
        both = BOTH_SPREAD * rng.standard_normal(n)[patients]
        scores = shift * y + effect + both + rng.standard_normal(len(y))
        wins = np.sign(scores[y][:, None] - scores[~y]) / 2 + 0.5
        auc[r] = wins.mean()
        influence[r] = (
            np.bincount(patients[y], wins.mean(axis=1) - auc[r], n) / y.sum()
            + np.bincount(patients[~y], wins.mean(axis=0) - auc[r], n) / (~y).sum()
        )
        above.append(wins)
    trials = [[Trial("GCM", 1)]] * n_sets
    interval = Areas(trials, auc, influence, len(np.unique(patients[y]))).of(trials[0][0]).interval
    drawn = np.empty(n_resamples)
    for b in range(n_resamples):
        weight = np.bincount(rng.integers(n, size=n), minlength=n)[patients].astype(float)
        up, down = weight[y], weight[~y]
        sets = rng.integers(n_sets, size=n_sets)
        areas = [up @ above[r] @ down for r in sets]
        drawn[b] = np.mean(areas) / max(up.sum() * down.sum(), 1.0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [(interval.low, interval.high), (float(low), float(high))]


if __name__ == "__main__":
    sys.exit(main())
