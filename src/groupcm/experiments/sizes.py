"""The sizes of the paper's experiment, and its models: a method and its number of negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GCM",
    "METHODS",
    "MISVM",
    "SCALES",
    "SVM",
    "UNGROUPED",
    "Sizes",
    "Trained",
    "Trial",
    "trials_of",
]

SVM, MISVM, UNGROUPED, GCM = METHODS = ("SVM", "MI-SVM", "GCM without grouping", "GCM")


@dataclass(frozen=True)
class Sizes:
    """Numbers of frames, candidates and repeats; those of the paper where it states them.

    Attributes
    ----------
    negatives : tuple of int
        Negative candidates to train on, in increasing order; the first is also that of SVM and
        MI-SVM.
    test_negatives : int
        Negative candidates to test on.
    repeats : int
        Training sets drawn, each with other patients, polyps and frames.
    n_positive, n_polyps, n_test_positive, n_test_polyps : int
        Positive frames and the polyps they show.
    n_misvm_polyps : int
        Polyps whose frames MI-SVM is given.
    n_patients : int
        Patients in a training set, and in the test set.
    group_size : int
        Mean number of candidates per frame.
    n_settings : int
        The number of values of λ or C to choose among, for every model.
    n_folds : int
        The number of folds, by patients, that choose among them.
    tune_on : int
        The number of negative candidates that λ is chosen on, at most.
    n_test_candidates : int
        The number of negative candidates that performance per candidate is measured on, at most.
    n_resamples : int
        The number of resamples of the bootstrap.
    held_in_memory : int
        Larger training sets, and the test set, are written to Parquet and streamed.
    """

    negatives: tuple[int, ...] = (5_000, 100_000, 1_000_000, 10_000_000)
    test_negatives: int = 2_000_000
    repeats: int = 5
    n_positive: int = 293
    n_polyps: int = 100
    n_test_positive: int = 362
    n_test_polyps: int = 115
    n_misvm_polyps: int = 25
    n_patients: int = 400
    group_size: int = 200
    n_settings: int = 7
    n_folds: int = 3
    tune_on: int = 100_000
    n_test_candidates: int = 100_000
    n_resamples: int = 2000
    held_in_memory: int = 10_000_000

    def groups(self, n_candidates: int) -> int:
        """Return the number of frames that hold so many candidates.

        Examples
        --------
        >>> Sizes().groups(5_000)
        25
        """
        return max(1, n_candidates // self.group_size)

    @property
    def fewest(self) -> int:
        """The smallest training set's negatives, which SVM and MI-SVM also have."""
        return self.negatives[0]

    @property
    def most(self) -> int:
        """The largest training set's negatives."""
        return self.negatives[-1]

    @property
    def largest_held(self) -> int:
        """The largest training set that is held in memory."""
        return max(n for n in self.negatives if n <= self.held_in_memory)


SCALES = {
    "small": Sizes(
        negatives=(5_000, 20_000, 100_000),
        test_negatives=200_000,
        repeats=2,
        n_misvm_polyps=10,
        n_settings=3,
        tune_on=20_000,
        n_test_candidates=30_000,
        n_resamples=1000,
    ),
    "default": Sizes(),
    "full": Sizes(
        negatives=(5_000, 100_000, 1_000_000, 10_000_000, 100_000_000),
        test_negatives=100_000_000,
        repeats=3,
    ),
}


@dataclass(frozen=True)
class Trial:
    """A method and its number of negatives, in whole groups or drawn one by one."""

    method: str
    negatives: int
    in_groups: bool = True

    def __str__(self) -> str:
        """Return the trial as text.

        Examples
        --------
        >>> str(Trial("SVM", 5000, in_groups=False))
        'SVM, 5,000 negatives drawn one by one'
        """
        drawn = "" if self.in_groups else " drawn one by one"
        return f"{self.method}, {self.negatives:,} negatives{drawn}"


@dataclass(frozen=True, eq=False)
class Trained:
    """A linear model, ``s = coef · x + intercept``, and the hyperparameter its folds chose."""

    trial: Trial
    coef: NDArray[np.float64]
    intercept: float
    setting: str


def trials_of(sizes: Sizes) -> list[Trial]:
    """Return all models of one training set.

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
