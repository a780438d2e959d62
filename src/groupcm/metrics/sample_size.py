"""How many patients an evaluation needs, by drawing studies of each size from a pilot.

    width(n) = (k / k_n) (q_hi − q_lo) of the metric over studies of n patients
    power(n) = #{studies of n patients: |d| / se(n) rejects at the level} / #studies

A study of n patients draws them from the pilot's with replacement, each with all groups. The bounds
q are those of `groupcm.metrics.bootstrap_interval` for as many patients. The C patients of a pilot
vary less than patients do, by k = √(C / (C − 1)), C of the class that fewer of them have; k_n is
that of a study. The difference d of two sets of scores is tested as `groupcm.metrics.compare` does;
in studies it is spread around the difference to detect, se(n) being its standard deviation over
studies. The numbers of all sizes are smoothed together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from groupcm.errors import Argument, ParameterError
from groupcm.metrics.bootstrap import CountedMetric, counted_metric
from groupcm.metrics.clusters import expanded_tail, fewest_clusters, student_quantile, warn_of_few
from groupcm.metrics.registry import Metric, metric_label, metric_name, metric_named
from groupcm.metrics.results import Interval
from groupcm.utils.parallel import thread_map
from groupcm.utils.parameters import is_whole
from groupcm.utils.typing import Vector

__all__ = ["SampleSize", "sample_size"]

_MOST = 100_000
_STEP = 1.25  # from one size of the curve to the next
_BEYOND = 4  # how many sizes that are enough the curve has
# Intervals and tests of fewer clusters of a class are not reliable.
_FEWEST = 10


@dataclass(frozen=True)
class SampleSize:
    """The number of patients that a study needs, and the curve that it is read from.

    Attributes
    ----------
    n_patients : int or None
        The smallest number that reaches the goal; None where none up to ``sizes[-1]`` does.
    goal : {"width", "power"}
    wanted : float
        The requested width of the interval, or power.
    metric : str
    estimate : float
        The metric in the pilot; of a comparison the difference.
    difference : float or None
        The difference to detect.
    level : float
        The confidence level; a comparison is tested at 1 − level.
    n_pilot : int
        The number of patients in the pilot.
    share_positive : float
        The share of them that hold positive groups.
    sizes : list of int
        Numbers of patients, rising.
    values : list of float
        The width, or the power, of studies of each size.
    n_studies : int
        The number of studies drawn for each size.
    label : str or None
        What the metric is called, with its parameters.

    Examples
    --------
    >>> found = SampleSize(80, "width", 0.1, "group_roc_auc", 0.9, None, 0.95, 40, 0.5, [40, 80],
    ...                    [0.14, 0.1], 1000)
    >>> found.words
    '80 patients for a 95 % confidence interval of the group ROC AUC (0.900 in the pilot of 40
    patients) that is 0.1 wide'
    """

    n_patients: int | None
    goal: str
    wanted: float
    metric: str
    estimate: float
    difference: float | None
    level: float
    n_pilot: int
    share_positive: float
    sizes: list[int]
    values: list[float]
    n_studies: int
    label: str | None = None

    @property
    def metric_words(self) -> str:
        """What the metric is called, such as "group ROC AUC"."""
        return metric_label(self.metric) if self.label is None else self.label

    @property
    def words(self) -> str:
        """The result as a phrase."""
        pilot = f"{self.estimate:.3f} in the pilot of {self.n_pilot:,} patients"
        if self.goal == "width":
            what = (
                f"a {100 * self.level:g} % confidence interval of the {self.metric_words} "
                f"({pilot}) that is {self.wanted:g} wide"
            )
        else:
            what = (
                f"finding a difference of {self.difference:.3g} in the {self.metric_words} "
                f"({pilot}) in {100 * self.wanted:g} % of all studies, at the level "
                f"{1 - self.level:.2g}"
            )
        if self.n_patients is not None:
            return f"{self.n_patients:,} patients for {what}"
        return f"more than {self.sizes[-1]:,} patients for {what}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, for JSON.

        Examples
        --------
        >>> found = SampleSize(None, "width", 0.1, "m", 0.9, None, 0.95, 40, 0.5, [40], [0.2], 9)
        >>> found.to_dict()["sizes"]
        [40]
        """
        return asdict(self)

    def json(self) -> str:
        """Return the result as a JSON text.

        Examples
        --------
        >>> found = SampleSize(None, "width", 0.1, "m", 0.9, None, 0.95, 40, 0.5, [40], [0.2], 9)
        >>> "n_patients" in found.json()
        True
        """
        return json.dumps(self.to_dict(), indent=1)


