"""``python -m benchmarks.evaluation``: all figures of a level of a million groups.

Scores of 2e8 candidates are drawn in chunks, and the largest of each group kept. Then the figures
of the groups are computed as an evaluation computes them: ROC curve with the interval of its area
and the band, average precision, decision with intervals; all with 1,000 resamples of the patients.
Patients follow as a further level. The unit is one sort of the scores of the groups.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.measure import interleave, peak_resident, say
from benchmarks.support.text_table import aligned
from groupcm.data.groups import index_groups
from groupcm.evaluation.levels import level_results
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.decision import ChosenThreshold

__all__ = ["main"]

_CANDIDATES = 200  # of a group
_GROUPS_AT_ONCE = 20_000
_MOST_SECONDS, _MOST_BYTES = 60.0, 2e9


def main(arguments: list[str] | None = None) -> int:
    """Print seconds, ratios and peak memory; 1 where a figure misses its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("--groups", type=float, default=1e6)
    parser.add_argument("--patients", type=float, default=20_000)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args(arguments)
    n, n_patients = int(options.groups), int(options.patients)
    warnings.simplefilter("ignore")
    _figures(*_scores(4000, 40), 40, 10)  # compiles
    start = time.perf_counter()
    positive, score = _scores(n, n_patients)
    say(f"    {n * _CANDIDATES:.2g} candidates drawn in {time.perf_counter() - start:.1f} s")
    before = time.process_time()
    timed = interleave(
        {
            "sort": lambda: float(np.sort(score)[0]),
            "groups and patients": lambda: _figures(positive, score, n_patients, options.resamples),
        },
        1,
    )
    sort, seconds = timed["sort"].median, timed["groups and patients"].median
    on_cores = time.process_time() - before
    memory = peak_resident()
    shown = "unknown" if memory is None else f"{memory / 1e9:.2f} GB"
    lines = [
        ("", "seconds", "sorts of the group scores"),
        ("one sort", f"{sort:.3f}", "1"),
        ("all figures of groups and of patients", f"{seconds:.1f}", f"{seconds / sort:.0f}"),
        ("  the same, summed over cores", f"{on_cores:.1f}", f"{on_cores / sort:.0f}"),
        (
            "  for each resample",
            f"{seconds / options.resamples:.4f}",
            f"{seconds / sort / options.resamples:.2f}",
        ),
    ]
    print(f"{n:,} groups of {n * _CANDIDATES:.2g} candidates, {n_patients:,} patients, ", end="")
    print(f"{options.resamples:,} resamples; peak memory of the process {shown}")
    print(aligned(lines))
    return int(seconds > _MOST_SECONDS or (memory or 0) > _MOST_BYTES)


def _scores(n: int, n_patients: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the class and the largest of the scores of each group, chunk by chunk."""
    rng = np.random.default_rng(0)
    effect = 0.5 * rng.standard_normal(n_patients, dtype=np.float32)
    positive = rng.random(n) < 0.02
    score = np.empty(n)
    for first in range(0, n, _GROUPS_AT_ONCE):
        last = min(first + _GROUPS_AT_ONCE, n)
        groups = np.repeat(np.arange(last - first), _CANDIDATES)
        candidates = rng.standard_normal(len(groups), dtype=np.float32)
        candidates[::_CANDIDATES] += 4.0 * positive[first:last]
        score[first:last] = index_groups(groups).maxima(candidates)
        score[first:last] += effect[_patients(n, n_patients)[first:last]]
    return positive, score


def _patients(n: int, n_patients: int) -> NDArray[np.intp]:
    return np.arange(n) * n_patients // n


def _figures(
    positive: NDArray[np.bool_], score: NDArray[np.float64], n_patients: int, n_resamples: int
) -> list[float]:
    frames = np.arange(len(score))
    candidates = ScoredCandidates(
        index_groups(frames),
        score,
        positive,
        lambda rows: np.zeros((len(rows), 1)),
        levels={"frame": frames, "patient": _patients(len(score), n_patients)},
    )
    levels = level_results(candidates, ChosenThreshold.given(3.5), n_resamples=n_resamples)
    return [0.0 if level.roc is None else level.roc.auc.estimate for level in levels]


if __name__ == "__main__":
    sys.exit(main())
