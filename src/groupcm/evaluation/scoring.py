"""Candidates and their truth, from arrays or a source, with a model's scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.frames import as_frame
from groupcm.data.group_table import index_patients, patient_of_groups
from groupcm.data.groups import GroupIndex, index_groups, no_groups
from groupcm.data.labels import positive_of_model, shown_labels
from groupcm.data.validation import (
    as_annotated,
    as_labels,
    as_matrix,
    as_overlap,
    check_length,
    distinct,
)
from groupcm.estimators.place import place_scores
from groupcm.estimators.scoring import GroupScores, among_all_groups
from groupcm.estimators.training.input import leave_out
from groupcm.evaluation.listed import EmptyGroups
from groupcm.evaluation.scored import ScoredCandidates, rows_with_missing
from groupcm.sources.base import Source
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.text import printable

__all__ = [
    "as_object_array",
    "class_numbers",
    "positive_in_source",
    "positive_rows",
    "require_two_classes",
    "score_candidates",
    "score_source",
    "scores_of",
    "truth_of_all_groups",
    "with_all_groups",
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
    levels: Mapping[str, ArrayLike] | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
) -> ScoredCandidates:
    """Score rows in memory, or a source, which brings labels, groups and overlap itself.

    The parameters are those of `groupcm.evaluation.evaluate`; ``columns`` is its ``by``.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> y, groups = [0, 0, 0, 1], ["a", "a", "b", "b"]
    >>> model = GroupClassifier().fit(X, y, groups=groups)
    >>> scored = score_candidates(model, X, y, groups)
    >>> scored.n_groups
    2
    """
    X = as_frame(X)
    groups = None if no_groups(groups) else groups
    n_rows = X.n_rows if isinstance(X, Source) else _n_rows(X)
    for name, values in (("groups", groups), ("patients", patients), ("objects", objects)):
        if values is not None:
            check_length(name, values, n_rows)
    by_patient = None if patients is None else index_patients(patients)
    ids = None if objects is None else np.asarray(objects)
    marks = as_annotated(annotated, n_rows)
    units = _columns("level", levels, n_rows)
    more = _columns("column", columns, n_rows)
    if isinstance(X, Source):
        leave_out(y=y, groups=groups, overlap=overlap)
        scored = score_source(
            model, X, by_patient=by_patient, objects=ids, annotated=marks, pos_label=pos_label
        )
        return replace(scored, levels=units, columns=more)
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
        levels=units,
        columns=more,
        has_missing=rows_with_missing(matrix),
        place=place_scores(model, X),
    )


def _columns(
    kind: str, given: Mapping[str, ArrayLike] | None, n_rows: int
) -> dict[str, NDArray[Any]] | None:
    """Return columns as arrays; raise where one does not have one value per candidate."""
    if given is None:
        return None
    for name, values in given.items():
        check_length(f"{kind} {printable(name)}", values, n_rows)
    return {str(name): np.asarray(values) for name, values in given.items()}


def with_all_groups(
    model: Any,
    scored: ScoredCandidates,
    labels: Mapping[Any, Any],
    patients: Mapping[Any, Any] | None = None,
    pos_label: Any = None,
    *,
    levels: Mapping[str, Mapping[Any, Any]] | None = None,
    columns: Mapping[str, Mapping[Any, Any]] | None = None,
) -> ScoredCandidates:
    """Return what was scored together with the groups that have no candidates.

    Parameters
    ----------
    model : estimator
    scored : ScoredCandidates
    labels : mapping
        The label of every group; where a group has candidates, it agrees with theirs.
    patients : mapping, optional
        The patient of every group, needed where those of the candidates are known, and the same.
    pos_label : label, optional
        The positive one of ``labels``, where they are others than the model's.
    levels : mapping of str to mapping, optional
        For each level the unit of every group, needed where those of the candidates are known, and
        the same.
    columns : mapping of str to mapping, optional
        For each column of subgroups the value of every group; not known where it is left out.
    """
    ids = as_object_array(labels)
    codes = class_numbers(model.classes_, labels, pos_label)
    positive = scored.group_positive[: scored.index.n_groups]
    held = np.column_stack([~positive, positive])
    truth = truth_of_all_groups(model, scored.index.ids, held, ids, codes)
    patient_of = None
    if patients is not None:
        patient_of = as_object_array(patients[group] for group in labels)
        if scored.by_patient is not None:
            owners = scored.by_patient.ids[patient_of_groups(scored.index, scored.by_patient)]
            _require_same(scored, "patient", owners, patients)
    for name, units in scored.group_levels.items():
        if levels is not None and name in levels:
            _require_same(scored, f"unit of level {printable(name)}", units, levels[name])

    def of_listed(found: Mapping[str, Mapping[Any, Any]] | None) -> dict[str, NDArray[Any]] | None:
        if found is None:
            return None
        return {
            name: as_object_array(each[group] for group in labels) for name, each in found.items()
        }

    empty = EmptyGroups.among(
        scored.index.ids, ids, truth[:, 1], patient_of, of_listed(levels), of_listed(columns)
    )
    return replace(scored, empty=empty)


def class_numbers(
    classes: NDArray[Any], labels: Mapping[Any, Any], pos_label: Any = None
) -> NDArray[np.intp]:
    """Return the number of each listed group's class, and refuse a label that is none.

    Parameters
    ----------
    classes : ndarray
        The classes of the model.
    labels : mapping
        The label of every group.
    pos_label : label, optional
        The positive label, where the labels are others than the model's.

    Examples
    --------
    >>> class_numbers(np.array([0, 1]), {"a": "polyp", "b": "normal"}, "polyp").tolist()
    [1, 0]
    >>> class_numbers(np.array(["call", "noise"]), {"a": "call", "b": "Call"})
    Traceback (most recent call last):
    ValueError: the group b has the label 'Call' in the list of all groups, which is not a class of
    the model; its classes are 'call' and 'noise'.
    """
    if pos_label is not None:
        found = distinct(np.array(list(labels.values())))
        where = "the list of all groups"
        positive = positive_of_model(classes, found, pos_label, where=where)
        return np.array([label == positive for label in labels.values()], dtype=np.intp)
    number = {label: at for at, label in enumerate(classes.tolist())}
    for group, label in labels.items():
        if label not in number:
            raise ValueError(
                f"the group {printable(group)} has the label {printable(repr(label))} in the list "
                "of all groups, which is not a class of the model; its classes are "
                f"{shown_labels(classes)}."
            )
    return np.array([number[label] for label in labels.values()], dtype=np.intp)


def truth_of_all_groups(
    model: Any,
    found: NDArray[Any],
    held: NDArray[np.bool_],
    ids: NDArray[Any],
    codes: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return which classes every listed group holds, and refuse a list that contradicts labels.

    Parameters
    ----------
    model : estimator
        Of k classes.
    found : ndarray of shape (m,)
        The groups that have candidates.
    held : ndarray of bool of shape (m, k)
        Which classes their candidates have.
    ids, codes : ndarray
        Every group, and the number of its class.

    Returns
    -------
    ndarray of bool, one row per listed group
        As the candidates have it, and of a group without candidates as the list has it.
    """
    scores = GroupScores(found, np.zeros(len(found)), np.arange(len(found)))
    at = among_all_groups(scores, ids).winner
    truth = np.zeros((len(ids), held.shape[1]), dtype=bool)
    truth[np.arange(len(ids)), codes] = True
    background = np.zeros(held.shape[1], dtype=bool)
    background[0] = held.shape[1] == 2
    background = getattr(model, "background_", background)
    known = at >= 0
    has = held[at[known]]
    shows = has[:, ~background].any(axis=1)
    listed = codes[known]
    agrees = np.where(background[listed], ~shows, has[np.arange(len(has)), listed])
    if not agrees.all():
        first = int(np.argmin(agrees))
        raise _contradiction(model.classes_, ids[known][first], listed[first], has[first])
    truth[known] = has
    return truth


