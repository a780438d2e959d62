"""The evaluation of a fitted model on groups that it has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm import __version__
from groupcm.data.validation import check_length
from groupcm.errors import Argument, ParameterError
from groupcm.evaluation.cases import find_cases
from groupcm.evaluation.chosen_threshold import threshold_of_evaluation
from groupcm.evaluation.curves import reliability_of, roc_and_metrics, roc_of, thinned
from groupcm.evaluation.data_summary import computation_of, data_flow, data_notes, warned_of
from groupcm.evaluation.levels import level_results
from groupcm.evaluation.metric_table import computed_metrics
from groupcm.evaluation.object_rows import HitRule, with_listed
from groupcm.evaluation.objects import (
    froc_of,
    has_candidate_metrics,
    object_result,
    with_objects,
    yields_of,
)
from groupcm.evaluation.outcomes import decide, localisation_of
from groupcm.evaluation.provenance import FileDigest
from groupcm.evaluation.results import DataCounts, Evaluation, Roc
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import score_candidates
from groupcm.evaluation.subgroups import subgroups_of
from groupcm.evaluation.training_summary import training_of
from groupcm.metrics import group_precision_recall_curve
from groupcm.metrics.decision import ChosenThreshold
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.metrics.predictive import require_prevalence
from groupcm.utils.merged_warnings import merge_warnings

__all__ = ["evaluate", "evaluate_scored"]


_N_CASES = 10
_N_CONTRIBUTIONS = 4
# There are many candidates, and a resample takes as many steps as there are rows.
_MOST_DRAWS = 1_000_000_000
_FEWEST_RESAMPLES = 200


def evaluate(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    patients: ArrayLike | None = None,
    objects: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    annotated: ArrayLike | None = None,
    centre_inside: ArrayLike | None = None,
    centre_distance: ArrayLike | None = None,
    pos_label: Any = None,
    all_groups: Mapping[Any, Any] | None = None,
    all_patients: Mapping[Any, Any] | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
    all_levels: Mapping[str, Mapping[Any, Any]] | None = None,
    by: Mapping[str, ArrayLike] | None = None,
    all_objects: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a fitted model of two classes on groups it has not seen.

    Parameters
    ----------
    model : estimator
        Any estimator with ``classes_`` and ``decision_function``, one score per candidate. Weights
        and certificate are included where it has them, reliability where it gives probabilities
        of groups.
    X : array, CSR matrix or data frame of shape (n, d), or a source
        A source provides its labels, groups and overlap; a few numbers per row of it are held in
        memory.
    y : array-like of shape (n,)
        One label per candidate. The positive class is the model's.
    groups : array-like of shape (n,), or "none", optional
        The group of each candidate; without it every row is its own group.
    patients : array-like of shape (n,), optional
        The patient of each candidate. Intervals then resample patients, otherwise groups.
    objects : array-like of shape (n,), optional
        The object, such as a polyp, that each positive candidate overlaps. With a ``hit_rule``
        other than "label", it is read for every candidate that is on an object by the rule.
    overlap : array-like of shape (n,), optional
        How well each candidate fits an object; with it, the share of winners on the object.
    annotated : array-like of bool of shape (n,), optional
        False for the candidates of unannotated positive groups: metrics of groups include them,
        metrics of candidates do not.
    centre_inside, centre_distance : array-like of shape (n,), optional
        Whether the centre of each candidate is inside its object, and the distance of their
        centres, for the hit rules "centre" and "distance".
    pos_label : label, optional
        The positive label of ``y``, where its labels are others than the model's.
    all_groups : mapping, optional
        The label of every group, those without candidates included: such a group has the score
        -inf, never raises an alarm, and is missed where it is positive.
    all_patients : mapping, optional
        The patient of every group, needed with ``all_groups`` where there are ``patients``, and
        of every group that only ``all_objects`` names.
    levels : mapping of str to array-like of shape (n,), optional
        The unit of each candidate at each level above the group, from the lowest to the highest,
        such as ``{"video": videos, "patient": patients}``; each level nested in the next. The
        result has the metrics of every level. Intervals resample the units of the highest level,
        or ``patients``, which may be given too and must contain whole units of it.
    all_levels : mapping of str to mapping, optional
        For each level the unit of every group, needed with ``all_groups`` where there are
        ``levels``.
    by : mapping of str to array-like of shape (n,), optional
        Columns such as site or size, one value per candidate: the result has the main metrics of
        each subgroup. See `groupcm.evaluation.subgroups` for how values form subgroups.
    all_objects : mapping, or pairs, of object ids to group ids, optional
        Every object, those that no candidate is on included, and a group that shows it: pairs
        where several groups show an object. An object that no candidate is on is missed at every
        threshold, and its group is positive.
    **options
        The options of `evaluate_scored`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.simulate import capsule
    >>> train, test = (capsule(60, n_positive=20, group_size=10, seed=s) for s in (0, 1))
    >>> model = GroupClassifier(0.9).fit(train.X, train.y, train.groups)
    >>> found = evaluate(model, test.X, test.y, test.groups, n_resamples=50)
    >>> found.data.n_positive_groups, found.group_roc.auc.estimate > 0.5
    (20, True)

    Three frames make a patient, and the score of a patient is that of the highest frame:

    >>> patients = test.groups // 3
    >>> found = evaluate(
    ...     model, test.X, test.y, test.groups, levels={"patient": patients}, n_resamples=50
    ... )
    >>> found.levels[0].name, found.levels[0].roc.auc.estimate > 0.5
    ('patient', True)
    """
    scored = score_candidates(
        model,
        X,
        y,
        groups,
        patients=patients,
        objects=objects,
        overlap=overlap,
        annotated=annotated,
        pos_label=pos_label,
        levels=levels,
        columns=by,
    )
    n_rows = scored.index.n_rows
    scored = replace(
        scored,
        centre_inside=_column("centre_inside", centre_inside, n_rows),
        centre_distance=_column("centre_distance", centre_distance, n_rows),
    )
    scored = with_listed(
        model,
        scored,
        all_groups=all_groups,
        all_patients=all_patients,
        all_objects=all_objects,
        all_levels=all_levels,
        pos_label=pos_label,
    )
    return evaluate_scored(model, scored, **options)


