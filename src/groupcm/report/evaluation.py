"""The figures, tiles and sentences of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from groupcm.evaluation.metric_table import CountOf, Value, shown
from groupcm.evaluation.results import DataCounts, Decision, Evaluation, Localisation, Training
from groupcm.metrics import Interval
from groupcm.plots.style import series_of
from groupcm.report.captions import at_threshold, describe_learning_curve, has_high_specificity
from groupcm.report.details import (
    flow_of,
    levels_figure,
    levels_reliability,
    subgroup_figures,
    yield_of,
)
from groupcm.report.figures.curves import froc_figure, precision_recall_figure, roc_figure
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.learning import learning_figure
from groupcm.report.figures.scores import (
    by_size,
    importances_figure,
    reliability_figure,
    score_distribution_figure,
    weights_figure,
)
from groupcm.utils.formatting import (
    certified_gap,
    count,
    counted,
    fraction,
    interval,
    number,
    percent,
    percent_estimate,
    percent_range,
    plural,
)
from groupcm.utils.text import capitalised, in_unit

__all__ = [
    "alarms_sentence",
    "certificate_sentence",
    "data_rows",
    "evaluation_figures",
    "localisation_sentence",
    "metric_tiles",
    "ranking_sentence",
]


def evaluation_figures(evaluation: Evaluation) -> list[CaptionedFigure]:
    """Draw all that an evaluation has numbers for, in the order of the page."""
    figures = (_data, _deciding, _levels, _ranking, _finding, _explaining)
    return [_in_words_of(figure, evaluation) for part in figures for figure in part(evaluation)]


def _in_words_of(figure: CaptionedFigure, evaluation: Evaluation) -> CaptionedFigure:
    """Call a group by the user's word in the title and the caption of a figure."""
    unit = evaluation.unit
    return replace(
        figure,
        title=in_unit(figure.title, unit),
        caption=in_unit(figure.caption, unit),
        # Names of features stay as they are.
        description=figure.description
        if figure.name in ("weights", "importances")
        else in_unit(figure.description, unit),
    )