def sample_size(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    other: ArrayLike | None = None,
    metric: str | Metric = "group_roc_auc",
    width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    level: float = 0.95,
    most: int = _MOST,
    n_studies: int = 2000,
    random_state: int | None = 0,
    pos_label: Any = None,
) -> SampleSize:
    """Find the number of patients for an interval of some width, or the power of a comparison.

    Parameters
    ----------
    y, scores, groups, pos_label
        The pilot: one label, score and group per candidate, as for `group_roc_auc`.
    clusters : array-like of shape (n,), optional
        The patient of each candidate; without it every group is one.
    other : array-like of shape (n,), optional
        The scores of another model, which ``scores`` are compared with; needed for ``power``.
    metric : str or callable(y, scores, groups)
        As for `bootstrap_interval`; for a sensitivity at a threshold
        ``functools.partial(sensitivity_at_threshold, threshold=0.5)``.
    width : float, optional
        The width of the confidence interval, such as 0.1. Give it or ``power``.
    power : float, optional
        The share of studies that find the difference, such as 0.8.
    difference : float, optional
        The difference to find, with ``power``; by default that of the pilot, which is too
        large where the pilot was made because it looked good.
    level : float
        The confidence level. A comparison is tested at 1 − level, on both sides.
    most : int
        The largest number of patients to try.
    n_studies : int
        How many studies of each size are drawn.
    random_state : int or None

    Returns
    -------
    SampleSize
        The share of patients with positive groups is that of the pilot. The number is at least
        that with ten patients of each class: below it, intervals and tests are not reliable.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> patients = np.arange(300) // 5
    >>> y = patients % 3 == 0
    >>> scores = 1.5 * y + rng.standard_normal(60)[patients] + rng.standard_normal(300)
    >>> found = sample_size(y, scores, clusters=patients, width=0.1, n_studies=200)
    >>> 100 < found.n_patients < 500, found.values[0] > found.values[-1]
    (True, True)
    """
    _check(width, power, other, difference, level, most, n_studies)
    several = [scores] if other is None else [scores, other]
    pilot = counted_metric(y, several, groups, metric_named(metric), clusters, pos_label)
    positives, negatives = pilot.ranking.positives, pilot.ranking.negatives
    n_pilot, n_fewest = len(positives), fewest_clusters(positives, negatives)
    if n_fewest < 2:
        raise ValueError(
            "the positive, or the negative, groups of the pilot are all in one cluster, such as a "
            "patient; their variation is unknown, and a pilot needs at least two of each class."
        )
    warn_of_few(positives, negatives)
    estimate = pilot.estimates[0] - (pilot.estimates[1] if other is not None else 0.0)
    found = SampleSize(
        None,
        "width" if power is None else "power",
        float(width or power or 0.0),
        metric_name(metric),
        estimate,
        None if power is None else float(estimate if difference is None else difference),
        level,
        n_pilot,
        float(np.mean(positives > 0)),
        [],
        [],
        n_studies,
        metric_label(metric),
    )
    if found.difference == 0.0:
        raise ValueError("the difference to find is 0, and no number of patients shows that.")
    studies = _Studies(pilot, n_fewest / n_pilot, n_studies, random_state)
    return _smallest(found, studies, most)


@dataclass(frozen=True)
class _Studies:
    """Studies of any number of patients, drawn from a pilot."""

    pilot: CountedMetric
    share_of_fewer: float
    n_studies: int
    seed: int | None

    def value(self, found: SampleSize, n_patients: int) -> tuple[float, bool]:
        """Return the width or the power of studies, and whether the width is that at 0 or 1."""
        values = self._values(n_patients)
        n_fewest = max(2.0, self.share_of_fewer * n_patients)
        n_pilot = max(2.0, self.share_of_fewer * len(self.pilot.ranking.positives))
        lost = math.sqrt(n_pilot / (n_pilot - 1.0))
        if found.goal == "width":
            # Resamples of the study vary less than studies do, and its interval allows for that.
            own = math.sqrt(n_fewest / (n_fewest - 1.0))
            tail = expanded_tail(found.level, n_fewest)
            low, high = np.quantile(values, [tail, 1.0 - tail])
            reported = self._as_reported(float(low), float(high), found.level, n_patients)
            return lost / own * reported, reported > float(high - low)
        assert found.difference is not None
        # A study shows its own difference, and the standard error that all of them have.
        spread = lost * float(np.std(values, ddof=1))
        shifted = found.difference + lost * (values - values.mean())
        right = np.sign(found.difference) * shifted
        reach = student_quantile(found.level, n_fewest) * spread
        return (float(np.mean(right > reach)) if spread > 0 else 1.0), False

    def _as_reported(self, low: float, high: float, level: float, n_patients: int) -> float:
        """Return the width with the bounds that intervals have where they reach 0 or 1."""
        if len(self.pilot.of_counts) > 1:
            return high - low
        pilot, n_pilot = self.pilot.edges, len(self.pilot.ranking.positives)
        edges = replace(
            pilot,
            n_positive=max(1, round(pilot.n_positive * n_patients / n_pilot)),
            n_negative=max(1, round(pilot.n_negative * n_patients / n_pilot)),
        )
        own = edges.widened(Interval(self.pilot.estimates[0], low, high), level)
        return math.inf if math.isnan(own.low) else float(own.high - own.low)

    def _values(self, n_patients: int) -> Vector:
        """Return the metric, or the difference, of every study that holds both classes."""
        pilot = self.pilot
        positives, negatives = pilot.ranking.positives, pilot.ranking.negatives
        # Studies of other sizes are drawn anew, so that smoothing over sizes averages their chance.
        root = np.random.SeedSequence(self.seed, spawn_key=(n_patients,))
        seeds = root.spawn(self.n_studies)

        def of_study(seed: np.random.SeedSequence) -> float:
            drawn = np.random.default_rng(seed).integers(len(positives), size=n_patients)
            count = np.bincount(drawn, minlength=len(positives)).astype(np.int64)
            if not (count @ positives and count @ negatives):
                return math.nan
            found = [float(of(count)) for of in pilot.of_counts]
            return found[0] - (found[1] if len(found) > 1 else 0.0)

        values = thread_map(of_study, seeds) if pilot.is_declared else map(of_study, seeds)
        found = np.array(list(values))
        return found[np.isfinite(found)]


