"""The evaluation of a fitted model on groups that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from groupcm import __version__
from groupcm.estimators.thresholds import choose_threshold
from groupcm.evaluation.cases import find_cases
from groupcm.evaluation.curves import reliability_of, roc_of, thinned
from groupcm.evaluation.metric_table import compute_metrics
from groupcm.evaluation.outcomes import decide, localisation_of
from groupcm.evaluation.results import DataCounts, Evaluation, Froc, Roc
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import score_candidates, with_all_groups
from groupcm.evaluation.training_summary import training_of
from groupcm.metrics import (
    froc_curve,
    group_precision_recall_curve,
    index_groups,
)
from groupcm.metrics.decision import ChosenThreshold, resolve_threshold
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.utils.merged_warnings import merge_warnings

__all__ = ["evaluate", "evaluate_scored", "unannotated_note"]


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
    pos_label: Any = None,
    all_groups: Mapping[Any, Any] | None = None,
    all_patients: Mapping[Any, Any] | None = None,
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
        The object, such as a polyp, that each positive candidate lies on.
    overlap : array-like of shape (n,), optional
        How well each candidate fits an object; with it, the share of winners on the object.
    annotated : array-like of bool of shape (n,), optional
        False for the candidates of unannotated positive groups: metrics of groups include them,
        metrics of candidates do not.
    pos_label : label, optional
        The positive label of ``y``, where its labels are others than the model's.
    all_groups : mapping, optional
        The label of every group, those without candidates included: such a group has the score
        -inf, never raises an alarm, and is missed where it is positive.
    all_patients : mapping, optional
        The patient of every group, needed with ``all_groups`` where there are ``patients``.
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
    )
    if all_groups is not None:
        scored = with_all_groups(model, scored, all_groups, all_patients, pos_label)
    return evaluate_scored(model, scored, **options)


def evaluate_scored(
    model: Any,
    candidates: ScoredCandidates,
    *,
    threshold: float | ChosenThreshold | None = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    title: str = "Evaluation",
    data_name: str = "the groups evaluated",
    object_word: str = "object",
    least_overlap: float = LEAST_OVERLAP,
    trained_on: DataCounts | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    notes: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Evaluate a model on candidates that it has scored.

    Parameters
    ----------
    model : estimator
    candidates : ScoredCandidates
    threshold : float or ChosenThreshold, optional
        See `groupcm.estimators.choose_threshold` for one from validation data. By default that
        of the model, its ``threshold_``.
    specificity, sensitivity : float, optional
        Instead, choose the threshold that reaches this value on the evaluated groups themselves;
        the evaluation reports that.
    title, data_name, object_word : str
        The title of the report, the name of the evaluated data, and the word for an object.
    least_overlap : float, default=0.3
        The overlap from which on a winner lies on the object.
    trained_on : DataCounts, optional
    n_resamples, level, random_state
        The options of the confidence intervals.
    notes : mapping, optional
        Kept unchanged.

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
    chosen = _threshold(model, candidates, threshold, specificity, sensitivity)
    positive, score = candidates.group_positive, candidates.group_score
    clusters = candidates.group_patient
    localisation = localisation_of(candidates, least_overlap=least_overlap, level=level)
    found = find_cases(model, candidates, _N_CASES, _N_CONTRIBUTIONS)
    with merge_warnings():
        return Evaluation(
            title=title,
            version=__version__,
            training=training_of(model, trained_on),
            data=candidates.counts(data_name),
            group_roc=roc_of(positive, score, clusters=clusters, **resampling),
            candidate_roc=_candidate_roc(candidates, resampling),
            precision_recall=thinned(group_precision_recall_curve(positive, score)),
            metrics=compute_metrics(positive, score, clusters=clusters, **resampling),
            froc=_froc(candidates, object_word),
            decision=decide(candidates, chosen, level),
            weights=found.weights,
            importances=found.importances,
            baseline=found.baseline,
            highest_negatives=found.highest_negatives,
            lowest_positives=found.lowest_positives,
            highest_positives=found.highest_positives,
            localisation=localisation,
            positive_scores=score[positive],
            negative_scores=score[~positive],
            reliability=reliability_of(model, candidates, level),
            notes={**(notes or {}), **_notes(candidates)},
            level=level,
            n_unannotated=candidates.n_unannotated,
        )


def _threshold(
    model: Any,
    candidates: ScoredCandidates,
    threshold: float | ChosenThreshold | None,
    specificity: float | None,
    sensitivity: float | None,
) -> ChosenThreshold:
    wanted = {"threshold": threshold, "specificity": specificity, "sensitivity": sensitivity}
    given = [name for name, value in wanted.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are both given; a decision follows one of them.")
    if specificity is not None or sensitivity is not None:
        threshold = choose_threshold(
            candidates.group_positive,
            candidates.group_score,
            specificity=specificity,
            sensitivity=sensitivity,
            where="groups evaluated here",
            is_chosen_here=True,
        )
    chosen = resolve_threshold(model, threshold)
    assert chosen is not None, "an evaluation is of a model of two classes"
    return chosen


def unannotated_note(n_unannotated: int, n_positive: int) -> str:
    """Describe how many positive groups are unannotated, and which metrics include them.

    Examples
    --------
    >>> unannotated_note(5, 20)
    '5 of 20 positive groups; metrics of groups include them, metrics of candidates and of winners
    exclude them'
    """
    return (
        f"{n_unannotated:,} of {n_positive:,} positive groups; metrics of groups include them, "
        "metrics of candidates and of winners exclude them"
    )


def _notes(candidates: ScoredCandidates) -> dict[str, str]:
    """Describe the groups that are unannotated, and those without candidates."""
    notes = {}
    if candidates.n_unannotated:
        n_positive = candidates.n_positive
        notes["Not annotated"] = unannotated_note(candidates.n_unannotated, n_positive)
    if candidates.empty is not None and candidates.n_empty:
        n_positive = int(candidates.empty.is_positive.sum())
        text = (
            f"{candidates.n_empty:,} groups have no candidates and never alarm, {n_positive:,} of "
            "them positive and missed"
        )
        if candidates.objects is not None and n_positive:
            text += "; their objects are not known and not in the FROC curve"
        notes["Without candidates"] = text
    return notes


def _has_candidate_metrics(candidates: ScoredCandidates) -> bool:
    """Return whether groups have several candidates, and some positive ones are annotated."""
    index = candidates.index
    is_annotated = (candidates.group_positive & candidates.group_has_labels)[: index.n_groups]
    return index.n_groups < index.n_rows and bool(is_annotated.any())


def _candidate_roc(candidates: ScoredCandidates, resampling: Mapping[str, Any]) -> Roc | None:
    """Return None where groups have one candidate each: it would equal the curve of groups."""
    if not _has_candidate_metrics(candidates):
        return None
    index, known = candidates.index, candidates.has_label
    clusters = candidates.group_clusters[index.codes]
    n_resamples = max(_FEWEST_RESAMPLES, _MOST_DRAWS // index.n_rows)
    fewer = {**resampling, "n_resamples": min(resampling["n_resamples"], n_resamples)}
    return roc_of(
        candidates.is_positive[known], candidates.score[known], clusters=clusters[known], **fewer
    )


def _froc(candidates: ScoredCandidates, object_word: str) -> Froc | None:
    """Compute the FROC curve; without objects, each positive group holds one of its own."""
    if not _has_candidate_metrics(candidates):
        return None
    rows = candidates.all_rows
    is_positive, score = rows.is_positive[rows.has_label], rows.score[rows.has_label]
    groups, objects = rows.group[rows.has_label], rows.object[rows.has_label]
    on_object = index_groups(objects[is_positive])
    return Froc(
        curve=thinned(froc_curve(is_positive, score, groups, objects=objects)),
        n_objects=on_object.n_groups,
        object_word="positive group" if candidates.objects is None else object_word,
    )
