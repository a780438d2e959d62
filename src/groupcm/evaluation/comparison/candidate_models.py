"""Classifiers and rankers from elsewhere, trained on candidates and used for groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from groupcm.data.frames import as_frame
from groupcm.data.group_table import group_level
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import order_classes
from groupcm.data.validation import (
    as_labels,
    as_matrix,
    as_overlap,
    check_length,
    distinct,
    require_finite,
    require_no_infinity,
    rows_with,
)
from groupcm.errors import Argument, ParameterError
from groupcm.estimators.adapters import takes_missing
from groupcm.estimators.scoring import GroupScores, among_all_groups, best_of_groups
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups, Index

__all__ = ["CandidateModel", "RankingModel"]

_LEAST_PROBABILITY = np.finfo(np.float64).tiny
_LARGEST_QUERY = 10_000  # candidates; LightGBM refuses more


class CandidateModel(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Any scikit-learn classifier, trained on candidates as if they had no groups.

    Positive examples represent positive groups: of each group the positive candidate of largest
    overlap or, without overlaps, all its positive candidates. Its other candidates take no part.
    Negative examples are the candidates of negative groups.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``decision_function`` or ``predict_proba``. Missing values (NaN) are rejected unless
        it supports them.
    max_negatives : int, optional
        The number of negative candidates to train on, at most; they are drawn at random.
    random_state : int, RandomState or None, default=0
        The seed of that draw.
    standardize : bool, default=True
        Standardise the features by the rows trained on.

    Attributes
    ----------
    estimator_ : the fitted classifier, the scaling included
    rows_ : ndarray
        The rows that were trained on, ascending.
    classes_ : ndarray of shape (2,)
        The second is the positive one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=20)
    >>> model = CandidateModel(LogisticRegression(), max_negatives=500)
    >>> model = model.fit(data.X, data.y, groups=data.groups, overlap=data.overlap)
    >>> len(model.rows_), len(model.group_scores(data.X, data.groups).score)
    (520, 80)
    """

    __metadata_request__fit: ClassVar = {"groups": True, "overlap": True}

    estimator_: Any
    rows_: Index
    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        estimator: Any,
        *,
        max_negatives: int | None = None,
        random_state: Any = 0,
        standardize: bool = True,
    ) -> None:
        self.estimator = estimator
        self.max_negatives = max_negatives
        self.random_state = random_state
        self.standardize = standardize

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = takes_missing(self.estimator)
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
    ) -> CandidateModel:
        """Train.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
            One row per candidate.
        y : array-like of shape (n,)
            One label per candidate; the larger of the two labels is the positive one.
        groups : array-like of shape (n,), optional
            The group of each candidate; without it every row is its own group.
        overlap : array-like of shape (n,), optional
            How well each candidate fits the annotation.
        """
        X = as_frame(X)
        matrix = as_matrix(X, self)
        validate_data(self, X, skip_check_array=True)
        self._check_values(matrix)
        labels = as_labels(y, matrix.shape[0])
        self.classes_ = distinct(labels)
        if len(self.classes_) != 2:
            # In scikit-learn's words, which its checks look for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(self.classes_)} classes; make one of them against the rest."
                if len(self.classes_) > 2
                else f"y holds one class only ({self.classes_[0]}); two are needed."
            )
        self.classes_ = order_classes(self.classes_)
        self.rows_ = self._choose_rows(labels, groups, as_overlap(overlap, len(labels)))
        scaler = StandardScaler(with_mean=isinstance(matrix, np.ndarray))
        self.estimator_ = make_pipeline(
            scaler if self.standardize else "passthrough", clone(self.estimator)
        )
        self.estimator_.fit(matrix[self.rows_], labels[self.rows_])
        return self

    def _choose_rows(
        self, labels: NDArray[Any], groups: ArrayLike | None, overlap: NDArray[Any] | None
    ) -> Index:
        together = None
        if groups is not None and not no_groups(groups):
            check_length("groups", groups, len(labels))
            together = Groups.from_index(index_groups(groups))
        positives = rows_with(labels, self.classes_[1])
        # The terms of the objective without grouping are these very rows.
        positive, *negatives = binary_terms(
            len(labels), positives, together, costs=Costs(0.5), grouping="none", overlap=overlap
        )
        (negative,) = negatives
        chosen = np.arange(negative.n_rows)
        if self.max_negatives is not None and self.max_negatives < len(chosen):
            if self.max_negatives < 1:
                raise ParameterError(
                    Argument("max_negatives"), f" must be at least 1; got {self.max_negatives!r}."
                )
            random = check_random_state(self.random_state)
            chosen = random.choice(len(chosen), self.max_negatives, replace=False)
        positive_rows = positive.rows(np.arange(positive.n_rows))
        return np.sort(np.concatenate([positive_rows, negative.rows(chosen)]))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each candidate: the classifier's own, or its log-odds ``log p − log(1 − p)``."""
        X = self._read_rows(X)
        if X.shape[0] == 0:  # which scikit-learn's own classifiers refuse to score
            return np.empty(0)
        if hasattr(self.estimator_, "decision_function"):
            return np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        p = np.maximum(np.asarray(self.estimator_.predict_proba(X), float), _LEAST_PROBABILITY)
        return np.log(p[:, 1]) - np.log(p[:, 0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each candidate."""
        return self._label(self.decision_function(X))

    def group_scores(
        self, X: Any, groups: ArrayLike, *, all_groups: ArrayLike | None = None
    ) -> GroupScores:
        """Largest score of each group and its winner; see `GroupClassifier.group_scores`."""
        return among_all_groups(best_of_groups(self.decision_function(X), groups), all_groups)

    def predict_groups(
        self, X: Any, groups: ArrayLike, *, all_groups: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Class of each group, in the order of `group_scores`."""
        return self._label(self.group_scores(X, groups, all_groups=all_groups).score)

    def _label(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        return self.classes_[(scores > 0.0).astype(int)]

    def _read_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        X = as_frame(X)
        matrix = as_matrix(X, self, allow_empty=True)
        validate_data(self, X, reset=False, skip_check_array=True)
        self._check_values(matrix)
        return matrix

    def _check_values(self, matrix: Matrix) -> None:
        check = require_no_infinity if takes_missing(self.estimator) else require_finite
        check(matrix, getattr(self, "feature_names_in_", None))


class RankingModel(MetaEstimatorMixin, BaseEstimator):
    """A ranker that learns to rank the positive candidates of a group above its others.

    A query is a positive group with all its candidates, of relevance 1 where they are positive,
    else 0. A negative group has no pair of different relevance and takes no part.

    Parameters
    ----------
    ranker : estimator
        With LightGBM's ``fit(X, relevance, group=sizes)`` and ``predict(X)``.

    Attributes
    ----------
    ranker_ : the fitted ranker
    n_queries_ : int
        Positive groups with a candidate that is not positive.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from groupcm.simulate import capsule
    >>> data = capsule(40, n_positive=12, group_size=20)
    >>> model = RankingModel(LGBMRanker(n_estimators=5, verbosity=-1))
    >>> model.fit(data.X, data.y, groups=data.groups).n_queries_
    12
    """

    __metadata_request__fit: ClassVar = {"groups": True}

    ranker_: Any
    n_queries_: int

    def __init__(self, ranker: Any) -> None:
        self.ranker = ranker

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self.ranker)
        return tags

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> RankingModel:
        """Train on the candidates of positive groups."""
        matrix, y = as_matrix(X), np.asarray(y)
        table = group_level(y, groups)
        codes, relevance = table.index.codes, (y == np.max(y)).astype(np.int64)
        has_pairs = table.positive & table.index.maxima(relevance == 0)
        if not has_pairs.any():
            raise ValueError(
                "no positive group has a candidate that is not positive, and a ranker learns from "
                "nothing else; leave the ranker out."
            )
        rows = np.flatnonzero(has_pairs[codes])
        rows = rows[np.argsort(codes[rows], kind="stable")]
        sizes = np.bincount(codes[rows], minlength=table.index.n_groups)[has_pairs]
        if sizes.max() > _LARGEST_QUERY:
            raise ValueError(
                f"a positive group has {sizes.max():,} candidates, and LightGBM ranks at most "
                f"{_LARGEST_QUERY:,} at once; leave the ranker out."
            )
        ranker: Any = clone(self.ranker)
        self.ranker_ = ranker.fit(matrix[rows], relevance[rows], group=sizes)
        self.n_queries_ = len(sizes)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each candidate: the larger, the higher it is ranked."""
        return np.asarray(self.ranker_.predict(as_matrix(X)), dtype=np.float64)
