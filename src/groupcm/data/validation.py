"""From what a user passes to arrays the engine can work on, or one sentence about what is wrong."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame, require_exact
from groupcm.data.groups import require_present
from groupcm.data.labels import require_discrete
from groupcm.errors import Argument, GroupsWarning, InputError, warn_user
from groupcm.objective.smoothed import Matrix
from groupcm.utils.parallel import slices, thread_map

__all__ = [
    "MANY_CANDIDATES",
    "as_annotated",
    "as_labels",
    "as_matrix",
    "as_objects",
    "as_overlap",
    "as_sample_weight",
    "check_length",
    "distinct",
    "is_half",
    "require_finite",
    "require_no_infinity",
    "rows_with",
    "warn_without_groups",
]

_ROWS_A_THREAD = 200_000
_ROWS_AT_ONCE = 1 << 16
# So many rows, or so many of which few are positive, are unlikely to be groups of one candidate.
MANY_CANDIDATES = 500
_SOME_CANDIDATES = 50
_FEW_POSITIVES = 0.1


def as_matrix(
    X: Any, estimator: Any = None, *, allow_empty: bool = False, allow_half: bool = False
) -> Matrix:
    """Candidates as a C-ordered float array or a CSR matrix; float32 and float64 are not copied.

    Nor is a C-ordered array of float16 where it is allowed.
    """
    X = as_frame(X)
    if allow_half and is_half(X):
        return X
    if isinstance(X, np.ndarray | list | tuple | float | int):
        _require_table(X)
    if is_frame(X):
        X = frame_to_matrix(X)
    elif isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported; X must hold real numbers.")
    elif isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        require_exact(X, lambda row, column: f"row {row}, column {column}")
    X = check_array(
        X,
        accept_sparse="csr",  # pyright: ignore[reportArgumentType]
        dtype=[np.float64, np.float32],  # pyright: ignore[reportArgumentType]
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0 if allow_empty else 1,
        estimator=estimator,
        input_name="X",
    )
    if not sp.issparse(X):
        return X
    rows = sp.csr_array(X)
    # Kernels look up weights by these indices, wherever they lead.
    rows.check_format(full_check=True)
    if not rows.has_canonical_format:  # one entry per row and column, which centring relies on
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _require_table(X: Any) -> None:
    """Raise one sentence where X is not a table: one row per candidate, one column per feature."""
    try:
        n_dimensions = np.ndim(X)
    except ValueError:  # rows of different lengths, which scikit-learn names
        return
    if n_dimensions != 2:
        # In scikit-learn's words, which its checks look for.
        raise ValueError(
            f"Expected 2D array, got {n_dimensions}D array instead: X needs one row per candidate "
            "and one column per feature. Reshape your data, with X.reshape(-1, 1) where there is "
            "one feature and with X.reshape(1, -1) where there is one candidate."
        )


def is_half(X: Any) -> bool:
    """Return whether X is a matrix of float16 that can be read in place."""
    is_matrix = isinstance(X, np.ndarray) and X.ndim == 2 and X.flags.c_contiguous
    return is_matrix and X.dtype == np.float16 and min(X.shape) > 0


def require_finite(
    X: Matrix, names: NDArray[Any] | None = None, rows: NDArray[np.int64] | None = None
) -> None:
    """Raise, naming row and column, where X holds NaN or infinity.

    ``rows`` are the numbers that the user knows the rows by, where X is a part of what was given.
    """
    found = _first_nonfinite(X)
    if found is None:
        return
    row, column = found
    value = X[row, column]
    row = row if rows is None else int(rows[row])
    what, remedy = "infinity", "replace it by a finite number"
    if np.isnan(value):
        what = "NaN"
        remedy = "impute it, or use GroupBoostingClassifier, which accepts missing values"
    name = f" ({names[column]!r})" if names is not None else ""
    raise InputError(
        f"X contains {what} in row {row}, column {column}{name}; {remedy}.",
        row=row,
        column=column if names is None else names[column],
    )


def _first_nonfinite(X: Matrix) -> tuple[int, int] | None:
    if not isinstance(X, np.ndarray):
        bad = np.flatnonzero(~np.isfinite(X.data))
        if len(bad) == 0:
            return None
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        return row, int(X.indices[bad[0]])

    def first_in(piece: tuple[int, int]) -> tuple[int, int] | None:
        for lo in range(piece[0], piece[1], 8192):
            rows = X[lo : min(lo + 8192, piece[1])]
            bad = np.argwhere(~np.isfinite(rows))
            if len(bad):
                return lo + int(bad[0, 0]), int(bad[0, 1])
        return None

    found = thread_map(first_in, slices(len(X), _ROWS_A_THREAD))
    return next((place for place in found if place is not None), None)


def require_no_infinity(X: Matrix, names: NDArray[Any] | None = None) -> None:
    """Raise, naming row and column, where X holds infinity; NaN is allowed.

    Examples
    --------
    >>> require_no_infinity(np.array([[np.nan, 1.0], [2.0, -np.inf]]))
    Traceback (most recent call last):
    groupcm.errors.InputError: X contains infinity in row 1, column 1; replace it by a
    finite number.
    """
    for lo in range(0, X.shape[0], _ROWS_AT_ONCE):
        part = X[lo : lo + _ROWS_AT_ONCE]
        if not np.isinf(part.data if sp.issparse(part) else part).any():
            continue
        rows = sp.coo_array(part)
        bad = np.flatnonzero(np.isinf(rows.data))
        if len(bad):
            first = bad[:1]
            place = (lo + rows.row[first], rows.col[first])
            require_finite(sp.csr_array((rows.data[first], place), shape=X.shape), names)


def check_length(name: str, values: Any, n_rows: int, whole: str = "X") -> None:
    """Raise where ``values`` does not have one entry per candidate of the ``whole``."""
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {whole} has {n_rows} "
            f"rows but {name} has {len(values)}; both need one entry per candidate."
        )


def as_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """Return one label per candidate."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    y = np.asarray(column_or_1d(y, warn=True))
    check_length("y", y, n_rows)
    require_present(y, "y has no label (NaN) at row {}; every candidate needs one.")
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError("y contains infinity; labels must be finite.")
    return y


def distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted labels; fast if there are few, whatever the number of rows."""
    if y.dtype.kind not in "biuf":
        check_classification_targets(y)
        return np.unique(y)

    def distinct_in(piece: tuple[int, int]) -> NDArray[Any]:
        rest, found = y[piece[0] : piece[1]], []
        while len(rest) and len(found) < 20:
            found.append(rest[0])
            rest = rest[rest != rest[0]]
        return np.unique(np.concatenate([np.array(found, dtype=y.dtype), rest]))

    labels = np.unique(np.concatenate(thread_map(distinct_in, slices(len(y), _ROWS_A_THREAD))))
    require_discrete(labels)
    return labels


def rows_with(y: NDArray[Any], label: Any) -> NDArray[np.int64]:
    """The rows that have this label."""

    def rows_in(piece: tuple[int, int]) -> NDArray[np.int64]:
        return np.flatnonzero(y[piece[0] : piece[1]] == label) + piece[0]

    return np.concatenate(thread_map(rows_in, slices(len(y), _ROWS_A_THREAD)))


def as_overlap(overlap: ArrayLike | None, n_rows: int) -> NDArray[np.floating] | None:
    """Return one number per candidate, or None."""
    if overlap is None:
        return None
    overlap = np.asarray(overlap)
    if overlap.ndim != 1 or overlap.dtype.kind not in "biuf":
        raise ValueError(
            f"overlap must be one number per candidate, got shape {overlap.shape} of "
            f"{overlap.dtype}."
        )
    check_length("overlap", overlap, n_rows)
    return overlap


def as_sample_weight(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Return one finite weight of at least 0 per candidate, not all of them 0; or None.

    Examples
    --------
    >>> as_sample_weight([1, 0.5], 2)
    array([1. , 0.5])
    >>> as_sample_weight([1.0, -2.0], 2)
    Traceback (most recent call last):
    groupcm.errors.InputError: sample_weight must be finite and at least 0; got -2.0 at row 1.
    """
    if sample_weight is None:
        return None
    given = np.asarray(sample_weight)
    if given.ndim != 1 or given.dtype.kind not in "biuf":
        raise InputError(
            Argument("sample_weight"),
            " must be one number per candidate; got an array of shape "
            f"{given.shape} and dtype {given.dtype}.",
        )
    check_length("sample_weight", given, n_rows)
    weight = given.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0.0)))
    if len(bad):
        raise InputError(
            Argument("sample_weight"),
            f" must be finite and at least 0; got {weight[bad[0]]} at row {bad[0]}.",
        )
    if not np.any(weight):
        raise InputError(
            Argument("sample_weight"), " is zero for every candidate; some weight must be above 0."
        )
    return weight


