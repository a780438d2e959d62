"""Thresholds that keep a target on new patients with a stated confidence.

    P( risk(t̂) <= 1 − target ) >= confidence

over validation sets of exchangeable clusters, such as patients, where the risk of a threshold t is
the expected error of a new cluster, such as the share of its positive groups that score below t;
`groupcm.metrics.targets` defines the error of each target. Every cluster has the same weight.
Thresholds are tested in a fixed sequence, from the one without any error on, and the last that
passes is chosen; errors only grow along the sequence, so that no correction for many tests is
needed.

    error of a cluster 0 or 1    P( Bin(n, α) <= errors ) <= δ                       exact
    any between                  Σ_c log( 1 + λ (α − x_c) ) >= log(1/δ)               a bet

for n clusters with the errors x_c, α = 1 − target and δ = 1 − confidence. The second one is a bet
on the mean of the errors being at most α: where it is larger, the product of 1 + λ (α − x_c) has at
most the expectation 1, so that it reaches 1/δ with probability δ at most (Markov). The stake

    λ = (α − q) / (α (1 − α)),    n kl(q, α) = log(1/δ),    q = 0 where that has no solution

is the best one where all errors are 0 or 1; as the logarithm is concave, the bet is won wherever
Hoeffding's bound exp(−n kl(x̄, α)) <= δ holds, and sooner where the errors of clusters vary less.

The names of the levels and the fixed sequence follow A. N. Angelopoulos et al. (2021), "Learn then
Test"; bets on means are those of I. Waudby-Smith and A. Ramdas (2024), "Estimating means of bounded
random variables by betting", Journal of the Royal Statistical Society B 86.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import bdtr, rel_entr

from groupcm.errors import MessageWarning
from groupcm.metrics.clusters import read_clusters
from groupcm.metrics.targets import (
    Errors,
    Target,
    alarms_of_negatives,
    errors_of,
    lowest_with_few_alarms,
)
from groupcm.metrics.truth import Truth
from groupcm.utils.typing import Vector

__all__ = [
    "Guarantee",
    "TooFewCasesWarning",
    "guaranteed_threshold",
    "required_cases",
    "threshold_of_clusters",
]


_ROUNDING = 1e-9  # of a sum of logarithms


class TooFewCasesWarning(MessageWarning):
    """There are too few clusters for a guarantee at the wanted target and confidence."""


@dataclass(frozen=True)
class Guarantee:
    """What a threshold is guaranteed to keep on new clusters, such as patients.

    Attributes
    ----------
    target : {"sensitivity", "specificity", "patient_sensitivity", "false_alarms"}
    target_level : float
        The least value of the target; of false alarms per group the largest.
    confidence_level : float
        The probability, over validation sets, that the target is kept.
    n_clusters : int
        The number of clusters that the guarantee rests on, those of the target's class.
    exact : bool
        Whether the error of each is 0 or 1, such as of one group, so that the binomial
        distribution applies.
    most_per_group : int or None
        For false alarms, the most that are counted in one group.
    """

    target: str
    target_level: float
    confidence_level: float
    n_clusters: int
    exact: bool
    most_per_group: int | None = None


def required_cases(target_level: float, confidence_level: float) -> int:
    """Compute the smallest number of clusters with which a guarantee is possible at all.

        n = ⌈ log(1 − confidence) / log(target) ⌉

    With exactly this number, all of them must be classified correctly.

    Parameters
    ----------
    target_level, confidence_level : float
        Between 0 and 1, exclusively.

    Examples
    --------
    >>> required_cases(0.95, 0.9), required_cases(0.99, 0.95)
    (45, 299)
    """
    n = max(1, math.ceil(math.log(1.0 - confidence_level) / math.log(target_level)))
    # The quotient may be rounded to either side of a whole number.
    while n > 1 and target_level ** (n - 1) <= 1.0 - confidence_level:
        n -= 1
    while target_level**n > 1.0 - confidence_level:
        n += 1
    return n


def guaranteed_threshold(
    errors: Errors, thresholds: ArrayLike, target: Target, confidence_level: float
) -> tuple[float, Guarantee]:
    """Choose the threshold furthest from no error whose target is guaranteed.

    Parameters
    ----------
    errors : Errors
        Of the clusters of the validation data; see `groupcm.metrics.targets.errors_of`.
    thresholds : array-like
        Thresholds to choose among.
    target : Target
    confidence_level : float

    Returns
    -------
    threshold : float
        Where there are too few clusters, NaN for a sensitivity and ∞, at which no group raises an
        alarm, for the others; with a warning that states how many are needed.
    guarantee : Guarantee

    Examples
    --------
    >>> scores = np.arange(100.0)
    >>> errors = Errors(scores, np.ones(100), np.arange(100), True, 100, True)
    >>> threshold, guarantee = guaranteed_threshold(errors, scores, Target("sensitivity", 0.9), 0.9)
    >>> threshold, guarantee.exact
    (5.0, True)
    """
    if not 0.0 < confidence_level < 1.0:
        raise ValueError(
            f"a confidence level of {confidence_level!r} cannot be guaranteed; it must be between "
            "0 and 1, exclusively."
        )
    risk = _largest_risk(target, errors.most)
    among = np.unique(np.asarray(thresholds, np.float64))
    among = among[np.isfinite(among)]
    risk_of_error = 1.0 - confidence_level
    if errors.is_exact:
        passes = binomial_p_value(errors.at(among), errors.n_clusters, risk) <= risk_of_error
    else:
        passes = errors.bets(among, risk, stake(errors.n_clusters, risk, risk_of_error)) >= (
            -math.log(risk_of_error) - _ROUNDING
        )
    guarantee = Guarantee(
        target.name,
        target.value,
        confidence_level,
        errors.n_clusters,
        errors.is_exact,
        int(errors.most) if target.name == "false_alarms" else None,
    )
    if not passes.any():
        _warn_of_too_few(guarantee, risk)
        return (math.nan if target.is_missed else math.inf), guarantee
    # Errors only grow along the sequence, so that all thresholds before the last one pass, too.
    chosen = np.flatnonzero(passes)[-1 if target.is_missed else 0]
    return float(among[chosen]), guarantee


def _largest_risk(target: Target, most: float) -> float:
    """Return the largest mean error that the target allows, between 0 and 1."""
    if target.name != "false_alarms":
        if not 0.0 < target.value < 1.0:
            raise ValueError(
                f"a target level of {target.value!r} cannot be guaranteed; it must be between 0 "
                "and 1, exclusively."
            )
        return 1.0 - target.value
    if not 0.0 < target.value < most:
        raise ValueError(
            f"at most {target.value:g} false alarms per group cannot be guaranteed; the number "
            f"must be above 0 and below {most:g}, the most that are counted in one group."
        )
    return target.value / most


def threshold_of_clusters(
    target: Target,
    truth: Truth,
    is_positive: NDArray[np.bool_],
    scores: Vector,
    clusters: ArrayLike | None,
    confidence: float | None,
    most_per_group: int | None,
) -> tuple[float, Guarantee | None]:
    """Choose the threshold for a target of clusters, or the guaranteed one for any target.

    ``is_positive``, ``scores`` and ``clusters`` are of candidates, ``truth`` is of groups.

    Examples
    --------
    >>> truth = Truth(np.array([True, True, False]), np.array([2.0, 1.0, 0.0]))
    >>> threshold_of_clusters(Target("patient_sensitivity", 1.0), truth, truth.is_positive,
    ...                       truth.scores, ["p", "p", "q"], None, None)
    (2.0, None)
    """
    found = read_clusters(clusters, truth.index, len(scores))
    among, negatives = truth.scores, None
    if target.name == "false_alarms":
        codes = None if truth.index is None else truth.index.codes
        among, negatives = scores, alarms_of_negatives(is_positive, scores, codes)
        if confidence is None:
            most = target.value * len(truth.is_positive)
            return lowest_with_few_alarms(negatives[0], scores, most), None
    errors = errors_of(target, truth, found, negatives, most_per_group)
    if confidence is not None:
        return guaranteed_threshold(errors, among, target, confidence)
    falling = -np.sort(-errors.scores)
    chosen_at = float(falling[max(0, math.ceil(target.value * len(falling) - 1e-9) - 1)])
    if chosen_at == -math.inf:
        raise ValueError(
            f"no threshold reaches the patient_sensitivity {target.value:g}: the positive groups "
            "of too many patients have no candidates (score -inf)."
        )
    return chosen_at, None


def binomial_p_value(errors: ArrayLike, n: int, risk: float) -> NDArray[np.float64]:
    """Compute the exact p-value of the hypothesis that the risk is larger than ``risk``.

        P( Bin(n, risk) <= n · errors )

    Examples
    --------
    >>> binomial_p_value(0.0, 45, 0.05).round(4)
    np.float64(0.0994)
    """
    counts = np.rint(n * np.asarray(errors, dtype=np.float64))
    return bdtr(counts, n, risk)


def stake(n: int, risk: float, level: float) -> float:
    """Compute the stake λ of the bet that the mean error of n clusters is at most ``risk``.

    Examples
    --------
    >>> round(stake(200, 0.1, 0.1), 3), round(stake(5, 0.1, 0.1), 3)
    (0.469, 1.111)
    """

    def excess(q: float) -> float:
        return n * float(rel_entr(q, risk) + rel_entr(1.0 - q, 1.0 - risk)) + math.log(level)

    q: Any = 0.0 if excess(0.0) <= 0.0 else brentq(excess, 0.0, risk)
    return min((risk - q) / (risk * (1.0 - risk)), 1.0 / (1.0 - risk))


def _warn_of_too_few(guarantee: Guarantee, risk: float) -> None:
    needed = required_cases(1.0 - risk, guarantee.confidence_level)
    goal = f"a {guarantee.target} of {guarantee.target_level:g}"
    what, wrong = "positive groups", "miss their positive groups at every score"
    if guarantee.target == "specificity":
        what, wrong = "negative groups", "have negative groups above every score"
    elif guarantee.target == "patient_sensitivity":
        goal = f"a sensitivity of {guarantee.target_level:g} per patient"
    elif guarantee.target == "false_alarms":
        goal = f"at most {guarantee.target_level:g} false alarms per group"
        what, wrong = "groups", "have false alarms above every score"
    enough = guarantee.n_clusters >= needed
    more = f"too many of them {wrong}" if enough else f"at least {needed} are needed"
    warnings.warn(
        TooFewCasesWarning(
            f"no threshold guarantees {goal} with a confidence of {guarantee.confidence_level:g} "
            f"from {guarantee.n_clusters} clusters, such as patients, with {what}: {more}."
        ),
        stacklevel=5,
    )
