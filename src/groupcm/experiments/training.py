"""Training of every model of the paper's experiment on one training set.

Models of candidates (SVM, GCM without grouping) choose their hyperparameter by the AUC of left-out
candidates, models of groups (MI-SVM, GCM) by the AUC of left-out groups; folds never split a
patient. The GCM's objective contains the mean loss of each class, so that a λ chosen on some of
the negatives is valid for more of them: beyond ``tune_on`` negatives it is chosen on those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.folds import group_folds
from groupcm.data.group_table import group_level
from groupcm.estimators.adapters import require_finished
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.crossfit import tune
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments.datasets import TrainingSet, best_rows, source_of
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trained, Trial, trials_of
from groupcm.metrics import candidate_roc_auc, group_roc_auc

__all__ = ["fit_with_others", "train_all"]

_GROUPING = {GCM: "negative", UNGROUPED: "none"}
_MOST_FOLDS = 3


def train_all(
    training: TrainingSet, sizes: Sizes, seed: int, say: Callable[[str], None]
) -> list[Trained]:
    """Tune and train the models of `trials_of`, in that order."""
    rng = np.random.default_rng([seed, 2])
    alone = training.one_by_one(sizes.fewest, rng)
    polyps = np.unique(training.polyp[training.polyp >= 0])
    few_polyps = rng.permutation(polyps)[: sizes.n_misvm_polyps]
    models = _Gcm(training, sizes)
    trained = []
    for trial in trials_of(sizes):
        say(f"training {trial}")
        if trial.method == MISVM:
            few = training.first(sizes.groups(trial.negatives), few_polyps)
            trained.append(_by_folds(trial, few, sizes))
        elif trial.method == SVM:
            few = training.first(sizes.groups(trial.negatives))
            data = _best_of_positives(few) if trial.in_groups else alone
            trained.append(_by_folds(trial, data, sizes))
        elif trial.in_groups:
            trained.append(models.train(trial))
        else:
            trained.append(models.train_on(trial, alone))
    return trained


class _Gcm:
    """The GCM with and without grouping, at every size of a training set."""

    def __init__(self, training: TrainingSet, sizes: Sizes) -> None:
        self._training, self._sizes = training, sizes
        self._lams: dict[tuple[str, int], float] = {}

    def train(self, trial: Trial) -> Trained:
        """Train on all positive groups and the first negative ones."""
        sizes, training = self._sizes, self._training
        grouping = _GROUPING[trial.method]
        tuned_on = sizes.groups(min(trial.negatives, sizes.tune_on))
        chosen = (grouping, tuned_on)
        if chosen not in self._lams:
            self._lams[chosen] = self._lam(grouping, training.first(tuned_on))
        model = GroupClassifier(self._lams[chosen], grouping=grouping, random_state=0)
        if trial.negatives > sizes.held_in_memory:
            assert training.file is not None
            return _trained(trial, model.fit(source_of(training.file)), f"λ = {model.lam:.3g}")
        return self._fit(trial, model, training.first(sizes.groups(trial.negatives)))

    def train_on(self, trial: Trial, data: LabelledCandidates) -> Trained:
        """Train on the given candidates."""
        grouping = _GROUPING[trial.method]
        lam = self._lam(grouping, data)
        return self._fit(trial, GroupClassifier(lam, grouping=grouping, random_state=0), data)

    def _fit(self, trial: Trial, model: GroupClassifier, data: LabelledCandidates) -> Trained:
        model.fit(data.X, data.y, data.groups, data.overlap)
        return _trained(trial, model, f"λ = {model.lam:.3g}")

    def _lam(self, grouping: str, data: LabelledCandidates) -> float:
        model = GroupClassifierCV(self._sizes.n_settings, cv=self._sizes.n_folds, grouping=grouping)
        if grouping == "none":
            few = _best_of_positives(data)
            return require_finished(model.fit(few.X, few.y, patients=few.patients)).lam_
        return require_finished(
            model.fit(data.X, data.y, data.groups, data.overlap, patients=data.patients)
        ).lam_


def _by_folds(trial: Trial, data: LabelledCandidates, sizes: Sizes) -> Trained:
    """Train SVM or MI-SVM with the C or λ that is best on left-out candidates or groups."""
    name, metric = {SVM: ("svm", candidate_roc_auc), MISVM: ("misvm", group_roc_auc)}[trial.method]
    contender: Contender = contenders([name], sizes.n_settings, max_negatives=None)[0]
    folds = group_folds(data.y, data.groups, data.patients, n_splits=sizes.n_folds)
    scores = tune(contender, data, folds, metric)
    setting = contender.settings[int(np.argmax(scores))]
    return _trained(trial, contender.fit(setting, data), contender.describe(setting))


def _best_of_positives(data: LabelledCandidates) -> LabelledCandidates:
    """Return negative groups with all their candidates, and the best one of positive groups."""
    kept = ~np.isin(data.groups, data.groups[data.y == 1])
    kept[best_rows(data)] = True
    return data.take(np.flatnonzero(kept))


def _trained(trial: Trial, model: Any, setting: str) -> Trained:
    require_finished(model)
    if trial.method != SVM:
        return Trained(trial, model.coef_[0], float(model.intercept_[0]), setting)
    scaler, svm = model.estimator_
    coef = svm.coef_[0] / scaler.scale_
    return Trained(trial, coef, float(svm.intercept_[0] - coef @ scaler.mean_), setting)


def fit_with_others(
    data: LabelledCandidates, annotated: NDArray[np.bool_], n_settings: int, seed: int
) -> GroupClassifierCV:
    """Train on all groups, where some positive ones are not annotated.

    Parameters
    ----------
    data : LabelledCandidates
    annotated : ndarray of bool of shape (n,)
        Whether the group of each candidate is annotated.
    n_settings : int
        The number of values of λ to choose among.
    seed : int
        The seed of the folds.

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
    """Return a small number of folds, at most one per patient (group) of either class."""
    table = group_level(data.y, data.groups, data.patients)
    is_annotated = table.index.maxima(annotated)
    sides = (table.positive & is_annotated, ~table.positive)
    return min(_MOST_FOLDS, *(len(np.unique(table.patient[side])) for side in sides))
