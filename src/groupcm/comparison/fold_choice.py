"""The folds of a comparison: every training part has annotated positive groups to learn from."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from groupcm.annotated_folds import annotated_folds
from groupcm.comparison.data import LabelledCandidates
from groupcm.folds import Folds, group_level, resolve_folds

__all__ = ["folds_of"]


def folds_of(data: LabelledCandidates, cv: Any, random_state: Any = 0) -> Folds:
    """Folds that share out annotated groups first, where some positive ones are not annotated.

    Parameters
    ----------
    data : LabelledCandidates
    cv : int, splitter, or list of (train, test)
        As for `groupcm.folds.resolve_folds`.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of (train, test)
        Row numbers.

    Examples
    --------
    >>> y, groups = [1, 0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 2, 3, 4, 5, 6]
    >>> known = np.array([True, True, True, False, True, True, False, False])
    >>> data = LabelledCandidates.check(np.zeros((8, 1)), y, groups, annotated=known)
    >>> [bool(np.any(data.y[train] & known[train])) for train, _ in folds_of(data, 2)]
    [True, True]
    """
    if isinstance(cv, Integral) and data.n_unannotated:
        table = group_level(data.y, data.groups, data.patients)
        codes = table.index.codes
        by_group = annotated_folds(
            int(cv),
            table.positive,
            np.unique(codes[~data.has_candidate_labels]),
            None if data.patients is None else table.patient,
            random_state,
        )
        return [
            (np.flatnonzero(np.isin(codes, train)), np.flatnonzero(np.isin(codes, test)))
            for train, test in by_group
        ]
    folds = resolve_folds(cv, data.y, data.groups, data.patients, random_state)
    has_positive_label = data.has_candidate_labels & (data.y == 1)
    for number, (train, _) in enumerate(folds):
        if not has_positive_label[train].any():
            raise ValueError(
                f"fold {number} of cv trains on no annotated positive group; annotate more "
                "groups, or use fewer folds."
            )
    return folds
