"""(m) MI-SVM on the classic sets of groups without annotation: accuracy by nested folds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.support.figure import Figure
from benchmarks.support.measure import say
from benchmarks.support.shared_data import read_table
from benchmarks.support.worker_processes import in_processes
from groupcm import MISVMClassifier
from groupcm.data.group_table import group_level
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.crossfit import crossfit
from groupcm.evaluation.comparison.data import LabelledCandidates

__all__ = ["FILES", "LEAST_ACCURACY", "run"]

#: What the best-known implementation reached on the same sets.
LEAST_ACCURACY = {"musk1": 0.72, "elephant": 0.79, "fox": 0.56}
FILES = [f"classic_mil/{name}.parquet" for name in LEAST_ACCURACY]
FOLDS = 10
INNER_FOLDS = 3
TOL = 1e-3
#: λ / (1 − λ), from where hardly anything is learned to where training groups are separated.
ODDS = np.logspace(-4.0, 1.0, 8)


@dataclass(frozen=True)
class NestedRun:
    """All folds of one seed; seconds of the processor, which other work does not lengthen."""

    accuracy: float
    seconds: float
    lams: list[float]


def run(folder: Path, seeds: int) -> Iterator[Figure]:
    """Measure each set over all seeds."""
    wanted = [(str(folder), name, seed) for name in LEAST_ACCURACY for seed in range(seeds)]
    found: dict[tuple[str, int], NestedRun] = {}
    for (_, name, seed), one in in_processes(nested_run, wanted):
        say(f"    {name}, seed {seed}: accuracy {one.accuracy:.3f}, {one.seconds:.3g} s")
        found[name, seed] = one
    for name, least in LEAST_ACCURACY.items():
        yield _figure(name, least, [found[name, seed] for seed in range(seeds)])


def nested_run(folder: str, name: str, seed: int) -> NestedRun:
    """Ten folds by group, λ chosen inside each training part."""
    data = _read(Path(folder), name)
    began = time.process_time()
    fits = crossfit(
        data, [_misvm()], cv=FOLDS, n_inner=INNER_FOLDS, scoring=accuracy_at_zero, random_state=seed
    )
    (result,) = fits.results
    return NestedRun(
        accuracy=accuracy_at_zero(data.y, result.scores, data.groups),
        seconds=time.process_time() - began,
        lams=[float(result.contender.settings[number]["lam"]) for number in result.chosen],
    )


def accuracy_at_zero(y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None) -> float:
    """Share of groups on the right side of 0."""
    table = group_level(y, groups)
    largest = table.index.maxima(np.asarray(scores, dtype=np.float64))
    return float(np.mean((largest > 0.0) == table.positive))


def _misvm() -> Contender:
    def make(**setting: Any) -> MISVMClassifier:
        return MISVMClassifier(tol=TOL, **setting)

    settings = [{"lam": float(odds / (1.0 + odds))} for odds in ODDS]
    return Contender("MI-SVM", "Linear.", settings, make)


def _read(folder: Path, name: str) -> LabelledCandidates:
    path = folder / "classic_mil" / f"{name}.parquet"
    table = read_table(path, group="bag", label="bag_label")
    return LabelledCandidates.check(table.X, table.y, table.groups)


def _figure(name: str, least: float, runs: list[NestedRun]) -> Figure:
    accuracies = [one.accuracy for one in runs]
    spread = statistics.stdev(accuracies) if len(runs) > 1 else 0.0
    seconds = statistics.mean(one.seconds for one in runs)
    n_fits = FOLDS * (INNER_FOLDS * len(ODDS) + 1)
    lams = sorted(lam for one in runs for lam in one.lams)
    return Figure(
        "m",
        f"{name}: accuracy, {FOLDS} folds by group",
        100.0 * statistics.mean(accuracies),
        bound=100.0 * least,
        direction="at least",
        unit="%",
        note=f"seeds {', '.join(f'{100 * each:.1f}' for each in accuracies)}, standard deviation "
        f"{100 * spread:.1f}; {seconds:.3g} s of one core a seed for {n_fits} fits, "
        f"{1000 * seconds / n_fits:.0f} ms each; "
        f"λ chosen from {lams[0]:.2g} to {lams[-1]:.2g}, median {statistics.median(lams):.2g}",
        samples={"accuracy": accuracies, "seconds": [one.seconds for one in runs]},
    )
