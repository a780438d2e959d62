"""Nested cross-validation: every candidate is scored by a model that saw neither group nor patient.

Outer folds leave groups out. Inside each training part, inner folds choose the hyperparameters of
a contender; the contender is then trained on the whole training part and scores what was left out.
All contenders have the same folds, outer and inner. Every training part has annotated positive
groups to learn from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.folds import Folds, annotated_folds, resolve_folds
from groupcm.data.group_table import group_level
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.metrics import Metric, candidate_roc_auc, metric_named

__all__ = ["CrossFit", "CrossFits", "Progress", "crossfit", "folds_of", "tune"]

#: Is called with a text at the start of each step.
Progress = Callable[[str], None]


def folds_of(data: LabelledCandidates, cv: Any, random_state: Any = 0) -> Folds:
    """Return folds that distribute annotated groups first, where some are not annotated.

    Parameters
    ----------
    data : LabelledCandidates
    cv : int, splitter, or list of (train, test)
        As for `groupcm.data.folds.resolve_folds`.
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


@dataclass(eq=False)
class CrossFit:
    """One contender on the groups that its folds left out.

    Attributes
    ----------
    contender : Contender
    scores : ndarray of shape (n,)
        One score per candidate, by the model that did not see it; NaN where no fold left it out.
        Scores of two folds are not in the same units: see the module `learning_curve`.
    chosen : list of int
        The index of the hyperparameters chosen in each fold.
    tuning : ndarray of shape (n_folds, n_settings)
        The metric of all hyperparameters, averaged over the inner folds; NaN where there was
        nothing to choose.
    seconds : float
        The time to tune, train and score, over all folds.
    """

    contender: Contender
    scores: NDArray[np.float64]
    chosen: list[int]
    tuning: NDArray[np.float64]
    seconds: float

    @classmethod
    def unfinished(cls, contender: Contender, n_folds: int, n_rows: int) -> CrossFit:
        """Return the result of a contender before its first fold."""
        tuning = np.full((n_folds, len(contender.settings)), np.nan)
        return cls(contender, np.full(n_rows, np.nan), [], tuning, 0.0)

    @property
    def n_at_ends(self) -> tuple[int, int]:
        """The numbers of folds in which the first, or the last, of three or more settings won.

        Both are 0 where the settings are not ordered values of one parameter.
        """
        settings = self.contender.settings
        if len(settings) < 3 or any(len(setting) != 1 for setting in settings):
            return 0, 0
        best, tuning = np.array(self.chosen), self.tuning
        first = (best == 0) & (tuning[:, 0] > tuning[:, 1])
        last = (best == len(settings) - 1) & (tuning[:, -1] > tuning[:, -2])
        return int(first.sum()), int(last.sum())


@dataclass(frozen=True, eq=False)
class CrossFits:
    """Several contenders on the same folds.

    Attributes
    ----------
    folds : list of (train, test)
        Row numbers.
    fold : ndarray of shape (n,)
        The fold that left a row out, -1 where none did.
    results : list of CrossFit
    """

    folds: Folds
    fold: NDArray[np.int64]
    results: list[CrossFit]

    @property
    def left_out(self) -> NDArray[np.int64]:
        """The rows that a fold left out, ascending: those with a score."""
        return np.flatnonzero(self.fold >= 0)


