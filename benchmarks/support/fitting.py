"""The fits the benchmarks share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.support.data import Candidates, Store
from groupcm import GroupClassifier
from groupcm.sources import Source

__all__ = ["LAM", "SMALLEST", "TOL", "certified", "fit", "gap_of_fit", "warm_up"]

LAM = 0.9
TOL = 1e-4
SMALLEST = 100_000


def fit(data: Candidates | Source, **options: Any) -> Any:
    """Fit as a user does: validation, group boundaries, standardisation, all of it."""
    arguments: tuple[Any, ...] = (data,) if isinstance(data, Source) else data.fit_arguments
    with warnings.catch_warnings():
        # The gap is checked and printed, so a fit that stopped short does not go unseen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GroupClassifier(**{"lam": LAM, "tol": TOL, **options}).fit(*arguments)


def gap_of_fit(data: Candidates, **options: Any) -> Callable[[], float]:
    """Return a call that fits and returns the certified relative gap."""
    return lambda: float(fit(data, **options).gap_)


def certified(gaps: list[float]) -> bool:
    """Whether every fit proved its optimum."""
    return max(gaps) <= TOL


def warm_up(store: Store, **options: Any) -> None:
    """Load the kernels before anything is timed; benchmark (f) is the one about loading."""
    fit(store.capsule(SMALLEST), **options)
