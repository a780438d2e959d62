"""The AUC and the mean ROC curve of models that were trained repeatedly.

    A_b = m_b + sqrt(R / (R − 1)) (d_b − m_b),    d_b = mean over r in D_b of AUC_b(r)

Resample b draws test patients and, of R training sets, R (``D_b``), both with replacement; all
models share it. ``AUC_b(r)`` is the area of the model of training set r on the patients of resample
b, ``m_b`` its mean over all r. The root corrects for the drawn sets being closer to their own mean
than to that of all possible training sets. The interval of ``A_b`` thus covers the variation of the
test set and of the training sets. A difference of two models is taken resample by resample, and its
p-value is that of `groupcm.metrics.compare`, which this equals with one training set.

    tpr(x) = mean over repeats r of tpr_r(x)

is the mean ROC curve, where ``tpr_r(x)`` is the largest sensitivity of repeat r with at most a
share x of false alarms; its area is the mean of the areas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from groupcm.evaluation.results import Roc
from groupcm.experiments.datasets import Entries
from groupcm.experiments.sizes import Trial
from groupcm.metrics import Comparison, Interval, RocCurve, group_roc_auc, group_roc_curve
from groupcm.metrics.bootstrap import resampled_metric
from groupcm.metrics.comparison import normal_p_value
from groupcm.metrics.intervals import difference_at_edges, ranked_alike
from groupcm.metrics.resampling import Resampling

__all__ = ["Areas", "mean_interval", "mean_roc"]

_POINTS = 400


class Areas:
    """The AUC of every model, on groups or on candidates.

    Parameters
    ----------
    trials : sequence of Trial
    entries : Entries
        The labels and patients.
    scores : ndarray of shape (n_repeats, n_entries, n_trials)
    n_resamples : int
    level : float
    seed : int

    Attributes
    ----------
    of_repeats : ndarray of shape (n_trials, n_repeats)
        The AUC of each trained model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = Entries(np.arange(90) % 3 == 0, np.arange(90) // 2)
    >>> good, bad = Trial("GCM", 5000), Trial("SVM", 5000)
    >>> scores = rng.standard_normal((2, 90, 2)) + np.outer(truth.positive, [2.0, 0.5])
    >>> areas = Areas([good, bad], truth, scores, n_resamples=200)
    >>> areas.difference(good, bad).difference.low > 0, areas.of_repeats.shape
    (True, (2, 2))
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        entries: Entries,
        scores: NDArray[np.float64],
        *,
        n_resamples: int = 2000,
        level: float = 0.95,
        seed: int = 0,
    ) -> None:
        n_repeats = len(scores)
        self._number = {trial: k for k, trial in enumerate(trials)}
        self._resampling = Resampling(level=level, n_resamples=n_resamples, random_state=seed)
        found = resampled_metric(
            entries.positive,
            [repeat[:, k] for k in range(len(trials)) for repeat in scores],
            None,
            metric=group_roc_auc,
            clusters=entries.patient,
            resampling=self._resampling,
        )
        self._n_clusters, self._edges, self._scores = found.n_clusters, found.edges, found.scores
        self.of_repeats = np.reshape(found.estimates, (len(trials), n_repeats))
        values = found.values.reshape(-1, len(trials), n_repeats)
        self._means = values.mean(axis=2)
        if n_repeats > 1:
            random = np.random.default_rng([seed, 4])
            drawn = random.integers(n_repeats, size=(len(values), 1, n_repeats))
            again = np.take_along_axis(values, drawn, axis=2).mean(axis=2)
            self._means += np.sqrt(n_repeats / (n_repeats - 1)) * (again - self._means)

    def of(self, trial: Trial) -> Interval:
        """Return the mean AUC over training sets."""
        k = self._number[trial]
        # The correction above may lead beyond 0 or 1.
        means = np.clip(self._means[:, k], 0.0, 1.0)
        estimate = float(self.of_repeats[k].mean())
        interval = self._resampling.interval(estimate, means, self._n_clusters)
        return self._edges.widened(interval, self._resampling.level)

    def _scores_of(self, number: int) -> list[NDArray[np.float64]]:
        n_repeats = self.of_repeats.shape[1]
        return self._scores[number * n_repeats : (number + 1) * n_repeats]

    def repeats(self, trial: Trial) -> NDArray[np.float64]:
        """Return the AUC of each training set."""
        return self.of_repeats[self._number[trial]]

    def difference(self, a: Trial, b: Trial) -> Comparison:
        """Compute ``a − b`` on the same test patients and training sets."""
        one, other = self._number[a], self._number[b]
        differences = self._means[:, one] - self._means[:, other]
        estimate = float(np.mean(self.of_repeats[one] - self.of_repeats[other]))
        interval = self._resampling.interval(
            estimate, np.clip(differences, -1.0, 1.0), self._n_clusters
        )
        is_same = all(map(ranked_alike, self._scores_of(one), self._scores_of(other)))
        of_both = self._means[:, [one, other]]
        return Comparison(
            a=self.of(a),
            b=self.of(b),
            difference=difference_at_edges(self.of(a), self.of(b), interval, of_both, is_same),
            p_value=normal_p_value(estimate, differences, self._n_clusters),
            n_resamples=len(differences),
            metric="group_roc_auc",
        )


def mean_roc(entries: Entries, scores: NDArray[np.float64], auc: Interval) -> Roc:
    """Average curves at equal shares of false alarms; the band is the range of the repeats.

    Parameters
    ----------
    entries : Entries
    scores : ndarray of shape (n_repeats, n_entries)
    auc : Interval
        The interval of the mean area.

    Examples
    --------
    >>> entries = Entries(np.array([True, False, True, False]), np.arange(4))
    >>> roc = mean_roc(entries, np.array([[4.0, 3, 2, 1], [4, 1, 3, 2]]), Interval(0.9, 0.7, 1))
    >>> roc.curve.tpr[[0, -1]], roc.band_low[0], roc.band_high[0]
    (array([0.75, 1.  ]), np.float64(0.5), np.float64(1.0))
    """
    n_negative = int(np.count_nonzero(~entries.positive))
    grid = np.unique(
        np.concatenate(
            [[0.0], np.geomspace(1 / n_negative, 1.0, _POINTS), np.linspace(0, 1, _POINTS)]
        )
    )
    found = np.stack([_sensitivity(entries, one, grid) for one in scores])
    curve = RocCurve(grid, found.mean(axis=0), np.full(len(grid), np.nan))
    return Roc(curve, auc, grid, found.min(axis=0), found.max(axis=0))


def _sensitivity(
    entries: Entries, scores: NDArray[np.float64], fpr: NDArray[np.float64]
) -> NDArray[np.float64]:
    curve = group_roc_curve(entries.positive, scores)
    at = np.searchsorted(curve.fpr, fpr + 1e-12, side="right") - 1
    return curve.tpr[at]


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