def crossfit(
    data: LabelledCandidates,
    contenders: Sequence[Contender],
    *,
    cv: Any = 5,
    n_inner: int = 3,
    scoring: str | Metric = "group_roc_auc",
    random_state: int = 0,
    progress: Progress | None = None,
) -> CrossFits:
    """Score every candidate by models that were tuned and trained without its group.

    Parameters
    ----------
    data : LabelledCandidates
    contenders : sequence of Contender
    cv : int, splitter, or list of (train, test), default=5
        The outer folds, by patient where patients are known, else by group. One pair of row
        numbers is a fixed split; no row may be tested twice.
    n_inner : int, default=3
        Folds inside a training part, fewer where it has too few positive or negative groups
        (patients) for them.
    scoring : str or callable, default="group_roc_auc"
        The metric that hyperparameters are chosen by, averaged over the inner folds.
    random_state : int, default=0
    progress : callable, optional
        Is called with a text at the start of each step.

    Returns
    -------
    CrossFits

    Examples
    --------
    >>> from groupcm.evaluation.comparison.contenders import contenders
    >>> from groupcm.simulate import capsule
    >>> made = capsule(40, n_positive=12, group_size=10)
    >>> data = LabelledCandidates.check(made.X, made.y, made.groups, made.overlap)
    >>> found = crossfit(data, contenders(["gcm"], n_settings=2), cv=3)
    >>> len(found.folds), len(found.results[0].chosen), len(found.left_out) == len(made.y)
    (3, 3, True)
    """
    folds = folds_of(data, cv, random_state)
    fold = _fold_of_rows(folds, len(data.y))
    metric, report = metric_named(scoring), progress or (lambda text: None)
    results = [CrossFit.unfinished(each, len(folds), len(data.y)) for each in contenders]
    for number, (train, test) in enumerate(folds):
        seen, unseen = data.take(train), data.take(test)
        inner: Folds = []
        if any(len(contender.settings) > 1 for contender in contenders):
            inner = _inner_folds(seen, n_inner, random_state + 1, number)
        for result in results:
            contender, chosen = result.contender, 0
            report(f"{contender.name}: fold {number + 1} of {len(folds)}")
            began = time.perf_counter()
            if len(contender.settings) > 1:
                result.tuning[number] = tune(contender, seen, inner, metric)
                chosen = int(np.argmax(result.tuning[number]))
            result.chosen.append(chosen)
            model = contender.fit(contender.settings[chosen], seen)
            result.scores[test] = model.decision_function(unseen.X)
            result.seconds += time.perf_counter() - began
    return CrossFits(folds, fold, results)


def tune(
    contender: Contender, data: LabelledCandidates, folds: Folds, metric: Metric
) -> NDArray[np.float64]:
    """Return the metric of all hyperparameters, averaged over folds."""
    found = np.empty((len(folds), len(contender.settings)))
    for k, (train, test) in enumerate(folds):
        unseen = data.take(test)
        if metric is candidate_roc_auc:
            unseen = unseen.with_candidate_labels()
        for j, model in enumerate(contender.fit_every(data.take(train))):
            found[k, j] = metric(unseen.y, model.decision_function(unseen.X), unseen.groups)
    return found.mean(axis=0)


def _inner_folds(data: LabelledCandidates, n_inner: int, seed: int, number: int) -> Folds:
    table = group_level(data.y, data.groups, data.patients)
    positive, kind_of_positive = table.positive, "positive"
    if data.n_unannotated:
        positive = table.index.maxima(data.has_candidate_labels & (data.y == 1))
        kind_of_positive = "annotated positive"
    for kind, groups in ((kind_of_positive, positive), ("negative", ~table.positive)):
        clusters = len(np.unique(table.patient[groups]))
        if clusters < 2:
            group = f"only one {kind} group"
            have = group if data.patients is None else f"{kind} groups of only one patient"
            raise ValueError(
                f"the training part of fold {number} has {have}; "
                "choosing hyperparameters requires at least two."
            )
        n_inner = min(n_inner, clusters)
    return folds_of(data, n_inner, seed)


def _fold_of_rows(folds: Folds, n_rows: int) -> NDArray[np.int64]:
    fold = np.full(n_rows, -1, dtype=np.int64)
    for number, (_, test) in enumerate(folds):
        if np.any(fold[test] >= 0):
            row = int(test[np.argmax(fold[test] >= 0)])
            raise ValueError(
                f"row {row} is tested in fold {fold[row]} and in fold {number} of cv; "
                "a row has one score, so test it once."
            )
        fold[test] = number
    return fold
