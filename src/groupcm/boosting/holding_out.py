"""Groups that are held out to choose the number of trees."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from groupcm.annotated_folds import annotated_folds
from groupcm.candidates import Index
from groupcm.folds import Folds

__all__ = ["groups_held_out"]


def groups_held_out(
    validation: float,
    positive: NDArray[np.bool_],
    untrained: Index,
    patient: Index | None,
    seed: int,
) -> Folds:
    """Groups to grow on and groups to validate with, numbers of both; none where too few are there.

    Parameters
    ----------
    validation : int or float
        A number of folds, fewer where there are fewer positive groups (patients), or the share
        of groups that one fold holds out.
    positive : ndarray of bool of shape (m,)
        Which groups are positive.
    untrained : ndarray of int
        Positive groups no candidate of which is known to be positive. They validate too.
    patient : ndarray of int of shape (m,), optional
        The number of each group's patient: none is on both sides.
    seed : int
        Which groups fall into which fold.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, True, False, False, False])
    >>> groups_held_out(2, positive, np.array([4]), None, seed=0)[0][1].tolist()
    [1, 3, 4, 5, 7]
    >>> [(len(train), len(test)) for train, test in
    ...  groups_held_out(0.25, np.arange(40) < 8, np.array([]), None, seed=0)]
    [(30, 10)]
    """
    of_group = np.arange(len(positive)) if patient is None else patient
    trained = positive.copy()
    trained[untrained.astype(np.int64)] = False
    fewest = min(len(np.unique(of_group[trained])), len(np.unique(of_group[~positive])))
    if fewest < 2:
        return []
    if not isinstance(validation, Integral):
        share = _share(validation, positive, trained, of_group, seed)
        if share is not None:
            return [share]
        validation = max(2, round(1.0 / validation))
        return _folds(min(validation, fewest), positive, untrained, patient, seed)[:1]
    return _folds(min(int(validation), fewest), positive, untrained, patient, seed)


def _folds(
    n: int, positive: NDArray[np.bool_], untrained: Index, patient: Index | None, seed: int
) -> Folds:
    return annotated_folds(n, positive, untrained.astype(np.int64), patient, seed)


def _share(
    share: float,
    positive: NDArray[np.bool_],
    trained: NDArray[np.bool_],
    patient: Index,
    seed: int,
) -> tuple[Index, Index] | None:
    """About this share of the groups, drawn by patient; None where a side would lack a class."""
    random = np.random.default_rng(seed)
    with_positive = np.unique(patient[trained])
    held_out = []
    for patients in (with_positive, np.setdiff1d(patient, with_positive)):
        if len(patients):
            drawn = random.permutation(patients)
            size = np.cumsum(np.bincount(patient, minlength=int(patient.max()) + 1)[drawn])
            n = int(np.searchsorted(size, share * size[-1] - 0.5, side="left")) + 1
            held_out.append(drawn[: min(n, max(1, len(drawn) - 1))])
    is_out = np.isin(patient, np.concatenate(held_out))
    for side in (is_out, ~is_out):
        if not (np.any(trained & side) and np.any(~positive & side)):
            return None
    return np.flatnonzero(~is_out), np.flatnonzero(is_out)
