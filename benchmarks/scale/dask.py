"""(l) Two Dask workers against one, where the pass is what takes the time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.scale.parquet_data import FEATURES, ParquetData, Setting
from benchmarks.support.data import short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, fit
from benchmarks.support.machine import cores
from benchmarks.support.measure import interleave, say
from benchmarks.support.suite import Skipped
from groupcm import GroupClassifier
from groupcm.features import Polynomial

__all__ = ["run"]

ROWS = 10_000_000
JUDGED_ROWS = 10_000_000
DEGREE = 3
WORKERS = (1, 2)


def read_file(file: Path) -> pa.Table:
    """What a worker reads, once: a partition of about 65 MB at 1e7 rows."""
    return pq.read_table(file, columns=[*FEATURES, "frame", "label", "overlap"], use_threads=False)


def run(setting: Setting) -> Iterator[Figure]:
    """Measure the group scores of a model of degree 3 on one worker in units of two."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise Skipped("Dask is not installed: pip install 'groupcm[dask]'") from error
    data = setting.parquet(min(setting.rows, ROWS))
    small = setting.parquet(SMALLEST)
    # Some weights; a pass takes the same time with all.
    model = fit(small.open(), feature_map=Polynomial(DEGREE), max_passes=1)
    with ExitStack() as clusters:
        calls = {}
        for n_workers in WORKERS:
            say(f"  workers of one thread each: {n_workers}")
            calls[f"{n_workers} workers"] = _scoring(model, data, _client(clusters, n_workers))
        timed = interleave(calls, setting.repeat)
    one, two = timed.values()
    same = all(np.array_equal(result, one.results[0]) for result in one.results + two.results)
    yield Figure(
        "l",
        f"{short(data.asked)} rows on Dask, degree {DEGREE}: pass with one worker / with two",
        one.median / two.median,
        bound=1.6,
        direction="at least",
        judged=data.asked >= JUDGED_ROWS and cores() >= max(WORKERS),
        sound=same,
        note=f"{one.median:.3g} s against {two.median:.3g} s for all group scores, "
        f"{cores()} cores; the same scores on both: {'yes' if same else 'no'}",
        samples={name: each.seconds for name, each in timed.items()},
    )


def _client(clusters: ExitStack, n_workers: int) -> Any:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        env={"GROUPCM_NUM_THREADS": "1"},
    )
    return clusters.enter_context(Client(clusters.enter_context(cluster)))


def _scoring(model: GroupClassifier, data: ParquetData, client: Any) -> Callable[[], Any]:
    """A call that scores all groups; the workers hold the rows and have loaded the kernels."""
    from dask.delayed import delayed

    from groupcm.sources.dask.source import from_dask

    parts = [delayed(read_file)(file) for file in data.files]
    source = from_dask(
        parts, group="frame", label="label", overlap="overlap", features=FEATURES, client=client
    )
    model.group_scores(source)
    return lambda: model.group_scores(source).score