def as_objects(objects: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Return one id per candidate, or None; candidates that show no object need none."""
    if objects is None:
        return None
    objects = np.asarray(objects)
    if objects.ndim != 1:
        raise ValueError(f"objects must be one id per candidate, got shape {objects.shape}.")
    check_length("objects", objects, n_rows)
    return objects


def as_annotated(annotated: ArrayLike | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Return True or False for each candidate, or None.

    Examples
    --------
    >>> as_annotated([1, 0], 2)
    array([ True, False])
    >>> as_annotated(["yes", "no"], 2)
    Traceback (most recent call last):
    ValueError: annotated must be True or False for each candidate; got 'yes' at row 0.
    """
    if annotated is None:
        return None
    annotated = np.asarray(annotated)
    if annotated.ndim != 1:
        raise ValueError(
            f"annotated must be True or False for each candidate, got shape {annotated.shape}."
        )
    check_length("annotated", annotated, n_rows)
    require_present(
        annotated, "annotated has no value at row {}; every candidate needs True or False."
    )
    if annotated.dtype.kind == "b":
        return annotated
    is_true, is_false = np.asarray(annotated == 1), np.asarray(annotated == 0)
    neither = ~(is_true | is_false) if annotated.dtype.kind in "iufO" else np.ones(n_rows, bool)
    if np.any(neither):
        row = int(np.argmax(neither))
        raise ValueError(
            "annotated must be True or False for each candidate; "
            f"got {annotated[row : row + 1].tolist()[0]!r} at row {row}."
        )
    return is_true.astype(np.bool_)


def warn_without_groups(n_rows: int, n_positive: int | None = None) -> None:
    """Warn about a fit without groups, where the rows look like candidates of groups.

    They do where they are many, or where they are some and few of them are positive, and where
    scikit-learn was given groups and did not pass them on.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_without_groups(40, n_positive=1)
    ...     warn_without_groups(60, n_positive=1)
    >>> len(caught)
    1
    """
    few = n_positive is not None and n_positive < _FEW_POSITIVES * n_rows
    if not (
        n_rows >= MANY_CANDIDATES
        or (n_rows >= _SOME_CANDIDATES and few)
        or _groups_are_not_routed()
    ):
        return
    warn_user(
        "fit got no groups, so every candidate counts as a group of its own; pass groups, or "
        'groups="none" where that is meant, and in cross_val_score call '
        "sklearn.set_config(enable_metadata_routing=True) and set_fit_request(groups=True) and "
        'pass params={"groups": groups}.',
        GroupsWarning,
    )


def _groups_are_not_routed() -> bool:
    """Return whether a function of scikit-learn that runs this fit was given groups."""
    if get_config()["enable_metadata_routing"]:
        return False
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            params = frame.f_locals.get("params")
            routed = params if isinstance(params, dict) else {}
            if frame.f_locals.get("groups", routed.get("groups")) is not None:
                return True
        frame = frame.f_back
    return False
