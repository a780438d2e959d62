"""What a fit is given, checked: rows in memory or in a stream, their classes and groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.frames import as_frame, feature_names
from groupcm.data.group_table import GroupTable, group_level
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import class_order, order_classes
from groupcm.data.validation import (
    MANY_CANDIDATES,
    as_annotated,
    as_labels,
    as_matrix,
    as_objects,
    as_overlap,
    as_sample_weight,
    check_length,
    distinct,
    require_finite,
    require_no_infinity,
    rows_with,
    warn_without_groups,
)
from groupcm.errors import Argument, InputError
from groupcm.features.scaling import SAMPLE_VALUES
from groupcm.objective.grouping import RowWeights
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import NO_ORDER, Groups, Index
from groupcm.sources.base import Source
from groupcm.sources.npy import MatrixSource
from groupcm.sources.parquet import from_parquet
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.memory import memory_to_use

__all__ = [
    "TrainingData",
    "folds_of_rows",
    "leave_out",
    "read_training_data",
    "require_same_class",
    "source_of_columns",
]

# The share of the memory allowed that the rows may take when they are all kept.
_ALL_ROWS = 0.8
# Below this a pass over rows in memory costs next to nothing.
_MANY_ROWS = 500_000


@dataclass(frozen=True)
class TrainingData:
    """Candidates, validated.

    Attributes
    ----------
    X : ndarray, CSR matrix or SourceReader
        The rows, as they are stored.
    y : ndarray
        The class of each row: one of ``labels``.
    labels, classes : ndarray
        How the classes are written in ``y``, and what the user calls them; two are in the order
        (negative, positive).
    groups : Groups or None
        None where every row is its own group.
    overlap : ndarray, object with ``[rows]``, or None
    names : ndarray or None
        Of the features.
    memory : int
        Bytes that may be used.
    objects : ndarray or None
        Which object of its group a row shows; looked at for positive rows only.
    annotated : ndarray of bool or None
        Whether somebody said which candidates of the row's group are positive; the same for
        all rows of a positive group.
    weights : RowWeights or None
        ``sample_weight``, above 0 for every row: candidates of weight 0 are not among the rows.
    rows : ndarray or None
        Where candidates of weight 0 were left out, the number of each row in what was given.
    n_given : int
        How many candidates were given, where some were left out.
    """

    X: Any
    y: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]
    groups: Groups | None
    overlap: Any
    names: NDArray[Any] | None
    memory: int
    objects: NDArray[Any] | None = None
    annotated: NDArray[np.bool_] | None = None
    weights: RowWeights | None = None
    rows: Index | None = None
    n_given: int = 0

    @property
    def stream(self) -> SourceReader | None:
        """The stream, where the rows are not in memory."""
        return self.X if isinstance(self.X, SourceReader) else None

    @property
    def rows_in_memory(self) -> Matrix | None:
        """The rows, unless they must be read: an array may be treated as a stream, too."""
        if not isinstance(self.X, SourceReader):
            return self.X
        return self.X.source.X if isinstance(self.X.source, MatrixSource) else None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Features as they are stored, before any map."""
        return self.X.source.n_features if isinstance(self.X, SourceReader) else self.X.shape[1]

    def require_two_classes(self, reason: str = "") -> None:
        """Raise one sentence, with the reason where one is given, where there are more classes."""
        n_classes = len(self.classes)
        if n_classes > 2:
            # In scikit-learn's words, which its checks look for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"has {n_classes} classes{reason}; make one of them against the rest."
            )

    def require_two_classes_in_memory(self, who_needs: str) -> None:
        """Raise one sentence where there are more classes, or rows that must be read."""
        self.require_two_classes()
        if self.stream is not None:
            raise InputError(
                f"{who_needs} all {self.n_rows:,} candidates in memory, and they do not fit; "
                "raise ",
                Argument("memory"),
                ", or train on fewer groups.",
            )

    def for_shared_passes(self) -> TrainingData:
        """As a stream where that pays: many dense rows, those of each group together."""
        together = self.groups is not None and self.groups.is_contiguous
        together &= self.weights is None
        if not isinstance(self.X, np.ndarray) or not together or self.n_rows < _MANY_ROWS:
            return self
        if len(self.unannotated_groups()):  # choosing candidates needs them in memory
            return self
        return replace(self, X=SourceReader(MatrixSource(self.X, "X")))

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Which rows are of the positive one of two classes."""
        return np.asarray(self.y == self.labels[1])

    def rows_of(self, number: int) -> Index:
        """The rows of a class."""
        return rows_with(self.y, self.labels[number])

    def unannotated_groups(self) -> Index:
        """Positive groups nobody annotated, in order (rows, where there are no groups)."""
        if self.annotated is None:
            return NO_ORDER
        positive = np.concatenate([self.rows_of(k) for k in range(1, len(self.classes))])
        return self.groups_of(positive[~self.annotated[positive]])

    def groups_of(self, rows: Index) -> Index:
        """The groups that hold any of these rows, in order (the rows, where there are none)."""
        return np.unique(rows if self.groups is None else self.groups.of_rows(rows))

    def group_table(self, patients: ArrayLike | None, ids: Any = None) -> GroupTable:
        """Return the label and the patient of each group of two classes.

        A group of two patients is refused, by its id where ``ids`` has one per row.
        """
        named = ids
        if ids is None or isinstance(ids, str):
            named = None if self.groups is None else self.groups.numbers()
        return group_level(self.is_positive, named, patients)

    def require_finite(self) -> None:
        """Name the first value that is not finite, if there is one."""
        if isinstance(self.X, SourceReader):
            self.X.source.require_finite()
        else:
            require_finite(self.X, self.names, self.rows)

    def as_given(self, rows: Index) -> Index:
        """Return the numbers of these rows in what the user gave."""
        return rows if self.rows is None else self.rows[rows]

    def left_of(self, values: Any) -> Any:
        """Return those of some values, one per candidate given, that belong to the rows."""
        return values if self.rows is None or values is None else np.asarray(values)[self.rows]

    def take(self, rows: Index) -> NDArray[np.floating]:
        """Some rows, as they are stored."""
        return self.X.raw(rows) if isinstance(self.X, SourceReader) else self.X[rows]


def folds_of_rows(cv: Iterable[Any], rows: Index, n_given: int) -> list[tuple[Index, Index]]:
    """Return folds of the candidates that were given as folds of those of weight above 0.

    Parameters
    ----------
    cv : iterable of (train, test)
        Row numbers of the candidates as they were given, so many in all.
    rows : ndarray
        The candidates that are left, ascending.
    n_given : int

    Examples
    --------
    >>> folds_of_rows([([0, 1], [2, 3])], np.array([1, 2, 3]), 4)
    [(array([0]), array([1, 2]))]
    """
    place = np.full(n_given, -1)
    place[rows] = np.arange(len(rows))
    folds = [tuple(place[np.asarray(part)] for part in fold) for fold in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in folds]


def read_training_data(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    annotated: ArrayLike | None = None,
    objects: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> TrainingData:
    """Check what `fit` was given, without copying what need not be copied.

    Of the estimator its name, its tags, ``pos_label``, ``memory`` and, where it has one,
    ``grouping`` count.
    """
    # A Parquet or Dask source is always asked for its groups.
    may_be_forgotten = groups is None and _is_grouped(estimator)
    groups = None if no_groups(groups) else groups
    if isinstance(X, str | os.PathLike):
        X = source_of_columns(X, groups, y, overlap)
    elif isinstance(X, Source):
        leave_out(y=y, groups=groups, overlap=overlap)
        may_be_forgotten &= isinstance(X, MatrixSource)
    if isinstance(X, Source):
        _refuse_columns(annotated=annotated, objects=objects, sample_weight=sample_weight)
        data = _read_source(estimator, X)
        if may_be_forgotten and data.groups is None:
            _warn_without_groups(data)
        data = _with_marks(data, X.index().ids, annotated, objects)
        return _with_weights(data, X.index().ids, sample_weight)
    X = as_frame(X)
    names = feature_names(X)
    X = as_matrix(X, estimator)
    y = as_labels(y, X.shape[0])
    together = index = None
    if groups is not None:
        check_length("groups", groups, X.shape[0])
        index = index_groups(groups)
        together = Groups.from_index(index)
    overlap = as_overlap(overlap, X.shape[0])
    classes = distinct(y)
    _require_two(classes, "y")
    classes = order_classes(classes, estimator.pos_label)
    memory = memory_to_use(estimator.memory)
    data = TrainingData(X, y, classes, classes, together, overlap, names, memory)
    if may_be_forgotten:
        _warn_without_groups(data)
    data = _with_marks(data, None if index is None else index.ids, annotated, objects)
    _require_finite_early(estimator, data)
    return _with_weights(data, None if index is None else index.ids, sample_weight)


def _is_grouped(estimator: Any) -> bool:
    return getattr(estimator, "grouping", "negative") != "none"


def _warn_without_groups(data: TrainingData) -> None:
    is_small = len(data.classes) == 2 and data.n_rows < MANY_CANDIDATES
    warn_without_groups(data.n_rows, len(data.rows_of(1)) if is_small else None)


def _refuse_columns(**given: Any) -> None:
    for name, value in given.items():
        if isinstance(value, str):
            raise ValueError(
                f"{name} needs one value a candidate in memory, also where X is a source or a "
                f"path; got the name {value!r}: read that column and pass its values."
            )


def _with_marks(
    data: TrainingData, ids: NDArray[Any] | None, annotated: Any, objects: Any
) -> TrainingData:
    """The data with what is known of their annotation; ``ids`` are those of the groups."""
    annotated = as_annotated(annotated, data.n_rows)
    objects = as_objects(objects, data.n_rows)
    data = replace(data, annotated=annotated, objects=objects)
    if annotated is None or data.groups is None:
        return data
    positive = np.concatenate([data.rows_of(k) for k in range(1, len(data.classes))])
    mixed = data.groups.mixed(data.groups_of(positive), annotated)
    if len(mixed):
        name = mixed[0] if ids is None else ids[mixed[0]]
        raise ValueError(
            f"annotated is True for some candidates of the positive group {name!s} and False for "
            "others; it must be the same for all candidates of a group."
        )
    return data


def _with_weights(data: TrainingData, ids: NDArray[Any] | None, sample_weight: Any) -> TrainingData:
    """Return the data with ``sample_weight``, without the candidates whose weight is 0."""
    if sample_weight is not None and data.stream is not None:
        raise InputError(
            Argument("sample_weight"),
            f" needs all {data.n_rows:,} candidates in memory, and they do not fit; raise ",
            Argument("memory"),
            ", or leave ",
            Argument("sample_weight"),
            " out (",
            Argument("class_weight"),
            " works with any source).",
        )
    weight = as_sample_weight(sample_weight, data.n_rows)
    if weight is None or np.all(weight > 0.0):
        return data if weight is None else replace(data, weights=RowWeights(weight, ids))
    rows = np.flatnonzero(weight)
    y, groups = data.y[rows], None
    is_left = np.isin(data.labels, distinct(y))
    if np.count_nonzero(is_left) < 2:
        raise InputError(
            Argument("sample_weight"),
            f" leaves one class only ({data.classes[is_left][0]}): all candidates of "
            "the others have the weight 0; two or more classes are needed.",
        )
    if data.groups is not None:
        of_row = data.groups.of_rows(np.arange(data.n_rows))
        first = 1 if len(data.labels) == 2 else 0  # a group without negative ones is as it was
        for label, name in zip(data.labels[first:], data.classes[first:], strict=True):
            require_same_class(np.asarray(data.y == label), of_row, weight, name, ids)
        index = index_groups(of_row[rows])
        groups, ids = Groups.from_index(index), None if ids is None else ids[index.ids]
    data = replace(data, rows=rows, n_given=data.n_rows)
    return replace(
        data,
        X=data.X[rows],
        y=y,
        labels=data.labels[is_left],
        classes=data.classes[is_left],
        groups=groups,
        overlap=data.overlap if data.overlap is None else data.overlap[rows],
        objects=data.left_of(data.objects),
        annotated=data.left_of(data.annotated),
        weights=RowWeights(weight[rows], ids),
    )


def require_same_class(
    has_label: NDArray[np.bool_],
    group_of_row: NDArray[Any],
    weight: NDArray[np.float64],
    label: Any,
    ids: NDArray[Any] | None,
) -> None:
    """Refuse weights of 0 that take a label from a group, some candidates of which are left.

    Parameters
    ----------
    has_label : ndarray of bool of shape (n,)
        Which candidates have the label.
    group_of_row : ndarray of int of shape (n,)
    weight : ndarray of shape (n,)
    label : label
    ids : ndarray or None
        Of the groups.

    Examples
    --------
    >>> weight = np.array([0.0, 1.0, 1.0])
    >>> require_same_class(np.array([1, 0, 0], bool), np.array([0, 0, 1]), weight, "polyp", None)
    Traceback (most recent call last):
    ValueError: sample_weight is 0 for every candidate of the class polyp in group 0 and not for its
    other candidates, so that it would count as a group without that class; give all its candidates
    the weight 0 to leave the group out.
    """
    counts = weight > 0.0
    before = np.bincount(group_of_row, has_label) > 0
    after = np.bincount(group_of_row, has_label & counts) > 0
    lost = before & ~after & (np.bincount(group_of_row, counts) > 0)
    if lost.any():
        group = int(np.argmax(lost))
        raise InputError(
            Argument("sample_weight"),
            f" is 0 for every candidate of the class {label!s} in group "
            f"{group if ids is None else ids[group]!s} and not for its other candidates, so that "
            "it would count as a group without that class; give all its candidates the weight 0 "
            "to leave the group out.",
        )


def leave_out(**given: Any) -> None:
    """Refuse what a source brings itself."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} comes with the source; leave it out.")


