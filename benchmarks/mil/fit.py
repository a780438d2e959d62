"""The fit of MI-SVM that the benchmarks share."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.support.fitting import LAM, TOL
from groupcm import MISVMClassifier, simulate

__all__ = ["MILFacts", "fit_misvm", "seconds_of_small_fit"]


@dataclass(frozen=True)
class MILFacts:
    """What is measured of a fit."""

    gap: float
    problems: int
    outcome: str

    @property
    def words(self) -> str:
        """How the alternation went."""
        return f"{self.problems} convex problems, {self.outcome}, gap {self.gap:.1e}"


def fit_misvm(data: Any) -> MILFacts:
    """Fit on the labels of groups alone: any positive candidate marks its group."""
    with warnings.catch_warnings():
        # How it ended is reported with the result.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MISVMClassifier(LAM, tol=TOL).fit(data.X, data.y, data.groups)
    return MILFacts(float(model.gap_), int(model.n_iter_), str(model.outcome_))


def seconds_of_small_fit(rows: int, group_size: int) -> dict[str, float]:
    """Seconds of a first fit, which loads the kernels, and of a second; and how many candidates.

    A quarter of the groups are positive.
    """
    groups = rows // group_size
    made = simulate.capsule(
        groups - groups // 4, n_positive=groups // 4, group_size=group_size, n_threads=1
    )
    found = {"candidates": float(len(made))}
    for fit in ("first", "second"):
        began = time.perf_counter()
        fit_misvm(made)
        found[fit] = time.perf_counter() - began
    return found
