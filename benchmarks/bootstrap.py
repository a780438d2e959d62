"""Intervals over patients: 2,000 resamples of 100,000 groups, against a naive loop.

Run as ``python -m benchmarks.bootstrap``.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import roc_auc_score

from groupcm.metrics import bootstrap_interval

GROUPS = 100_000
PATIENTS = 5_000
RESAMPLES = 2_000
NAIVE_RESAMPLES = 10


def main() -> None:
    """Print the seconds, and the ratio to the loop for as many resamples."""
    rng = np.random.default_rng(0)
    patients = rng.integers(PATIENTS, size=GROUPS)
    habit = rng.standard_normal(PATIENTS)[patients]
    y = rng.random(GROUPS) < 0.01
    scores = y + 0.5 * habit + rng.standard_normal(GROUPS)
    bootstrap_interval(y[:1000], scores[:1000], n_resamples=2)  # the first call compiles

    start = time.perf_counter()
    found = bootstrap_interval(y, scores, clusters=patients, n_resamples=RESAMPLES)
    ours = time.perf_counter() - start

    start = time.perf_counter()
    _naive(y, scores, patients, rng)
    naive = (time.perf_counter() - start) * RESAMPLES / NAIVE_RESAMPLES

    print(f"{RESAMPLES:,} resamples of {GROUPS:,} groups of {PATIENTS:,} patients, group AUC")
    print(f"AUC {found.estimate:.4f}, 95 % interval {found.low:.4f} to {found.high:.4f}")
    print(f"bootstrap_interval               {ours:8.2f} s")
    print(
        f"roc_auc_score on gathered rows   {naive:8.2f} s"
        f"   ({NAIVE_RESAMPLES} resamples measured, for {RESAMPLES:,})"
    )
    print(f"ratio                            {naive / ours:8.0f}")


def _naive(y, scores, patients, rng) -> list[float]:
    """Rows of the drawn patients, gathered and scored by scikit-learn."""
    by_patient = np.argsort(patients, kind="stable")
    rows_of = np.split(by_patient, np.cumsum(np.bincount(patients, minlength=PATIENTS))[:-1])
    found = []
    for _ in range(NAIVE_RESAMPLES):
        drawn = rng.integers(PATIENTS, size=PATIENTS)
        rows = np.concatenate([rows_of[patient] for patient in drawn])
        found.append(roc_auc_score(y[rows], scores[rows]))
    return found


if __name__ == "__main__":
    main()
