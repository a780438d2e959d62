"""What the features of a winner add to its score, by a linear model.

score − mean score of the winners  =  Σ_j coef_j (φ_j(x) − mean of φ_j over the winners)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.contributions import largest_contributions
from groupcm.evaluation.numbers import Contribution, Weight
from groupcm.weights import FeatureWeights, feature_weights

__all__ = ["Explanation", "contributions_of", "weights_of"]

Matrix = NDArray[np.floating]
Vector = NDArray[np.float64]

_VALUES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Explanation:
    """A linear model, and the features it weighs in the mean winner."""

    weights: FeatureWeights
    mapped: Callable[[Matrix], Matrix]
    mean_winner: Vector

    @classmethod
    def of(cls, linear: Any, winners: Matrix) -> Explanation:
        """Of a linear model of two classes, and the features of winners."""
        (weights,) = feature_weights(linear)
        mapped = _same if linear.feature_map_ is None else linear.feature_map_.transform
        total = np.zeros(len(weights.names))
        for block in _blocks(winners, len(total)):
            total += mapped(block).sum(axis=0, dtype=np.float64)
        return cls(weights, mapped, total / len(winners))

    def deviations(self, rows: Matrix) -> Vector:
        """The standard deviation of each feature over some rows."""
        mean_square = np.zeros(len(self.mean_winner))
        mean = np.zeros_like(mean_square)
        for block in _blocks(rows, len(mean)):
            centred = self.mapped(block) - self.mean_winner
            mean += centred.sum(axis=0) / len(rows)
            mean_square += np.square(centred).sum(axis=0) / len(rows)
        return np.sqrt(np.maximum(mean_square - mean**2, 0.0))


def contributions_of(
    explanation: Explanation, rows: Matrix, most: int
) -> list[Sequence[Contribution]]:
    """The largest contributions to the score of each row, at most so many a row."""
    values, weights = explanation.mapped(rows), explanation.weights
    adds = weights.per_unit * (values - explanation.mean_winner)
    return largest_contributions(weights.names, values, adds, most)


def weights_of(explanation: Explanation, some_rows: Matrix) -> list[Weight]:
    """The weights of all features, the largest for one standard deviation first.

    Training knows the deviations where it put features on one scale; else they are those of
    ``some_rows``.
    """
    weights = explanation.weights
    per_deviation = weights.trained
    if not weights.is_standardized:
        per_deviation = weights.per_unit * explanation.deviations(some_rows)
    # A constant feature is worth nothing, whatever the solver left there.
    per_deviation = np.where(weights.per_unit == 0.0, 0.0, per_deviation)
    order = np.argsort(-np.abs(per_deviation), kind="stable")
    return [
        Weight(weights.names[j], float(per_deviation[j]), float(weights.per_unit[j])) for j in order
    ]


def _same(rows: Matrix) -> Matrix:
    return rows


def _blocks(rows: Matrix, n_mapped: int) -> Iterator[Matrix]:
    size = max(1, _VALUES_AT_ONCE // max(1, n_mapped))
    for lo in range(0, len(rows), size):
        yield rows[lo : lo + size]
