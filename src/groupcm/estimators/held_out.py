"""The score of every group by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from groupcm.data.folds import Folds, GroupTable, annotated_folds, require_partition, resolve_folds
from groupcm.data.validation import as_annotated
from groupcm.estimators.adapters import fit_with, group_scores_of, require_finished, takes
from groupcm.objective.terms import Index
from groupcm.utils.progress import announce_stage, without_steps

__all__ = ["hold_out_groups"]


def hold_out_groups(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    known: Mapping[str, NDArray[Any]],
    table: GroupTable,
    *,
    cv: Any = 5,
    random_state: Any = 0,
    pos_label: Any = None,
) -> NDArray[np.float64]:
    """Score every group by a copy of an estimator that other groups train.

    Parameters
    ----------
    estimator : estimator
        Is cloned for every fold, and not fitted itself.
    X, y
        Candidates and their labels.
    known : mapping
        One value a candidate, such as ``groups`` and ``annotated``: the estimator's ``fit`` gets
        what it takes of the rows it trains on.
    table : GroupTable
        Of ``y``, the groups and the patients.
    cv, random_state
        The folds, as for `groupcm.data.folds.resolve_folds`; each row is held out once. Where some
        positive groups are not ``annotated``, and the estimator takes that, a number of folds
        shares out the annotated ones first.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    ndarray of shape (n_groups,)
        Groups in order of first appearance.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from groupcm.data.group_table import group_level
    >>> X, y = np.array([[0.0], [3.0], [1.0], [4.0]]), np.array([0, 1, 0, 1])
    >>> scores = hold_out_groups(LogisticRegression(), X, y, {}, group_level(y), cv=2)
    >>> bool(scores[1] > scores[0])
    True
    """
    folds = _folds(estimator, cv, y, known, table, random_state, pos_label)
    require_partition(folds, len(y))
    scores = np.empty(table.index.n_groups)
    for k, (train, test) in enumerate(folds):
        announce_stage(f"fold {k + 1} of {len(folds)}")
        part = {name: values[train] for name, values in known.items()}
        with without_steps():
            model = fit_with(clone(estimator), _safe_indexing(X, train), y[train], **part)
        require_finished(model)
        found = group_scores_of(model, _safe_indexing(X, test), table.index.codes[test])
        scores[found.group] = found.score
    return scores


def _folds(
    estimator: Any,
    cv: Any,
    y: NDArray[Any],
    known: Mapping[str, NDArray[Any]],
    table: GroupTable,
    random_state: Any,
    pos_label: Any,
) -> Folds:
    annotated = as_annotated(known.get("annotated"), len(y))
    unannotated = np.empty(0, dtype=np.intp)
    if annotated is not None:
        unannotated = np.flatnonzero(table.positive & table.index.maxima(~annotated))
    is_number = isinstance(cv, Integral) and not isinstance(cv, bool)
    if is_number and len(unannotated) and takes(estimator, "annotated"):
        patient = None if table.patient_ids is None else table.patient
        folds = annotated_folds(int(cv), table.positive, unannotated, patient, random_state)
        return [_rows_of(test, table) for _, test in folds]
    groups, patients = known.get("groups"), known.get("patients")
    return resolve_folds(
        cv,
        y,
        groups,
        patients,
        random_state,
        both_classes_in_test=False,
        pos_label=pos_label,
    )


def _rows_of(test: Index, table: GroupTable) -> tuple[Index, Index]:
    """The rows to train on and those of the groups to test on."""
    is_test = np.zeros(table.index.n_groups, dtype=np.bool_)
    is_test[test] = True
    of_rows = is_test[table.index.codes]
    return np.flatnonzero(~of_rows), np.flatnonzero(of_rows)
