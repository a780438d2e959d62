"""Areas under the curves of many models, with what training and testing leave open.

    A_b(t) = mean over repeats r of draw b of AUC_b(t, r)

Resample b draws test patients again and, where there are several training sets, these too,
both with replacement; all models share it. The interval of ``A_b`` then holds what another
test set and another training set would change. A difference of two models is taken resample by
resample, and its p-value is that of `groupcm.metrics.compare`, whose result this is where
there is one training set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groupcm.experiments.test_set import Entries
from groupcm.experiments.trial import Trial
from groupcm.metrics import Comparison, Interval, group_roc_auc
from groupcm.metrics.comparison import _p_value
from groupcm.metrics.resampled import resampled_metric
from groupcm.metrics.resampling import Resampling

__all__ = ["Areas"]


class Areas:
    """The AUC of every model, on groups or on candidates.

    Parameters
    ----------
    trials : sequence of Trial
    entries : Entries
        The truth.
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
        self.of_repeats = np.reshape(found.estimates, (len(trials), n_repeats))
        values = found.values.reshape(-1, len(trials), n_repeats)
        drawn = np.random.default_rng([seed, 4]).integers(n_repeats, size=(len(values), n_repeats))
        self._means = np.take_along_axis(values, drawn[:, None, :], axis=2).mean(axis=2)

    def of(self, trial: Trial) -> Interval:
        """The mean AUC over training sets."""
        k = self._number[trial]
        return self._resampling.interval(float(self.of_repeats[k].mean()), self._means[:, k])

    def repeats(self, trial: Trial) -> NDArray[np.float64]:
        """The AUC of each training set."""
        return self.of_repeats[self._number[trial]]

    def difference(self, a: Trial, b: Trial) -> Comparison:
        """``a − b``, on the same test patients and training sets."""
        one, other = self._number[a], self._number[b]
        differences = self._means[:, one] - self._means[:, other]
        estimate = float(np.mean(self.of_repeats[one] - self.of_repeats[other]))
        return Comparison(
            a=self.of(a),
            b=self.of(b),
            difference=self._resampling.interval(estimate, differences),
            p_value=_p_value(estimate, differences),
            n_resamples=len(differences),
            metric="group_roc_auc",
        )
