"""The main numbers of an evaluation, as names and values."""

from __future__ import annotations

from math import isinf, isnan

from groupcm.decision import rule_words
from groupcm.evaluation.numbers import Evaluation
from groupcm.evaluation.unannotated_words import unannotated_words
from groupcm.metrics import Interval

__all__ = ["evaluation_rows", "threshold_words"]


def evaluation_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What was evaluated, how well groups are told apart, and what the threshold does."""
    data, decision, froc = evaluation.data, evaluation.decision, evaluation.froc
    point = decision.point

    def told(value: Interval) -> str:
        return with_interval(value, evaluation.level)

    which = "annotated positive" if evaluation.n_unannotated else "positive"
    n_groups = data.n_positive_groups + data.n_negative_groups
    rows = [
        ("candidates", f"{data.n_candidates:,}"),
        ("groups", f"{n_groups:,}, of them {data.n_positive_groups:,} positive"),
    ]
    if evaluation.n_unannotated:
        told_of = unannotated_words(evaluation.n_unannotated, data.n_positive_groups)
        rows.append(("not annotated", told_of))
    if data.n_patients is not None:
        rows.append(("patients", f"{data.n_patients:,}"))
    rows.append(("group AUC", told(evaluation.group_roc.auc)))
    localisation = evaluation.localisation
    if localisation is not None:
        rows.append(
            (
                "winner on the object",
                f"{told(localisation.share)}; {localisation.n_on_object:,} of "
                f"{localisation.n_positive_groups:,} {which} groups, with an overlap of "
                f"{localisation.least_overlap:g} or more; the candidates allow "
                f"{localisation.n_reachable:,}",
            )
        )
    if evaluation.candidate_roc is not None:
        rows.append(("candidate AUC", told(evaluation.candidate_roc.auc)))
    rows += [
        ("average precision", told(evaluation.average_precision)),
        ("threshold", f"{threshold_words(point.threshold)} ({decision.chosen})"),
        (
            "sensitivity",
            f"{told(decision.sensitivity)}; "
            f"{point.true_positives:,} of {data.n_positive_groups:,} positive groups found",
        ),
        (
            "specificity",
            f"{told(decision.specificity)}; "
            f"{point.false_positives:,} of {data.n_negative_groups:,} negative groups alarm",
        ),
    ]
    if froc is not None:
        if data.n_objects is not None:
            rows.append(("objects found", f"{point.objects_found:,} of {point.n_objects:,}"))
        rows.append(("false alarms", f"{point.false_alarms:.3g} candidates per group"))
    if decision.n_winners_on_object is not None and decision.n_judged:
        rows.append(
            (
                "winners right",
                f"{decision.n_winners_on_object:,} of {decision.n_judged:,} {which} groups found, "
                "by a positive candidate",
            )
        )
    if evaluation.reliability is not None:
        rows.append(("Brier score", f"{evaluation.reliability.brier:.4f}"))
    if decision.contradiction is not None:
        rows.append(("caution", decision.contradiction))
    if decision.is_chosen_here:
        rows.append(("note", "the threshold was chosen on these very groups, which flatters it"))
    return rows


def threshold_words(value: float) -> str:
    """Say a threshold; what none or every group reaches is said so.

    Examples
    --------
    >>> threshold_words(0.4213721), threshold_words(float("inf"))
    ('0.421372', '∞, no group raises an alarm')
    """
    if isinf(value):
        return f"{'∞' if value > 0 else '−∞'}, {rule_words(value)}"
    return f"{value:.6g}"


def with_interval(value: Interval, level: float = 0.95) -> str:
    """Say an estimate and its bounds.

    Examples
    --------
    >>> with_interval(Interval(0.9, 0.85, 0.94))
    '0.9000 (95 %: 0.8500 to 0.9400)'
    >>> with_interval(Interval(1.0, float("nan"), float("nan")))
    '1.0000 (interval not known)'
    """
    if isnan(value.low) or isnan(value.high):
        return f"{value.estimate:.4f} (interval not known)"
    return f"{value.estimate:.4f} ({100 * level:g} %: {value.low:.4f} to {value.high:.4f})"
