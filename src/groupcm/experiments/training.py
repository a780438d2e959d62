"""Training of every model of the paper's experiment on one training set.

Models of candidates (SVM, GCM without grouping) choose their hyperparameter by the AUC of left-out
candidates, models of groups (MI-SVM, GCM) by the AUC of left-out groups; folds never split a
patient. The GCM's objective contains the mean loss of each class, so that a λ chosen on some of
the negatives is valid for more of them: beyond ``tune_on`` negatives it is chosen on those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
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
from groupcm.experiments.checkpoint import Checkpoint
from groupcm.experiments.datasets import TrainingSet, best_rows, source_of
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trained, Trial, trials_of
from groupcm.metrics import candidate_roc_auc, group_roc_auc

__all__ = ["fit_with_others", "train_all"]

_GROUPING = {GCM: "negative", UNGROUPED: "none"}
_MOST_FOLDS = 3


def train_all(
    draw: Callable[[], TrainingSet],
    sizes: Sizes,
    seed: int,
    say: Callable[[str], None],
    *,
    number: int = 0,
    checkpoint: Checkpoint | None = None,
) -> list[Trained]:
    """Tune and train the models of `trials_of`, in that order.

    Parameters
    ----------
    draw : callable
        Returns the training set; it is not called where every model is finished.
    sizes : Sizes
    seed : int
        The seed of what is drawn from the training set.
    say : callable
        Is called with a text at the start of each model.
    number : int, default=0
        The number of the training set.
    checkpoint : Checkpoint, optional
        Has the finished models.
    """
    checkpoint = checkpoint or Checkpoint(None)
    trials = trials_of(sizes, number)
    trained = {trial: checkpoint.model(number, trial) for trial in trials}
    if all(model is not None for model in trained.values()):
        return [model for model in trained.values() if model is not None]
    training = _Training(draw(), sizes, seed)
    for trial in trials:
        model = trained[trial]
        if model is None:
            say(f"training {trial}")
            began = time.perf_counter()
            model = training.train(trial)
            model = replace(model, seconds=time.perf_counter() - began)
            checkpoint.save_model(number, model)
        training.note(model)
        trained[trial] = model
    return [model for model in trained.values() if model is not None]


class _Training:
    """Every method at every size of a training set; chosen λ are used again for larger sizes."""

    def __init__(self, training: TrainingSet, sizes: Sizes, seed: int) -> None:
        self._training, self._sizes = training, sizes
        rng = np.random.default_rng([seed, 2])
        self._alone = training.one_by_one(sizes.fewest, rng)
        polyps = np.unique(training.polyp[training.polyp >= 0])
        self._few_polyps = rng.permutation(polyps)[: sizes.n_misvm_polyps]
        self._lams: dict[tuple[str, int], float] = {}

    def train(self, trial: Trial) -> Trained:
        """Tune and train one model."""
        data = self.data_of(trial)
        if trial.method in (SVM, MISVM):
            assert data is not None
            return _by_folds(trial, data, self._sizes)
        grouping, key = _GROUPING[trial.method], self._tuned_on(trial)
        lam = None if key is None else self._lams.get(key)
        if lam is None:
            on = data if key is None else self._training.first(key[1])
            assert on is not None
            lam = self._lam(grouping, on)
        model = GroupClassifier(
            lam,
            grouping=grouping,
            memory=self._sizes.memory,
            tol=self._sizes.tol,
            random_state=0,
        )
        if data is None:
            assert self._training.file is not None
            source = source_of(self._training.file)
            return _trained(trial, model.fit(source), f"λ = {lam:.3g}", lam, source.n_rows)
        model.fit(data.X, data.y, data.groups, data.overlap)
        return _trained(trial, model, f"λ = {lam:.3g}", lam, len(data.y))

    def data_of(self, trial: Trial) -> LabelledCandidates | None:
        """Return the candidates that a model is trained on; None for those of the file."""
        training, sizes = self._training, self._sizes
        if trial.variant == "one by one":
            return self._alone
        n_groups = sizes.groups(trial.negatives)
        if trial.method == MISVM:
            one_frame = trial.variant == "one frame per polyp"
            return training.first(n_groups, self._few_polyps, one_frame=one_frame)
        if trial.negatives > sizes.held_in_memory:
            return None
        few = training.first(n_groups)
        return _best_of_positives(few) if trial.method == SVM else few

    def note(self, model: Trained) -> None:
        """Remember the λ of a finished model for larger sizes."""
        if (key := self._tuned_on(model.trial)) is not None:
            self._lams[key] = model.value

    def _tuned_on(self, trial: Trial) -> tuple[str, int] | None:
        """Return the grouping and the number of negative groups that λ is chosen with."""
        if trial.method not in _GROUPING or trial.variant:
            return None
        n_negatives = min(trial.negatives, self._sizes.tune_on)
        return _GROUPING[trial.method], self._sizes.groups(n_negatives)

    def _lam(self, grouping: str, data: LabelledCandidates) -> float:
        sizes = self._sizes
        model = GroupClassifierCV(
            sizes.lams, cv=sizes.n_folds, grouping=grouping, tol=sizes.tol, random_state=0
        )
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
    value = next(iter(setting.values()))
    model = contender.fit(setting, data)
    return _trained(trial, model, contender.describe(setting), value, len(data.y))


def _best_of_positives(data: LabelledCandidates) -> LabelledCandidates:
    """Return negative groups with all their candidates, and the best one of positive groups."""
    kept = ~np.isin(data.groups, data.groups[data.y == 1])
    kept[best_rows(data)] = True
    return data.take(np.flatnonzero(kept))


def _trained(trial: Trial, model: Any, setting: str, value: float, n_rows: int) -> Trained:
    require_finished(model)
    if trial.method != SVM:
        gap, passes = getattr(model, "gap_", math.nan), getattr(model, "n_passes_", math.nan)
        return Trained(
            trial,
            model.coef_[0],
            float(model.intercept_[0]),
            setting,
            value,
            n_passes=float(passes),
            gap=float(gap),
            n_rows=n_rows,
        )
    scaler, svm = model.estimator_
    coef = svm.coef_[0] / scaler.scale_
    intercept = float(svm.intercept_[0] - coef @ scaler.mean_)
    return Trained(trial, coef, intercept, setting, value, n_rows=n_rows)


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
