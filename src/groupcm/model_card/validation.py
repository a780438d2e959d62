"""By what the number of trees was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Validation", "best_validation"]


@dataclass(frozen=True)
class Validation:
    """A metric on groups that were left out to choose the number of trees.

    Attributes
    ----------
    metric : str
    value : float
        At the number chosen, for which it is largest; that flatters it a little.
    most : int
        How many trees were tried.
    """

    metric: str
    value: float
    most: int


def best_validation(model: Any) -> Validation | None:
    """How the trees chosen validate; None where all were grown without a choice.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> curve = np.array([0.7, 0.9, 0.8])
    >>> trees = SimpleNamespace(scoring="group_roc_auc", validation_curve_=curve, n_trees_=2)
    >>> best_validation(trees)
    Validation(metric='group_roc_auc', value=0.9, most=3)
    """
    curve = np.asarray(getattr(model, "validation_curve_", ()), dtype=np.float64)
    if len(curve) == 0:
        return None
    chosen = min(max(model.n_trees_, 1), len(curve)) - 1
    return Validation(str(model.scoring), float(curve[chosen]), len(curve))
