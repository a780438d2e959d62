"""The results at levels above the group, such as the video and the patient.

A unit of a level, such as a patient, is positive where any of its groups is. Its score is made of
those of its groups (`groupcm.metrics.level_scores`), and the threshold of groups applies to it:

    aggregate="max"            an alarm where any group raises one
    aggregate="kth_largest"    an alarm where at least k groups raise one
    aggregate="top_mean"       the mean of the k largest scores has a threshold of its own, which is
                               chosen for the same target on the same data as that of groups

A model that gives probabilities of groups gives some of units, too:

    with validation data    a curve of the same kind, fitted to the units of those data
    else, for "max"         the probability of the group that scores highest

The second one is about a group, and a unit has several; its reliability shows how far it holds of
units. Intervals resample the units of the highest level, or the patients above them.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import index_groups
from groupcm.estimators.calibrators import Calibrator, Sigmoid, fit_isotonic, fit_sigmoid
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation.curves import reliability_of, roc_and_metrics
from groupcm.evaluation.metric_table import computed_metrics
from groupcm.evaluation.outcomes import contradiction
from groupcm.evaluation.results import Decision, LevelResult
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, is_alarm
from groupcm.metrics.intervals import share_interval
from groupcm.metrics.levels import Level, above_groups, level_scores
from groupcm.metrics.operating import at_threshold
from groupcm.utils.text import plural, printable, singular

__all__ = ["level_results", "levels_of", "threshold_words"]

# Targets that a mean of scores can be given a threshold of its own for.
_OF_UNITS = ("sensitivity", "specificity", "youden")


def levels_of(candidates: ScoredCandidates, aggregate: str = "max", k: int = 1) -> dict[str, Level]:
    """Return the classes and scores of the units of every level above the group.

    Parameters
    ----------
    candidates : ScoredCandidates
        With ``levels``. Groups without candidates have the score −∞.
    aggregate, k
        See `groupcm.metrics.level_scores`.

    Examples
    --------
    >>> candidates = ScoredCandidates(
    ...     index_groups(["a", "b", "c"]),
    ...     score=np.array([2.0, 1.0, 0.0]),
    ...     is_positive=np.array([False, True, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     levels={"patient": np.array(["p", "p", "q"])},
    ... )
    >>> found = levels_of(candidates)["patient"]
    >>> found.scores.tolist(), found.is_positive.tolist()
    ([2.0, 0.0], [True, False])
    """
    levels = candidates.group_levels
    if not levels:
        return {}
    whole = above_groups(np.arange(candidates.n_groups), levels)
    found = level_scores(
        candidates.group_positive, candidates.group_score, whole, aggregate=aggregate, k=k
    )
    return {name: found[name] for name in levels}


def level_results(
    candidates: ScoredCandidates,
    chosen: ChosenThreshold,
    *,
    aggregate: str = "max",
    k: int = 1,
    validation: ScoredCandidates | None = None,
    calibrator: Calibrator | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> list[LevelResult]:
    """Evaluate the scores of candidates at every level above the group.

    Parameters
    ----------
    candidates : ScoredCandidates
        With ``levels``.
    chosen : ChosenThreshold
        The threshold of groups.
    aggregate, k
        See `groupcm.metrics.level_scores`.
    validation : ScoredCandidates, optional
        The data that ``chosen`` was chosen on, with the same levels: a threshold for "top_mean" is
        chosen there. Where ``chosen`` was chosen on ``candidates``, it is chosen there.
    calibrator : Sigmoid, Isotonic or None
        The curve of the model that leads from the score of a group to its probability.
    level, n_resamples, random_state
        The options of the confidence intervals.

    Returns
    -------
    list of LevelResult
        From the lowest level to the highest. A level where every unit is positive, or every one
        negative, has no ROC curve and no decision, and a warning reports it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frames = np.arange(400)
    >>> positive = (frames % 40 < 20) & (rng.random(400) < 0.5)
    >>> candidates = ScoredCandidates(
    ...     index_groups(frames),
    ...     score=2 * positive + rng.normal(size=400),
    ...     is_positive=positive,
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     levels={"patient": frames // 20},
    ... )
    >>> (patients,) = level_results(candidates, ChosenThreshold.given(2.0), n_resamples=50)
    >>> patients.name, patients.n_positive, patients.n_negative
    ('patient', 10, 10)
    >>> patients.decision.point.sensitivity
    1.0
    """
    options = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
    units = levels_of(candidates, aggregate, k)
    clusters = _clusters(candidates)
    own = _own_thresholds(candidates, chosen, aggregate, k, validation)
    # Those that the threshold was chosen on are no other data where they are evaluated, too.
    others = None if chosen.is_chosen_here else validation
    curves = _probabilities(calibrator, others, aggregate, k)
    results = []
    for name, unit in units.items():
        found = _result(unit, clusters[name], own.get(name), aggregate, int(k), options)
        curve, words = curves.get(name) or _of_highest(calibrator, aggregate, int(k))
        if found.roc is not None and curve is not None:
            reliability = reliability_of(
                curve, unit.is_positive, unit.scores, clusters=clusters[name], level=level
            )
            found = replace(found, reliability=reliability, probability=words)
        results.append(found)
    return results


def threshold_words(chosen: ChosenThreshold, aggregate: str, k: int) -> str:
    """Say how the threshold of groups applies to a unit above them.

    Examples
    --------
    >>> threshold_words(ChosenThreshold.given(0.5), "kth_largest", 3)
    'an alarm where at least 3 groups raise one; the threshold of groups is given'
    """
    rule = "any group raises" if aggregate == "max" or k == 1 else f"at least {k} groups raise"
    return f"an alarm where {rule} one; the threshold of groups is {chosen.chosen}"


def _probabilities(
    calibrator: Calibrator | None, validation: ScoredCandidates | None, aggregate: str, k: int
) -> dict[str, tuple[Calibrator, str]]:
    """Return the curve of each level of other data that has units of both classes."""
    if calibrator is None or validation is None:
        return {}
    fit, found = fit_sigmoid if isinstance(calibrator, Sigmoid) else fit_isotonic, {}
    for name, unit in levels_of(validation, aggregate, k).items():
        # A unit without a score has the probability 0, whatever the curve.
        known = unit.scores > -np.inf
        positive = unit.is_positive[known]
        if positive.any() and not positive.all():
            units = printable(singular(name) if len(positive) == 1 else plural(name))
            words = f"given by a curve fitted to {len(positive):,} {units} of the validation data"
            found[name] = fit(unit.scores[known], positive), words
    return found


def _of_highest(
    calibrator: Calibrator | None, aggregate: str, k: int
) -> tuple[Calibrator | None, str]:
    """Return the curve of groups where the score of a unit is the largest of its groups."""
    is_largest = aggregate == "max" or k == 1
    return (calibrator if is_largest else None), "that of its group of the highest score"


def _clusters(candidates: ScoredCandidates) -> dict[str, NDArray[np.intp]]:
    """Return the patient of every unit of every level."""
    patient, found = candidates.group_clusters, {}
    for name, ids in candidates.group_levels.items():
        index = index_groups(ids)
        found[name] = patient[index.winners(np.zeros(index.n_rows))]
    return found


def _own_thresholds(
    candidates: ScoredCandidates,
    chosen: ChosenThreshold,
    aggregate: str,
    k: int,
    validation: ScoredCandidates | None,
) -> dict[str, ChosenThreshold]:
    """Return the threshold of each level; none for a level that has none."""
    if aggregate != "top_mean":
        rule = DecisionRule(chosen_on=threshold_words(chosen, aggregate, int(k)))
        own = dict.fromkeys(candidates.group_levels, replace(chosen, decision=rule))
        if chosen.decision.aggregation() == (aggregate, k) and chosen.decision.level in own:
            own[chosen.decision.level] = chosen
        return own
    rule, data = chosen.decision, candidates if chosen.is_chosen_here else validation
    if rule.target not in _OF_UNITS or data is None or not data.levels:
        return {}
    target: dict[str, Any] = {} if rule.target == "youden" else {rule.target: rule.value}
    found = {}
    for name, unit in levels_of(data, aggregate, k).items():
        if unit.is_positive.all() or not unit.is_positive.any():
            continue
        found[name] = choose_threshold(
            unit.is_positive,
            unit.scores,
            where=f"{plural(name)} of the data that the threshold of groups was chosen on",
            is_chosen_here=chosen.is_chosen_here,
            **target,
        )
    return found


def _result(
    unit: Level,
    clusters: NDArray[np.intp],
    threshold: ChosenThreshold | None,
    aggregate: str,
    k: int,
    options: dict[str, Any],
) -> LevelResult:
    positive, score = unit.is_positive, unit.scores
    result = LevelResult(
        name=unit.name,
        aggregate=aggregate,
        k=k,
        n_positive=int(positive.sum()),
        n_negative=int((~positive).sum()),
        roc=None,
        metrics={},
        decision=None,
        positive_scores=score[positive],
        negative_scores=score[~positive],
    )
    name, names = (printable(form(unit.name)) for form in (singular, plural))
    if positive.all() or not positive.any():
        note = (
            f"every {name} is {'positive' if positive.all() else 'negative'}, so that there is no "
            f"ROC curve and no decision of {names}; they need both classes."
        )
        warnings.warn(note, UserWarning, stacklevel=4)
        return replace(result, note=note)
    note = None
    if threshold is None:
        note = (
            f"the mean of the {k} largest scores of a {name} cannot be compared with a threshold "
            f"of groups, so that there is no decision of {names}; choose the threshold for "
            "a sensitivity or a specificity here, or on validation data with the same levels."
        )
        warnings.warn(note, UserWarning, stacklevel=4)
    found = roc_and_metrics(
        positive, score, metrics=computed_metrics(), clusters=clusters, **options
    )
    return replace(
        result,
        roc=found.roc,
        metrics=found.metrics,
        decision=None if threshold is None else _decide(unit, clusters, threshold, options),
        note=note,
    )


def _decide(
    unit: Level, clusters: NDArray[np.intp], threshold: ChosenThreshold, options: dict[str, Any]
) -> Decision:
    positive, level = unit.is_positive, options["level"]
    alarm = is_alarm(unit.scores, threshold.value)
    shares = {
        "sensitivity": share_interval(alarm[positive], clusters[positive], level=level),
        "specificity": share_interval(~alarm[~positive], clusters[~positive], level=level),
    }
    point = at_threshold(positive, unit.scores, threshold=threshold.value)
    return Decision(
        # Candidates and objects are counted once, with the groups.
        point=replace(point, false_alarms=float("nan"), objects_found=0, n_objects=0),
        chosen=threshold.chosen,
        is_chosen_here=threshold.is_chosen_here,
        sensitivity=shares["sensitivity"],
        specificity=shares["specificity"],
        contradiction=contradiction(threshold.decision, shares, level),
        rule=threshold.decision,
    )