def _data(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    yield flow_of(evaluation)


def _levels(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    found = levels_figure(evaluation)
    if found is not None:
        yield found
    yield from subgroup_figures(evaluation)


def _ranking(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    roc, candidates, decision = evaluation.group_roc, evaluation.candidate_roc, evaluation.decision
    yield CaptionedFigure(
        "group_roc",
        "ROC of groups",
        "Each point of the line is a threshold: the further up and to the left, the better. "
        f"The band is the {percent(evaluation.level)} interval of the sensitivity; the dashed "
        "line is guessing.",
        f"ROC curve of groups, area {interval(roc.auc)}.",
        roc_figure(roc, of=evaluation.unit, decision=decision),
    )
    if has_high_specificity([roc]):
        yield CaptionedFigure(
            "group_roc_high_specificity",
            "The same, spread out where false alarms are rare",
            "The same curve with a logarithmic axis: read off how many positive groups are still "
            "found where only 1 in 100 negative ones may raise an alarm.",
            f"ROC curve of groups on a logarithmic axis, area {interval(roc.auc)}.",
            roc_figure(roc, of=evaluation.unit, decision=decision, log=True),
        )
    average_precision, data = evaluation.average_precision, evaluation.data
    share = data.n_positive_groups / max(data.n_positive_groups + data.n_negative_groups, 1)
    yield CaptionedFigure(
        "group_precision_recall",
        "Precision and sensitivity of groups",
        "How many alarms are right, against how many positive groups are found. The dashed "
        "line is the share of positive groups here; where they are rarer than here, fewer "
        "alarms are right.",
        f"Precision against sensitivity, average precision {interval(average_precision)}.",
        precision_recall_figure(
            evaluation.precision_recall, average_precision, share, decision, evaluation.unit
        ),
    )
    if candidates is not None:
        yield CaptionedFigure(
            "candidate_roc",
            "ROC of candidates",
            "As the ROC of groups, with every candidate counted alone. A model trained for "
            "groups may trade this for better performance on groups.",
            f"ROC curve of candidates, area {interval(candidates.auc)}.",
            roc_figure(candidates, of="candidate"),
        )


def _finding(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    froc, point, found = evaluation.froc, evaluation.decision.point, evaluation.objects
    if froc is not None:
        things = plural(froc.object_word)
        reached = (
            f"At the chosen threshold {percent(point.objects_found / point.n_objects)} of the "
            f"{things} are found with {number(point.false_alarms)} false alarms per group."
        )
        band = f"The band is the {percent(evaluation.level)} interval. " if found else ""
        yield CaptionedFigure(
            "froc",
            f"FROC: {things} found against false alarms",
            f"Each point is a threshold: the share of the {things} found (up) for so many false "
            f"alarms in a group on average (right). {band}{reached}",
            reached,
            froc_figure(froc, point, None if found is None else found.band, evaluation.unit),
        )
    shown = yield_of(evaluation)
    if shown is not None:
        yield shown


def _deciding(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    point = evaluation.decision.point
    positive, negative = evaluation.positive_scores, evaluation.negative_scores
    yield CaptionedFigure(
        "score_distribution",
        "Scores of positive and negative groups",
        "Each kind of groups adds up to 100 %. What is orange and left of the threshold is "
        "missed; what is blue and right of it is a false alarm.",
        f"{at_threshold(point.threshold)}, the sensitivity is {fraction(point.sensitivity)} and "
        f"the specificity {fraction(point.specificity)}.",
        score_distribution_figure(positive, negative, point.threshold, evaluation.unit),
    )


def _explaining(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    if evaluation.weights:
        largest = by_size(evaluation.weights)[:3]
        listed = ", ".join(f"{each.feature} {number(each.per_deviation)}" for each in largest)
        yield CaptionedFigure(
            "weights",
            "Weights by feature",
            "How much the score rises (orange) or falls (blue) when the feature rises by one "
            "standard deviation.",
            f"The largest weights: {listed}.",
            weights_figure(evaluation.weights),
        )
    if evaluation.importances:
        largest = evaluation.importances[:3]
        listed = ", ".join(f"{each.feature} {number(each.moves)}" for each in largest)
        yield CaptionedFigure(
            "importances",
            "What each feature moves",
            "By how much, on average, the feature moves the score of a winner up or down from "
            "the mean score in training (exact Shapley values of the trees).",
            f"The features that move most: {listed}.",
            importances_figure(evaluation.importances),
        )
    learning, reliability = evaluation.learning, evaluation.reliability
    if learning is not None:
        yield CaptionedFigure(
            "learning_curve",
            "Learning curve",
            "A line that still rises at its right end shows that more of the same data would "
            "help; a flat one, that it would not.",
            describe_learning_curve(learning),
            learning_figure(
                learning, series_of(line.model for line in learning.lines), evaluation.unit
            ),
        )
    if reliability is not None:
        yield CaptionedFigure(
            "reliability",
            "Reliability of the probabilities",
            "Points on the dashed line: of the groups given 70 %, 70 in 100 are positive. "
            "Larger points hold more groups.",
            f"Brier score {fraction(reliability.brier)}.",
            reliability_figure(reliability, evaluation.unit),
        )
    yield from levels_reliability(evaluation)


class Tile(NamedTuple):
    """A metric at the top of the page: what it is, its number, and a line below the number."""

    title: str
    number: str
    below: str


def metric_tiles(evaluation: Evaluation) -> list[Tile]:
    """Return the metrics that are declared with a tile, those of the threshold first."""
    things = capitalised(plural(evaluation.object_word))
    in_use = "in use"
    if evaluation.prevalence is not None:
        rate = percent(evaluation.prevalence)
        in_use = in_unit(f"where {rate} of the groups are positive", evaluation.unit)
    return [
        Tile(
            metric.tile.replace("Objects", things).replace("in use", in_use),
            *_number_and_below(value, metric.style, detail),
        )
        for metric, value, detail in shown(evaluation, "threshold", "ranking", "probabilities")
        if metric.tile is not None
    ]


def _number_and_below(value: Value, style: str, detail: str) -> tuple[str, str]:
    if isinstance(value, CountOf):
        return f"{count(value.n)} of {count(value.total)}", detail
    formatted = {"fraction": fraction, "percent": percent, "number": number}[style]
    if not isinstance(value, Interval):
        return formatted(value), detail
    if style == "percent":
        return percent_estimate(value), percent_range(value)
    return formatted(value.estimate), interval(value, with_estimate=False)


def alarms_sentence(decision: Decision, level: float = 0.95) -> str:
    """Describe the groups that the threshold finds, and its false alarms.

    Examples
    --------
    >>> from groupcm.metrics import Interval, OperatingPoint
    >>> point = OperatingPoint(0.42, 0.87, 0.95, 0.946, 87, 13, 5, 95)
    >>> sentence = alarms_sentence(Decision(point, "Youden", False, Interval(0.87, 0.79, 0.93),
    ...                                     Interval(0.95, 0.89, 0.98)))
    >>> print(sentence.replace(". ", ".\\n"))
    At the threshold 0.42, 87 of 100 positive groups are found
    (sensitivity 0.870, 95 % interval 0.790 to 0.930),
    and 5 of 100 negative groups raise a false alarm
    (specificity 0.950, 95 % interval 0.890 to 0.980).
    """
    point = decision.point
    n_positive = point.true_positives + point.false_negatives
    n_negative = point.false_positives + point.true_negatives
    bounds = f"{percent(level)} interval"
    return (
        f"{at_threshold(point.threshold)}, {count(point.true_positives)} of "
        f"{counted(n_positive, 'positive group')} {_are(point.true_positives)} found "
        f"(sensitivity {fraction(point.sensitivity)}, "
        f"{bounds} {interval(decision.sensitivity, with_estimate=False)}), and "
        f"{count(point.false_positives)} of {counted(n_negative, 'negative group')} "
        f"{'raises' if point.false_positives == 1 else 'raise'} a false alarm "
        f"(specificity {fraction(point.specificity)}, "
        f"{bounds} {interval(decision.specificity, with_estimate=False)})."
    ).replace("interval interval", "interval")


def ranking_sentence(evaluation: Evaluation) -> str:
    """Describe the meaning of the area under the ROC curve."""
    auc = evaluation.group_roc.auc
    return (
        "Of a positive and a negative group drawn at random, the positive one scores higher in "
        f"{percent(auc.estimate)} of all cases (a tie is half a case): that is the area under the "
        f"ROC curve, AUC {interval(auc)}."
    )


def localisation_sentence(localisation: Localisation, level: float = 0.95) -> str:
    """Describe how often the winner overlaps the object, and how often it can.

    Examples
    --------
    >>> from groupcm.metrics import Interval
    >>> print(localisation_sentence(Localisation(50, 36, Interval(0.72, 0.58, 0.83), 48)))
    In 36 of 50 positive groups (0.720, 95 % interval 0.580 to 0.830) the winner overlaps the object
    by 0.3 or more. In 2 no candidate does, so no winner can.
    """
    n_groups, share = localisation.n_positive_groups, localisation.share
    bounds = f"{percent(level)} interval {interval(share, with_estimate=False)}"
    n_out_of_reach = n_groups - localisation.n_reachable
    reach = f"In {count(n_out_of_reach)} no candidate does, so no winner can."
    return (
        f"In {count(localisation.n_on_object)} of {counted(n_groups, 'positive group')} "
        f"({fraction(share.estimate)}, {bounds}) the winner overlaps the object by "
        f"{number(localisation.least_overlap)} or more. "
        f"{reach if n_out_of_reach else 'In every one some candidate does.'}"
    ).replace("interval interval", "interval")


def certificate_sentence(training: Training) -> str | None:
    """Return what the certificate proves; None where there is no certificate.

    Examples
    --------
    >>> certificate_sentence(Training("GroupClassifier", {}, gap=2.7e-5, tol=1e-4))
    'Certified: within 0.0027 % of the global optimum.'
    """
    if training.gap is None:
        return None
    return f"Certified: {certified_gap(training.gap, training.tol)}."


def data_rows(evaluation: Evaluation) -> list[tuple[str, DataCounts]]:
    """Return the counts of the training data, where known, and of the evaluated data."""
    rows = [("Evaluated here", evaluation.data)]
    if evaluation.training.trained_on is not None:
        rows.insert(0, ("Trained on", evaluation.training.trained_on))
    return rows


def _are(value: int) -> str:
    return "is" if value == 1 else "are"
