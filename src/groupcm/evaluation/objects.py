"""Objects of an evaluation: the free-response analysis and the yield curve.

A hit rule decides which candidates are on an object. An object that no candidate is on, by the rule
or by a complete list of the objects, is missed at every threshold: it is a row of the score −∞.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import index_groups
from groupcm.errors import Argument, ParameterError
from groupcm.evaluation.curves import thinned
from groupcm.evaluation.object_rows import HitRule, ObjectRows, object_rows
from groupcm.evaluation.results import Decision, Froc, ObjectResult
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import FrocSensitivity, Interval, YieldCurve
from groupcm.metrics.afroc import afroc_area
from groupcm.metrics.auc_variance import warn_of_few_clusters
from groupcm.metrics.decision import is_alarm
from groupcm.metrics.free_response import FreeResponse, read_free_response
from groupcm.metrics.froc import CPM_FALSE_ALARMS, curve_of_response, sensitivity_of_response
from groupcm.metrics.intervals import share_interval
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.yields import curve_of_units

__all__ = ["froc_of", "has_candidate_metrics", "object_result", "with_objects", "yields_of"]

_N_RATES = 80
_LEAST_RATE = 0.01
# There are many candidates, and a resample takes as many steps as there are false alarms.
_MOST_DRAWS = 1_000_000_000
_FEWEST_RESAMPLES = 200
# Beyond this many rows the band ends at so many false alarms per group.
_MANY_ROWS, _LARGEST_RATE = _MOST_DRAWS // _FEWEST_RESAMPLES, 10.0


def has_candidate_metrics(scored: ScoredCandidates) -> bool:
    """Return whether groups have several candidates, and some positive ones are annotated."""
    index = scored.index
    is_annotated = (scored.group_positive & scored.group_has_labels)[: index.n_groups]
    return index.n_groups < index.n_rows and bool(is_annotated.any())


def object_result(
    scored: ScoredCandidates,
    threshold: float,
    *,
    rule: HitRule | None = None,
    hit: str = "highest_score",
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
) -> ObjectResult | None:
    """Analyse how well objects are found, and at which false alarms.

    Parameters
    ----------
    scored : ScoredCandidates
    threshold : float
        Candidates that score at least this are alarms.
    rule : HitRule, optional
        When a candidate is on an object; by default where its label is positive.
    hit : {"highest_score", "best_overlap"}
        Which candidate gives an object its score where several of one group are on it.
    n_resamples, level, random_state
        The options of the confidence intervals, which draw patients. Without patients they draw
        groups, those that show the same object together.

    Returns
    -------
    ObjectResult, or None where groups have one candidate each, or no positive one is annotated

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> scored = ScoredCandidates(
    ...     index_groups(np.arange(120) // 3),
    ...     score=np.random.default_rng(0).normal(size=120),
    ...     is_positive=np.arange(120) % 6 == 0,
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ... )
    >>> found = object_result(scored, 0.5, n_resamples=50)
    >>> found.n_objects, found.rule
    (20, 'a positive label')
    """
    if not has_candidate_metrics(scored):
        return None
    rule = HitRule() if rule is None else rule
    rows = object_rows(scored, rule)
    response = _response(rows, hit)
    n_draws = max(_FEWEST_RESAMPLES, _MOST_DRAWS // max(len(rows.score), 1))
    resampling = Resampling(
        level=level, n_resamples=min(n_resamples, n_draws), random_state=random_state
    )
    areas: list[Interval] = []
    for weighted in (False, True):
        area = afroc_area(response, weighted)
        warn_of_few_clusters(area)
        areas.append(area.interval(level))
    object_score, object_cluster = response.distinct_objects()
    is_found = is_alarm(object_score, threshold)
    per_negative, per_patient = _false_alarm_rates(response, scored, threshold, resampling)
    return ObjectResult(
        rule=rule.words,
        sensitivity_at=sensitivity_of_response(response, CPM_FALSE_ALARMS, resampling),
        band=_band(response, resampling),
        afroc_auc=areas[0],
        wafroc_auc=areas[1],
        found=share_interval(is_found, object_cluster, level=level),
        n_found=int(np.count_nonzero(is_found)),
        n_objects=len(object_score),
        n_without_candidates=int(np.count_nonzero(object_score == -np.inf)),
        false_alarms_per_negative=per_negative,
        false_alarms_per_patient=per_patient,
        false_alarms_per_group=_n_alarms(response, threshold) / response.n_groups,
        hit=hit,
    )


def froc_of(
    scored: ScoredCandidates,
    object_word: str = "object",
    *,
    rule: HitRule | None = None,
    hit: str = "highest_score",
) -> Froc | None:
    """Compute the FROC curve; without objects, each positive group shows one of its own.

    The parameters, and where there is none, are those of `object_result`.
    """
    if not has_candidate_metrics(scored):
        return None
    response = _response(object_rows(scored, HitRule() if rule is None else rule), hit)
    return Froc(
        curve=thinned(curve_of_response(response)),
        n_objects=len(response.score_of_objects),
        object_word="positive group" if scored.objects is None else object_word,
    )


def with_objects(decision: Decision, found: ObjectResult | None) -> Decision:
    """Return the decision with the counts of objects and false alarms by the hit rule."""
    if found is None:
        return decision
    assert found.false_alarms_per_group is not None
    point = replace(
        decision.point,
        objects_found=found.n_found,
        n_objects=found.n_objects,
        false_alarms=found.false_alarms_per_group,
    )
    return replace(decision, point=point)


def yields_of(scored: ScoredCandidates) -> YieldCurve | None:
    """Compute which share of objects and of units of each level is found when alarms are shown.

    Objects are known where they are given, or else where positive groups are annotated, each of
    which shows one of its own. Those of unannotated groups are not counted.

    Returns
    -------
    YieldCurve, or None where neither objects nor levels are known

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> scored = ScoredCandidates(
    ...     index_groups(["a", "b", "c", "d"]),
    ...     score=np.array([0.2, 0.9, 0.5, 0.1]),
    ...     is_positive=np.array([True, True, False, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     objects=np.array([7, 7, 0, 0]),
    ... )
    >>> yields_of(scored).at_yield(1.0).shown
    0.25
    """
    score, found_at = scored.group_score, {}
    if (scored.group_positive & scored.group_has_labels).any():
        seen = object_rows(scored, HitRule()).sightings()
        found_at["objects"] = index_groups(seen.object).maxima(score[seen.group])
    showing = np.flatnonzero(scored.group_positive)
    for name, unit in _units_of_groups(scored).items():
        found_at[name] = index_groups(unit[showing]).maxima(score[showing])
    return curve_of_units(score, found_at).thinned() if found_at else None


def _units_of_groups(scored: ScoredCandidates) -> dict[str, NDArray[Any]]:
    """Return the unit of each group at each level; patients are one, where no level is known."""
    if not scored.levels:
        patient = scored.group_patient
        return {} if patient is None else {"patient": patient}
    return scored.group_levels


def _response(rows: ObjectRows, hit: str) -> FreeResponse:
    if hit == "best_overlap" and rows.overlap is None:
        raise ParameterError(
            Argument("hit", "best_overlap"),
            " chooses by the overlap of the candidates, which is not known; give ",
            Argument("overlap"),
            ".",
        )
    return read_free_response(
        rows.is_hit,
        rows.score,
        rows.group,
        rows.object,
        overlap=rows.overlap,
        hit=hit,
        clusters=rows.cluster,
        pos_label=True,
    )


def _band(response: FreeResponse, resampling: Resampling) -> FrocSensitivity:
    """Compute the sensitivity at many rates, up to that of all candidates where they are few."""
    n_false = np.count_nonzero(response.false_score > -np.inf)
    most = max(n_false / response.n_groups, 1.0)
    if n_false > _MANY_ROWS:
        most = min(most, _LARGEST_RATE)
    least = min(_LEAST_RATE, 0.5 / response.n_groups)
    at = np.concatenate([[0.0], np.geomspace(least, most, _N_RATES)])
    return sensitivity_of_response(response, at, resampling)


def _n_alarms(response: FreeResponse, threshold: float) -> int:
    return int(np.count_nonzero(is_alarm(response.false_score, threshold)))


def _false_alarm_rates(
    response: FreeResponse, scored: ScoredCandidates, threshold: float, resampling: Resampling
) -> tuple[Interval | None, Interval | None]:
    """Return the false alarms per negative group and, where patients are known, per patient."""
    group = response.false_group[is_alarm(response.false_score, threshold)]
    n_clusters, cluster = response.n_clusters, response.group_cluster
    negative = ~response.is_positive_group
    in_negative = np.bincount(cluster[group[negative[group]]], minlength=n_clusters)
    n_negative = np.bincount(cluster[negative], minlength=n_clusters)
    per_negative = _mean_interval(in_negative, n_negative, resampling)
    if scored.group_patient is None:
        return per_negative, None
    everywhere = np.bincount(cluster[group], minlength=n_clusters)
    return per_negative, _mean_interval(everywhere, np.ones_like(everywhere), resampling)


def _mean_interval(
    counts: NDArray[np.int64], totals: NDArray[np.int64], resampling: Resampling
) -> Interval | None:
    """Compute Σ counts / Σ totals over clusters; unknown bounds where all clusters agree."""
    if not totals.any():
        return None
    estimate = float(counts.sum() / totals.sum())

    def of(count: NDArray[np.int64]) -> float:
        return float((count @ counts) / (count @ totals))

    if np.count_nonzero(totals) < 2:
        return Interval(estimate, math.nan, math.nan)
    found = resampling.interval(
        estimate, resampling.values(of, totals, totals), int(np.count_nonzero(totals))
    )
    return Interval(estimate, math.nan, math.nan) if found.low == found.high else found
