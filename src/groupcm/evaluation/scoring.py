"""Candidates and their truth, from arrays or a source, with a model's scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.evaluation.scored import ScoredCandidates
from groupcm.frames import as_frame
from groupcm.group_index import GroupIndex, index_groups, no_groups
from groupcm.group_table import index_patients
from groupcm.labels import positive_of_model
from groupcm.sources.source import Source
from groupcm.sources.stream import Stream
from groupcm.training_data import leave_out
from groupcm.validation import (
    as_annotated,
    as_labels,
    as_matrix,
    as_overlap,
    check_length,
    distinct,
)

__all__ = [
    "index_source",
    "positive_in_source",
    "positive_rows",
    "require_two_classes",
    "score_candidates",
    "score_source",
    "scores_of",
]


def score_candidates(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    patients: ArrayLike | None = None,
    objects: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    annotated: ArrayLike | None = None,
    pos_label: Any = None,
) -> ScoredCandidates:
    """Score rows in memory, or a source, which brings labels, groups and overlap itself."""
    X = as_frame(X)
    groups = None if no_groups(groups) else groups
    n_rows = X.n_rows if isinstance(X, Source) else _n_rows(X)
    for name, values in (("groups", groups), ("patients", patients), ("objects", objects)):
        if values is not None:
            check_length(name, values, n_rows)
    by_patient = None if patients is None else index_patients(patients)
    ids = None if objects is None else np.asarray(objects)
    marks = as_annotated(annotated, n_rows)
    if isinstance(X, Source):
        leave_out(y=y, groups=groups, overlap=overlap)
        return score_source(
            model, X, by_patient=by_patient, objects=ids, annotated=marks, pos_label=pos_label
        )
    matrix = as_matrix(X)
    return ScoredCandidates(
        index_groups(np.arange(n_rows) if groups is None else groups),
        scores_of(model, X),
        positive_rows(model, as_labels(y, n_rows), pos_label),
        lambda rows: _dense(matrix[rows]),
        by_patient,
        ids,
        as_overlap(overlap, n_rows),
        marks,
    )


def score_source(
    model: Any,
    source: Source,
    *,
    by_patient: GroupIndex | None = None,
    objects: NDArray[Any] | None = None,
    annotated: NDArray[np.bool_] | None = None,
    pos_label: Any = None,
) -> ScoredCandidates:
    """Score the candidates of a source in one pass over its features."""
    return ScoredCandidates(
        index_source(source),
        scores_of(model, source),
        positive_in_source(model, source, pos_label),
        Stream(source).raw,
        by_patient,
        objects,
        source.overlap_of(np.arange(source.n_rows)) if source.has_overlap else None,
        annotated,
    )


def index_source(source: Source) -> GroupIndex:
    """Which rows of a source belong to which group."""
    known = source.index()
    if known.groups is None or known.ids is None:
        return index_groups(np.arange(source.n_rows))
    return GroupIndex(known.ids, known.groups.ptr[:-1], np.arange(len(known.ids)), source.n_rows)


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """The score of each candidate by a model of two classes."""
    require_two_classes(model)
    return np.asarray(model.decision_function(X), dtype=np.float64)


def require_two_classes(model: Any) -> None:
    """Refuse a model that tells more than two classes apart."""
    if len(model.classes_) != 2:
        raise ValueError(
            f"the model tells {len(model.classes_)} classes apart; "
            "an evaluation is of a model of two."
        )


def positive_rows(model: Any, y: NDArray[Any], pos_label: Any = None) -> NDArray[np.bool_]:
    """Which rows have the model's positive class, and none a class it does not know.

    With ``pos_label`` the labels may be others than the model's: that one, and the negative one.
    """
    if pos_label is not None:
        return np.asarray(y == positive_of_model(model.classes_, distinct(y), pos_label))
    is_positive = y == model.classes_[1]
    unknown = ~is_positive & (y != model.classes_[0])
    if np.any(unknown):
        raise _unknown_label(model, y[np.argmax(unknown)])
    return is_positive


def positive_in_source(model: Any, source: Source, pos_label: Any = None) -> NDArray[np.bool_]:
    """Which rows of a source have the model's positive class; see `positive_rows`."""
    known = source.index()
    if known.classes is None or known.codes is None:
        raise ValueError("the source has no label column; name it with label=.")
    positive = positive_of_model(model.classes_, known.classes, pos_label, where="the label column")
    for value in known.classes:
        if pos_label is None and value not in model.classes_:
            raise _unknown_label(model, value)
    (number,) = np.nonzero(known.classes == positive)
    return known.codes == number[0] if len(number) else np.zeros(source.n_rows, dtype=bool)


def _unknown_label(model: Any, value: Any) -> ValueError:
    known = " and ".join(repr(label) for label in model.classes_.tolist())
    shown = value.item() if isinstance(value, np.generic) else value
    return ValueError(f"the label {shown!r} is not a class of the model; it knows {known}.")


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _dense(rows: Any) -> NDArray[np.floating]:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
