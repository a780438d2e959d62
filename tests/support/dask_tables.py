"""Candidates on a Dask cluster, and clusters to put them on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import cloudpickle
import dask
import numpy as np
import pandas as pd
from dask import delayed
from distributed import Client, LocalCluster

from groupcm.sources.base import Columns
from groupcm.sources.dask.source import DaskSource, from_dask
from groupcm.sources.npy import from_arrays
from groupcm.sources.rows.chunk import Chunk
from groupcm.sources.rows.index import runs_of

N_FEATURES = 3
FEATURES = [f"f{j}" for j in range(N_FEATURES)]
ROLES = {"group": "frame", "label": "label", "overlap": "overlap"}
ALL = Columns(features=True, group=True, label=True, overlap=True)

# Workers that import this file by name would need it on their path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@contextmanager
def cluster_of(
    n_workers: int, allowed_failures: int = 3, *, processes: bool = True, memory_limit="auto"
) -> Iterator[Client]:
    """Start a cluster on this machine, its workers in processes or in threads of this one."""
    settings = {
        "distributed.scheduler.allowed-failures": allowed_failures,
        # A cluster whose worker is being restarted just then would do without it for good.
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=memory_limit,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def table(n_groups: int = 12, seed: int = 0) -> pd.DataFrame:
    """Candidates of a few frames, the rows of a frame together."""
    rng = np.random.default_rng(seed)
    frame = np.repeat(np.arange(n_groups), rng.integers(1, 6, n_groups))
    columns: dict[str, object] = {"frame": frame}
    columns["label"] = (rng.random(len(frame)) < 0.3).astype(int)
    columns["overlap"] = rng.random(len(frame))
    for name in FEATURES:
        columns[name] = rng.normal(size=len(frame)).astype(np.float32)
    return pd.DataFrame(columns)


def cut_anywhere(frames: pd.DataFrame, n_parts: int) -> list[pd.DataFrame]:
    """Pieces of consecutive rows; a frame may go on in the next."""
    edges = np.linspace(0, len(frames), n_parts + 1).astype(int)
    return [frames.iloc[lo:hi] for lo, hi in pairwise(edges)]


def source_of(parts, **options) -> DaskSource:
    return from_dask([delayed(part) for part in parts], **ROLES | options)


def column_sums(chunk: Chunk) -> np.ndarray:
    assert chunk.features is not None
    return chunk.features.matrix().sum(axis=0, dtype=np.float64)


def every_unit(source, job, columns=ALL) -> list:
    found = list(source.run(((unit, job) for unit in range(source.n_units)), columns))
    assert [unit for unit, _ in found] == list(range(source.n_units))
    return [result for _, results in found for result in results]


def seen(chunk: Chunk) -> Chunk:
    return chunk


def check_same_candidates(source, frames: pd.DataFrame) -> None:
    """The source gives the rows of this table, in order, and its index."""
    X = np.ascontiguousarray(frames[FEATURES])
    assert source.n_rows == len(frames)
    assert source.feature_names == FEATURES
    assert source.dtype == X.dtype
    chunks = every_unit(source, seen)
    np.testing.assert_array_equal(np.concatenate([c.features.matrix() for c in chunks]), X)
    assert [chunk.first for chunk in chunks] == list(source.unit_ptr[:-1])
    columns = {role: np.asarray(frames[name]) for role, name in ROLES.items()}
    for chunk in chunks:
        runs = runs_of(columns["group"][chunk.first : chunk.stop])
        np.testing.assert_array_equal(chunk.keys.runs.start, runs.start)
        np.testing.assert_array_equal(chunk.keys.runs.ids, runs.ids)
    expected, index = from_arrays(X, **columns).index(), source.index()
    np.testing.assert_array_equal(index.ids, expected.ids)
    np.testing.assert_array_equal(index.groups.ptr, expected.groups.ptr)
    np.testing.assert_array_equal(index.classes, expected.classes)
    np.testing.assert_array_equal(index.codes, expected.codes)
    rows = np.random.default_rng(0).permutation(len(frames))[:17]
    np.testing.assert_array_equal(source.overlap_of(rows), columns["overlap"][rows])
