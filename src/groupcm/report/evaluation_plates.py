"""The figures of an evaluation, each with its caption."""

from __future__ import annotations

from groupcm.evaluation.numbers import Evaluation
from groupcm.report.figures.distributions import score_distribution_figure
from groupcm.report.figures.froc import froc_figure
from groupcm.report.figures.learning import learning_figure
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.precision_recall import precision_recall_figure
from groupcm.report.figures.reliability import reliability_figure
from groupcm.report.figures.roc import roc_figure
from groupcm.report.figures.style import series_of
from groupcm.report.figures.weights import by_size, importances_figure, weights_figure
from groupcm.report.high_specificity import shows_high_specificity
from groupcm.report.learning_words import learning_shows
from groupcm.report.words import at_threshold, fraction, interval, number, percent, plural

__all__ = ["evaluation_plates"]


def evaluation_plates(evaluation: Evaluation) -> list[Plate]:
    """Draw all that an evaluation has numbers for, in the order of the page."""
    return [
        *_ranking(evaluation),
        *_finding(evaluation),
        *_deciding(evaluation),
        *_explaining(evaluation),
    ]


def _ranking(evaluation: Evaluation) -> list[Plate]:
    roc, decision = evaluation.group_roc, evaluation.decision
    plates = [
        Plate(
            "group_roc",
            "ROC of groups",
            "Each point of the line is a threshold: the further up and to the left, the better. "
            f"The band is the {percent(evaluation.level)} interval of the sensitivity; the dashed "
            "line is guessing.",
            f"ROC curve of groups, area {interval(roc.auc)}.",
            roc_figure(roc, decision=decision),
        ),
        Plate(
            "group_precision_recall",
            "Precision and sensitivity of groups",
            "How many alarms are right, against how many positive groups are found. The dashed "
            "line is the share of positive groups here; where they are rarer than here, fewer "
            "alarms are right.",
            "Precision against sensitivity, average precision "
            f"{interval(evaluation.average_precision)}.",
            precision_recall_figure(
                evaluation.precision_recall,
                evaluation.average_precision,
                _positive_share(evaluation),
                decision,
            ),
        ),
    ]
    if shows_high_specificity([roc]):
        plates.insert(1, _high_specificity(evaluation))
    candidates = evaluation.candidate_roc
    if candidates is not None:
        plates.append(
            Plate(
                "candidate_roc",
                "ROC of candidates",
                "As the ROC of groups, with every candidate counted alone. A model trained for "
                "groups may give this away to be better there.",
                f"ROC curve of candidates, area {interval(candidates.auc)}.",
                roc_figure(candidates, of="candidate"),
            )
        )
    return plates


def _high_specificity(evaluation: Evaluation) -> Plate:
    roc = evaluation.group_roc
    return Plate(
        "group_roc_high_specificity",
        "The same, spread out where false alarms are rare",
        "The same curve with a logarithmic axis: read off how many positive groups are still "
        "found where only 1 in 100 negative ones may raise an alarm.",
        f"ROC curve of groups on a logarithmic axis, area {interval(roc.auc)}.",
        roc_figure(roc, decision=evaluation.decision, log=True),
    )


def _finding(evaluation: Evaluation) -> list[Plate]:
    froc = evaluation.froc
    if froc is None:
        return []
    things = plural(froc.object_word)
    point = evaluation.decision.point
    reached = (
        f"At the chosen threshold {percent(point.objects_found / point.n_objects)} of the {things} "
        f"are found with {number(point.false_alarms)} false alarms per group."
    )
    return [
        Plate(
            "froc",
            f"FROC: {things} found against false alarms",
            f"Each point is a threshold: the share of the {things} found (up) for so many false "
            f"alarms in a group on average (right). {reached}",
            reached,
            froc_figure(froc, point),
        )
    ]


def _deciding(evaluation: Evaluation) -> list[Plate]:
    point = evaluation.decision.point
    return [
        Plate(
            "score_distribution",
            "Scores of positive and negative groups",
            "Each kind of groups adds up to 100 %. What is orange and left of the threshold is "
            "missed; what is blue and right of it is a false alarm.",
            f"{at_threshold(point.threshold)}, the sensitivity is "
            f"{fraction(point.sensitivity)} and the specificity {fraction(point.specificity)}.",
            score_distribution_figure(
                evaluation.positive_scores, evaluation.negative_scores, point.threshold
            ),
        )
    ]


def _explaining(evaluation: Evaluation) -> list[Plate]:
    plates = []
    if evaluation.weights:
        largest = by_size(evaluation.weights)[:3]
        listed = ", ".join(f"{each.feature} {number(each.per_deviation)}" for each in largest)
        plates.append(
            Plate(
                "weights",
                "Weights by feature",
                "How much the score rises (orange) or falls (blue) when the feature rises by one "
                "standard deviation.",
                f"The largest weights: {listed}.",
                weights_figure(evaluation.weights),
            )
        )
    if evaluation.importances:
        listed = ", ".join(
            f"{each.feature} {number(each.moves)}" for each in evaluation.importances[:3]
        )
        plates.append(
            Plate(
                "importances",
                "What each feature moves",
                "By how much, on average, the feature moves the score of a winner up or down from "
                "the mean score in training (exact Shapley values of the trees).",
                f"The features that move most: {listed}.",
                importances_figure(evaluation.importances),
            )
        )
    if evaluation.learning is not None:
        learning = evaluation.learning
        plates.append(
            Plate(
                "learning_curve",
                "Learning curve",
                "A line that still rises at its right end says that more of the same data would "
                "help; a flat one, that it would not.",
                learning_shows(learning),
                learning_figure(learning, series_of(line.model for line in learning.lines)),
            )
        )
    if evaluation.reliability is not None:
        plates.append(
            Plate(
                "reliability",
                "Reliability of the probabilities",
                "Points on the dashed line: of the groups given 70 %, 70 in 100 are positive. "
                "Larger points hold more groups.",
                f"Brier score {fraction(evaluation.reliability.brier)}.",
                reliability_figure(evaluation.reliability),
            )
        )
    return plates


def _positive_share(evaluation: Evaluation) -> float:
    n_positive = evaluation.data.n_positive_groups
    return n_positive / max(n_positive + evaluation.data.n_negative_groups, 1)
