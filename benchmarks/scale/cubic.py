"""(j) Degree 3: a pass against numpy's product with a stored matrix, and a fit's memory."""

from __future__ import annotations

import time
from _thread import interrupt_main
from collections.abc import Iterator
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.parquet_data import FEATURES, SEED, Setting
from benchmarks.support.data import Candidates, Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, certified, fit
from benchmarks.support.machine import available_memory
from benchmarks.support.measure import interleave, peak_above, say
from benchmarks.support.processes import fresh
from groupcm.data.groups import index_groups
from groupcm.features import Polynomial
from groupcm.objective.terms import Groups, Terms
from groupcm.sources.rows.solver_rows import rows_in_space
from groupcm.sources.rows.space import make_space

__all__ = ["run"]

DEGREE = 3
ROWS = 10_000_000
JUDGED_ROWS = 10_000_000
# The stored matrix: no larger than this, nor than this share of the memory that is free.
STORED_BYTES = 4_000_000_000
STORED_SHARE = 0.25
MOST_SECONDS = 1800


def fit_above_data(rows: int) -> dict[str, Any]:
    """The one thing a fresh process does: the arrays, then a fit and the memory it adds.

    A fit that takes too long is interrupted; it then gives the best model so far.
    """
    cubic, store, found = Polynomial(DEGREE), Store(), {}
    fit(store.capsule(SMALLEST, SEED), feature_map=cubic, max_passes=1)
    data = store.capsule(rows, SEED)

    def fit_and_tell() -> None:
        began = time.perf_counter()
        model = fit(data, feature_map=cubic)
        found.update(gap=model.gap_, passes=model.n_passes_, seconds=time.perf_counter() - began)
        found.update(kept=model.history_[-1].working_rows, rows=data.rows)
        found.update(interrupted=model.solution_.interrupted)

    patience = Timer(MOST_SECONDS, interrupt_main)
    patience.daemon = True
    patience.start()
    try:
        above = peak_above(fit_and_tell)
    finally:
        patience.cancel()
    return {**found, "above": above}


def run(setting: Setting) -> Iterator[Figure]:
    """Measure the time a row of both products, and the memory of a process that only fits."""
    rows = min(setting.rows, ROWS)
    yield _a_pass(rows, setting.repeat)
    yield _memory(rows)


def _a_pass(rows: int, repeat: int) -> Figure:
    data = Store().capsule(rows, SEED)
    cubic: Any = Polynomial(DEGREE).fit(data.X[:1])
    width = cubic.n_features_out_
    source = rows_in_space(make_space(cubic, np.zeros(width), np.ones(width)), data.X)
    terms = _every_group(data)
    theta = np.random.default_rng(0).standard_normal(width + 1)

    say("  storing a matrix of the monomials")
    room = min(STORED_BYTES, STORED_SHARE * available_memory())
    stored = _stored(cubic, data.X[: int(room) // (4 * width)])
    weights = theta[:-1].astype(np.float32)

    def look_at_all_rows() -> float:
        return float(source.worst(terms, theta).margin[0])

    def multiply() -> float:
        return float((stored @ weights)[0])

    source.worst(_every_group(data, 100), theta)
    multiply()
    timed = interleave({"pass": look_at_all_rows, "numpy": multiply}, repeat)
    own, numpy = timed["pass"].median / data.rows, timed["numpy"].median / len(stored)
    return Figure(
        "j",
        f"{short(rows)} rows, {width} monomials: a pass / numpy's Z @ w of a stored Z, per row",
        own / numpy,
        bound=1,
        judged=rows >= JUDGED_ROWS,
        note=f"{1e9 * own:.3g} ns a row against {1e9 * numpy:.3g} ns; Z has {len(stored):,} rows "
        f"of float32, {stored.nbytes / 1e9:.3g} GB",
        samples={name: each.seconds for name, each in timed.items()},
    )


def _every_group(data: Candidates, at_most: int | None = None) -> Terms:
    groups = Groups.from_index(index_groups(data.groups))
    start, stop = groups.ptr[:-1][:at_most], groups.ptr[1:][:at_most]
    return Terms(-1, start, stop, groups.order, 1.0, alone=False)


def _stored(cubic: Any, X: NDArray[np.float32]) -> NDArray[np.float32]:
    Z = np.empty((len(X), cubic.n_features_out_), dtype=np.float32)
    step = 16_384
    for first in range(0, len(X), step):
        Z[first : first + step] = cubic.transform(X[first : first + step])
    return Z


def _memory(rows: int) -> Figure:
    say("  memory")
    found = fresh(fit_above_data, rows=rows).result
    width = Polynomial(DEGREE).fit(np.zeros((1, len(FEATURES)))).n_features_out_
    all_monomials, above = 8 * width * found["rows"], found["above"]
    return Figure(
        "j",
        f"{short(rows)} rows, {width} monomials: memory a fit adds / all monomials",
        None if above is None else 100 * above / all_monomials,
        bound=5,
        unit="%",
        judged=rows >= JUDGED_ROWS and above is not None,
        sound=certified([found["gap"]]),
        note=("" if above is None else f"{above / 1e6:,.0f} MB on top of the data; ")
        + f"stored, the monomials would take {all_monomials / 1e9:.3g} GB; {found['seconds']:.3g} "
        f"s, {found['passes']:.3g} passes, gap {found['gap']:.1e}, {found['kept']:,} rows kept"
        + ("; interrupted" if found["interrupted"] else ""),
    )
