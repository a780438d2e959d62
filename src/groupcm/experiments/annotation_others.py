"""The positive groups that nobody annotated, of which a training part knows the label alone.

λ is chosen by folds that train on the annotated groups and score all of them; the last training
chooses a candidate in each of the others (see `groupcm.classifier_cv.GroupClassifierCV`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.any_estimator import require_finished
from groupcm.classifier_cv import GroupClassifierCV
from groupcm.comparison.data import LabelledCandidates
from groupcm.group_table import group_level

__all__ = ["fit_with_others"]

_MOST_FOLDS = 3


def fit_with_others(
    data: LabelledCandidates, annotated: NDArray[np.bool_], n_settings: int, seed: int
) -> GroupClassifierCV:
    """Train on all groups, the candidates of some positive ones not annotated.

    Parameters
    ----------
    data : LabelledCandidates
    annotated : ndarray of bool of shape (n,)
        Whether a candidate's group is.
    n_settings : int
        λ to choose among.
    seed : int
        Of the folds.

    Examples
    --------
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=24, group_size=10)
    >>> data = LabelledCandidates.check(made.X, made.y, made.groups, made.overlap)
    >>> model = fit_with_others(data, made.groups % 4 == 0, n_settings=2, seed=0)
    >>> len(model.witnesses_), model.outcome_
    (18, 'settled')
    """
    model = GroupClassifierCV(n_settings, cv=_n_folds(data, annotated), random_state=seed)
    model.fit(
        data.X,
        data.y,
        data.groups,
        data.overlap,
        patients=data.patients,
        annotated=annotated,
        objects=data.objects,
    )
    return require_finished(model)


def _n_folds(data: LabelledCandidates, annotated: NDArray[np.bool_]) -> int:
    """As many as there are patients (groups) on both sides, and no more than a few."""
    table = group_level(data.y, data.groups, data.patients)
    is_annotated = table.index.maxima(annotated)
    sides = (table.positive & is_annotated, ~table.positive)
    return min(_MOST_FOLDS, *(len(np.unique(table.patient[side])) for side in sides))
