"""Explanations of scores: a baseline plus one contribution per feature, and feature weights.

    score  =  base + Σ_j contribution_j
    linear:  contribution_j = coef_j (φ_j(x) − mean_j),    base = Σ_j coef_j mean_j + intercept
    trees:   contribution_j = exact Shapley value of x_j,  base = mean score in training

The baseline is the same wherever a score is explained: the training data. ``mean_j`` is the mean
of what the weights multiply over the training candidates, which a linear model stores as
``feature_means_``; ``φ`` is its feature map, if it has one. Of trees, ``base`` is every leaf's
value by the share of the training candidates that reached it.

Model files of version 0.1 hold no means. Their linear models are explained against features that
are all 0: ``contribution_j = coef_j φ_j(x)``, ``base = intercept``, and ``typical`` is None. Fit
such a model again to see contributions relative to the training data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame
from groupcm.data.frames import feature_names as column_names
from groupcm.errors import InputError
from groupcm.estimators.group_model import scorer_of
from groupcm.estimators.weights import (
    FeatureWeights,
    feature_names,
    feature_weights,
    input_names,
    linear_part,
    tree_part,
)
from groupcm.utils.typing import Vector

__all__ = [
    "FeatureContribution",
    "FeatureWeights",
    "ScoreExplanation",
    "explain_scores",
    "feature_names",
    "feature_weights",
    "linear_part",
    "require_without_map",
    "tree_part",
]


_MEAN_CANDIDATE = "the average training candidate"
_MEAN_SCORE = "the training candidates on average"
_ALL_ZERO = "a candidate whose features are all 0"
_SMALLEST_SHARE = 1e-9  # of the largest contribution; anything smaller is rounding


@dataclass(frozen=True)
class FeatureContribution:
    """The contribution of one feature to the score of a candidate.

    Attributes
    ----------
    feature
        Its name.
    value
        Its value in the candidate.
    typical
        Its mean over the training candidates; None where the model does not store it.
    contribution
        The contribution to the score, relative to the baseline.
    """

    feature: str
    value: float
    typical: float | None
    contribution: float


@dataclass(frozen=True, eq=False)
class ScoreExplanation:
    """The score of one candidate as a sum over features.

    Attributes
    ----------
    score
        The score of the candidate.
    baseline, base
        A description of what the contributions are relative to, and its score.
    names, values
        The features, in the model's order.
    typical
        Their means over the training candidates; None where the model does not store them.
    contributions
        One contribution per feature; with ``base`` they add up to the score.
    """

    score: float
    baseline: str
    base: float
    names: tuple[str, ...]
    values: Vector
    typical: Vector | None
    contributions: Vector

    def largest_first(self) -> NDArray[np.intp]:
        """Return the places of the features, ordered by the size of their contribution."""
        return np.argsort(-np.abs(self.contributions), kind="stable")

    def listed(self) -> list[FeatureContribution]:
        """Return all contributions, the largest of either sign first."""
        return [
            FeatureContribution(
                self.names[j],
                float(self.values[j]),
                None if self.typical is None else float(self.typical[j]),
                float(self.contributions[j]),
            )
            for j in self.largest_first().tolist()
        ]

    def largest(self, most: int) -> list[FeatureContribution]:
        """Return at most so many contributions, none of which is zero up to rounding.

        Examples
        --------
        >>> adds = np.array([0.1, -0.5, 0.0])
        >>> found = ScoreExplanation(
        ...     0.6, "the mean", 1.0, ("a", "b", "c"), np.arange(3.0), None, adds
        ... )
        >>> [each.feature for each in found.largest(5)]
        ['b', 'a']
        """
        enough = _SMALLEST_SHARE * np.abs(self.contributions).max(initial=0.0)
        return [each for each in self.listed()[:most] if abs(each.contribution) > enough]


def explain_scores(
    model: Any, rows: Any, *, names: Sequence[str] | NDArray[Any] | None = None
) -> list[ScoreExplanation]:
    """Split the scores of candidates into a baseline and contributions of their features.

    Reports, review pages and this function give the same numbers for the same candidate.

    Parameters
    ----------
    model
        A fitted model of two classes: a linear one, such as `GroupClassifier`, or trees,
        `GroupBoostingClassifier`; also a calibrated one. With a feature map the contributions
        are those of the map's outputs.
    rows
        Features of candidates, shape (n, d). A data frame is matched by the names of its columns.
    names
        Names of the columns of ``rows``, in any order and with others among them; by default
        the columns are those of the model in its order.

    Returns
    -------
    list of ScoreExplanation
        One per row.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [0.2, 7.0], [0.9, 7.0]])
    >>> model = GroupClassifier().fit(X, [0, 1, 0, 1])
    >>> (found,) = explain_scores(model, X[:1])
    >>> bool(np.isclose(found.base + found.contributions.sum(), model.decision_function(X[:1])[0]))
    True
    >>> found.baseline, found.typical.round(3).tolist(), found.largest(1)[0].feature
    ('the average training candidate', [0.525, 6.0], 'x0')
    """
    part = _explainable_part(model)
    rows = as_frame(rows)
    if is_frame(rows):
        if names is None and hasattr(part, "feature_names_in_"):
            names = column_names(rows)
        rows = frame_to_matrix(rows)
    rows = rows.toarray() if sp.issparse(rows) else rows
    values = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    if names is not None:
        values = values[:, _columns(input_names(part), names)]
    if len(values) and values.shape[1] != part.n_features_in_:
        raise ValueError(
            f"rows have {values.shape[1]} features; the model has {part.n_features_in_}"
        )
    split = _split_by_trees if tree_part(part) is not None else _split_by_weights
    of_names = tuple(feature_names(part))
    return split(part, of_names, values)


def _split_by_weights(linear: Any, names: tuple[str, ...], rows: Vector) -> list[ScoreExplanation]:
    coef, intercept = linear.coef_[0], float(linear.intercept_[0])
    feature_map = linear.feature_map_
    values = rows if feature_map is None or not len(rows) else feature_map.transform(rows)
    means = getattr(linear, "feature_means_", None)
    centred = values if means is None else values - means
    base = intercept if means is None else float(coef @ means + intercept)
    baseline = _ALL_ZERO if means is None else _MEAN_CANDIDATE
    scores = values @ coef + intercept if len(rows) else np.empty(0)
    return [
        ScoreExplanation(float(score), baseline, base, names, row, means, coef * of_row)
        for score, row, of_row in zip(scores, values, centred, strict=True)
    ]


def _split_by_trees(trees: Any, names: tuple[str, ...], rows: Vector) -> list[ScoreExplanation]:
    scorer = scorer_of(trees)
    contributions, base = scorer.contributions(rows)
    scores = scorer.of_rows(rows)[:, 0]
    return [
        ScoreExplanation(float(score), _MEAN_SCORE, base, names, row, None, adds)
        for score, row, adds in zip(scores, rows, contributions, strict=True)
    ]


def _explainable_part(model: Any) -> Any:
    """Return the linear model or the trees within a model.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> _explainable_part(DecisionTreeClassifier())
    Traceback (most recent call last):
    groupcm.errors.InputError: the scores of a DecisionTreeClassifier are not sums over features;
    only those of a linear model or of trees of groupcm can be explained by features
    """
    linear = linear_part(model)
    part = tree_part(model) if linear is None else linear
    if part is None:
        raise InputError(
            f"the scores of a {type(model).__name__} are not sums over features; "
            "only those of a linear model or of trees of groupcm can be explained by features"
        )
    if len(model.classes_) != 2:
        raise InputError(
            f"the model distinguishes {len(model.classes_)} classes; "
            "only the scores of a model of two classes are explained"
        )
    return part


def require_without_map(model: Any) -> None:
    """Raise where the contributions are those of a feature map's outputs, not of features.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> require_without_map(GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]))
    """
    feature_map = getattr(_explainable_part(model), "feature_map_", None)
    if feature_map is not None:
        raise InputError(
            f"the model weighs the outputs of the feature map {type(feature_map).__name__}; only "
            "the scores of a model without a feature map can be explained by features"
        )


def _columns(wanted: Sequence[str], names: Sequence[str] | NDArray[Any]) -> NDArray[np.intp]:
    place = {str(name): at for at, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}, which the model was trained with")
    return np.array([place[name] for name in wanted], dtype=np.intp)
