"""Held-out scores: every group is scored by a model that was trained on other groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from groupcm.data.folds import Folds, GroupTable, annotated_folds, require_partition, resolve_folds
from groupcm.data.frames import as_frame
from groupcm.data.group_table import group_level, weights_of_groups
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import order_classes
from groupcm.data.validation import (
    as_annotated,
    as_labels,
    as_sample_weight,
    check_length,
    distinct,
    warn_without_groups,
)
from groupcm.estimators.adapters import (
    fit_with,
    group_scores_of,
    pos_label_of,
    require_finished,
    takes,
)
from groupcm.estimators.training.sample_weight import folds_of_rows, require_same_class
from groupcm.objective.terms import Index
from groupcm.utils.progress import announce_stage, without_steps

__all__ = ["Candidates", "hold_out_groups", "read_candidates"]


@dataclass(frozen=True)
class Candidates:
    """Labelled candidates in memory, validated, without those of weight 0.

    Attributes
    ----------
    X, y
        The candidates and their labels.
    metadata : dict
        One value per candidate, such as ``groups`` and ``annotated``, where it is given.
    table : GroupTable
        Of ``y``, the groups and the patients.
    classes : ndarray of shape (2,)
        The second is the positive one.
    group_weight : ndarray of shape (n_groups,) or None
        The weight of each group, where there is ``sample_weight``.
    cv
        The folds, of the rows that are left.
    """

    X: Any
    y: NDArray[Any]
    metadata: dict[str, NDArray[Any]]
    table: GroupTable
    classes: NDArray[Any]
    group_weight: NDArray[np.float64] | None
    cv: Any


def read_candidates(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Any = None,
    **metadata: Any,
) -> Candidates:
    """Validate labelled candidates that an estimator of two classes shall be fitted to.

    Parameters
    ----------
    estimator : estimator
        Its ``pos_label`` is the positive one of the two labels.
    X, y, groups, sample_weight
        As for `groupcm.GroupClassifier.fit`, in memory.
    cv
        The folds, of the candidates as they are given.
    **metadata
        One value per candidate, such as ``patients`` and ``overlap``, or None.
    """
    (X,) = indexable(as_frame(X))
    y = as_labels(y, _num_samples(X))
    is_forgotten, groups = groups is None, None if no_groups(groups) else groups
    weight = as_sample_weight(sample_weight, len(y))
    given = {**metadata, "groups": groups, "sample_weight": weight}
    known = {name: np.asarray(each) for name, each in given.items() if each is not None}
    for name, each in known.items():
        check_length(name, each, len(y))
    pos_label = pos_label_of(estimator)
    if weight is not None and not np.all(weight):
        rows = np.flatnonzero(weight)
        if groups is not None:
            index, positive = index_groups(groups), pos_label
            positive = distinct(y)[-1] if positive is None else positive
            require_same_class(y == positive, index.codes, weight, positive, index.ids)
        if isinstance(cv, Iterable):
            cv = folds_of_rows(cv, rows, len(y))
        X, y, weight = _safe_indexing(X, rows), y[rows], weight[rows]
        known = {name: each[rows] for name, each in known.items()}
    table = group_level(y, known.get("groups"), known.get("patients"), pos_label=pos_label)
    classes = distinct(y)
    classes = order_classes(classes, classes[1] if pos_label is None else pos_label)
    if is_forgotten and getattr(estimator, "grouping", None) != "none":
        warn_without_groups(len(y), int(table.positive.sum()))
    if weight is not None:
        weight = weights_of_groups(weight, table.index.codes, y == classes[1])
    return Candidates(X, y, known, table, classes, weight, cv)


def hold_out_groups(
    estimator: Any, candidates: Candidates, random_state: Any = 0
) -> NDArray[np.float64]:
    """Return the score every group by a clone of an estimator that is trained on other groups.

    Parameters
    ----------
    estimator : estimator
        Is cloned for every fold, and not fitted itself. Its ``fit`` gets what it takes of the
        metadata of the rows it trains on.
    candidates : Candidates
        Their ``cv`` is as for `groupcm.data.folds.resolve_folds`; each row is held out once. Where
        some positive groups are not ``annotated``, and the estimator takes that, a number of folds
        shares out the annotated ones first.
    random_state
        Which groups fall into which fold.

    Returns
    -------
    ndarray of shape (n_groups,)
        The groups in order of first appearance.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y, model = [[0.0], [3.0], [1.0], [4.0]], [0, 1, 0, 1], LogisticRegression()
    >>> candidates = read_candidates(model, X, y, cv=2, groups=["a", "b", "c", "d"])
    >>> scores = hold_out_groups(model, candidates)
    >>> bool(scores[1] > scores[0])
    True
    """
    folds = _folds(estimator, candidates, random_state)
    require_partition(folds, len(candidates.y))
    X, index = candidates.X, candidates.table.index
    scores = np.empty(index.n_groups)
    for k, (train, test) in enumerate(folds):
        announce_stage(f"fold {k + 1} of {len(folds)}")
        part = {name: values[train] for name, values in candidates.metadata.items()}
        with without_steps():
            model = fit_with(
                clone(estimator), _safe_indexing(X, train), candidates.y[train], **part
            )
        require_finished(model)
        found = group_scores_of(model, _safe_indexing(X, test), index.codes[test])
        scores[found.group] = found.score
    return scores


def _folds(estimator: Any, candidates: Candidates, random_state: Any) -> Folds:
    cv, metadata, table = candidates.cv, candidates.metadata, candidates.table
    annotated = as_annotated(metadata.get("annotated"), len(candidates.y))
    if annotated is not None and isinstance(cv, Integral) and not isinstance(cv, bool):
        unannotated = np.flatnonzero(table.positive & table.index.maxima(~annotated))
        if len(unannotated) and takes(estimator, "annotated"):
            patient = None if table.patient_ids is None else table.patient
            folds = annotated_folds(int(cv), table.positive, unannotated, patient, random_state)
            return [_rows_of(test, table) for _, test in folds]
    return resolve_folds(
        cv,
        candidates.y,
        metadata.get("groups"),
        metadata.get("patients"),
        random_state,
        both_classes_in_test=False,
        pos_label=candidates.classes[1],
    )


def _rows_of(test: Index, table: GroupTable) -> tuple[Index, Index]:
    """Return the rows to train on and those of the groups to test on."""
    is_test = np.zeros(table.index.n_groups, dtype=np.bool_)
    is_test[test] = True
    of_rows = is_test[table.index.codes]
    return np.flatnonzero(~of_rows), np.flatnonzero(of_rows)
