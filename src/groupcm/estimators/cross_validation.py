"""Cross-validation of λ: folds of whole groups, and the models of all folds along a path of λ."""

from __future__ import annotations

import time
import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.data.folds import Folds, annotated_folds, resolve_folds
from groupcm.data.group_table import weights_of_groups
from groupcm.data.groups import no_groups
from groupcm.data.validation import check_length
from groupcm.errors import Argument, LambdaAtEndWarning, ParameterError
from groupcm.estimators.path import beyond_grid
from groupcm.estimators.scoring import LinearScorer
from groupcm.estimators.training.fit import Training
from groupcm.estimators.training.fit_setup import Prepared
from groupcm.estimators.training.sample_weight import folds_of_rows
from groupcm.metrics import Metric
from groupcm.metrics.registry import weighted_value
from groupcm.objective.terms import Groups, Index
from groupcm.solvers.solution import Solution
from groupcm.utils.progress import announce_stage, without_steps
from groupcm.utils.typing import Vector

__all__ = ["LambdaSearch", "TrainingGroups"]

# How often a grid is extended, and by how many λ each time.
_MOST_EXTENSIONS = 3
_LAMS_AT_ONCE = 2


class LambdaSearch:
    """The models of all folds along a path of λ that can grow at its ends.

    Attributes
    ----------
    lams : ndarray
        In increasing order.
    held_out : list of ndarray of shape (n_left_out, n_lams)
        For each fold, the score of each group that it leaves out at each λ.
    scores : ndarray of shape (n_folds, n_lams)
        The metric of these.
    """

    def __init__(
        self,
        training: Training,
        table: TrainingGroups,
        folds: Folds,
        metric: Metric,
    ) -> None:
        self._training, self._table = training, table
        self._folds, self._metric = folds, metric
        self._seconds = 0.0
        self._ends: list[dict[int, Solution]] = [{} for _ in folds]
        self.lams = np.empty(0)
        self.held_out: list[Vector] = [np.empty((len(test), 0)) for _, test in folds]
        self.scores = np.empty((len(folds), 0))

    @property
    def means(self) -> Vector:
        """The mean over folds at each λ; a λ that any fold scores as NaN is never the best."""
        means = self.scores.mean(axis=0)
        if np.isnan(means).all():
            n_folds = np.isnan(self.scores).any(axis=1).sum()
            raise ParameterError(
                Argument("scoring"),
                f" gives NaN for every λ, in {n_folds} of {len(self.scores)} folds, so that none "
                "is the best; it must give numbers.",
            )
        return np.where(np.isnan(means), -np.inf, means)

    @property
    def end(self) -> int:
        """-1 or 1 where the best λ is the smallest or the largest and not as good as another."""
        mean = self.means
        best = int(np.argmax(mean))
        if len(mean) < 2:
            return 0
        if best == len(mean) - 1:
            return 1
        return -1 if best == 0 and mean[0] > mean[1] else 0

    def add(self, lams: Vector, side: int = 1) -> None:
        """Train each fold for further λ, the nearest to those tried first, and score them."""
        start = time.perf_counter()
        held_out = self._train(lams, side)
        scores = np.array(
            [
                [self._score(test, of_lam) for of_lam in of_fold.T]
                for (_, test), of_fold in zip(self._folds, held_out, strict=True)
            ]
        )
        self._seconds += time.perf_counter() - start

        def joined(old: Vector, new: Vector) -> Vector:
            parts = [old, new] if side > 0 else [new[..., ::-1], old]
            return np.concatenate(parts, axis=-1)

        self.lams = joined(self.lams, lams)
        self.held_out = list(map(joined, self.held_out, held_out))
        self.scores = joined(self.scores, scores)

    def _score(self, test: Index, scores: Vector) -> float:
        """Return the metric of the groups that a fold leaves out."""
        positive, weight = self._table.positive[test], self._table.weight
        if weight is None:
            return self._metric(positive, scores, None)
        return weighted_value(self._metric, positive, scores, weight[test])

    def extend(self) -> None:
        """Go on beyond the end of the grid while the best λ is there, within the budget."""
        for _ in range(_MOST_EXTENSIONS):
            side = self.end
            more = beyond_grid(self.lams, side, _LAMS_AT_ONCE) if side else self.lams[:0]
            if not len(more) or not self._has_time(len(more)):
                return
            end, word = (self.lams[0], "smallest") if side < 0 else (self.lams[-1], "largest")
            listed = " and ".join(f"{lam:.2g}" for lam in more)
            announce_stage(f"λ = {end:.2g}, the {word} tried, is best: trying {listed} as well")
            self.add(more, side)

    def warn_at_end(self, *, is_grid: bool) -> None:
        """Warn where the best of three or more λ is still at the end."""
        side = self.end
        if not side or len(self.lams) < 3:
            return
        lam, word = (self.lams[0], "smallest") if side < 0 else (self.lams[-1], "largest")
        remedy = "give smaller ones" if side < 0 else "give larger ones"
        if is_grid:
            remedy = f"more were not tried within the budget: {remedy}"
        warning = LambdaAtEndWarning(
            f"the chosen λ = {lam:.4g} is the {word} of the {len(self.lams)} values tried, so that "
            f"a better one may lie beyond; {remedy} by ",
            Argument("lams"),
            ".",
            alike=word,
        )
        warnings.warn(warning, stacklevel=3)

    def _has_time(self, n_more: int) -> bool:
        """Return whether there is time to train so many more, and the final model after them."""
        needed = 2.0 * self._seconds * n_more / len(self.lams)
        return time.perf_counter() + needed < self._training.prepared.deadline

    def _train(self, lams: Vector, side: int) -> list[Vector]:
        """For each fold, the score of each group that it leaves out at each of these λ."""
        prepared, table, folds = self._training.prepared, self._table, self._folds
        weights, intercepts = [], []
        with without_steps():
            self._training.start_folds(list(lams))
        for k, ((train, _), ends) in enumerate(zip(folds, self._ends, strict=True)):
            announce_stage(f"fold {k + 1} of {len(folds)}, {len(lams)} λ")
            table.require_annotated(train, k)
            terms = prepared.terms_without(table.without(train))
            near = ends[side].point if side in ends else None
            try:
                with without_steps():
                    path = self._training.solve_path(list(lams), terms, near)
                if any(solution.interrupted for solution in path):
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                raise KeyboardInterrupt("the fit was interrupted before λ was chosen.") from None
            ends.setdefault(-side, path[0])
            ends[side] = path[-1]
            weights += [solution.weights for solution in path]
            intercepts += [solution.intercept for solution in path]
        coef, intercept = prepared.scaling.in_units(np.stack(weights), np.array(intercepts))
        feature_map, rows = prepared.feature_map, prepared.data.rows_in_memory
        if rows is None:  # one pass for the models of all folds
            scorer = LinearScorer(coef, intercept, feature_map)
            everywhere = scorer.of_source_groups(prepared.data.X.source).score
            of_folds = np.split(everywhere, len(folds), axis=1)
            return [scores[test] for scores, (_, test) in zip(of_folds, folds, strict=True)]
        held_out = []
        for k, (_, test) in enumerate(folds):
            models = slice(k * len(lams), (k + 1) * len(lams))
            scorer = LinearScorer(coef[models], intercept[models], feature_map)
            held_out.append(scorer.of_groups(rows, table.groups, test)[0])
        return held_out


