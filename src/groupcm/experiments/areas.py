"""The AUC of methods that were trained repeatedly, and its variation over two crossed factors.

Every model of R training sets is tested on the same P patients. With ``D_r`` the AUC, or a
difference of two, of training set r, and ``ψ_p`` the influence of test patient p on the mean ``D``
(`groupcm.experiments.testing`)

    Var(D) = s²(D_r) / R  +  P / (P − 1) Σ_p ψ_p²

The first term contains what varies between training sets, the second what varies between test
patients with these training sets. The part that varies with both, a training set that suits some
patients, is in each of them: the sum is a little too large rather than too small. Intervals and
p-values use Student's t with the degrees of freedom of Welch and Satterthwaite, the test set
counting as many as it has patients with polyps, less one. A bootstrap over few training sets has
intervals that are too short; this has not (``python -m benchmarks.coverage --crossed``).

**Few large training sets, many smaller ones.** The largest size n is trained on the first F of R
sets, the size before it, m, on all. As the smaller training sets are parts of the larger, the
difference between n and m varies little, and

    D = 1/R Σ_{all r} D_r(m)  +  1/F Σ_{r ≤ F} (D_r(n) − D_r(m))

is a mean over all sets plus a correction from the few: both factors enter the variance as above,
with the sets that have the size n and those that do not as two strata.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from groupcm.evaluation.results import Roc
from groupcm.experiments.sizes import Trial
from groupcm.experiments.testing import Tested
from groupcm.metrics import Interval, RocCurve
from groupcm.utils.typing import Vector

__all__ = ["Areas", "Crossed", "crossed", "mean_interval", "mean_roc"]

_POINTS = 200
_LEFT = 1e-5  # where curves begin
_LEVEL = 0.95


@dataclass(frozen=True)
class Crossed:
    """A mean over training sets and test patients, and what it varies with.

    Attributes
    ----------
    interval : Interval
        The estimate with its 95 % interval; NaN where there is one training set.
    p_value : float
        Of the hypothesis that the value is 0.
    of_sets, of_patients : float
        The two parts of the variance.
    n_sets, n_patients : int
        The training sets, and the test patients with polyps.
    """

    interval: Interval
    p_value: float
    of_sets: float
    of_patients: float
    n_sets: int
    n_patients: int

    def needed(self, half_width: float) -> tuple[float, float, float]:
        """Return what an interval so narrow would take.

        Parameters
        ----------
        half_width : float

        Returns
        -------
        n_sets : float
            Training sets, with the test patients as they are; infinity where no number suffices.
        n_patients : float
            Test patients with polyps, with the training sets as they are.
        factor : float
            How many times as many of both.

        Examples
        --------
        >>> found = Crossed(Interval(0.01, -0.02, 0.04), 0.3, 1e-4, 1e-4, 10, 100)
        >>> [round(number, 1) for number in found.needed(0.025)]
        [25.7, 257.1, 1.4]
        """
        total = self.of_sets + self.of_patients
        width = (self.interval.high - self.interval.low) / 2
        allowed = total * (half_width / width) ** 2

        def grown(own: float, other: float, n: int) -> float:
            return math.inf if other >= allowed else n * max(1.0, own / (allowed - other))

        return (
            grown(self.of_sets, self.of_patients, self.n_sets),
            grown(self.of_patients, self.of_sets, self.n_patients),
            max(1.0, total / allowed) if allowed > 0 else math.inf,
        )


def crossed(
    parts: Sequence[Vector], influence: Vector, n_polyp_patients: int, *, n_sets: int
) -> Crossed:
    """Combine the contributions of training sets with the influences of test patients.

    Parameters
    ----------
    parts : sequence of ndarray
        What each training set contributes to the sum, by stratum.
    influence : ndarray of shape (n_patients,)
        Of the sum.
    n_polyp_patients : int
    n_sets : int

    Examples
    --------
    >>> found = crossed([np.array([0.004, 0.006])], np.array([1e-3, -1e-3]), 2, n_sets=2)
    >>> round(found.interval.estimate, 3), round(found.of_sets, 7), round(found.of_patients, 7)
    (0.01, 4e-06, 4e-06)
    """
    estimate = float(sum(part.sum() for part in parts))
    n = len(influence)
    of_patients = float(n / max(n - 1, 1) * np.sum(influence**2))
    variances, freedoms = [of_patients], [max(n_polyp_patients - 1, 1)]
    for part in parts:
        # One training set, or one of a stratum, does not show how much others would vary.
        if len(part) > 1:
            variances.append(float(len(part) * np.var(part, ddof=1)))
            freedoms.append(len(part) - 1)
    of_sets = sum(variances[1:])
    total = of_patients + of_sets
    known = n_sets > 1 and all(len(part) != 1 for part in parts)
    if not known or total <= 0.0:
        return Crossed(
            Interval(estimate, math.nan, math.nan), math.nan, of_sets, of_patients, n_sets,
            n_polyp_patients,
        )  # fmt: skip
    freedom = total**2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    error = math.sqrt(total)
    reach = float(t.ppf((1 + _LEVEL) / 2, freedom)) * error
    p_value = float(2 * t.sf(abs(estimate) / error, freedom))
    interval = Interval(estimate, max(estimate - reach, -1.0), min(estimate + reach, 1.0))
    return Crossed(interval, p_value, of_sets, of_patients, n_sets, n_polyp_patients)


class Areas:
    """The AUC of every model of every training set, on one level of one test set.

    Parameters
    ----------
    trials : sequence of sequence of Trial
        The models of each training set; the sets that have the most come first.
    auc : ndarray of shape (n_models,)
        Of all models, one training set after the other.
    influence : ndarray of shape (n_models, n_patients)
    n_polyp_patients : int

    Examples
    --------
    >>> trials = [[Trial("GCM", 5), Trial("GCM", 50)]] * 2 + [[Trial("GCM", 5)]] * 2
    >>> auc = np.array([0.7, 0.8, 0.72, 0.83, 0.6, 0.62])
    >>> areas = Areas(trials, auc, np.zeros((6, 9)), 9)
    >>> areas.repeats(Trial("GCM", 50))
    array([0.8 , 0.83])
    >>> round(areas.of(Trial("GCM", 50)).interval.estimate, 3)  # 0.66 + 0.105
    0.765
    """

    def __init__(
        self,
        trials: Sequence[Sequence[Trial]],
        auc: Vector,
        influence: Vector,
        n_polyp_patients: int,
    ) -> None:
        self._place: list[dict[Trial, int]] = []
        at = 0
        for of_set in trials:
            self._place.append({trial: at + k for k, trial in enumerate(of_set)})
            at += len(of_set)
        self._auc, self._influence = auc, influence
        self._n_polyp_patients = n_polyp_patients

    def repeats(self, trial: Trial) -> NDArray[np.float64]:
        """Return the AUC with each training set that has this model."""
        return self._auc[[place[trial] for place in self._place if trial in place]]

    def repeated_difference(self, a: Trial, b: Trial) -> NDArray[np.float64]:
        """Return ``a − b`` with each training set that has both models."""
        both = [place for place in self._place if a in place and b in place]
        return self._auc[[place[a] for place in both]] - self._auc[[place[b] for place in both]]

    def of(self, trial: Trial) -> Crossed:
        """Return the mean AUC over training sets and test patients."""
        found = self._combined([(trial, 1.0)])
        interval = Interval(*(min(max(bound, 0.0), 1.0) for bound in found.interval))
        return replace(found, interval=interval)

    def difference(self, a: Trial, b: Trial) -> Crossed:
        """Compute ``a − b`` on the same test patients and training sets."""
        return self._combined([(a, 1.0), (b, -1.0)])

    def _combined(self, wanted: list[tuple[Trial, float]]) -> Crossed:
        n_sets = len(self._place)
        few = [place for place in self._place if all(trial in place for trial, _ in wanted)]
        weights = np.zeros(len(self._auc))
        contribution = np.zeros(n_sets)

        def add(r: int, trial: Trial, weight: float) -> None:
            at = self._place[r][trial]
            weights[at] += weight
            contribution[r] += weight * self._auc[at]

        for r, place in enumerate(self._place):
            for trial, sign in wanted:
                smaller = trial if len(few) == n_sets else self._smaller(trial)
                add(r, smaller, sign / n_sets)
                if place in few and smaller != trial:
                    add(r, trial, sign / len(few))
                    add(r, smaller, -sign / len(few))
        influence = weights @ self._influence
        strata = [contribution[: len(few)], contribution[len(few) :]]
        return crossed(
            [part for part in strata if len(part)], influence, self._n_polyp_patients, n_sets=n_sets
        )

    def _smaller(self, trial: Trial) -> Trial:
        """Return the model itself if all sets have it, else the same of the size before."""
        if all(trial in place for place in self._place):
            return trial
        in_all = [
            other
            for other in self._place[-1]
            if (other.method, other.variant) == (trial.method, trial.variant)
        ]
        return max(in_all, key=lambda other: other.negatives)


def mean_roc(
    tested: Tested,
    level: int,
    models: Sequence[int],
    auc: Interval,
    *,
    n_resamples: int = 500,
    seed: int = 0,
) -> Roc:
    """Average ROC curves at equal shares of false alarms, with a 95 % band.

    The band is that of a bootstrap that draws test patients and training sets, both with
    replacement. Its curves are known at coarse steps only: the difference that drawing makes there
    is added to the curve itself.

    Parameters
    ----------
    tested : Tested
    level : int
        0 for candidates, 1 for groups.
    models : sequence of int
        The model of each training set.
    auc : Interval
    n_resamples, seed : int
    """
    n_negative = int(tested.n_negative[level])
    ends = np.geomspace(max(1 / n_negative, _LEFT), 1.0, _POINTS), np.linspace(0, 1, _POINTS)
    grid = np.unique(np.concatenate([[0.0], *ends]))
    tpr = {model: np.interp(grid, *_steps(tested, level, model)) for model in set(models)}
    mean = np.mean([tpr[model] for model in models], axis=0)
    curve = RocCurve(grid, mean, np.full(len(grid), np.nan))
    rng = np.random.default_rng([seed, 4])
    n_patients = tested.coarse_negatives.shape[2]
    everyone = np.ones(n_patients, np.int64)
    finer = {m: tpr[m] - _coarse_curve(tested, level, m, everyone, grid) for m in tpr}
    drawn = np.zeros((n_resamples, len(grid)))
    for b in range(n_resamples):
        weight = np.bincount(rng.integers(n_patients, size=n_patients), minlength=n_patients)
        for model in rng.choice(models, len(models)):
            found = _coarse_curve(tested, level, model, weight, grid) + finer[model]
            drawn[b] += found / len(models)
    low, high = np.clip(np.quantile(drawn, [0.025, 0.975], axis=0), 0.0, 1.0)
    # The sum of both need not increase everywhere.
    low, high = np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)
    return Roc(curve, auc, grid, np.minimum(low, curve.tpr), np.maximum(high, curve.tpr))


def _coarse_curve(
    tested: Tested, level: int, model: int, weight: NDArray[np.int64], grid: Vector
) -> Vector:
    """Return the curve of a model with weights of test patients, from the coarse bins."""
    negatives = _shares_above(weight @ tested.coarse_negatives[level, model])
    positives = _shares_above(weight @ tested.coarse_positives[level, model])
    return np.interp(grid, negatives, positives)


def _steps(tested: Tested, level: int, model: int) -> tuple[Vector, Vector]:
    fpr, tpr = tested.fpr[level, model], tested.tpr[level, model]
    last = np.flatnonzero(np.diff(fpr, append=2.0))
    return np.append(0.0, fpr[last]), np.append(tpr[fpr == 0].max(initial=0.0), tpr[last])


def _shares_above(counts: Vector) -> Vector:
    above = np.append(0, np.cumsum(counts[::-1]))
    return above / max(above[-1], 1)


def mean_interval(values: NDArray[np.float64], n_folds: int, level: float = 0.95) -> Interval:
    """Return the mean of one value per repeat, with its interval.

    The bounds are NaN where the variation is unknown: with fewer than two repeats, or with repeats
    that are all the same.

    Examples
    --------
    >>> found = mean_interval(np.array([0.8, 0.82, 0.81, 0.83, 0.79]), n_folds=5)
    >>> [round(number, 3) for number in found]
    [0.81, 0.781, 0.839]
    """
    n = len(values)
    mean = float(np.mean(values))
    if n < 2 or np.ptp(values) == 0.0:
        return Interval(mean, math.nan, math.nan)
    error = float(np.std(values, ddof=1)) * np.sqrt(1 / n + 1 / (n_folds - 1))
    reach = float(t.ppf((1 + level) / 2, n - 1) * error)
    return Interval(mean, mean - reach, mean + reach)
