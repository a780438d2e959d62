"""Data frames of every kind, as frames in memory whose columns have names.

A frame is matched with a model by the names of its columns, so every kind of frame has to arrive
at that comparison with its names. pandas, polars and Arrow tables are used as they are. Frames that
scikit-learn does not know, and frames that are read when they are needed, are collected first.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["as_frame", "feature_names", "frame_to_matrix", "is_frame", "require_exact"]

# Floats hold every whole number up to this.
_EXACT_INTEGER = 2**53
# Lazy frames whose rows have an order: those of y and groups can be in the same one.
_ORDERED = (nw.Implementation.POLARS, nw.Implementation.DASK)


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame in memory, as `as_frame` returns it."""
    return bool(nw.dependencies.is_into_dataframe(X))


def as_frame(X: Any) -> Any:
    """Return any kind of data frame as one in memory with named columns, and the rest unchanged.

    A polars ``LazyFrame``, a Dask ``DataFrame`` and an Arrow ``RecordBatch``, ``Dataset``,
    ``Scanner`` or ``RecordBatchReader`` are read into memory. A query of a database (DuckDB, Ibis,
    Spark) is refused, because its rows may come in another order than ``y`` and ``groups``.

    Examples
    --------
    >>> as_frame(pa.RecordBatch.from_pydict({"size": [1.0, 2.0]})).column_names
    ['size']
    >>> as_frame([[1.0], [2.0]])
    [[1.0], [2.0]]
    """
    if X is None or isinstance(X, np.ndarray | list | tuple | str) or sp.issparse(X):
        return X
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    elif isinstance(X, pa.RecordBatchReader):
        X = X.read_all()
    elif _is_arrow_dataset(X):
        X = X.to_table()
    X = nw.to_native(X, pass_through=True)
    if not nw.dependencies.is_polars_lazyframe(X):  # which would warn, and whose names differ
        _require_distinct_columns(X)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = _collect(frame, X)
    if isinstance(frame, nw.DataFrame):
        known = frame.implementation in (nw.Implementation.PANDAS, nw.Implementation.POLARS)
        return frame.to_native() if known else frame.to_arrow()
    return _from_other_library(X)


def _collect(frame: Any, X: Any) -> Any:
    if frame.implementation in _ORDERED:
        return frame.collect()
    raise ValueError(
        f"X is a query ({type(X).__module__}.{type(X).__qualname__}), whose rows may come in "
        "another order each time; collect it once, as an Arrow or pandas table, and take y and "
        "groups from the same table."
    )


def _is_arrow_dataset(X: Any) -> bool:
    # By name: importing pyarrow.dataset takes a while, and a user who has one has imported it.
    of = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(X).__mro__}
    return not of.isdisjoint({"pyarrow._dataset.Dataset", "pyarrow._dataset.Scanner"})


def _from_other_library(X: Any) -> Any:
    """Return the table of a library that offers its columns to Arrow; anything else unchanged."""
    is_series = nw.dependencies.is_into_series(X) or isinstance(X, pa.Array | pa.ChunkedArray)
    if is_series or not hasattr(X, "__arrow_c_stream__"):
        return X
    return pa.table(X)


def feature_names(X: Any) -> NDArray[Any] | None:
    """Return the column names of a frame, if they are strings."""
    if not is_frame(X):
        return None
    _require_distinct_columns(X)
    names = list(nw.from_native(X, eager_only=True).columns)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(names, dtype=object)


def frame_to_matrix(X: Any) -> NDArray[Any] | sp.csr_array:
    """Return a frame's columns side by side, in the smallest float type that holds them all.

    The result is sparse where every column is a sparse column of pandas, with 0 for what is not
    stored; single sparse columns are made dense.

    Examples
    --------
    >>> frame_to_matrix(pa.table({"size": [1, 2], "kind": ["a", "b"]}))
    Traceback (most recent call last):
    ValueError: column 'kind' of X holds String, not numbers; drop it or turn it into numbers.
    """
    _require_distinct_columns(X)
    sparse = _sparse_columns(X)
    if sparse is not None:
        return sparse
    frame = nw.from_native(X, eager_only=True)
    columns, kinds = [], []
    for name in frame.columns:
        values = _numbers(frame.get_column(name), name)
        if values.dtype.kind in "iu":
            require_exact(values[:, None], lambda row, _, name=name: f"row {row}, column {name!r}")
        columns.append(values)
        kinds.append(np.result_type(values.dtype, np.float32))
    out = np.empty((len(frame), len(columns)), dtype=np.result_type(np.float32, *kinds))
    for j, values in enumerate(columns):
        out[:, j] = values
    return out


def _numbers(column: Any, name: Any) -> NDArray[Any]:
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean or _is_sparse(column)):
        raise ValueError(
            f"column {name!r} of X holds {column.dtype}, not numbers; "
            "drop it or turn it into numbers."
        )
    values = column.to_numpy()
    if values.dtype == object or column.null_count():
        values = values.astype(np.float64)
    return values


def _is_sparse(column: Any) -> bool:
    """Return whether a column is a sparse column of numbers, as pandas has them."""
    stored = getattr(getattr(column.to_native(), "dtype", None), "subtype", None)
    is_pandas = column.implementation == nw.Implementation.PANDAS
    return is_pandas and isinstance(stored, np.dtype) and stored.kind in "biuf"


def _sparse_columns(X: Any) -> sp.csr_array | None:
    """Return sparse columns as a CSR matrix, if all are sparse and what is not stored is 0."""
    if not nw.dependencies.is_pandas_dataframe(X) or X.shape[1] == 0:
        return None
    frame = nw.from_native(X, eager_only=True)
    if not all(_is_sparse(frame.get_column(name)) for name in frame.columns):
        return None
    if any(dtype.fill_value != 0 for dtype in X.dtypes):
        return None
    for name in X.columns:
        stored = X[name].sparse.sp_values
        if stored.dtype.kind in "iu":
            require_exact(stored[:, None], lambda *_, name=name: f"column {name!r}")
    return sp.csr_array(X.sparse.to_coo())


def _require_distinct_columns(X: Any) -> None:
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"X has two columns named {twice!r}; every column needs its own name.")


def require_exact(values: NDArray[Any], place: Any) -> None:
    """Raise where an integer is so large that a float does not hold it exactly."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    too_large = (values > _EXACT_INTEGER) | (values < -_EXACT_INTEGER)
    if too_large.any():
        row, column = np.argwhere(too_large)[0]
        raise ValueError(
            f"X holds the integer {values[row, column]} in {place(row, column)}, "
            "more than a float can hold exactly (2**53); scale it or leave the column out."
        )
