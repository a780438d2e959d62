"""What the features of a winner add to its score, by trees.

score − mean score of the winners  =  Σ_j (φ_j(x) − mean of φ_j over the winners)

where ``φ_j`` are the exact Shapley values of the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.contributions import largest_contributions
from groupcm.evaluation.numbers import Contribution, Importance
from groupcm.weights import feature_names

__all__ = ["TreeExplanation"]

Matrix = NDArray[np.floating]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class TreeExplanation:
    """Trees, and what features add to the score of the mean winner and move it by."""

    names: list[str]
    scorer: Any
    mean_adds: Vector
    mean_moves: Vector

    @classmethod
    def of(cls, trees: Any, winners: Matrix) -> TreeExplanation:
        """Of trees of two classes, and the features of winners."""
        scorer = trees._scorer
        adds, _ = scorer.contributions(np.ascontiguousarray(winners))
        mean = adds.mean(axis=0)
        return cls(feature_names(trees), scorer, mean, np.abs(adds - mean).mean(axis=0))

    def contributions(self, rows: Matrix, most: int) -> list[Sequence[Contribution]]:
        """The largest contributions to the score of each row, at most so many a row."""
        adds, _ = self.scorer.contributions(np.ascontiguousarray(rows))
        return largest_contributions(self.names, rows, adds - self.mean_adds, most)

    def importances(self) -> list[Importance]:
        """How much each feature moves scores, the largest first."""
        order = np.argsort(-self.mean_moves, kind="stable")
        return [Importance(self.names[j], float(self.mean_moves[j])) for j in order]
