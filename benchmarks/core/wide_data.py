"""(d) Wide data: a certified fit against bare parallel reads and against LinearSVC."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.support.bare_read import BareRead
from benchmarks.support.data import Candidates, Store, few_wide, wide, wide_correlated
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import certified, gap_of_fit
from benchmarks.support.measure import Timed, interleave, say

__all__ = ["run", "sizes"]

ROWS, FEATURES = 100_000, 1024
MANY_ROWS, FEWER_FEATURES = 600_000, 512
LAMS = (0.1, 0.5, 0.9)
KINDS: dict[str, tuple[Callable[..., Candidates], float]] = {
    # columns: how they are made, how many times faster than LinearSVC(dual=False) at least
    "independent": (wide, 5),
    "correlated": (wide_correlated, 20),
}


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses: none, it makes its own."""
    return set()


def run(store: Store, rows: int, repeat: int) -> Iterator[Figure]:
    """Measure our fits in units of reads, and LinearSVC in units of our slowest."""
    rounds = (repeat + 1) // 2
    rows = min(rows, ROWS)
    for kind, (make, faster) in KINDS.items():
        what = f"{rows:,} x {FEATURES} {kind}"
        say(f"  making {what}")
        data = make(rows, FEATURES)
        timed = _fits(data, rounds)
        yield from _reads(what, timed, 100, rows == ROWS)
        theirs = _seconds(LinearSVC(dual=False), _scaled(data), data.y)
        slowest = max(timed[f"λ = {lam}"].median for lam in LAMS)
        yield Figure(
            "d",
            f"{what}: LinearSVC(dual=False) / slowest fit",
            theirs / slowest,
            bound=faster,
            direction="at least",
            judged=rows == ROWS,
            note=f"{theirs:.3g} s, once, against {slowest:.3g} s",
        )
    if rows == ROWS:
        say(f"  making {MANY_ROWS:,} x {FEWER_FEATURES}")
        what = f"{MANY_ROWS:,} x {FEWER_FEATURES} independent"
        yield from _reads(what, _fits(wide(MANY_ROWS, FEWER_FEATURES), rounds), 25, True)
    data = few_wide()
    timed = _fits(data, rounds)
    Z = _scaled(data)
    variants: dict[str, dict[str, Any]] = {"the default": {}, "dual=False": {"dual": False}}
    once = {name: _seconds(LinearSVC(**given), Z, data.y) for name, given in variants.items()}
    faster = min(once, key=lambda name: once[name])
    slowest = max(timed[f"λ = {lam}"].median for lam in LAMS)
    yield Figure(
        "d",
        f"{data.rows:,} x {data.X.shape[1]:,}: slowest fit / fastest LinearSVC",
        slowest / once[faster],
        bound=1,
        note=f"{slowest:.3g} s against {once[faster]:.3g} s with {faster}",
    )


def _fits(data: Candidates, rounds: int) -> dict[str, Timed]:
    gap_of_fit(data, lam=LAMS[0])()
    read = BareRead(data.X)
    calls: dict[str, Callable[[], Any]] = {"read": read}
    calls |= {f"λ = {lam}": gap_of_fit(data, lam=lam) for lam in LAMS}
    timed = interleave(calls, rounds)
    read.close()
    return timed


def _reads(what: str, timed: dict[str, Timed], bound: float, judged: bool) -> Iterator[Figure]:
    read = timed["read"].median
    for lam in LAMS:
        fits = timed[f"λ = {lam}"]
        yield Figure(
            "d",
            f"{what}, λ = {lam}: fit / one bare read",
            fits.median / read,
            bound=bound,
            judged=judged,
            sound=certified(fits.results),
            note=f"fit {fits.median:.3g} s, read {1e3 * read:.3g} ms, "
            f"largest gap {max(fits.results):.1e}",
            samples={"fit": fits.seconds, "read": timed["read"].seconds},
        )


def _scaled(data: Candidates) -> np.ndarray:
    """Their scaling is free, and so is the float64 that liblinear would convert to."""
    Z = data.X.astype(np.float64)
    Z -= Z.mean(axis=0)
    Z /= Z.std(axis=0)
    return Z


def _seconds(model: Any, Z: np.ndarray, y: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(Z, y)
        return time.perf_counter() - start
