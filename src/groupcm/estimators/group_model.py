"""The methods that all fitted models share."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from groupcm.data.frames import as_frame
from groupcm.data.groups import GroupIndex, index_groups, no_groups
from groupcm.data.labels import check_class_order, warn_of_sorting_scorer
from groupcm.data.validation import as_matrix, check_length
from groupcm.errors import InputError
from groupcm.estimators.html_display import HtmlPanel
from groupcm.estimators.scoring import GroupScores, Scorer, among_all_groups, require_features
from groupcm.estimators.thresholds import (
    THRESHOLD_STATE,
    ThresholdModel,
    held_out_groups_of,
    known_labels,
)
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.input import leave_out, source_of_columns
from groupcm.estimators.training.profile import TrainingProfile
from groupcm.metrics.decision import is_alarm
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups
from groupcm.sources.base import Source
from groupcm.sources.rows.chunk import NonFiniteValue
from groupcm.utils.fitted_state import Array, Count, Labels, Maybe, Names, Nullable
from groupcm.utils.state_check import Record
from groupcm.utils.text import printable

__all__ = ["GroupModel", "decision_in_order", "labelled", "mean_right", "scorer_of"]


class GroupModel(HtmlPanel, ThresholdModel, ClassifierMixin, BaseEstimator):
    """Scores of candidates, of groups, and what follows; a subclass defines how a row is scored."""

    __metadata_request__score: ClassVar = {"groups": True}

    classes_: NDArray[Any]
    background_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    training_profile_: TrainingProfile | None

    # A subclass may give names alone, which it then checks itself; see `utils.fitted_state`.
    _fitted_state: ClassVar[Any] = {
        "n_features_in_": Count("features"),
        "feature_names_in_": Maybe(Names("features")),
        "classes_": Labels(),
        "background_": Array("b", "classes"),
        **THRESHOLD_STATE,
        "training_profile_": Maybe(Nullable(Record((TrainingProfile,)))),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    @abstractmethod
    def _scorer(self) -> Scorer:
        """What scores rows; the model is fitted."""

    def _store_data(self, data: TrainingData, untrained: NDArray[np.bool_] | None = None) -> None:
        """Set what follows from the training data alone, and the default threshold.

        ``untrained`` marks those of more than two classes that every group held.
        """
        self.classes_ = data.classes
        self.background_ = np.array([True, False])
        if untrained is not None and len(data.classes) > 2:
            self.background_ = untrained
        self._reset_threshold()
        self.n_features_in_ = data.n_features
        if data.names is not None:
            self.feature_names_in_ = data.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _profile_held_out(self) -> None:
        """Add the groups that folds of the fit left out to the profile of the training."""
        known = held_out_groups_of(self)
        if known is not None and self.training_profile_ is not None:
            positive, scores = known
            self.training_profile_ = self.training_profile_.with_held_out(scores, positive)

    def _check_state(self) -> None:
        """Check that the classes are in the order that ``pos_label`` asks for."""
        check_class_order(self.classes_, getattr(self, "pos_label", None))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each candidate, shape (n,), or (n, n_classes) for more than two."""
        check_is_fitted(self)
        warn_of_sorting_scorer(self.classes_)
        X = self._source_at(X, None)
        if isinstance(X, Source):
            X = self._read_source(X)
            scores = self._scorer.of_source(X) if X.n_rows else self._no_scores()
        else:
            return self._decision(self._read_rows(X))
        return _as_decision(scores)

    def _decision(self, X: Matrix) -> NDArray[np.float64]:
        return _as_decision(self._scores_of_rows(X) if X.shape[0] else self._no_scores())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each candidate.

        Of two classes it is the second where the score is at least `threshold_`.
        """
        return self._label(self.decision_function(X))

    def group_scores(
        self, X: Any, groups: ArrayLike | None = None, *, all_groups: ArrayLike | None = None
    ) -> GroupScores:
        """Return the largest score of each group and the candidate that has it, the winner.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            A source is read once, in memory for its groups only.
        groups : array-like of shape (n,), or "none"
            The group of each candidate; "none" makes every row its own group. A source brings
            its own, and of the Parquet files at a path it names the column.
        all_groups : array-like, optional
            The ids of all groups, those without candidates included: such a group has the lowest
            score, -inf, and the winner -1.

        Returns
        -------
        GroupScores
            One entry per group, in order of first appearance, or in that of ``all_groups``.

        Examples
        --------
        >>> from groupcm import GroupClassifier
        >>> model = GroupClassifier().fit([[0.0], [1.0]], [0, 1])
        >>> model.group_scores([[0.5]], ["b"], all_groups=["a", "b"]).winner
        array([-1,  0])
        """
        if isinstance(X, Source):
            leave_out(groups=groups)
        X = self._source_at(X, groups)
        if isinstance(X, Source):
            X = self._read_source(X)
            found = self._scorer.of_source_groups(X) if X.n_rows else self._no_groups([])
        else:
            X = self._read_rows(X)
            if groups is None:
                raise ValueError("groups is needed: the group of each candidate.")
            groups = np.arange(X.shape[0]) if no_groups(groups) else groups
            check_length("groups", groups, X.shape[0])
            found = self._groups_of_rows(X, groups) if X.shape[0] else self._no_groups(groups)
        if found.score.shape[1] == 1:
            found = GroupScores(found.group, found.score[:, 0], found.winner[:, 0])
        return among_all_groups(found, all_groups)

    def _groups_of_rows(self, X: Matrix, groups: ArrayLike) -> GroupScores:
        index = index_groups(groups)
        scorer = self._scorer
        with self._naming_places(scorer, X):
            score, winner = scorer.of_groups(X, Groups.from_index(index))
        return GroupScores(index.ids, score, winner)

    def _no_scores(self) -> NDArray[np.float64]:
        """Return the scores of no candidate at all, shape (0, k)."""
        n_classes = len(self.classes_)
        return np.empty((0, 1 if n_classes == 2 else n_classes))

    def _no_groups(self, groups: ArrayLike) -> GroupScores:
        score = self._no_scores()
        return GroupScores(np.asarray(groups), score, score.astype(np.int64))

    def predict_groups(
        self, X: Any, groups: ArrayLike | None = None, *, all_groups: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the class of each group, in the order of `group_scores`.

        Of two classes, a group has the second where its score is at least ``threshold_``; of more,
        the one of its largest score. A group without candidates has the first class; with more
        than two classes it has the class that every training group held, and needs one.
        """
        found = self.group_scores(X, groups, all_groups=all_groups)
        labels = self._label(found.score)
        if found.score.ndim == 1:
            return labels
        without = np.flatnonzero(found.winner[:, 0] < 0)
        if len(without):
            if not self.background_.any():
                raise ValueError(
                    f"the group {printable(found.group[without[0]])} has no candidates, and no "
                    "class of the model means that a group shows nothing; use group_scores."
                )
            labels[without] = self.classes_[np.argmax(self.background_)]
        return labels

    def score(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of groups, or without ``groups`` of rows, that are classified correctly.

        ``groups="none"`` is the same as None.
        With more than two classes a group may hold several; naming one of them is right.
        A class that every training group held counts only where the group holds no other.
        With ``sample_weight``, one value per candidate, a group weighs the mean of its candidates.
        """
        check_is_fitted(self)
        X, y, groups = labelled(X, y, groups, self._trained_names())
        if groups is None:
            predicted = self.predict(X)
            y = known_labels(self.classes_, y, len(predicted))
            return mean_right(predicted == y, None, sample_weight)
        index = index_groups(groups)
        predicted = self.predict_groups(X, None if isinstance(X, Source) else groups)
        y = known_labels(self.classes_, y, index.n_rows)
        holds = np.stack([index.maxima(y == label) for label in self.classes_], axis=1)
        background = self.background_
        others = np.any(holds[:, ~background], axis=1, keepdims=True)
        holds[:, background] &= ~others
        number = np.argmax(predicted[:, None] == self.classes_, axis=1)
        right = holds[np.arange(index.n_groups), number]
        return mean_right(right, index, sample_weight)

    def _scores_of_rows(self, X: Matrix) -> NDArray[np.float64]:
        scorer = self._scorer
        with self._naming_places(scorer, X):
            scores = scorer.of_rows(X)
            if not np.all(np.isfinite(scores)):
                raise NonFiniteValue("a score is not finite")
        return scores

    @contextmanager
    def _naming_places(self, scorer: Scorer, X: Matrix) -> Iterator[None]:
        """Within the block, a value that has no score is named by its row and column."""
        try:
            yield
        except NonFiniteValue as error:
            scorer.require_values(X, self._names())
            raise ValueError(
                "the scores are beyond the range of floats although every value of X is finite; "
                "the weights or the feature map of the model do not suit these values."
            ) from error

    def _names(self) -> NDArray[Any] | None:
        return getattr(self, "feature_names_in_", None)

    def _label(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        if scores.ndim > 1:
            return self.classes_[np.argmax(scores, axis=1)]
        assert self.threshold_ is not None
        return self.classes_[is_alarm(scores, self.threshold_).astype(int)]

    def _read_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        X = as_frame(X)
        matrix = as_matrix(X, self, allow_empty=True)
        validate_data(self, X, reset=False, skip_check_array=True)
        return matrix

    def _trained_names(self) -> list[str] | None:
        names = self._names()
        return None if names is None else [str(name) for name in names]

    def _source_at(self, X: Any, groups: Any) -> Any:
        """Return the source of a path; anything else as it is."""
        if not isinstance(X, str | os.PathLike):
            return X
        return source_of_columns(X, groups, features=self._trained_names())

    def _read_source(self, source: Source) -> Source:
        check_is_fitted(self)
        if categories := getattr(self, "categories_", {}):
            raise InputError(
                f"the model knows the categories of {', '.join(categories)} by their labels, which "
                "a source does not have; score a data frame in memory"
            )
        require_features(source, self.n_features_in_, self._names())
        return source


def scorer_of(model: GroupModel) -> Any:
    """Return what scores the rows of a fitted model, without checks of the rows.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> scorer_of(model).of_rows(np.array([[0.5]])).shape
    (1, 1)
    """
    return model._scorer


def decision_in_order(model: GroupModel, X: Matrix) -> NDArray[np.float64]:
    """Return the decision function of rows whose columns are known to be the model's, in order.

    The columns have no names, and none are asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupcm import GroupClassifier
    >>> rows = pd.DataFrame({"width": [0.0, 1.0, 0.2, 0.9]})
    >>> model = GroupClassifier().fit(rows, [0, 1, 0, 1])
    >>> bool(decision_in_order(model, rows.to_numpy())[1] == model.decision_function(rows)[1])
    True
    """
    check_is_fitted(model)
    return model._decision(as_matrix(X, model, allow_empty=True))


def _as_decision(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def labelled(X: Any, y: Any, groups: Any, features: list[str] | None) -> tuple[Any, Any, Any]:
    """Candidates with their labels and groups, which a source, or a path, brings itself."""
    if isinstance(X, Source):
        leave_out(y=y, groups=groups)
    if isinstance(X, str | os.PathLike):
        X = source_of_columns(X, groups, y, features=features)
    if isinstance(X, Source):
        truth = X.index()
        return X, truth.labels_of_rows(), truth.groups_of_rows()
    if y is None:
        raise ValueError("y is needed: the label of each candidate.")
    return X, y, None if no_groups(groups) else groups


def mean_right(
    right: NDArray[np.bool_], index: GroupIndex | None, sample_weight: ArrayLike | None
) -> float:
    """Return the share that is right; a group weighs the mean of its candidates' weights."""
    if len(right) == 0:
        raise ValueError(
            "there are no candidates, so their accuracy is undefined; pass at least one."
        )
    if sample_weight is None:
        return float(np.mean(right))
    weight = np.asarray(sample_weight, dtype=np.float64)
    check_length("sample_weight", weight, len(right) if index is None else index.n_rows)
    if index is not None:
        weight = np.bincount(index.codes, weight) / np.bincount(index.codes)
    return float(np.average(right, weights=weight))
