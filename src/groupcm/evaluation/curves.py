"""ROC curves with intervals and bands, the reliability curve, and the thinning of curves.

`roc_of` serves groups and candidates alike: without ``groups`` every row counts alone, and
``clusters`` are resampled together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.estimators.calibrators import Calibrator
from groupcm.evaluation.results import Reliability, Roc
from groupcm.metrics import Interval, Metric, group_roc_curve
from groupcm.metrics.ranking_intervals import ranking_intervals
from groupcm.metrics.reliability import group_brier_score, reliability_curve
from groupcm.metrics.resampling import Resampling

__all__ = ["RocAndMetrics", "reliability_of", "roc_and_metrics", "roc_of", "thinned"]

Curve = TypeVar("Curve", bound=tuple[Any, ...])

_AUC = "area under the ROC curve"
_MOST_POINTS = 2000
# The false positive rates of the band, denser where specificity is high.
_BAND_FPR: NDArray[np.float64] = np.unique(
    np.concatenate([[0.0], np.geomspace(1e-3, 0.1, 21), np.linspace(0.1, 1.0, 46)])
)


def thinned(curve: Curve, most: int = _MOST_POINTS) -> Curve:
    """Return at most about ``most`` points of a curve, its ends included, as the same type.

    The points are spread evenly along the curve's two axes, both scaled to 1, so that the thinned
    curve looks the same in steep and in flat parts.

    Parameters
    ----------
    curve : named tuple of arrays
        The first two are the axes.
    most : int
        The number of points to keep; a shorter curve is returned unchanged.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Line(NamedTuple):
    ...     x: NDArray[np.float64]
    ...     y: NDArray[np.float64]
    >>> thinned(Line(np.arange(129), np.zeros(129)), most=5).x.tolist()
    [0, 32, 64, 96, 128]
    """
    if len(curve[0]) <= most:
        return curve
    length = np.concatenate([[0.0], np.cumsum(_steps(curve[0]) + _steps(curve[1]))])
    kept = np.unique(np.searchsorted(length, np.linspace(0.0, length[-1], most)))
    kept[-1] = len(length) - 1
    return type(curve)(*(values[kept] for values in curve))


def _steps(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the distances of neighbours in units of the whole axis; infinite ones count as 0."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    return np.abs(np.diff(finite)) / max(float(np.ptp(finite)), 1e-300)


def roc_of(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    pos_label: Any = None,
) -> Roc:
    """Compute the ROC curve of groups, its area with an interval, and the sensitivity band.

    Parameters
    ----------
    y, scores : array-like of shape (n,)
        One label and one score per candidate.
    groups : array-like of shape (n,), optional
        The group of each candidate. Without it every row counts alone: that is the ROC curve
        of candidates.
    clusters : array-like of shape (n,), optional
        What is resampled together: the patient of each candidate, or for the curve of candidates
        their group. By default the groups.
    n_resamples : int, default=2000
    level : float, default=0.95
        The confidence level of the interval, and of the band at each false positive rate.
    random_state : int, default=0
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

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
    found = roc_and_metrics(
        y,
        scores,
        groups,
        metrics={},
        clusters=clusters,
        n_resamples=n_resamples,
        level=level,
        random_state=random_state,
        pos_label=pos_label,
    )
    return found.roc


class RocAndMetrics(NamedTuple):
    """The ROC curve, and the interval of each metric by its name."""

    roc: Roc
    metrics: dict[str, Interval]


def roc_and_metrics(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    metrics: Mapping[str, Metric],
    clusters: ArrayLike | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    pos_label: Any = None,
) -> RocAndMetrics:
    """Compute what `roc_of` does and other metrics, all from the same resamples.

    Parameters
    ----------
    y, scores, groups, clusters, n_resamples, level, random_state, pos_label
        As for `roc_of`.
    metrics : mapping of str to callable(y, scores, groups)

    Examples
    --------
    >>> from groupcm.metrics import group_average_precision
    >>> y = np.arange(60) % 3 == 0
    >>> scores = 2 * y + np.random.default_rng(0).normal(size=60)
    >>> metrics = {"average_precision": group_average_precision}
    >>> found = roc_and_metrics(y, scores, metrics=metrics, n_resamples=50)
    >>> found.roc.auc.estimate > 0.5, list(found.metrics)
    (True, ['average_precision'])
    """
    found = ranking_intervals(
        y,
        scores,
        groups,
        metrics={_AUC: "group_roc_auc", **metrics},
        fpr=_BAND_FPR,
        clusters=clusters,
        resampling=Resampling(level=level, n_resamples=n_resamples, random_state=random_state),
        pos_label=pos_label,
    )
    auc = found.metrics.pop(_AUC)
    curve = thinned(group_roc_curve(y, scores, groups, pos_label=pos_label))
    return RocAndMetrics(Roc(curve, auc, _BAND_FPR, *found.band), found.metrics)


def reliability_of(
    probability: Calibrator | None,
    is_positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    clusters: NDArray[np.intp] | None = None,
    level: float = 0.95,
) -> Reliability | None:
    """Compute the reliability of the probabilities that a curve gives to scores.

    Parameters
    ----------
    probability : Sigmoid, Isotonic or None
        The curve; without one there are no probabilities, and None is returned.
    is_positive, scores : ndarray of shape (n,)
        Of groups, or of units above them, such as patients.
    clusters : ndarray of shape (n,), optional
        The patient of each, for the intervals.
    level : float, default=0.95

    Examples
    --------
    >>> from groupcm.estimators.calibrators import Sigmoid
    >>> scores = np.array([-1.0, 1.0, -2.0, 2.0])
    >>> round(reliability_of(Sigmoid(2.0, 0.0), scores > 0, scores).brier, 4)
    0.0073
    """
    if probability is None:
        return None
    predicted = probability(scores)
    curve = reliability_curve(is_positive, predicted, clusters=clusters, level=level)
    return Reliability(**curve._asdict(), brier=group_brier_score(is_positive, predicted))
