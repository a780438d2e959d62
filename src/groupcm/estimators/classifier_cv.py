"""`GroupClassifier` with λ chosen by cross-validation that never splits a group, nor a patient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.folds import require_folds
from groupcm.errors import Argument, ParameterError
from groupcm.estimators.classifier import FOR_PATHS
from groupcm.estimators.cross_validation import LambdaSearch, TrainingGroups
from groupcm.estimators.hyperparameters import LINEAR, check_parameters
from groupcm.estimators.linear_model import ChoosingModel
from groupcm.estimators.path import chosen_lams, is_count, lowest_lam
from groupcm.estimators.training.fit import Training
from groupcm.estimators.training.fit_setup import Hyperparameters
from groupcm.estimators.training.input import read_training_data
from groupcm.metrics import Metric, metric_name, metric_named
from groupcm.objective.terms import Index
from groupcm.utils.fitted_state import Array, Expected, Maybe, Number, StateError
from groupcm.utils.progress import announce_stage, printing_progress
from groupcm.utils.typing import Vector

__all__ = ["GroupClassifierCV"]


class GroupClassifierCV(ChoosingModel):
    """`GroupClassifier` with λ, and if wanted ``max_fpr``, chosen by cross-validation.

    In each fold the whole path of λ is trained, each fit warm-started from the previous one, and
    scored on the fold's other groups; the λ of the best mean is trained on all groups. No group,
    and with ``patients`` no patient, is on both sides of a fold.

    Where ``lams`` is a count and the best λ is at an end of the grid, better than its neighbour,
    the grid is extended beyond that end by up to six values in steps of the same ratio, as far as
    ``max_time`` allows. Values that are given are never extended. A `LambdaAtEndWarning` is issued
    where the chosen λ is still the smallest or the largest of three or more.

    The features are put on one scale, and a feature map is fitted, once for all folds: that
    looks at the features of left-out candidates, never at their labels.

    Positive groups without annotation are scored by the folds that leave them out, since their
    label is known, but train no fold's models; the last training, with the chosen λ, chooses a
    candidate in each of them, as `GroupClassifier` does.

    Parameters
    ----------
    lams : int or array-like, default=10
        The number of λ, spread by `groupcm.selection.lambda_grid` and extended where the best is at
        an end, or their values. The smallest is 0.001, and less where many features tell the
        classes apart; see the notes.
    cv : int, scikit-learn splitter or iterable of (train, test), default=5
        Folds; see `groupcm.data.folds.resolve_folds`. A splitter is given one row per group.
    scoring : str or callable, default="group_roc_auc"
        A metric of groups: "group_roc_auc", "group_partial_auc", "group_average_precision",
        "sensitivity_at_specificity", or a callable(y, scores, groups) that gets one entry per
        group, and None for groups. A λ for which it gives NaN in any fold is not chosen. The
        metrics that are named weigh the groups by ``sample_weight``; a callable does not.
    max_fpr : float or array-like, default=1.0
        That of ``objective="partial_auc"``, or several values, among which the folds choose
        together with λ. Choose them by a ``scoring`` of the same part of the curve, such as
        "group_partial_auc" or "sensitivity_at_specificity".
    class_weight, objective, loss, delta, penalty, epsilon, l1_ratio, grouping, \
