"""An evaluation in plain sentences."""

from __future__ import annotations

from groupcm.evaluation.numbers import DataCounts, Decision, Evaluation, Localisation, Training
from groupcm.report.words import at_threshold, count, counted, fraction, interval, number, percent

__all__ = [
    "alarms_sentence",
    "certificate_sentence",
    "data_rows",
    "localisation_sentence",
    "ranking_sentence",
]


def alarms_sentence(decision: Decision, level: float = 0.95) -> str:
    """Say what the threshold finds and what it raises for nothing.

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
    """Say what the area under the ROC curve means."""
    auc = evaluation.group_roc.auc
    return (
        "Of a positive and a negative group drawn at random, the positive one scores higher in "
        f"{percent(auc.estimate)} of all cases (a tie is half a case): that is the area under the "
        f"ROC curve, AUC {interval(auc)}."
    )


def localisation_sentence(localisation: Localisation, level: float = 0.95) -> str:
    """Say how often the winner lies on the object, and how often it can.

    Examples
    --------
    >>> from groupcm.metrics import Interval
    >>> print(localisation_sentence(Localisation(50, 36, Interval(0.72, 0.58, 0.83), 48)))
    In 36 of 50 positive groups (0.720, 95 % interval 0.580 to 0.830) the winner lies on the object:
    it overlaps it by 0.3 or more. In 2 no candidate does, so no winner can.
    """
    n_groups, share = localisation.n_positive_groups, localisation.share
    bounds = f"{percent(level)} interval {interval(share, with_estimate=False)}"
    n_out_of_reach = n_groups - localisation.n_reachable
    reach = f"In {count(n_out_of_reach)} no candidate does, so no winner can."
    return (
        f"In {count(localisation.n_on_object)} of {counted(n_groups, 'positive group')} "
        f"({fraction(share.estimate)}, {bounds}) the winner lies on the object: it overlaps it by "
        f"{number(localisation.least_overlap)} or more. "
        f"{reach if n_out_of_reach else 'In every one some candidate does.'}"
    ).replace("interval interval", "interval")


def certificate_sentence(training: Training) -> str | None:
    """Say in words what the gap proves; None where nothing is proved.

    Examples
    --------
    >>> print(certificate_sentence(Training("GroupClassifier", {}, gap=2e-5, tol=1e-4)))
    No other weights can make the objective more than 0.002 % smaller than it is: this is proved.
    >>> print(certificate_sentence(Training("GroupClassifier", {}, gap=2e-3, tol=1e-4)))
    No other weights can make the objective more than 0.2 % smaller than it is: this is proved.
    That is not yet the 0.01 % asked for.
    """
    if training.gap is None:
        return None
    proof = (
        f"No other weights can make the objective more than {_small_percent(training.gap)} "
        "smaller than it is: this is proved."
    )
    if training.tol is not None and training.gap > training.tol:
        proof += f" That is not yet the {_small_percent(training.tol)} asked for."
    return proof


def data_rows(evaluation: Evaluation) -> list[tuple[str, DataCounts]]:
    """What was trained on, where known, and what is judged here."""
    rows = [("Judged here", evaluation.data)]
    if evaluation.training.trained_on is not None:
        rows.insert(0, ("Trained on", evaluation.training.trained_on))
    return rows


def _small_percent(value: float) -> str:
    return f"{number(100 * value, 2)} %"


def _are(value: int) -> str:
    return "is" if value == 1 else "are"
