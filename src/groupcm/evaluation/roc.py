"""A ROC curve with the interval of its area and the band around it.

Groups and candidates are the same thing here: without ``groups`` every row counts alone, and
``clusters`` says which rows are drawn together when the data is drawn again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.evaluation.numbers import Roc
from groupcm.evaluation.thinning import thinned
from groupcm.metrics import bootstrap_interval, group_roc_curve, roc_band

__all__ = ["BAND_FPR", "roc_of"]

# Where the band is known: closer together where specificity is high.
BAND_FPR: NDArray[np.float64] = np.unique(
    np.concatenate([[0.0], np.geomspace(1e-3, 0.1, 21), np.linspace(0.1, 1.0, 46)])
)


def roc_of(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
) -> Roc:
    """The ROC curve of groups, its area with an interval, and the band of its sensitivity.

    Parameters
    ----------
    y, scores : array-like of shape (n,)
        A label and a score a candidate; the larger label is the positive one.
    groups : array-like of shape (n,), optional
        The group of each candidate. Without it every row counts alone: that is the ROC curve
        of candidates.
    clusters : array-like of shape (n,), optional
        What is drawn together when the data is drawn again: the patient of each candidate, or
        for the curve of candidates their group. By default the groups.
    n_resamples : int, default=2000
    level : float, default=0.95
        Of the interval, and of the band at each false positive rate.
    random_state : int, default=0

    Returns
    -------
    Roc

    Examples
    --------
    >>> y = np.arange(60) % 3 == 0
    >>> scores = 2 * y + np.random.default_rng(0).normal(size=60)
    >>> roc = roc_of(y, scores, groups=np.arange(60) // 2, n_resamples=200)
    >>> roc.auc.low < roc.auc.estimate < roc.auc.high, len(roc.band_low) == len(roc.band_fpr)
    (True, True)
    """
    options: dict[str, Any] = {
        "clusters": clusters,
        "n_resamples": n_resamples,
        "level": level,
        "random_state": random_state,
    }
    auc = bootstrap_interval(y, scores, groups, metric="group_roc_auc", **options)
    low, high = roc_band(y, scores, groups, fpr=BAND_FPR, **options)
    return Roc(thinned(group_roc_curve(y, scores, groups)), auc, BAND_FPR, low, high)