background, min_overlap, feature_map, standardize, solver, tol, max_passes, max_time, memory, \
pos_label, verbose :
        As of `GroupClassifier`; ``max_time`` is for the whole fit.
    random_state : int, RandomState or None, default=0
        Which groups fall into which fold.

    Attributes
    ----------
    lam_ : float
        The chosen λ.
    max_fpr_ : float
        The chosen ``max_fpr``.
    max_fpr_scores_ : ndarray of shape (n_rates,)
        The mean over folds of the best λ for each ``max_fpr``, these in increasing order.
    lams_ : ndarray of shape (n_lams,)
        Those tried with ``max_fpr_``, in increasing order; more than ``lams`` where the grid was
        extended.
    scores_ : ndarray of shape (n_folds, n_lams)
        The metric of each fold's left-out groups.
    best_score_ : float
        The mean over folds at ``lam_``: a little too good, since ``lam_`` is the best of them.
    held_out_scores_ : ndarray of shape (n_groups,)
        The score of each group, in order of first appearance, by the model at ``lam_`` of the
        fold that left it out; where several did, their mean, and NaN where none did.
    held_out_labels_ : ndarray of shape (n_groups,)
        The class of each group.
    held_out_patients_ : ndarray of shape (n_groups,) or None
        The number of each group's patient; None without ``patients``.
    coef_, intercept_, classes_, objective_, gap_, witnesses_, outcome_, n_rounds_, … :
        Of the model trained on all groups with ``lam_``, as of `GroupClassifier`.

    Notes
    -----
    The grid begins at::

        λ / (1 − λ) = min(0.001 / 0.999, Σ_j h(w_j) / (2 d)),   w = 2 m / ‖m‖²

    and ends 99,000 times higher, where ``m`` is the difference of the class means on the ``d``
    standardised features. ``w`` puts the class means at margins of ±1, and ``Σ h / (2 d)`` is the
    ``λ / (1 − λ)`` at which its penalty is what the losses save by it. With the Huber penalty it is
    about ``1 / (d ‖m‖²)``, which falls with the square of the number of features: 13 features have
    the grid from 0.001 to 0.99, and 1,000 of them one from about 1e-5 to 0.5.

    Examples
    --------
    >>> from groupcm import GroupClassifierCV
    >>> from groupcm.simulate import capsule
    >>> data = capsule(100, n_positive=30, n_patients=50, group_size=20)
    >>> model = GroupClassifierCV(lams=[0.001, 0.1, 0.5]).fit(
    ...     data.X, data.y, data.groups, data.overlap, patients=data.patient
    ... )
    >>> model.scores_.shape, model.lam_ in model.lams_
    ((5, 3), True)
    """

    __metadata_request__fit: ClassVar = {
        "groups": True,
        "overlap": True,
        "patients": True,
        "annotated": True,
        "objects": True,
        "sample_weight": True,
    }

    lam_: float
    max_fpr_: float
    max_fpr_scores_: Vector
    lams_: Vector
    scores_: Vector
    best_score_: float
    held_out_scores_: Vector
    held_out_labels_: NDArray[Any]
    held_out_patients_: NDArray[np.intp] | None

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **ChoosingModel._fitted_state,
        "lam_": Number(low=0.0, high=1.0),
        # Earlier files have neither.
        "max_fpr_": Maybe(Number(low=0.0, high=1.0)),
        "max_fpr_scores_": Maybe(Array("f", "rates", finite=False)),
        "lams_": Array("f", "lams", low=0.0, high=1.0, increasing=True),
        "scores_": Array("f", "folds", "lams", finite=False),
        "best_score_": Number(finite=False),
    }

    def __init__(
        self,
        lams: int | ArrayLike = 10,
        *,
        cv: Any = 5,
        scoring: str | Metric = "group_roc_auc",
        class_weight: Mapping[Any, float] | str | None = "balanced",
        objective: str = "gcm",
        max_fpr: float | ArrayLike = 1.0,
        loss: str = "smoothed_hinge",
        delta: float = 0.5,
        penalty: str = "huber",
        epsilon: float = 1.0,
        l1_ratio: float = 0.5,
        grouping: str = "negative",
        background: str = "ignore",
        min_overlap: float = 0.0,
        feature_map: Any = None,
        standardize: bool = True,
        solver: str = "working_set",
        tol: float = 1e-4,
        max_passes: float = 1000,
        max_time: float | None = None,
        memory: int | str | None = None,
        pos_label: Any = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.objective = objective
        self.max_fpr = max_fpr
        self.loss = loss
        self.delta = delta
        self.penalty = penalty
        self.epsilon = epsilon
        self.l1_ratio = l1_ratio
        self.grouping = grouping
        self.background = background
        self.min_overlap = min_overlap
        self.feature_map = feature_map
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_time = max_time
        self.memory = memory
        self.pos_label = pos_label
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
        patients: ArrayLike | None = None,
        annotated: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GroupClassifierCV:
        """Choose λ by cross-validation, and fit the model to all groups with it.

        Parameters
        ----------
        X, y, groups, overlap
            As for `GroupClassifier.fit`, of two classes.
        patients : array-like of shape (n,), optional
            The patient of each candidate, also where X is a source.
        annotated, objects, sample_weight
            As for `GroupClassifier.fit`. Candidates of weight 0 are in no fold, and a group all of
            whose candidates have it is not among ``held_out_scores_``.
        """
        self._check_parameters()
        metric = _group_metric(self.scoring)
        with printing_progress(self.verbose):
            data = read_training_data(
                self, X, y, groups, overlap, annotated, objects, sample_weight
            )
            data.require_two_classes(FOR_PATHS)
            training = Training(data, Hyperparameters.of(self))
            table = TrainingGroups(training.prepared, groups, patients)
            lams = chosen_lams(self.lams, lowest_lam(training))
            folds = table.folds(self.cv, self.random_state)
            rates = _rates(self.max_fpr)
            searches = []
            for rate in rates:
                if len(rates) > 1:
                    announce_stage(f"max_fpr = {rate:.4g}")
                tried = LambdaSearch(training.with_max_fpr(rate), table, folds, metric)
                tried.add(lams)
                if is_count(self.lams) and len(lams) > 1:
                    tried.extend()
                searches.append(tried)
            best_of_rates = np.array([np.max(tried.means) for tried in searches])
            chosen = int(np.argmax(best_of_rates))
            tried, training = searches[chosen], training.with_max_fpr(rates[chosen])
            tried.warn_at_end(is_grid=is_count(self.lams))
            lams, held_out, scores = tried.lams, tried.held_out, tried.scores
            best = int(np.argmax(tried.means))
            lam = float(lams[best])
            announce_stage(f"all groups, λ = {lam:.4g}")
            solved = training.solve(lam)
        self._store(training.prepared, solved)
        self.lam_, self.lams_, self.scores_ = lam, lams, scores
        self.max_fpr_, self.max_fpr_scores_ = rates[chosen], best_of_rates
        self.best_score_ = float(scores[:, best].mean())
        self.held_out_scores_ = _mean_over_folds(
            table.n_groups, [test for _, test in folds], [of_fold[:, best] for of_fold in held_out]
        )
        self.held_out_labels_ = self.classes_[table.positive.astype(int)]
        self.held_out_patients_ = table.patient
        self._profile_held_out()
        return self

    def _check_parameters(self) -> None:
        given = self.get_params(deep=False)
        for rate in _rates(self.max_fpr):
            check_parameters({**given, "max_fpr": rate}, LINEAR)
        require_folds(self.cv)
        _group_metric(self.scoring)
        chosen_lams(self.lams)

    def _check_state(self) -> None:
        super()._check_state()
        if self.lam_ not in self.lams_ or not len(self.scores_):
            raise StateError(f"lam_ is {self.lam_:g}, which is not one of lams_ that folds tried")


def _rates(max_fpr: Any) -> list[Any]:
    """Return the values of ``max_fpr`` to choose among, in increasing order."""
    if np.ndim(max_fpr) == 0:
        return [max_fpr]
    rates = sorted(set(np.ravel(np.asarray(max_fpr)).tolist()))
    if not rates:
        raise ParameterError(Argument("max_fpr"), " has no value; give at least one.")
    return rates


def _mean_over_folds(n_groups: int, tests: list[Index], scores: list[Vector]) -> Vector:
    """Return the mean score of each group over the folds that left it out; NaN where none did."""
    total, times = np.zeros(n_groups), np.zeros(n_groups)
    for test, score in zip(tests, scores, strict=True):
        total[test] += score
        times[test] += 1
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


def _group_metric(scoring: str | Metric) -> Metric:
    metric = metric_named(scoring)
    if metric_name(metric) == "candidate_roc_auc":
        raise ParameterError(
            Argument("scoring"), ' must be a metric of groups, such as "group_roc_auc".'
        )
    return metric