def evaluate_scored(
    model: Any,
    candidates: ScoredCandidates,
    *,
    threshold: float | ChosenThreshold | None = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    false_alarms: float | None = None,
    title: str = "Evaluation",
    data_name: str = "the groups evaluated",
    object_word: str = "object",
    least_overlap: float | Sequence[float] = LEAST_OVERLAP,
    hit_rule: str = "label",
    most_distance: float | None = None,
    hit: str = "highest_score",
    groups_per_second: float | None = None,
    trained_on: DataCounts | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    notes: Mapping[str, Any] | None = None,
    aggregate: str | None = None,
    k: int | None = None,
    validation: ScoredCandidates | None = None,
    prevalence: float | None = None,
    unit: str = "group",
    files: Sequence[FileDigest] = (),
) -> Evaluation:
    """Evaluate a model on candidates that it has scored.

    Parameters
    ----------
    model : estimator
    candidates : ScoredCandidates
    threshold : float or ChosenThreshold, optional
        See `groupcm.estimators.choose_threshold` for one from validation data. By default that
        of the model, its ``threshold_``.
    specificity, sensitivity, false_alarms : float, optional
        Instead, choose the threshold that reaches this value on the evaluated groups themselves;
        the evaluation reports that. ``false_alarms`` is the largest number per group of candidates
        that are not positive and reach the threshold.
    title, data_name, object_word : str
        The title of the report, the name of the evaluated data, and the word for an object.
    least_overlap : float or sequence of float, default=0.3
        The overlap from which a winner, and with ``hit_rule="overlap"`` a candidate, counts as on
        the object. With several values there is one result for each; the first is the main one.
    hit_rule : {"label", "overlap", "centre", "distance"}
        When a candidate is on an object in the free-response analysis: where its label is
        positive, or by its overlap, its centre or the distance of its centre from the object's;
        see `groupcm.metrics.hits`.
    most_distance : float, optional
        The largest distance of a hit, for ``hit_rule="distance"``.
    hit : {"highest_score", "best_overlap"}
        Which candidate gives an object its score where several of one group are on it.
    groups_per_second : float, optional
        How fast groups are read, for the reading time that the yield curve saves.
    trained_on : DataCounts, optional
    n_resamples, level, random_state
        The options of the confidence intervals.
    notes : mapping, optional
        Kept unchanged.
    aggregate : {"max", "kth_largest", "top_mean"}
        How the scores of groups make the scores of the units of ``candidates.levels``; see
        `groupcm.metrics.level_scores`.
    k : int, default=1
        For "kth_largest", which raises an alarm where at least k groups do, and "top_mean".
    validation : ScoredCandidates, optional
        The data that ``threshold`` was chosen on. The mean of the k largest scores has a threshold
        of its own, which is chosen there for the same target; and the probabilities of units, by a
        model that gives some of groups, are learnt there.
    prevalence : float, optional
        The share of positive groups where the model will be used: the evaluation then has the
        precision and the negative predictive value there; see `groupcm.metrics.predictive_values`.
    unit : str, default="group"
        The word for a group in the report, such as "frame"; an irregular plural follows a slash,
        as in "query/queries".
    files : sequence of FileDigest
        The files that were read, for the appendix of the report; see
        `groupcm.evaluation.provenance.digest_files`.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation import score_candidates
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=20)
    >>> model = GroupClassifier().fit(data.X, data.y, groups=data.groups)
    >>> scored = score_candidates(model, data.X, data.y, data.groups)
    >>> result = evaluate_scored(model, scored, specificity=0.9, n_resamples=50)
    >>> result.decision.point.specificity >= 0.9
    True
    """
    resampling: dict[str, Any] = {
        "n_resamples": n_resamples,
        "level": level,
        "random_state": random_state,
    }
    if prevalence is not None:
        prevalence = require_prevalence(prevalence)
    values = _least_overlaps(least_overlap)
    _require_unit(unit)
    if groups_per_second is not None and not groups_per_second > 0:
        raise ParameterError(
            Argument("groups_per_second"), f" is {groups_per_second:g}; it must be above 0."
        )
    rules = [
        HitRule(hit_rule, least, most_distance)
        for least in (values if hit_rule == "overlap" else values[:1])
    ]
    chosen = threshold_of_evaluation(
        model,
        candidates,
        threshold,
        specificity=specificity,
        sensitivity=sensitivity,
        false_alarms=false_alarms,
    )
    aggregate, k = chosen.decision.aggregation(aggregate, k)
    positive, score = candidates.group_positive, candidates.group_score
    clusters, calibrator = candidates.group_patient, getattr(model, "calibrator_", None)
    localised = [localisation_of(candidates, least_overlap=least, level=level) for least in values]
    found = find_cases(model, candidates, chosen.value, _N_CASES, _N_CONTRIBUTIONS)
    with merge_warnings(), warned_of(candidates):
        results = [
            object_result(candidates, chosen.value, rule=rule, hit=hit, **resampling)
            for rule in rules
        ]
        by_rule = [each for each in results if each is not None]
        ranked = roc_and_metrics(
            positive, score, metrics=computed_metrics(), clusters=clusters, **resampling
        )
        return Evaluation(
            title=title,
            version=__version__,
            training=training_of(model, trained_on),
            data=candidates.counts(data_name),
            group_roc=ranked.roc,
            candidate_roc=_candidate_roc(candidates, resampling),
            precision_recall=thinned(group_precision_recall_curve(positive, score)),
            metrics=ranked.metrics,
            froc=froc_of(candidates, object_word, rule=rules[0], hit=hit),
            decision=with_objects(decide(candidates, chosen, level), results[0]),
            weights=found.weights,
            importances=found.importances,
            baseline=found.baseline,
            highest_negatives=found.highest_negatives,
            lowest_positives=found.lowest_positives,
            highest_positives=found.highest_positives,
            localisation=localised[0],
            positive_scores=score[positive],
            negative_scores=score[~positive],
            reliability=reliability_of(calibrator, positive, score, clusters=clusters, level=level),
            notes={**(notes or {}), **data_notes(candidates)},
            level=level,
            n_unannotated=candidates.n_unannotated,
            unit=unit,
            levels=level_results(
                candidates,
                chosen,
                aggregate=aggregate,
                k=k,
                validation=validation,
                calibrator=calibrator,
                **resampling,
            ),
            subgroups=subgroups_of(candidates, chosen.value, **resampling),
            flow=data_flow(candidates, rules[0]),
            prevalence=prevalence,
            objects=results[0],
            yields=yields_of(candidates),
            groups_per_second=groups_per_second,
            objects_by_rule=by_rule if len(by_rule) > 1 else (),
            localisations=[each for each in localised if each] if len(values) > 1 else (),
            object_word=object_word,
            typical=found.typical,
            computation=computation_of(candidates, n_resamples, random_state, files),
        )


def _require_unit(unit: Any) -> None:
    if not isinstance(unit, str) or not unit.strip():
        raise ParameterError(
            Argument("unit"), " is empty; give the word for a group, such as frame."
        )


def _least_overlaps(given: float | Sequence[float]) -> list[float]:
    values = [float(given)] if isinstance(given, int | float) else [float(x) for x in given]
    if not values:
        raise ParameterError(Argument("least_overlap"), " is empty; give at least one number.")
    return values


def _column(name: str, values: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    if values is None:
        return None
    check_length(name, values, n_rows)
    return np.asarray(values)


def _candidate_roc(candidates: ScoredCandidates, resampling: Mapping[str, Any]) -> Roc | None:
    """Return None where groups have one candidate each: it would equal the curve of groups."""
    if not has_candidate_metrics(candidates):
        return None
    index, known = candidates.index, candidates.has_label
    clusters = candidates.group_clusters[index.codes]
    n_resamples = max(_FEWEST_RESAMPLES, _MOST_DRAWS // index.n_rows)
    fewer = {**resampling, "n_resamples": min(resampling["n_resamples"], n_resamples)}
    return roc_of(
        candidates.is_positive[known], candidates.score[known], clusters=clusters[known], **fewer
    )
