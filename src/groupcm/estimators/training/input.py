"""Read and check what ``fit`` is given: arrays, data frames, sources and paths of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.frames import as_frame, feature_names
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import class_order, order_classes, require_discrete, warn_of_many_classes
from groupcm.data.validation import (
    MANY_CANDIDATES,
    as_annotated,
    as_labels,
    as_matrix,
    as_objects,
    as_overlap,
    check_length,
    distinct,
    require_finite,
    require_no_infinity,
    warn_without_groups,
)
from groupcm.errors import InputError
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.requirements import warn_of_unused
from groupcm.estimators.training.sample_weight import with_sample_weight
from groupcm.features.scaling import SAMPLE_VALUES
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups, Index
from groupcm.sources.base import Source
from groupcm.sources.npy import MatrixSource
from groupcm.sources.parquet import from_parquet
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.memory import memory_to_use

__all__ = ["leave_out", "read_training_data", "source_of_columns"]

# The share of the allowed memory that the rows may take when all of them are kept.
_ALL_ROWS = 0.8
# A file of so many bytes is decoded about once by a streamed fit, which is faster than to bring
# all its rows into memory and to read them there. Wide rows in memory have a better solver.
_LARGE_FILE = 2 << 30
_NARROW = 100


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
    ``grouping`` count. Hyperparameters that its loss and its penalty ignore raise a warning.
    """
    warn_of_unused(estimator)
    # The groups of a Parquet or Dask source are always named.
    may_be_forgotten = groups is None and _is_grouped(estimator)
    groups = None if no_groups(groups) else groups
    if isinstance(X, str | os.PathLike):
        X = source_of_columns(X, groups, y, overlap)
    elif isinstance(X, Source):
        leave_out(y=y, groups=groups, overlap=overlap)
        may_be_forgotten &= isinstance(X, MatrixSource)
    if isinstance(X, Source):
        _refuse_columns(annotated=annotated, objects=objects, sample_weight=sample_weight)
        needs_all = annotated is not None or sample_weight is not None
        data = _read_source(estimator, X, needs_all=needs_all)
        if may_be_forgotten and data.groups is None:
            _warn_without_groups(data)
        data = _with_annotation(data, X.index().ids, annotated, objects)
        return with_sample_weight(data, X.index().ids, sample_weight)
    X = as_frame(X)
    names = feature_names(X)
    X = as_matrix(X, estimator, allow_half=_reads_half(estimator))
    y = as_labels(y, X.shape[0])
    together = index = None
    if groups is not None:
        check_length("groups", groups, X.shape[0])
        index = index_groups(groups)
        together = Groups.from_index(index)
    overlap = as_overlap(overlap, X.shape[0])
    classes = distinct(y)
    _check_classes(classes, "y")
    classes = order_classes(classes, estimator.pos_label)
    memory = memory_to_use(estimator.memory)
    data = TrainingData(X, y, classes, classes, together, overlap, names, memory)
    if may_be_forgotten:
        _warn_without_groups(data)
    data = _with_annotation(data, None if index is None else index.ids, annotated, objects)
    _require_finite_early(estimator, data)
    return with_sample_weight(data, None if index is None else index.ids, sample_weight)


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
    """Return the Parquet source of a path, with columns by name; the group "none" is none."""
    group = None if no_groups(group) else group
    for role, column in (("groups", group), ("y", label), ("overlap", overlap)):
        if column is not None and not isinstance(column, str):
            raise ValueError(
                f"{role} must name a column of {os.fspath(path)}; got {type(column).__name__}."
            )
    return from_parquet(path, group=group, label=label, overlap=overlap, features=features)


def _read_source(estimator: Any, source: Source, *, needs_all: bool) -> TrainingData:
    if source.n_rows == 0:
        raise InputError(f"the source {source!r} has no rows; a fit needs some")
    index = source.index()
    if index.classes is None or index.codes is None:
        raise InputError("the source has no label column, which a fit needs; name it with label=")
    _check_classes(index.classes, "the label column")
    order = class_order(index.classes, estimator.pos_label, where="the label column")
    memory = memory_to_use(estimator.memory, source.memory)
    names = source.feature_names
    overlap = _OverlapOf(source) if source.has_overlap else None
    data = TrainingData(
        _rows_of_source(
            estimator, source, memory, prefers_stream=not needs_all and _is_streamed(estimator)
        ),
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
            source.require_finite()  # names the file
            raise
    return data


def _reads_half(estimator: Any) -> bool:
    """Return whether a fit reads float16 in place: that of a linear score without a map does."""
    has_solver = getattr(estimator, "solver", None) is not None
    return has_solver and getattr(estimator, "feature_map", None) is None


def _is_streamed(estimator: Any) -> bool:
    """Return whether a fit of narrow rows reads a stream little more than once."""
    return (
        getattr(estimator, "solver", None) == "working_set"
        and getattr(estimator, "objective", None) == "gcm"
        and getattr(estimator, "feature_map", None) is None
        and _is_grouped(estimator)
    )


def _as_read(source: MatrixSource, estimator: Any) -> NDArray[np.floating]:
    return source.X if _reads_half(estimator) else source.X.astype(source.dtype, copy=False)


def _rows_of_source(estimator: Any, source: Source, memory: int, *, prefers_stream: bool) -> Any:
    """Return the rows themselves where they may all be in memory and that is faster."""
    if isinstance(source, MatrixSource) and not source.is_mapped:
        return _as_read(source, estimator)
    stream = SourceReader(source)
    if not source.loads_whole or source.nbytes > _ALL_ROWS * memory:
        return stream
    is_large = source.nbytes >= _LARGE_FILE and source.n_features < _NARROW
    if prefers_stream and is_large and not isinstance(source, MatrixSource):
        return stream
    if isinstance(source, MatrixSource):
        return _as_read(source, estimator)
    stream.load(range(source.n_units))
    return stream.resident


@dataclass(frozen=True)
class _OverlapOf:
    """The overlap column of a source, read where it is needed."""

    source: Source

    def __getitem__(self, rows: Index) -> Any:
        return self.source.overlap_of(rows)


def _with_annotation(
    data: TrainingData, ids: NDArray[Any] | None, annotated: Any, objects: Any
) -> TrainingData:
    """Return the data with their annotation; ``ids`` are those of the groups."""
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


def _is_grouped(estimator: Any) -> bool:
    return getattr(estimator, "grouping", "negative") != "none"


def _warn_without_groups(data: TrainingData) -> None:
    is_small = len(data.classes) == 2 and data.n_rows < MANY_CANDIDATES
    warn_without_groups(data.n_rows, len(data.rows_of(1)) if is_small else None)


def _refuse_columns(**given: Any) -> None:
    for name, value in given.items():
        if isinstance(value, str):
            raise ValueError(
                f"{name} needs one value per candidate in memory, also where X is a source or a "
                f"path; got the name {value!r}: read that column and pass its values."
            )


def _require_finite_early(estimator: Any, data: TrainingData) -> None:
    """Look for bad values first, but not where a first pass over large data meets them anyway."""
    X: Matrix = data.X
    if estimator.__sklearn_tags__().input_tags.allow_nan:
        require_no_infinity(X, data.names)
        return
    grouped = data.groups is not None and _is_grouped(estimator)
    if not isinstance(X, np.ndarray) or X.size <= SAMPLE_VALUES or not grouped:
        require_finite(X, data.names)


def _check_classes(classes: NDArray[Any], where: str) -> None:
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({classes[0]}); two or more are needed.")
    require_discrete(classes, where=where)
    warn_of_many_classes(classes, where=where)
