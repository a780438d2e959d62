"""What every model can do once it is fitted, whatever its scores are made of."""

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

from groupcm.candidates import Groups
from groupcm.group_index import GroupIndex, index_groups, no_groups
from groupcm.labels import check_class_order
from groupcm.model_state import Array, Count, Labels, Maybe, Names
from groupcm.scoring import GroupScores, Scorer, require_features
from groupcm.smoothing import Matrix
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.source import Source
from groupcm.training_data import leave_out, source_of_columns
from groupcm.validation import as_labels, as_matrix, check_length

__all__ = ["GroupModel", "labelled", "mean_right"]


class GroupModel(ClassifierMixin, BaseEstimator):
    """Scores of candidates, of groups, and what follows; a subclass says what scores a row."""

    __metadata_request__score: ClassVar = {"groups": True}

    classes_: NDArray[Any]
    background_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    # A subclass may give names alone, which it then checks itself; see `groupcm.model_state`.
    _fitted_state: ClassVar[Any] = {
        "n_features_in_": Count("features"),
        "feature_names_in_": Maybe(Names("features")),
        "classes_": Labels(),
        "background_": Array("b", "classes"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    @abstractmethod
    def _scorer(self) -> Scorer:
        """What scores rows; the model is fitted."""

    def _check_state(self) -> None:
        """Check that the classes are in the order that ``pos_label`` asks for."""
        check_class_order(self.classes_, getattr(self, "pos_label", None))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each candidate: shape (n,), or (n, n_classes) for more than two classes."""
        X = self._source_at(X, None)
        if isinstance(X, Source):
            scores = self._scorer.of_source(self._read_source(X))
        else:
            X = self._read_rows(X)
            scores = self._scores_of_rows(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each candidate."""
        return self._label(self.decision_function(X))

    def group_scores(self, X: Any, groups: ArrayLike | None = None) -> GroupScores:
        """Largest score of each group and the candidate that has it, the winner.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            A source is read once, in memory for its groups only.
        groups : array-like of shape (n,), or "none"
            The group of each candidate; "none" makes every row its own group. A source brings
            its own, and of the Parquet files at a path it names the column.

        Returns
        -------
        GroupScores
            One entry a group, in order of first appearance.
        """
        if isinstance(X, Source):
            leave_out(groups=groups)
        X = self._source_at(X, groups)
        if isinstance(X, Source):
            found = self._scorer.of_source_groups(self._read_source(X))
        else:
            X = self._read_rows(X)
            if groups is None:
                raise ValueError("groups is needed: the group of each candidate.")
            groups = np.arange(X.shape[0]) if no_groups(groups) else groups
            check_length("groups", groups, X.shape[0])
            index = index_groups(groups)
            scorer = self._scorer
            with self._naming_places(scorer, X):
                score, winner = scorer.of_groups(X, Groups.from_index(index))
            found = GroupScores(index.ids, score, winner)
        if found.score.shape[1] > 1:
            return found
        return GroupScores(found.group, found.score[:, 0], found.winner[:, 0])

    def predict_groups(self, X: Any, groups: ArrayLike | None = None) -> NDArray[Any]:
        """Class of each group, in order of first appearance."""
        return self._label(self.group_scores(X, groups).score)

    def score(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Share of groups, or without ``groups`` of rows, that are classified right.

        ``groups="none"`` is the same as None.
        With more than two classes a group may hold several; naming one of them is right.
        A class that every training group held counts only where the group holds no other.
        With ``sample_weight``, one a candidate, a group weighs the mean of its candidates'.
        """
        check_is_fitted(self)
        X, y, groups = labelled(X, y, groups, self._trained_names())
        if groups is None:
            predicted = self.predict(X)
            return mean_right(predicted == as_labels(y, len(predicted)), None, sample_weight)
        index = index_groups(groups)
        predicted = self.predict_groups(X, None if isinstance(X, Source) else groups)
        y = as_labels(y, index.n_rows)
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
        best = (scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[best]

    def _read_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        matrix = as_matrix(X, self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return matrix

    def _trained_names(self) -> list[str] | None:
        names = self._names()
        return None if names is None else [str(name) for name in names]

    def _source_at(self, X: Any, groups: Any) -> Any:
        """The source of a path; anything else as it is."""
        if not isinstance(X, str | os.PathLike):
            return X
        return source_of_columns(X, groups, features=self._trained_names())

    def _read_source(self, source: Source) -> Source:
        check_is_fitted(self)
        require_features(source, self.n_features_in_, self._names())
        return source


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
    """The share that is right; a group weighs the mean of its candidates' weights."""
    if sample_weight is None:
        return float(np.mean(right))
    weight = np.asarray(sample_weight, dtype=np.float64)
    check_length("sample_weight", weight, len(right) if index is None else index.n_rows)
    if index is not None:
        weight = np.bincount(index.codes, weight) / np.bincount(index.codes)
    return float(np.average(right, weights=weight))
