"""The hyperparameters that a linear model is trained with, and the seed of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sklearn.utils import check_random_state

__all__ = ["Hyperparameters", "draw_seed"]


def draw_seed(random_state: Any) -> int:
    """Draw the seed of one run; a RandomState gives another one each time.

    Examples
    --------
    >>> draw_seed(0) == draw_seed(0)
    True
    """
    return int(check_random_state(random_state).randint(2**31 - 1))


@dataclass(frozen=True)
class Hyperparameters:
    """What a linear model is trained with; see `groupcm.GroupClassifier` for each.

    An estimator has those that its user may choose, and the others have these defaults.

    Examples
    --------
    >>> from groupcm import MISVMClassifier
    >>> known = Hyperparameters.of(MISVMClassifier(C=2.0))
    >>> known.C, known.penalty, known.grouping
    (2.0, 'l2', 'negative')
    """

    lam: float = 0.5
    C: float | None = None
    class_weight: Mapping[Any, float] | str | None = "balanced"
    loss: str = "smoothed_hinge"
    delta: float = 0.5
    penalty: str = "huber"
    epsilon: float = 1.0
    l1_ratio: float = 0.5
    grouping: str = "negative"
    background: str = "ignore"
    min_overlap: float = 0.0
    feature_map: Any = None
    standardize: bool = True
    solver: str = "working_set"
    tol: float = 1e-4
    max_passes: float = 1000
    max_time: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    random_state: Any = None

    @classmethod
    def of(cls, estimator: Any) -> Hyperparameters:
        """Return the hyperparameters of an estimator."""
        given = estimator.get_params(deep=False)
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})

    def draw_seed(self) -> int:
        """Draw the seed of one solve from ``random_state``."""
        return draw_seed(self.random_state)