def source_of_columns(
    path: str | os.PathLike[str],
    group: Any,
    label: Any = None,
    overlap: Any = None,
    features: Sequence[str] | None = None,
) -> Source:
    """The Parquet source of a path, with columns by name; the group "none" is none."""
    group = None if no_groups(group) else group
    for role, column in (("groups", group), ("y", label), ("overlap", overlap)):
        if column is not None and not isinstance(column, str):
            raise ValueError(
                f"{role} must name a column of {os.fspath(path)}; got {type(column).__name__}."
            )
    return from_parquet(path, group=group, label=label, overlap=overlap, features=features)


def _require_finite_early(estimator: Any, data: TrainingData) -> None:
    """Look for bad values first, but not where a first pass over large data meets them anyway."""
    X: Matrix = data.X
    if estimator.__sklearn_tags__().input_tags.allow_nan:
        require_no_infinity(X, data.names)
        return
    grouped = data.groups is not None and _is_grouped(estimator)
    if not isinstance(X, np.ndarray) or X.size <= SAMPLE_VALUES or not grouped:
        require_finite(X, data.names)


def _require_two(classes: NDArray[Any], what: str) -> None:
    if len(classes) < 2:
        raise ValueError(f"{what} holds one class only ({classes[0]}); two or more are needed.")


