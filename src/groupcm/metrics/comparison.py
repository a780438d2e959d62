"""The comparison of two models on the same groups.

    z = (a − b) / (k se),    p = 2 T_{C−1}(−|z|),    k = √(C / (C − 1))

``se`` is the standard deviation of the difference over resamples that both models share, T is
Student's distribution, and C counts the clusters of the class that lies in fewer. On many
independent groups this is DeLong's test with the standard error of the bootstrap; unlike that test
it respects clusters, where groups are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.bootstrap import resampled_metric
from groupcm.metrics.clusters import two_sided_p_value
from groupcm.metrics.intervals import difference_at_edges, ranked_alike
from groupcm.metrics.levels import level_scores
from groupcm.metrics.registry import Metric, metric_name, metric_named
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.results import Comparison
from groupcm.metrics.truth import require_both_classes
from groupcm.utils.text import printable

__all__ = ["compare", "compare_levels", "normal_p_value"]


def compare(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    metric: str | Metric = "group_roc_auc",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> Comparison:
    """Test whether one set of scores is better than another, on the same groups.

        p = 2 T_{C−1}(−|a − b| / (k se)),    k = √(C / (C − 1))

    where ``se`` is the standard deviation of ``a − b`` over the resamples and C counts the
    clusters of the class that lies in fewer; with many of them T is the normal Φ. The intervals are
    percentiles of the same resamples, so that near the level the two may disagree by a little;
    where the resamples of a side do not differ, such as those of an area of 1, they are widened
    (`groupcm.metrics.intervals.difference_at_edges`).

    Parameters
    ----------
    y, groups
        As for `group_roc_auc`.
    scores_a, scores_b : array-like of shape (n,)
        The scores of both models, one per candidate.
    metric, clusters, level, n_resamples, random_state, pos_label
        As for `bootstrap_interval`, whose warnings apply.

    Returns
    -------
    Comparison
        The p-value is 1 where the two do not differ, NaN where the interval is, and
        1 / (resamples + 1) where they differ by the same amount in every resample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> good, bad = y + rng.standard_normal(300), 0.1 * y + rng.standard_normal(300)
    >>> found = compare(y, good, bad)
    >>> found.difference.low > 0, found.p_value < 0.01
    (True, True)
    >>> compare(y, good, good).p_value
    1.0
    """
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    found = resampled_metric(
        y,
        [scores_a, scores_b],
        groups,
        metric=metric_named(metric),
        clusters=clusters,
        resampling=resampling,
        pos_label=pos_label,
    )
    a, b = (found.interval(k, resampling) for k in range(2))
    differences = found.values[:, 0] - found.values[:, 1]
    difference = difference_at_edges(
        a,
        b,
        resampling.interval(a.estimate - b.estimate, differences, found.n_clusters),
        found.values,
        ranked_alike(*found.scores),
    )
    return Comparison(
        a=a,
        b=b,
        difference=difference,
        p_value=normal_p_value(difference.estimate, differences, found.n_clusters),
        n_resamples=int(np.count_nonzero(np.isfinite(differences))),
        metric=metric_name(metric),
    )


def compare_levels(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    levels: Mapping[str, ArrayLike],
    *,
    aggregate: str = "max",
    k: int = 1,
    metric: str | Metric = "group_roc_auc",
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> dict[str, Comparison]:
    """Compare two sets of scores at every level, from the groups to the patients.

    Parameters
    ----------
    y, scores_a, scores_b, metric, level, n_resamples, random_state, pos_label
        As for `compare`.
    levels : mapping of str to array-like of shape (n,)
        The unit of each candidate, from the lowest level, the groups, to the highest; nested. The
        units of the highest are resampled.
    aggregate, k
        How the scores of groups make those of units; see `level_scores`.

    Returns
    -------
    dict of str to Comparison

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frames = np.arange(300)
    >>> patients, y = frames // 5, frames % 10 == 0
    >>> good, bad = 4 * y + rng.standard_normal(300), rng.standard_normal(300)
    >>> found = compare_levels(y, good, bad, {"frame": frames, "patient": patients})
    >>> [name for name, each in found.items() if each.difference.low > 0]
    ['frame', 'patient']
    """
    a, b = (
        level_scores(y, scores, levels, aggregate=aggregate, k=k, pos_label=pos_label)
        for scores in (scores_a, scores_b)
    )
    for name, units in a.items():
        require_both_classes(units.is_positive, printable(name))
    return {
        name: compare(
            units.is_positive,
            units.scores,
            b[name].scores,
            metric=metric,
            clusters=units.cluster,
            level=level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        for name, units in a.items()
    }


def normal_p_value(
    difference: float, differences: NDArray[np.float64], n_clusters: float = math.inf
) -> float:
    """Compute the two-sided p-value of a difference from its resamples.

    With few clusters the standard deviation of the resamples is itself uncertain: see
    `groupcm.metrics.clusters.two_sided_p_value`.

    Examples
    --------
    >>> round(normal_p_value(1.96, np.array([-1.0, 0.0, 1.0])), 3)
    0.05
    """
    if not np.all(np.isfinite(differences)):
        return math.nan
    if difference == 0:
        return 1.0
    standard_error = float(np.std(differences, ddof=1))
    if standard_error == 0:
        return 1 / (len(differences) + 1)
    return two_sided_p_value(difference, standard_error, n_clusters)
