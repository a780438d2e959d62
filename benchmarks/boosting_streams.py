"""Trees on Parquet files in little memory: against one decode, memory for all, and XGBoost's.

Run as ``python -m benchmarks.boosting --stream``; every fit is in a process of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import groupcm
from benchmarks.scale.bare_decode import BareDecode
from benchmarks.scale.parquet_data import FEATURES, Setting, open_source
from benchmarks.support.machine import facts
from benchmarks.support.measure import interleave, say
from benchmarks.support.processes import Fresh, fresh
from benchmarks.support.text_table import aligned
from groupcm import GroupBoostingClassifier
from groupcm.data.groups import index_groups
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule
from groupcm.sources import from_arrays
from groupcm.utils.memory import parse_memory
from groupcm.utils.parallel import n_threads

__all__ = ["fit_streamed", "fit_xgboost", "streams"]

# So many rows are compared with trees that were grown on all of them in memory.
MOST_IN_MEMORY = 2_000_000


def streams(options: argparse.Namespace) -> int:
    """Print seconds, peaks of memory and group AUCs of trees on the same files."""
    folder = Path(options.data or tempfile.mkdtemp(prefix="groupcm-trees-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = Setting(options.candidates, 1, parse_memory(options.memory), folder).parquet()
    source = open_source(data.folder)
    decode = BareDecode(data.files)
    read = interleave({"decode": decode}, 3)["decode"].median
    decode.close()
    limits = {"streamed": min(parse_memory(options.memory), int(0.4 * source.nbytes))}
    if source.n_rows <= MOST_IN_MEMORY:
        limits["in memory"] = 100 * source.nbytes
    test = capsule(7200, n_positive=800, seed=77)
    index, n_groups = index_groups(test.groups), len(source.index().ids)
    rows = [("", "seconds", "decodes", "peak MB", "group AUC", "passes", "new winners")]
    rows.append(("one decode", f"{read:.3g}", "1", "", "", "", ""))
    areas: dict[str, list[float]] = {name: [] for name in limits}
    for seed, (name, memory) in product(range(options.seeds), limits.items()):
        say(f"    trees, {name}, {memory / 1e6:.0f} MB, random_state {seed}")
        path = folder / f"{name}.json"
        found = fresh(
            fit_streamed,
            folder=str(data.folder),
            memory=memory,
            n_trees=options.trees,
            model=str(path),
            seed=seed,
        )
        scores = groupcm.load(path).decision_function(from_arrays(test.X, feature_names=FEATURES))
        areas[name].append(float(group_roc_auc(test.y, scores, index.codes)))
        rows.append(_row(f"{name}, random_state {seed}", found, read, areas[name][-1], n_groups))
        say(f"        group AUC {areas[name][-1]:.4f}")
    if not options.no_xgboost:
        say("    XGBoost, external memory")
        path = folder / "xgboost.npy"
        np.save(folder / "test.npy", test.X.astype(np.float32))
        found = fresh(
            fit_xgboost,
            folder=str(data.folder),
            n_trees=options.trees,
            test=str(folder / "test.npy"),
            scores=str(path),
        )
        auc = group_roc_auc(test.y, np.load(path), index.codes)
        rows.append(_row("XGBoost, external memory", found, read, auc, n_groups))
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['processor']}; {source.n_rows:,} candidates × "
        f"{source.n_features} features in {len(source.index().ids):,} groups, {options.trees} "
        f"trees, memory {limits['streamed'] / 1e6:.0f} MB"
    )
    print(aligned(rows))
    if "in memory" in areas:
        less = np.subtract(areas["streamed"], areas["in memory"])
        print(f"streamed minus in memory: {', '.join(f'{each:+.4f}' for each in less)}")
    return 0


def _row(name: str, found: Fresh, read: float, auc: float, n_groups: int) -> tuple[str, ...]:
    seconds, passes, new = found.result
    peak = "" if found.peak is None else f"{found.peak / 1e6:.0f}"
    counts = ("", "") if passes is None else (str(passes), f"{new:,} ({new / n_groups:.1%})")
    return (name, f"{seconds:.3g}", f"{seconds / read:.3g}", peak, f"{auc:.4f}", *counts)


def fit_streamed(
    folder: str, memory: int, n_trees: int, model: str, seed: int
) -> tuple[float, int, int]:
    """Return the seconds of a fit on files, its passes and the new winners of the last one."""
    began = time.perf_counter()
    trees = GroupBoostingClassifier(
        n_trees, early_stopping=False, memory=memory, verbose=1, random_state=seed
    )
    trees.fit(open_source(folder))
    seconds = time.perf_counter() - began
    groupcm.save(trees, model)
    return seconds, trees.n_passes_, trees.new_winners_


def fit_xgboost(folder: str, n_trees: int, test: str, scores: str) -> tuple[float, None, None]:
    """Return the seconds of XGBoost on the same rows, whose blocks of bins it keeps on disk."""
    import xgboost

    class Blocks(xgboost.DataIter):
        """The rows that take part, a row group of a file at a time."""

        def __init__(self, cache: str) -> None:
            self.files = sorted(Path(folder).glob("*.parquet"))
            self.rows = self._read()
            super().__init__(cache_prefix=cache)

        def _read(self) -> Iterator[tuple[Any, Any]]:
            for file in self.files:
                reader = pq.ParquetFile(file)
                for number in range(reader.num_row_groups):
                    table = reader.read_row_group(number)
                    label = table["label"].to_numpy()
                    frames = index_groups(table["frame"].to_numpy(zero_copy_only=False))
                    used = (label == 1) | ~frames.maxima(label == 1)[frames.codes]
                    columns = [table[name].to_numpy()[used] for name in FEATURES]
                    yield np.stack(columns, axis=1).astype(np.float32), label[used]

        def next(self, input_data: Any) -> bool:
            block = next(self.rows, None)
            if block is not None:
                input_data(data=block[0], label=block[1])
            return block is not None

        def reset(self) -> None:
            self.rows = self._read()

    parameters = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
        "max_bin": 255,
        "eta": 0.05,
        "colsample_bytree": 0.5,
        "nthread": n_threads(),
    }
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        matrix = xgboost.ExtMemQuantileDMatrix(Blocks(str(Path(cache) / "x")), max_bin=255)
        booster = xgboost.train(parameters, matrix, n_trees)
        seconds = time.perf_counter() - began
        np.save(scores, booster.inplace_predict(np.load(test), predict_type="margin"))
        del matrix
    return seconds, None, None
