"""(d) Wide data, 100,000 rows × 1,024: a certified fit against LinearSVC."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.support.data import Store, wide
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import certified, gap_of_fit
from benchmarks.support.measure import interleave, say

__all__ = ["run", "sizes"]

ROWS, FEATURES = 100_000, 1024
VARIANTS: dict[str, dict[str, Any]] = {"the default": {}, "dual=False": {"dual": False}}


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses: none, it makes its own."""
    return set()


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure our fit in units of the faster LinearSVC."""
    rows = min(rows, ROWS)
    say(f"  making {rows:,} x {FEATURES} rows")
    data = wide(rows, FEATURES)
    fit = gap_of_fit(data)
    fit()

    # Their scaling is free, and so is the float64 that liblinear would convert to.
    Z = data.X.astype(np.float64)
    Z -= Z.mean(axis=0)
    Z /= Z.std(axis=0)
    once: dict[str, float] = {}
    for name, options in VARIANTS.items():
        once[name] = _seconds(LinearSVC(**options), Z, data.y)
        say(f"    LinearSVC, {name}: {once[name]:.3g} s")
    faster = min(once, key=lambda name: once[name])
    model = LinearSVC(**VARIANTS[faster])

    timed = interleave(
        {"LinearSVC": lambda: _seconds(model, Z, data.y), "groupcm": fit}, (repeat + 1) // 2
    )
    theirs, own = timed["LinearSVC"], timed["groupcm"]
    return [
        Figure(
            "d",
            f"{rows:,} x {FEATURES} rows: fit / LinearSVC",
            own.median / theirs.median,
            bound=1,
            judged=rows == ROWS,
            sound=certified(own.results),
            note=f"fit {own.median:.3g} s, LinearSVC {theirs.median:.3g} s with {faster} "
            f"(once each: {', '.join(f'{name} {s:.3g} s' for name, s in once.items())}), "
            f"largest gap {max(own.results):.1e}",
            samples={"fit": own.seconds, "LinearSVC": theirs.seconds},
        )
    ]


def _seconds(model: Any, Z: np.ndarray, y: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(Z, y)
        return time.perf_counter() - start
