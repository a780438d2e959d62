"""The sizes of the paper's experiment, and its models: a method and its number of negatives."""

from __future__ import annotations

import math
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
    "TestSize",
    "Trained",
    "Trial",
    "trials_of",
]

# By version of the synthetic candidates: a tenth of 1 less the candidate AUC of an SVM.
_CANDIDATE_EFFECTS = {1: 0.0003, 2: 0.003, 3: 0.0004}
_GROUP_EFFECT = 0.010
SVM, MISVM, UNGROUPED, GCM = METHODS = ("SVM", "MI-SVM", "GCM without grouping", "GCM")


@dataclass(frozen=True)
class TestSize:
    """The size of a test set.

    Attributes
    ----------
    negatives : int
        Negative candidates.
    n_positive, n_polyps : int
        Positive frames and the polyps they show.
    n_patients : int
    """

    # Otherwise pytest would collect a class of this name as tests.
    __test__ = False

    negatives: int
    n_positive: int = 362
    n_polyps: int = 115
    n_patients: int = 400


@dataclass(frozen=True)
class Sizes:
    """Numbers of frames, candidates and training sets; those of the paper where it states them.

    Attributes
    ----------
    negatives : tuple of int
        Negative candidates to train on, in increasing order; the first is also that of SVM and
        MI-SVM.
    repeats : int
        Training sets with all these sizes, each with other patients, polyps and frames.
    further : int
        Training sets with all these sizes except the largest.
    test : TestSize
        The test set of the table and of the ROC curves, for the ``repeats`` training sets.
    power : TestSize
        The test set of the claims, for all training sets: it has more polyps, because they are what
        limits the precision.
    world : int
        The version of the synthetic candidates.
    n_positive, n_polyps : int
        Positive frames of a training set and the polyps they show.
    n_misvm_polyps : int
        Polyps whose frames MI-SVM is given.
    n_patients : int
        Patients in a training set.
    group_size : int
        Mean number of candidates per frame.
    n_settings : int
        The number of values of λ or C to choose among, for every model.
    n_folds : int
        The number of folds, by patients, that choose among them.
    tune_on : int
        The number of negative candidates that λ is chosen on, at most.
    n_resamples : int
        The number of resamples for the bands of the ROC curves.
    held_in_memory : int
        Larger training sets are written to Parquet and streamed.
    memory : str
        The memory for the rows of a fit on a stream.
    tol : float
        The certified relative gap of the GCM, also in the folds that choose λ. Where λ is small the
        objective hardly depends on the weights: to a gap of 1e-4, a λ of 0.001 leaves them
        undetermined.
    """

    negatives: tuple[int, ...] = (5_000, 100_000, 1_000_000, 10_000_000)
    repeats: int = 3
    further: int = 3
    test: TestSize = TestSize(5_000_000)
    power: TestSize = TestSize(5_000_000, 1_448, 460, 1_600)
    world: int = 3
    n_positive: int = 293
    n_polyps: int = 100
    n_misvm_polyps: int = 25
    n_patients: int = 400
    group_size: int = 200
    n_settings: int = 7
    n_folds: int = 3
    tune_on: int = 100_000
    n_resamples: int = 500
    held_in_memory: int = 10_000_000
    memory: str = "1GB"
    tol: float = 1e-7

    def groups(self, n_candidates: int) -> int:
        """Return the number of frames that hold so many candidates.

        Examples
        --------
        >>> Sizes().groups(5_000)
        25
        """
        return max(1, n_candidates // self.group_size)

    @property
    def n_sets(self) -> int:
        """The number of all training sets."""
        return self.repeats + self.further

    def negatives_of(self, number: int) -> tuple[int, ...]:
        """Return the sizes of a training set: those with all of them come first.

        Examples
        --------
        >>> Sizes().negatives_of(0)[-1], Sizes().negatives_of(5)[-1]
        (10000000, 1000000)
        """
        return self.negatives if number < self.repeats else self.negatives[:-1]

    @property
    def fewest(self) -> int:
        """The smallest training set's negatives, which SVM and MI-SVM also have."""
        return self.negatives[0]

    @property
    def most(self) -> int:
        """The largest training set's negatives."""
        return self.negatives[-1]

    @property
    def lams(self) -> NDArray[np.float64]:
        """The values of λ to choose among: from 0.001 to 0.99, evenly in ``log(λ / (1 − λ))``.

        They are a part of the plan, and do not change with the default grid of the estimators.

        Examples
        --------
        >>> Sizes(n_settings=3).lams.round(3)
        array([0.001, 0.239, 0.99 ])
        """
        odds = np.geomspace(0.001 / 0.999, 0.99 / 0.01, self.n_settings)
        return odds / (1.0 + odds)

    @property
    def effect_sizes(self) -> dict[str, float]:
        """The smallest differences that matter, in the AUC of groups and of candidates.

        Examples
        --------
        >>> Sizes().effect_sizes
        {'group': 0.01, 'candidate': 0.0004}
        """
        return {"group": _GROUP_EFFECT, "candidate": _CANDIDATE_EFFECTS[self.world]}

    @property
    def largest_held(self) -> int:
        """The largest training set that is held in memory."""
        return max(n for n in self.negatives if n <= self.held_in_memory)


SCALES = {
    "small": Sizes(
        negatives=(5_000, 20_000, 100_000),
        test=TestSize(200_000),
        power=TestSize(400_000, 724, 230, 800),
        repeats=2,
        further=2,
        n_settings=3,
        tune_on=20_000,
        n_resamples=200,
    ),
    "default": Sizes(),
    "full": Sizes(
        negatives=(5_000, 100_000, 1_000_000, 10_000_000, 100_000_000),
        test=TestSize(326_000_000),
        power=TestSize(40_000_000, 3_620, 1_150, 4_000),
        repeats=3,
        further=12,
    ),
}


@dataclass(frozen=True)
class Trial:
    """A method and its number of negatives.

    Attributes
    ----------
    method : str
    negatives : int
    variant : {"", "one by one", "one frame per polyp"}
        Negatives come in whole groups, except "one by one". MI-SVM has all frames of its polyps
        or, as the number in the paper's table reads, one frame of each.
    """

    method: str
    negatives: int
    variant: str = ""

    def __str__(self) -> str:
        """Return the trial as text.

        Examples
        --------
        >>> str(Trial("SVM", 5000, "one by one"))
        'SVM, 5,000 negatives, one by one'
        """
        variant = self.variant and f", {self.variant}"
        return f"{self.method}, {self.negatives:,} negatives{variant}"


@dataclass(frozen=True, eq=False)
class Trained:
    """A linear model, ``s = coef · x + intercept``.

    Attributes
    ----------
    trial : Trial
    coef : ndarray
    intercept : float
    setting : str
        The hyperparameter that the folds chose.
    seconds : float
        The time for tuning and training; tuning counts where it took place first.
    n_passes : float
        The passes over all rows of a certified fit; NaN for SVM.
    gap : float
        The certified relative gap; NaN for SVM.
    n_rows : int
        The number of training rows.
    """

    trial: Trial
    coef: NDArray[np.float64]
    intercept: float
    setting: str
    value: float = math.nan
    seconds: float = math.nan
    n_passes: float = math.nan
    gap: float = math.nan
    n_rows: int = 0


def trials_of(sizes: Sizes, number: int = 0) -> list[Trial]:
    """Return all models of one training set.

    Examples
    --------
    >>> len(trials_of(Sizes())), len(trials_of(Sizes(), 5))
    (13, 11)
    """
    fewest, negatives = sizes.fewest, sizes.negatives_of(number)
    return [
        Trial(SVM, fewest),
        Trial(SVM, fewest, "one by one"),
        Trial(MISVM, fewest),
        Trial(MISVM, fewest, "one frame per polyp"),
        Trial(UNGROUPED, fewest, "one by one"),
        *(Trial(UNGROUPED, n) for n in negatives),
        *(Trial(GCM, n) for n in negatives),
    ]
