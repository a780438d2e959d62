"""A fit on rows that do not fit in memory is the fit on the rows, proved the same way."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import ConvergenceWarning

from groupcm import GroupClassifier
from groupcm.sources import from_arrays, from_npy, from_parquet
from groupcm.sources.local import LocalSource
from problems import BACKGROUNDS, GROUPINGS, LOSSES, PENALTIES
from streams import Data, fit_stream, make_data, read

SMALL = "40kB"  # a thousand rows of five float64 do not fit
EXACT = 1e-9


def assert_same_optimum(stream: GroupClassifier, memory: GroupClassifier) -> None:
    """Both brackets hold the one optimum, and both are closed."""
    for one, two in ((stream, memory), (memory, stream), (stream, stream)):
        assert np.all(one.lower_bound_ <= two.objective_ * (1 + EXACT))
    assert np.all(stream.gap_ <= stream.tol)
    np.testing.assert_allclose(
        stream.objective_, memory.objective_, rtol=stream.tol + memory.tol, atol=1e-12
    )


def assert_true_objective(model: GroupClassifier, data: Data, **params) -> None:
    """`objective_` is the paper's objective over all rows at the model's own weights."""
    oracle = data.oracle(1, **params)
    found = oracle.objective_of(model.coef_, model.intercept_)
    np.testing.assert_allclose(model.objective_, found, rtol=EXACT)


# ---- the grid -------------------------------------------------------------------------------

OPTIONS = {
    "loss": LOSSES,
    "penalty": PENALTIES,
    "grouping": GROUPINGS,
    "background": BACKGROUNDS,
    "with_overlap": (True, False),
    "lam": (0.1, 0.9),
    "row_group": (7, 50, 1000),
    "n_files": (1, 3),
    "layout": ("wide", "list"),
    "dtype": ("f4", "f8"),
}


def every_pair(options: dict[str, tuple]) -> list[dict]:
    """Few points of a grid such that any two values of any two options meet in one of them."""

    def pairs(point):
        return set(itertools.combinations(zip(options, point, strict=True), 2))

    rng = np.random.default_rng(0)
    grid = list(itertools.product(*options.values()))
    missing = set().union(*(pairs(point) for point in grid))
    chosen = []
    while missing:
        some = [grid[i] for i in rng.integers(len(grid), size=60)]
        best = max(some, key=lambda point: len(missing & pairs(point)))
        if missing & pairs(best):
            missing -= pairs(best)
            chosen.append(dict(zip(options, best, strict=True)))
    return chosen


def name_of(point: dict) -> str:
    return "-".join(str(value) for value in point.values())


@pytest.mark.parametrize("point", every_pair(OPTIONS), ids=name_of)
def test_a_stream_is_the_rows_it_streams(point, tmp_path):
    point = dict(point)
    written = {key: point.pop(key) for key in ("row_group", "n_files", "layout")}
    dtype, with_overlap = point.pop("dtype"), point.pop("with_overlap")
    n_groups = 40 if point["grouping"] == "none" or written["row_group"] < 50 else 150
    data = make_data(sum(map(ord, name_of(point))) % 10, n_groups=n_groups, dtype=dtype)
    source = read(data.write(tmp_path / "a.parquet", **written), with_overlap=with_overlap)
    memory = f"{int(data.X.nbytes / 0.9)}B"
    stream = fit_stream(source, memory, **point)
    assert_same_optimum(stream, data.fit(with_overlap=with_overlap, **point))
    assert_true_objective(stream, data, with_overlap=with_overlap, **point)
