"""The ROC curve of a method whose training was repeated.

    tpr(x) = mean over repeats r of tpr_r(x)

where ``tpr_r(x)`` is the largest sensitivity of repeat r with at most a share x of false alarms;
its area is the mean of the areas.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.numbers import Roc
from groupcm.experiments.test_set import Entries
from groupcm.metrics import Interval, RocCurve, group_roc_curve

__all__ = ["mean_roc"]

_POINTS = 400


def mean_roc(entries: Entries, scores: NDArray[np.float64], auc: Interval) -> Roc:
    """Average curves at the same share of false alarms; the band is the range of the repeats.

    Parameters
    ----------
    entries : Entries
    scores : ndarray of shape (n_repeats, n_entries)
    auc : Interval
        Of the mean area.

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
