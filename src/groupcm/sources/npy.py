"""Provides `from_arrays` and `from_npy`: candidates in memory or in memory-mapped files."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame
from groupcm.data.frames import feature_names as frame_names
from groupcm.data.groups import require_present
from groupcm.errors import InputError
from groupcm.objective.terms import Index
from groupcm.sources.base import Columns, LocalSource, require_batch_rows
from groupcm.sources.rows.chunk import Chunk, RowMajorFeatures
from groupcm.sources.rows.index import Keys, labels_of, runs_of
from groupcm.utils.memory import parse_memory

if TYPE_CHECKING:
    from groupcm.sources.group_files import GroupFilesSource

__all__ = ["MatrixSource", "from_arrays", "from_npy"]

Column = str | os.PathLike[str] | ArrayLike

_UNIT_BYTES = 1 << 23


def from_arrays(
    X: Any,
    *,
    group: ArrayLike | None = None,
    label: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    batch_rows: int | None = None,
    memory: str | int | None = None,
) -> MatrixSource:
    """Candidates in a dense array or a data frame, as a source like any other.

    The rows of a group must be contiguous, as in every source; `GroupClassifier.fit` itself
    takes arrays in any order.

    Parameters
    ----------
    X : array or data frame of shape (n, d)
        Arrays of float16, float32 and float64 are used in place. The columns of a frame name the
        features, which a model compares with those it was trained on.
    group, label, overlap : array-like of shape (n,), optional
        The group, class and overlap of each row; without groups each row is its own.
    feature_names : sequence of str, optional
        Of an array; those of a frame are its columns.
    batch_rows : int, optional
        How many rows are worked on at once.
    memory : int or str, optional
        How much a fit may use in addition to the array itself.

    Examples
    --------
    >>> from groupcm import GroupClassifier, sources
    >>> X = [[0.0], [3.0], [0.2], [1.0], [0.1], [0.9]]
    >>> source = sources.from_arrays(X, group=[0, 0, 1, 1, 2, 2], label=[0, 1, 0, 0, 0, 0])
    >>> GroupClassifier(lam=0.9).fit(source).predict_groups(source)
    array([1, 0, 0])
    """
    X = as_frame(X)
    if is_frame(X):
        feature_names = _names_of_frame(X, feature_names)
        X = frame_to_matrix(X)
        X = X if isinstance(X, np.ndarray) else X.toarray()
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be a matrix of numbers; got shape {matrix.shape}, {matrix.dtype}."
        )
    if matrix.dtype not in (np.float16, np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    keys = {"group": group, "label": label, "overlap": overlap}
    return MatrixSource(np.ascontiguousarray(matrix), "X", keys, feature_names, batch_rows, memory)


def _names_of_frame(X: Any, given: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of the columns; those given must not be others."""
    names = frame_names(X)
    if names is None:
        return given
    if given is not None and list(map(str, given)) != names.tolist():
        raise ValueError(
            "feature_names are others than the columns of X, or in another order; leave them out, "
            "or rename the columns."
        )
    return names.tolist()


def from_npy(
    path: str | os.PathLike[str],
    *,
    group: Column | None = None,
    label: Column | None = None,
    overlap: Column | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    batch_rows: int | None = None,
    memory: str | int | None = None,
) -> MatrixSource | GroupFilesSource:
    """Candidates in a ``.npy`` file, memory-mapped: only the rows being read are in memory.

    Parameters
    ----------
    path : str or path
        A matrix of float16, float32 or float64 in C order, one row per candidate; or a folder of
        one such file per group, of any numeric type.
    group, label, overlap : path of a ``.npy`` file, or array of shape (n,), optional
        The group, class and overlap of each row. The rows of a group are contiguous.
    labels : path or mapping, optional
        Of a folder: a table with the columns ``slide`` and ``label``, or a mapping from the names
        of the files, without ``.npy``, to labels.
    feature_names : sequence of str, optional
    batch_rows : int, optional
        How many rows are read at once.
    memory : int or str, optional
        How much a fit may use, such as ``"2GB"``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import GroupClassifier, sources
    >>> path = Path(tempfile.mkdtemp()) / "X.npy"
    >>> np.save(path, np.array([[0.0], [3.0], [0.2], [1.0], [0.1], [0.9]]))
    >>> source = sources.from_npy(path, group=[0, 0, 1, 1, 2, 2], label=[0, 1, 0, 0, 0, 0])
    >>> GroupClassifier(lam=0.9).fit(source).predict_groups(source)
    array([1, 0, 0])
    """
    if Path(path).is_dir():
        from groupcm.sources.group_files import from_npy_folder

        given = {"group": group, "label": label, "overlap": overlap, "feature_names": feature_names}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} is for one file; a folder takes labels.")
        return from_npy_folder(Path(path), labels, batch_rows, memory)
    if labels is not None:
        raise ValueError("labels is for a folder of one file per group; of one file name label.")
    matrix = _map(path)
    if matrix.ndim != 2 or matrix.dtype not in (np.float16, np.float32, np.float64):
        raise InputError(
            f"{path} holds {matrix.dtype} of shape {matrix.shape}; "
            "candidates are a matrix of float16, float32 or float64"
        )
    if not matrix.flags.c_contiguous:
        raise InputError(f"{path} is stored column by column; save it in C order (row by row)")
    columns = {
        role: _map(value) if isinstance(value, str | os.PathLike) else value
        for role, value in (("group", group), ("label", label), ("overlap", overlap))
    }
    return MatrixSource(matrix, str(path), columns, feature_names, batch_rows, memory)


