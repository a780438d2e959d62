"""What every contender of a comparison is given: settings to choose among, and examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from groupcm.comparison.candidate_model import CandidateModel
from groupcm.comparison.contender import Setting
from groupcm.selection import lambda_grid

__all__ = ["Budget"]

# The least and the most of each parameter of trees; settings are spread over the logarithms.
_TREE_RANGES = {
    "num_leaves": (4, 64),
    "learning_rate": (0.02, 0.2),
    "min_child_samples": (5, 100),
}
_GROUP_TREE_RANGES = {
    "num_leaves": (8, 64),
    "min_child_samples": (10, 50),
    "power": (2.0, 10.0),
}


@dataclass(frozen=True)
class Budget:
    """The same number of settings for all, and the same negative candidates.

    Attributes
    ----------
    n_settings : int
    max_negatives : int or None
        Negative candidates that models trained on candidates see; None for all.
    random_state : int

    Examples
    --------
    >>> Budget(3, None, 0).costs[1], len(Budget(3, None, 0).trees)
    ({'C': 0.01}, 3)
    """

    n_settings: int
    max_negatives: int | None
    random_state: int

    @property
    def lams(self) -> list[Setting]:
        lams = lambda_grid(self.n_settings) if self.n_settings > 1 else [0.5]
        return [{"lam": float(lam)} for lam in lams]

    @property
    def costs(self) -> list[Setting]:
        costs = np.logspace(-5.0, 1.0, self.n_settings) if self.n_settings > 1 else [1.0]
        return [{"C": float(C)} for C in costs]

    @property
    def trees(self) -> list[Setting]:
        """Of trees on single candidates."""
        return self._spread(_TREE_RANGES)

    @property
    def group_trees(self) -> list[Setting]:
        """Of trees on groups: how near the largest loss a group counts by, and by turns trees
        that search half of the features for the best threshold and trees that draw thresholds.
        """
        kinds = (
            {"colsample_bytree": 0.5, "extra_trees": False},
            {"colsample_bytree": 1.0, "extra_trees": True},
        )
        spread = self._spread(_GROUP_TREE_RANGES)
        return [{**setting, **kinds[k % 2]} for k, setting in enumerate(spread)]

    def _spread(self, ranges: Mapping[str, tuple[float, float]]) -> list[Setting]:
        """Halton's points, spread evenly over the logarithms."""
        from scipy.stats import qmc

        low, high = np.log(np.array(list(ranges.values()), dtype=np.float64)).T
        spread = qmc.Halton(len(ranges), scramble=False).fast_forward(1).random(self.n_settings)
        return [
            {
                name: round(value) if isinstance(least, int) else value
                for (name, (least, _)), value in zip(ranges.items(), point, strict=True)
            }
            for point in np.exp(low + spread * (high - low)).tolist()
        ]

    @property
    def negatives(self) -> str:
        most = "all" if self.max_negatives is None else f"at most {self.max_negatives:,}"
        return f"{most} candidates of negative groups"

    def on_candidates(self, estimator: Any) -> CandidateModel:
        return CandidateModel(
            estimator, max_negatives=self.max_negatives, random_state=self.random_state
        )
