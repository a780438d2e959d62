"""Thresholds that keep a target on new patients with a stated confidence.

    P( risk(t̂) <= 1 − target ) >= confidence

over validation sets of exchangeable clusters, such as patients, where the risk of a threshold t is
the expected share of a new cluster's positive groups that score below t (sensitivity), or of its
negative groups that score at least t (specificity). Every cluster has the same weight. Thresholds
are tested in a fixed sequence, from the one without any error on, and the last that passes is
chosen; errors only grow along the sequence, so that no correction for many tests is needed.

    one group per cluster     p = P( Bin(n, α) <= errors ),    α = 1 − target           exact
    several groups            p = min( exp(−n kl(x̄, α)),  e P( Bin(n, α) <= ⌈n x̄⌉ ) )

The second p-value is that of Hoeffding and Bentkus for means x̄ of n independent shares. The names
of the levels and the method follow A. N. Angelopoulos et al. (2021), "Learn then Test".
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, rel_entr

from groupcm.errors import MessageWarning
from groupcm.utils.typing import Vector

__all__ = ["Guarantee", "TooFewCasesWarning", "guaranteed_threshold", "required_cases"]


class TooFewCasesWarning(MessageWarning):
    """There are too few clusters for a guarantee at the wanted target and confidence."""


@dataclass(frozen=True)
class Guarantee:
    """What a threshold is guaranteed to keep on new clusters, such as patients.

    Attributes
    ----------
    target : {"sensitivity", "specificity"}
    target_level : float
        The least value of the target.
    confidence_level : float
        The probability, over validation sets, that the target is kept.
    n_clusters : int
        The number of clusters that the guarantee rests on, those of the target's class.
    exact : bool
        Whether each of them holds one group, so that the binomial distribution applies.
    """

    target: str
    target_level: float
    confidence_level: float
    n_clusters: int
    exact: bool


def required_cases(target_level: float, confidence_level: float) -> int:
    """Compute the smallest number of clusters with which a guarantee is possible at all.

        n = ⌈ log(1 − confidence) / log(target) ⌉

    With so many, the threshold may not err on any of them.

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
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    target: str,
    target_level: float,
    confidence_level: float,
    thresholds: ArrayLike | None = None,
) -> tuple[float, Guarantee]:
    """Choose the threshold furthest from no error whose target is guaranteed.

    Parameters
    ----------
    scores : array-like of shape (n,)
        The scores of the positive groups for a sensitivity, of the negative ones for a
        specificity; −∞ for groups without candidates.
    clusters : array-like of shape (n,)
        The cluster of each group.
    target : {"sensitivity", "specificity"}
    target_level, confidence_level : float
    thresholds : array-like, optional
        Thresholds to choose among; the scores themselves where it is not given.

    Returns
    -------
    threshold : float
        Where there are too few clusters, NaN for a sensitivity and ∞, at which no group raises an
        alarm, for a specificity; with a warning that states how many are needed.
    guarantee : Guarantee

    Examples
    --------
    >>> threshold, guarantee = guaranteed_threshold(
    ...     np.arange(100.0), np.arange(100), target="sensitivity", target_level=0.9,
    ...     confidence_level=0.9)
    >>> threshold, guarantee.exact
    (5.0, True)
    """
    for name, value in (("target", target_level), ("confidence", confidence_level)):
        if not 0.0 < value < 1.0:
            raise ValueError(
                f"a {name} level of {value!r} cannot be guaranteed; it must be between 0 and 1, "
                "exclusively."
            )
    values = np.asarray(scores, dtype=np.float64)
    _, cluster, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    n_clusters = len(sizes)
    exact = bool(np.all(sizes == 1))
    among = np.unique(values if thresholds is None else np.asarray(thresholds, np.float64))
    among = among[np.isfinite(among)]
    errors = _mean_errors(values, 1.0 / (n_clusters * sizes[cluster]), among, target)
    of_errors = binomial_p_value if exact else hoeffding_bentkus_p_value
    passes = of_errors(errors, n_clusters, 1.0 - target_level) <= 1.0 - confidence_level
    guarantee = Guarantee(target, target_level, confidence_level, n_clusters, exact)
    if not passes.any():
        _warn_of_too_few(guarantee)
        return (math.nan if target == "sensitivity" else math.inf), guarantee
    chosen = np.flatnonzero(passes)[-1 if target == "sensitivity" else 0]
    return float(among[chosen]), guarantee


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


def hoeffding_bentkus_p_value(errors: ArrayLike, n: int, risk: float) -> NDArray[np.float64]:
    """Compute a p-value of the hypothesis that the mean of n shares is larger than ``risk``.

        min( exp(−n kl(x̄, risk)),  e P( Bin(n, risk) <= ⌈n x̄⌉ ) )

    It is valid for independent shares of any distribution between 0 and 1.

    Examples
    --------
    >>> hoeffding_bentkus_p_value(0.0, 45, 0.05).round(4)
    np.float64(0.0994)
    """
    mean = np.asarray(errors, dtype=np.float64)
    x = np.minimum(mean, risk)
    divergence = rel_entr(x, risk) + rel_entr(1.0 - x, 1.0 - risk)
    # A whole number that is rounded up a little must not become the next one.
    counts = np.minimum(np.ceil(n * mean - 1e-9), n)
    return np.minimum(np.exp(-n * divergence), math.e * bdtr(counts, n, risk))


def _mean_errors(scores: Vector, weight: Vector, thresholds: Vector, target: str) -> Vector:
    """Return the weighted share of groups that are wrong at each threshold."""
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    missed = below[np.searchsorted(scores, thresholds, side="left", sorter=order)]
    return missed if target == "sensitivity" else below[-1] - missed


def _warn_of_too_few(guarantee: Guarantee) -> None:
    side = "positive" if guarantee.target == "sensitivity" else "negative"
    needed = required_cases(guarantee.target_level, guarantee.confidence_level)
    more = (
        f"at least {needed} are needed"
        if guarantee.n_clusters < needed
        else f"with so many, too many of their {side} groups are on the wrong side of every score"
    )
    warnings.warn(
        TooFewCasesWarning(
            f"no threshold guarantees a {guarantee.target} of {guarantee.target_level:g} with a "
            f"confidence of {guarantee.confidence_level:g} from {guarantee.n_clusters} clusters "
            f"with {side} groups: {more}."
        ),
        stacklevel=4,
    )