def _contradiction(
    classes: NDArray[Any], group: Any, listed: int, has: NDArray[np.bool_]
) -> ValueError:
    if len(classes) == 2:
        listed_as, candidate = ("positive", "no") if listed else ("negative", "a")
        return ValueError(
            f"the group {printable(group)} is {listed_as} in the list of all groups, and has "
            f"{candidate} positive candidate; the two need to agree."
        )
    return ValueError(
        f"the group {printable(group)} has the label {shown_labels(classes[[listed]])} in the list "
        f"of all groups, and its candidates have {shown_labels(classes[has])}; the two need to "
        "agree."
    )


def _require_same(
    scored: ScoredCandidates, what: str, owners: NDArray[Any], listed: Mapping[Any, Any]
) -> None:
    """Raise one sentence where the list has another owner of a group than its candidates."""
    for group, owner in zip(scored.index.ids.tolist(), owners.tolist(), strict=True):
        if listed[group] != owner:
            raise ValueError(
                f"the group {printable(group)} has the {what} {printable(repr(listed[group]))} "
                f"in the list of all groups, and {printable(repr(owner))} by its candidates; "
                "the two need to agree, by ids of the same type."
            )


def as_object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as they are, in an array of Python objects.

    Examples
    --------
    >>> as_object_array([1, "a"]).tolist()
    [1, 'a']
    """
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def score_source(
    model: Any,
    source: Source,
    *,
    by_patient: GroupIndex | None = None,
    objects: NDArray[Any] | None = None,
    annotated: NDArray[np.bool_] | None = None,
    pos_label: Any = None,
) -> ScoredCandidates:
    """Score the candidates of a source in one pass over its features.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.sources import from_arrays
    >>> X, groups = [[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]
    >>> source = from_arrays(np.array(X), group=groups, label=[0, 0, 0, 1])
    >>> model = GroupClassifier().fit(source)
    >>> score_source(model, source).n_groups
    2
    """
    return ScoredCandidates(
        source.group_index(),
        scores_of(model, source),
        positive_in_source(model, source, pos_label),
        SourceReader(source).raw,
        by_patient,
        objects,
        source.overlap_of(np.arange(source.n_rows)) if source.has_overlap else None,
        annotated,
        place=place_scores(model, source),
    )


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """The score of each candidate by a model of two classes."""
    require_two_classes(model)
    return np.asarray(model.decision_function(X), dtype=np.float64)


def require_two_classes(model: Any) -> None:
    """Raise for a model of more than two classes."""
    if len(model.classes_) != 2:
        raise ValueError(
            f"the model has {len(model.classes_)} classes; an evaluation needs a model of two."
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
    return ValueError(f"the label {shown!r} is not a class of the model; its classes are {known}.")


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _dense(rows: Any) -> NDArray[np.floating]:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