class TrainingGroups:
    """The groups of training data.

    Parameters
    ----------
    prepared : Prepared
    ids : array-like of shape (n,), str or None
        The group of each row as a user names it; anything else than ids is not looked at.
    patients : array-like of shape (n,) or None
        The patient of each row. Like the ids, and the folds of `folds`, they are of the rows as the
        user gave them: those of weight 0 are left out here.

    Attributes
    ----------
    groups : Groups
        Without groups in the data every row is one.
    positive : ndarray of bool of shape (n_groups,)
    unannotated : ndarray of int
        Numbers of the positive groups without annotation.
    patient : ndarray of int of shape (n_groups,), or None
        The number of each group's patient.
    weight : ndarray of shape (n_groups,), or None
        What each group weighs, where there is ``sample_weight``.
    """

    def __init__(
        self, prepared: Prepared, ids: ArrayLike | None, patients: ArrayLike | None
    ) -> None:
        data = prepared.data
        self.groups = data.groups or Groups.of_each_row(data.n_rows)
        self.positive = np.zeros(len(self.groups), dtype=np.bool_)
        self.positive[self.groups.of_rows(data.rows_of(1))] = True
        self.unannotated = prepared.unannotated
        self._is_positive_row = data.is_positive
        self._data = data
        self.patient = None
        if patients is not None:
            if data.rows is not None:
                check_length("patients", patients, data.n_given)
                ids = None if no_groups(ids) or isinstance(ids, str) else data.left_of(ids)
            self.patient = data.group_table(data.left_of(patients), ids).patient
        self.weight = None
        if data.weights is not None:
            rows = (self.groups.numbers(), self._is_positive_row)
            self.weight = weights_of_groups(data.weights.values, *rows)

    @property
    def n_groups(self) -> int:
        """How many there are."""
        return len(self.groups)

    def folds(self, cv: Any, random_state: Any) -> Folds:
        """Numbers of groups to train and to test on; ``cv`` as for `resolve_folds`."""
        if isinstance(cv, Integral) or hasattr(cv, "split"):
            if isinstance(cv, Integral) and len(self.unannotated):
                return annotated_folds(
                    int(cv), self.positive, self.unannotated, self.patient, random_state
                )
            every = np.arange(self.n_groups)
            return resolve_folds(cv, self.positive, every, self.patient, random_state)
        if self._data.rows is not None:
            cv = folds_of_rows(cv, self._data.rows, self._data.n_given)
        of_row = self.groups.numbers()
        patients = None if self.patient is None else self.patient[of_row]
        folds = resolve_folds(cv, self._is_positive_row, of_row, patients, random_state)
        return [(np.unique(of_row[train]), np.unique(of_row[test])) for train, test in folds]

    def require_annotated(self, train: Index, number: int) -> None:
        """Refuse a fold whose training part has no positive group that trains."""
        if np.any(self.positive[np.setdiff1d(train, self.unannotated)]):
            return
        raise ValueError(
            f"fold {number} of cv trains on no annotated positive group; annotate more groups, "
            "or use fewer folds."
        )

    def without(self, train: Index) -> Index:
        """Return the groups that are not among those to train on."""
        return np.setdiff1d(np.arange(self.n_groups), train)