def _map(path: str | os.PathLike[str]) -> NDArray[Any]:
    try:
        loaded = np.load(path, mmap_mode="r")
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; name a .npy file") from error
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError, TokenError) as error:
        raise InputError(f"{path} is not a complete .npy file: {error}") from error
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise InputError(f"{path} is an archive of arrays; save only the matrix, as .npy")
    return loaded


def _of_one_type(values: NDArray[Any]) -> NDArray[Any]:
    """Python objects as numbers where they all are, else as text."""
    found = np.array(values.tolist())
    return values.astype(str) if found.dtype == object else found


class MatrixSource(LocalSource):
    """Candidates in slices of one matrix; see `from_arrays` and `from_npy`."""

    reads_single_rows = True

    def __init__(
        self,
        X: NDArray[np.floating],
        name: str,
        keys: Mapping[str, ArrayLike | None] | None = None,
        feature_names: Sequence[str] | None = None,
        batch_rows: int | None = None,
        memory: str | int | None = None,
    ) -> None:
        self.X = X
        self.name = name
        self.n_features = X.shape[1]
        self.dtype = np.dtype(np.float32) if X.dtype == np.float16 else X.dtype
        self.feature_names = None if feature_names is None else list(map(str, feature_names))
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(
                f"{len(self.feature_names)} feature_names for {self.n_features} features."
            )
        self.memory = None if memory is None else parse_memory(memory)
        given = keys or {}
        self._keys = {
            role: self._column(role, given.get(role)) for role in ("group", "label", "overlap")
        }
        self.has_group = self._keys["group"] is not None
        self.has_label = self._keys["label"] is not None
        self.has_overlap = self._keys["overlap"] is not None
        if batch_rows is not None:
            require_batch_rows(batch_rows)
        step = batch_rows or max(1, _UNIT_BYTES // (self.n_features * self.dtype.itemsize))
        self._unit_ptr = np.append(np.arange(0, len(X), step), len(X))

    def _column(self, role: str, values: ArrayLike | None) -> NDArray[Any] | None:
        if values is None:
            return None
        column = np.asarray(values)
        if column.shape != (len(self.X),):
            raise ValueError(
                f"{role} must hold one value per row: {self.name} has {len(self.X)} rows, "
                f"got shape {column.shape}."
            )
        if role == "overlap":
            return column
        require_present(column, role + " is missing at row {}; every row needs one.")
        return _of_one_type(column) if column.dtype == object else column

    def __repr__(self) -> str:
        return f"<MatrixSource {self.name}: {self.n_rows:,} rows × {self.n_features} features>"

    @property
    def unit_ptr(self) -> Index:
        return self._unit_ptr

    @property
    def is_mapped(self) -> bool:
        """Whether the rows are in a file rather than in memory."""
        return isinstance(self.X, np.memmap)

    def where(self, row: int) -> str:
        return f"row {row} of {self.name}"

    def sort_advice(self) -> str:
        return "sort the rows by group first (numpy.argsort(group, kind='stable'))"

    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        lo, hi = int(self._unit_ptr[unit]), int(self._unit_ptr[unit + 1])
        part = {role: None if c is None else c[lo:hi] for role, c in self._keys.items()}
        group = part["group"] if columns.group else None
        label = part["label"] if columns.label else None
        keys = Keys(
            None if group is None else runs_of(np.asarray(group)),
            None if label is None else labels_of(np.asarray(label)),
            part["overlap"] if columns.overlap else None,
        )
        features = (
            RowMajorFeatures(np.asarray(self.X[lo:hi], self.dtype)) if columns.features else None
        )
        yield Chunk(lo, hi - lo, features, keys)
        if columns.features and self.is_mapped:
            self._forget(lo, hi)

    def _forget(self, lo: int, hi: int) -> None:
        """Advise the system that these pages need not stay in memory."""
        mapped = getattr(self.X, "_mmap", None)
        if mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        row = self.n_features * self.X.dtype.itemsize
        offset = getattr(self.X, "offset", 0) % mmap.ALLOCATIONGRANULARITY
        first = -(-(offset + lo * row) // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (offset + hi * row) // mmap.PAGESIZE * mmap.PAGESIZE - first
        if length > 0:
            mapped.madvise(mmap.MADV_DONTNEED, first, length)
