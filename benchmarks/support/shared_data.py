"""Real tables for benchmarks: read where they lie, never copied into the project."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["RealTable", "add_data_option", "missing_data", "read_table"]

DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True, eq=False)
class RealTable:
    """Candidates with a label each, and the column that says which part they belong to."""

    X: NDArray[np.float64]
    y: NDArray[np.int8]
    groups: NDArray[np.int64]
    split: NDArray[np.str_] | None = None


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Let the user say where the real tables lie."""
    parser.add_argument(
        "--data",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help="folder of the real tables (default ../shared/data beside the repository)",
    )


def missing_data(folder: Path, files: Sequence[str]) -> str | None:
    """One sentence on the first file that is not there; None where all are."""
    absent = next((file for file in files if not (folder / file).is_file()), None)
    if absent is None:
        return None
    return (
        f"the real table {absent} is not in {folder}; it cannot be distributed with the project, "
        "so name the folder that holds it with --data DIR."
    )


def read_table(
    path: Path,
    *,
    group: str,
    label: str,
    not_features: Sequence[str] = (),
    split: str | None = None,
) -> RealTable:
    """Read a Parquet file; every column without another part to play is a feature."""
    table = pq.read_table(path)
    others = {group, label, *not_features, split}
    features = [name for name in table.column_names if name not in others]
    columns = [table[name].to_numpy().astype(np.float64) for name in features]
    return RealTable(
        X=np.column_stack(columns),
        y=table[label].to_numpy().astype(np.int8),
        groups=table[group].to_numpy().astype(np.int64),
        split=None if split is None else np.array(table[split].to_pylist()),
    )
