"""Candidates whose groups are contiguous, and the files they are streamed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from oracle import GroupProblem

from groupcm import GroupClassifier
from groupcm.estimators.training.input import read_training_data
from groupcm.sources import from_parquet

COLUMNS = {"group": "frame", "label": "label"}


@dataclass(frozen=True)
class Data:
    """The arguments of a fit, sorted by group."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    overlap: np.ndarray

    def fit(self, *, with_overlap: bool = True, **params: Any) -> GroupClassifier:
        """The model of these arrays in memory."""
        overlap = self.overlap if with_overlap else None
        return GroupClassifier(random_state=0, **params).fit(
            self.X, self.y, groups=self.groups, overlap=overlap
        )

    def oracle(self, positive_label: Any, *, with_overlap: bool = True, **params: Any):
        overlap = self.overlap if with_overlap else None
        return GroupProblem(
            self.X, self.y, self.groups, overlap, positive_label=positive_label, **params
        )

    def but(self, **changed: Any) -> Data:
        return replace(self, **changed)

    def table(self, layout: str = "wide") -> pa.Table:
        """A column a feature, or all features in one column of lists."""
        d = self.X.shape[1]
        if layout == "list":
            values = pa.array(np.ascontiguousarray(self.X).ravel())
            features = {"x": pa.FixedSizeListArray.from_arrays(values, d)}
        else:
            features = {f"f{j}": np.ascontiguousarray(self.X[:, j]) for j in range(d)}
        keys = {"frame": self.groups, "label": self.y, "overlap": self.overlap}
        return pa.table({**features, **keys})

    def write(self, path, *, row_group: int, n_files: int = 1, layout: str = "wide", **options):
        """Write one file, or a folder of several that cut groups where they please."""
        table = self.table(layout)
        if n_files == 1:
            pq.write_table(table, path, row_group_size=row_group, **options)
            return path
        path.mkdir()
        edges = np.linspace(0, len(self.X), n_files + 1).astype(int)
        for k in range(n_files):
            part = table.slice(edges[k], edges[k + 1] - edges[k])
            pq.write_table(part, path / f"{k}.parquet", row_group_size=row_group, **options)
        return path


def make_data(seed: int = 0, *, n_groups: int = 150, d: int = 5, dtype: Any = "f8") -> Data:
    """About seven candidates a group; every sixth group is positive, with one to three."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 14, n_groups)
    groups = np.repeat(np.arange(n_groups), size)
    n = len(groups)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n_groups, d))[groups]
    X = X.round(1) if seed % 2 else X  # ties
    y = np.zeros(n, dtype=np.int64)
    for k in rng.choice(n_groups, n_groups // 6, replace=False):
        rows = np.flatnonzero(groups == k)
        y[rng.choice(rows, min(len(rows), rng.integers(1, 4)), replace=False)] = 1
    X[y == 1] += rng.uniform(0.3, 1.5, d)
    X = X * 10.0 ** rng.uniform(-0.7, 0.7, d) + rng.normal(size=d)
    overlap = np.where(y == 1, rng.random(n).round(1), 0.0)
    return Data(X.astype(dtype), y, groups, overlap)


def read(path, *, with_overlap: bool = True, **options: Any):
    """The candidates that `Data.write` has written, as a source."""
    # Where the overlap has no part in it, it is no feature either.
    role = "overlap" if with_overlap else "patient"
    return from_parquet(path, **COLUMNS | {role: "overlap"} | options)


def fit_stream(source, memory: str, **params: Any) -> GroupClassifier:
    """A model of a source that does not fit the memory allowed."""
    model = GroupClassifier(memory=memory, random_state=0, **params)
    assert read_training_data(model, source, None, None, None).stream is not None
    return model.fit(source)