@dataclass(frozen=True)
class _OverlapOf:
    """The overlap column of a source, read where it is asked for."""

    source: Source

    def __getitem__(self, rows: Index) -> Any:
        return self.source.overlap_of(rows)


def _read_source(estimator: Any, source: Source) -> TrainingData:
    if source.n_rows == 0:
        raise InputError(f"the source {source!r} has no rows; a fit needs some")
    index = source.index()
    if index.classes is None or index.codes is None:
        raise InputError("the source has no label column, which a fit needs; name it with label=")
    _require_two(index.classes, "the label column")
    order = class_order(index.classes, estimator.pos_label, where="the label column")
    memory = memory_to_use(estimator.memory, source.memory)
    names = source.feature_names
    overlap = _OverlapOf(source) if source.has_overlap else None
    data = TrainingData(
        _rows_of_source(source, memory),
        index.codes,
        order.astype(index.codes.dtype),
        index.classes[order],
        index.groups,
        overlap,
        None if names is None else np.array(names, dtype=object),
        memory,
    )
    if data.stream is None:
        try:
            _require_finite_early(estimator, data)
        except ValueError:
            source.require_finite()  # says in which file
            raise
    return data


def _rows_of_source(source: Source, memory: int) -> Any:
    """The rows themselves where they may all be in memory, else a stream."""
    if isinstance(source, MatrixSource) and not source.is_mapped:
        return source.X
    stream = SourceReader(source)
    if not source.loads_whole or source.nbytes > _ALL_ROWS * memory:
        return stream
    if isinstance(source, MatrixSource):
        return source.X
    stream.load(range(source.n_units))
    return stream.resident
