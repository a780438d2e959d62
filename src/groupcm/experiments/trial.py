"""A model of the paper's experiment: which method, on how many negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.experiments.sizes import Sizes

__all__ = ["GCM", "METHODS", "MISVM", "SVM", "UNGROUPED", "Trained", "Trial", "trials_of"]

SVM, MISVM, UNGROUPED, GCM = METHODS = ("SVM", "MI-SVM", "GCM without grouping", "GCM")


@dataclass(frozen=True)
class Trial:
    """A method and its negatives: candidates of whole groups, or drawn one by one."""

    method: str
    negatives: int
    in_groups: bool = True

    def __str__(self) -> str:
        """In words.

        Examples
        --------
        >>> str(Trial("SVM", 5000, in_groups=False))
        'SVM, 5,000 negatives drawn one by one'
        """
        drawn = "" if self.in_groups else " drawn one by one"
        return f"{self.method}, {self.negatives:,} negatives{drawn}"


@dataclass(frozen=True, eq=False)
class Trained:
    """A linear model, ``s = coef · x + intercept``, and the setting its folds chose."""

    trial: Trial
    coef: NDArray[np.float64]
    intercept: float
    setting: str


def trials_of(sizes: Sizes) -> list[Trial]:
    """All models of one training set.

    Examples
    --------
    >>> len(trials_of(Sizes()))
    12
    """
    fewest = sizes.fewest
    return [
        Trial(SVM, fewest, in_groups=False),
        Trial(SVM, fewest),
        Trial(MISVM, fewest),
        Trial(UNGROUPED, fewest, in_groups=False),
        *(Trial(UNGROUPED, n) for n in sizes.negatives),
        *(Trial(GCM, n) for n in sizes.negatives),
    ]