def _smallest(found: SampleSize, studies: _Studies, most: int) -> SampleSize:
    """Return the result with a smooth curve, and the smallest number of patients on it."""
    least = min(most, math.ceil(_FEWEST / studies.share_of_fewer))
    sizes, values, is_widened, n_enough = [], [], [], 0
    while n_enough < _BEYOND and (not sizes or sizes[-1] < most):
        sizes.append(min(most, round(least * _STEP ** len(sizes))))
        value, at_edge = studies.value(found, sizes[-1])
        values.append(value)
        is_widened.append(at_edge)
        n_enough += value <= found.wanted if found.goal == "width" else value >= found.wanted
    n, of_n = np.array(sizes, dtype=np.float64), np.array(values)
    every = np.arange(least, sizes[-1] + 1)
    if found.goal == "width":
        fitted = _smooth_widths(n, of_n, np.array(is_widened))(every.astype(np.float64))
        # More patients never make an interval wider; the fit may bend up at its end.
        fitted = np.minimum.accumulate(fitted)
    else:
        fitted = np.maximum.accumulate(_smooth_power(n, of_n, found.n_studies)(every.astype(float)))
    reached = fitted <= found.wanted if found.goal == "width" else fitted >= found.wanted
    needed = int(every[np.argmax(reached)]) if reached.any() else None
    shown = sorted({*sizes, *([] if needed is None else [needed])})
    return replace(
        found, n_patients=needed, sizes=shown, values=fitted[np.array(shown) - least].tolist()
    )


def _smooth_widths(
    sizes: Vector, values: Vector, is_widened: NDArray[np.bool_]
) -> Callable[[Vector], Vector]:
    """Fit log(width) by a parabola of log(n): a quantile of studies varies more than the width.

    Intervals that were widened because they reach 0 or 1 are much wider than those next to them.
    They keep their widths, and the parabola is fitted to the others.
    """
    known = np.isfinite(values) & (values > 0)
    is_fitted = known & ~is_widened if np.count_nonzero(known & ~is_widened) > 1 else known
    if not known.any():
        return lambda n: np.full(len(n), math.inf)
    x, y, edge = np.log(sizes), np.log(np.where(known, values, 1.0)), known & ~is_fitted
    fit = _parabola(x[is_fitted], y[is_fitted])

    def of_size(n: Vector) -> Vector:
        smooth = fit(np.log(n))
        if edge.any():
            widened = np.maximum(smooth, np.interp(np.log(n), x[edge], y[edge]))
            smooth = np.where(n <= sizes[edge].max(), widened, smooth)
        return np.exp(smooth)

    return of_size


def _smooth_power(sizes: Vector, values: Vector, n_studies: int) -> Callable[[Vector], Vector]:
    """Fit the normal quantile of the power by a parabola of √n."""
    least = 0.5 / n_studies
    fit = _parabola(np.sqrt(sizes), ndtri(np.clip(values, least, 1.0 - least)))
    return lambda n: ndtr(fit(np.sqrt(n)))


def _parabola(x: Vector, y: Vector) -> np.polynomial.Polynomial:
    return np.polynomial.Polynomial.fit(x, y, min(2, len(x) - 1))


def _check(
    width: float | None,
    power: float | None,
    other: Any,
    difference: float | None,
    level: float,
    most: int,
    n_studies: int,
) -> None:
    if (width is None) == (power is None):
        raise ParameterError(
            "give one goal: ", Argument("width"), " of an interval or ", Argument("power"), "."
        )
    for name, value in (("width", width), ("power", power), ("level", level)):
        if value is not None and not 0.0 < value < 1.0:
            raise ParameterError(
                Argument(name, value), " is not valid; it must be between 0 and 1."
            )
    if power is not None and other is None:
        raise ParameterError(
            Argument("power"),
            " is that of a comparison; give the other scores as ",
            Argument("other"),
            ".",
        )
    if difference is not None and power is None:
        raise ParameterError(
            Argument("difference"), " is to be found with some ", Argument("power"), "; give it."
        )
    for name, number, least in (("most", most, _FEWEST), ("n_studies", n_studies, 20)):
        if not is_whole(number) or number < least:
            raise ParameterError(
                Argument(name, number), f" must be a whole number of at least {least}."
            )
