"""The probability that a group is positive, from its score."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from groupcm.data.folds import require_folds
from groupcm.data.frames import as_frame
from groupcm.data.groups import index_groups
from groupcm.data.labels import warn_of_sorting_scorer
from groupcm.errors import GroupsWarning, PositiveLabelWarning
from groupcm.estimators.adapters import candidate_scores, fit_with, group_scores_of
from groupcm.estimators.calibrators import (
    Calibrator,
    Isotonic,
    Sigmoid,
    fit_isotonic,
    fit_sigmoid,
    require_calibratable,
    score_at_half,
)
from groupcm.estimators.group_model import labelled, mean_right
from groupcm.estimators.held_out import hold_out_groups, read_candidates
from groupcm.estimators.html_display import HtmlPanel
from groupcm.estimators.scoring import GroupScores
from groupcm.estimators.thresholds import (
    THRESHOLD_STATE,
    ThresholdModel,
    known_labels,
    positive_groups,
    score_labelled_groups,
)
from groupcm.estimators.training.profile import TrainingProfile, profile_of
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, is_alarm, threshold_of
from groupcm.sources.base import Source
from groupcm.utils.fitted_state import Count, Expected, Labels, Maybe, Names, Nullable, StateError
from groupcm.utils.progress import announce_stage
from groupcm.utils.state_check import Part, Record

__all__ = ["CalibratedGroupClassifier"]

_METHODS: dict[str, Callable[..., Calibrator]] = {"sigmoid": fit_sigmoid, "isotonic": fit_isotonic}


class CalibratedGroupClassifier(
    HtmlPanel, ThresholdModel, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """The probability that a group is positive, learnt from scores of groups held out.

    ::

        P(group k is positive) = p(s_k),      s_k = max_{i in k} s_i,      p never falls

    Folds that split no group (and no patient) give every group a score by a model that has
    not seen it. The curve ``p`` is fitted to all these held-out scores together, though the
    models of different folds score on slightly different scales; the estimator is then
    fitted again to all groups, and the curve is used with its scores. The
    probabilities hold for groups drawn as those of the fit were, above all with the same share of
    positive groups.

    Parameters
    ----------
    estimator : estimator
        A classifier of groupcm, or any classifier or pipeline of scikit-learn: a group's score
        is then the largest of its candidates'. Two classes, of which its ``pos_label`` (where it
        has one, also within a pipeline) is the positive one, else the larger.
    method : {"sigmoid", "isotonic"}
        Platt's sigmoid, for few groups; or the best non-decreasing curve, which needs about
        a thousand groups and can return exactly 0 or 1.
    cv : int, scikit-learn splitter, iterable of (train, test), or "prefit", default=5
        The folds; see `groupcm.data.folds.resolve_folds`. "prefit": ``estimator`` is fitted, and
        what ``fit`` is given was held out.
    random_state : int, RandomState or None, default=0
        Which groups fall into which fold.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is the positive one.
    estimator_ : estimator
        Fitted to all groups (with "prefit", ``estimator`` itself).
    calibrator_ : Sigmoid or Isotonic
        The curve, a function of scores.
    held_out_scores_ : ndarray of shape (n_groups,)
        The held-out score of each group, in order of first appearance. A saved model does not
        carry it, nor the labels.
    held_out_labels_, held_out_patients_ : ndarray of shape (n_groups,)
        The class of each group, and the number of its patient (None without ``patients``).
    threshold_ : float
        A group raises an alarm when its score is at least this: the threshold that the estimator
        was tuned to, or where the probability passes one half.
    decision_ : DecisionRule
        How the threshold was chosen.
    n_features_in_, feature_names_in_ :
        Of ``estimator_``, where it has them.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.calibration import CalibratedGroupClassifier
    >>> from groupcm.simulate import capsule
    >>> data, unseen = (capsule(100, n_positive=30, group_size=20, seed=s) for s in (0, 1))
    >>> model = CalibratedGroupClassifier(GroupClassifier())
    >>> model = model.fit(data.X, data.y, groups=data.groups, overlap=data.overlap)
    >>> model.predict_proba_groups(unseen.X, unseen.groups).shape
    (130, 2)
    """

    __metadata_request__fit: ClassVar = {
        "groups": True,
        "overlap": True,
        "patients": True,
        "annotated": True,
        "objects": True,
        "sample_weight": True,
    }
    __metadata_request__score: ClassVar = {"groups": True}

    classes_: NDArray[Any]
    estimator_: Any
    calibrator_: Calibrator
    held_out_scores_: NDArray[np.float64]
    held_out_labels_: NDArray[Any]
    held_out_patients_: NDArray[np.intp] | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    training_profile_: TrainingProfile | None

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "classes_": Labels(),
        "n_features_in_": Maybe(Count("features")),
        "feature_names_in_": Maybe(Names("features")),
        "estimator_": Part(ClassifierMixin, {"features": "n_features_in_"}),
        "calibrator_": Record((Sigmoid, Isotonic)),
        **THRESHOLD_STATE,
        "training_profile_": Maybe(Nullable(Record((TrainingProfile,)))),
    }

    def __init__(
        self, estimator: Any, *, method: str = "sigmoid", cv: Any = 5, random_state: Any = 0
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = of_estimator.sparse
        tags.input_tags.allow_nan = of_estimator.allow_nan
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
    ) -> CalibratedGroupClassifier:
        """Return the score every group held out, fit the curve, and fit the estimator to all.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
            One row per candidate. With ``cv="prefit"`` also a source of `groupcm.sources`, which
            brings the rest, or the path of Parquet files, of which ``y`` and ``groups`` name
            columns.
        y : array-like of shape (n,)
            One label per candidate; the positive one is the ``pos_label`` of the estimator, by
            default the larger. A group is positive if any of its candidates is.
        groups : array-like of shape (n,), or "none", optional
            The group of each candidate; without it every row is its own group.
        overlap : array-like of shape (n,), optional
            Passed to the estimator where it takes it.
        patients : array-like of shape (n,), optional
            The patient of each candidate: no patient is trained on and held out at once.
        annotated, objects : array-like of shape (n,), optional
            Passed to the estimator where it takes them; see `GroupClassifier.fit`. A positive
            group without annotation is held out as the others are, since its label is known.
        sample_weight : array-like of shape (n,), optional
            One weight per candidate, passed to the estimator where it takes it; see
            `GroupClassifier.fit`. In the fit of the curve a positive group weighs the mean of its
            positive candidates, a negative group that of all. Candidates of weight 0 are left out.
            Not for ``cv="prefit"``.
        """
        self._check_parameters()
        if isinstance(self.cv, str) and self.cv == "prefit":
            if sample_weight is not None:
                raise ValueError(
                    'sample_weight is not used with cv="prefit", where the curve is fitted to the '
                    "groups as they are; leave it out."
                )
            scores, positive = score_labelled_groups(self.estimator, X, y, groups)
            return self._store(self.estimator, self.estimator.classes_, scores, positive)
        if isinstance(X, Source | str | os.PathLike):
            raise ValueError(
                "folds need the candidates in memory; of a source or a path only a fitted "
                'estimator can be calibrated, with cv="prefit".'
            )
        candidates = read_candidates(
            self.estimator,
            X,
            y,
            cv=self.cv,
            groups=groups,
            overlap=overlap,
            patients=patients,
            annotated=annotated,
            objects=objects,
            sample_weight=sample_weight,
        )
        classes = candidates.classes
        with warnings.catch_warnings():  # not WARNINGS_LOCK, which threads of the fits may need
            for issued in (GroupsWarning, PositiveLabelWarning):  # by `read_candidates`
                warnings.simplefilter("ignore", issued)
            scores = hold_out_groups(self.estimator, candidates, self.random_state)
            announce_stage("all groups")
            fitted = clone(self.estimator)
            fit_with(fitted, candidates.X, candidates.y, **candidates.metadata)
        own = getattr(fitted, "classes_", classes)
        if len(own) == 2 and own[1] != classes[1]:  # such as after a search over pos_label
            raise ValueError(
                f"the estimator takes {own[1]!s} as positive, and its pos_label is {classes[1]!s}; "
                "set one pos_label everywhere in it."
            )
        weight = candidates.group_weight
        self._store(fitted, classes, scores, candidates.table.positive, weight)
        if patients is not None:
            self.held_out_patients_ = candidates.table.patient
        return self

    @classmethod
    def of_held_out(cls, model: Any, *, method: str = "sigmoid") -> CalibratedGroupClassifier:
        """Calibrate a fitted model by the scores of the groups its own folds held out.

        Parameters
        ----------
        model : GroupClassifierCV
            Fitted: it has ``held_out_scores_`` and ``held_out_labels_``.
        method : {"sigmoid", "isotonic"}

        Examples
        --------
        >>> from groupcm import CalibratedGroupClassifier, GroupClassifierCV
        >>> from groupcm.simulate import capsule
        >>> data = capsule(100, n_positive=30, group_size=20)
        >>> model = GroupClassifierCV(lams=[0.5]).fit(data.X, data.y, data.groups, data.overlap)
        >>> calibrated = CalibratedGroupClassifier.of_held_out(model)
        >>> calibrated.predict_proba_groups(data.X, data.groups).shape
        (130, 2)
        """
        if not hasattr(model, "held_out_scores_"):
            raise ValueError(
                f"this {type(model).__name__} has no scores of groups that folds held out; "
                "fit a GroupClassifierCV, or use CalibratedGroupClassifier(...).fit."
            )
        calibrated = cls(model, method=method, cv="prefit")
        known = np.isfinite(model.held_out_scores_)
        scores, labels = model.held_out_scores_[known], model.held_out_labels_[known]
        calibrated._store(model, model.classes_, scores, labels == model.classes_[1])
        patients = getattr(model, "held_out_patients_", None)
        calibrated.held_out_patients_ = None if patients is None else patients[known]
        return calibrated

    def _store(
        self,
        fitted: Any,
        classes: NDArray[Any],
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
    ) -> CalibratedGroupClassifier:
        require_calibratable(scores, positive)
        self.classes_ = classes
        self.estimator_ = fitted
        self.calibrator_ = _METHODS[self.method](scores, positive, weight)
        self.held_out_scores_ = scores
        self.held_out_labels_ = classes[positive.astype(int)]
        self.held_out_patients_ = None
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        self._reset_threshold()
        profile = profile_of(fitted)
        if profile is not None:
            profile = profile.with_held_out(scores, positive)
        self.training_profile_ = profile
        return self

    def _default_threshold(self) -> ChosenThreshold:
        """Return what the estimator was tuned to, or where the probability passes one half."""
        of_estimator = threshold_of(self.estimator_)
        if not of_estimator.decision.is_default:
            return of_estimator
        return ChosenThreshold(score_at_half(self.calibrator_), DecisionRule.of_half())

    def _check_parameters(self) -> None:
        if not isinstance(self.method, str) or self.method not in _METHODS:
            raise ValueError(f"method must be 'sigmoid' or 'isotonic'; got {self.method!r}.")
        if not callable(getattr(self.estimator, "fit", None)):
            raise ValueError(f"estimator must be a classifier; got {self.estimator!r}.")
        if not (isinstance(self.cv, str) and self.cv == "prefit"):
            require_folds(self.cv)

    def _check_state(self) -> None:
        """Check that the estimator has the same two classes."""
        if len(self.classes_) != 2 or not np.array_equal(self.classes_, self.estimator_.classes_):
            raise StateError("classes_ are not the two classes of estimator_")

    def group_scores(
        self, X: Any, groups: ArrayLike | None = None, *, all_groups: ArrayLike | None = None
    ) -> GroupScores:
        """Return the estimator's score of each group; see `GroupClassifier.group_scores`."""
        check_is_fitted(self)
        return group_scores_of(self.estimator_, X, groups, all_groups)

    def predict_proba_groups(
        self, X: Any, groups: ArrayLike | None = None, *, all_groups: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each class, one row per group in the order of `group_scores`.

        Parameters
        ----------
        X, groups, all_groups
            As for ``group_scores`` of the estimator.

        Returns
        -------
        ndarray of shape (n_groups, 2)
            One column per class, as in ``classes_``. The positive class of a group without
            candidates has the probability 0, by convention: the model cannot see such a group,
            and how often they are positive was not learnt, since every group of the fit has
            candidates.
        """
        positive = self.calibrator_(self.group_scores(X, groups, all_groups=all_groups).score)
        return np.column_stack([1.0 - positive, positive])

    def predict_groups(
        self, X: Any, groups: ArrayLike | None = None, *, all_groups: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the class of each group, in the order of `group_scores`.

        A group has the second class where its score is at least ``threshold_``.
        """
        assert self.threshold_ is not None
        scores = self.group_scores(X, groups, all_groups=all_groups).score
        return self.classes_[is_alarm(scores, self.threshold_).astype(int)]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the estimator's score of each candidate."""
        check_is_fitted(self)
        warn_of_sorting_scorer(self.classes_)
        return candidate_scores(self.estimator_, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each candidate that the estimator predicts."""
        check_is_fitted(self)
        X = as_frame(X)
        if getattr(X, "shape", (1,))[0] == 0 and not hasattr(self.estimator_, "group_scores"):
            return self.classes_[:0]
        return self.estimator_.predict(X)

    def score(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of groups, or without ``groups`` of rows, that are classified correctly.

        With ``sample_weight``, one value per candidate, a group weighs the mean of its candidates.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        X, y, groups = labelled(X, y, groups, None if names is None else list(names))
        if groups is None:
            predicted = self.predict(X)
            y = known_labels(self.classes_, y, len(predicted))
            return mean_right(predicted == y, None, sample_weight)
        index = index_groups(groups)
        truth = self.classes_[positive_groups(self.classes_, y, groups).astype(int)]
        predicted = self.predict_groups(X, None if isinstance(X, Source) else groups)
        return mean_right(predicted == truth, index, sample_weight)
