"""The metrics of an evaluation, each declared once: its name, its value, and where it is shown.

`METRIC_TABLE` is read by the evaluation, which computes the metrics that have a ``function``; by
the report page, which shows those with a ``tile``; by the terminal summary, which prints those with
a ``label``; and by `metric_values`, which returns all of them for JSON. To add a metric, write its
function and add one entry here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from groupcm.evaluation.results import Evaluation
from groupcm.metrics import (
    Interval,
    Metric,
    PredictiveValues,
    group_average_precision,
    predictive_values,
)
from groupcm.utils.formatting import percent
from groupcm.utils.text import in_unit

__all__ = [
    "METRIC_TABLE",
    "CountOf",
    "EvaluationMetric",
    "Section",
    "Value",
    "computed_metrics",
    "metric_values",
    "shown",
]

Section = Literal["ranking", "threshold", "probabilities"]
Style = Literal["fraction", "percent", "number"]


class CountOf(NamedTuple):
    """A count out of a total."""

    n: int
    total: int


Value = Interval | CountOf | float


def _no_detail(evaluation: Evaluation) -> str:
    return ""


@dataclass(frozen=True)
class EvaluationMetric:
    """A metric of an evaluation.

    Attributes
    ----------
    name : str
        The key in ``Evaluation.metrics`` and in `metric_values`.
    section : {"ranking", "threshold", "probabilities"}
        What the metric is about: the order of groups, the threshold, or probabilities.
    label : str or None
        The name in the terminal summary; None keeps the metric out of it.
    function : callable(y, scores, groups) or None
        The evaluation computes it, with a bootstrap interval, from one label and one score per
        group.
    value : callable(evaluation) or None
        Reads the value from the evaluation, for metrics without a function; it returns None where
        the evaluation has no such value.
    detail : callable(evaluation)
        Text that follows the number.
    tile : str or None
        The title of a tile at the top of the report page; None for no tile.
    style : {"fraction", "percent", "number"}
        How a tile formats the number.
    """

    name: str
    section: Section
    label: str | None = None
    function: Metric | None = None
    value: Callable[[Evaluation], Value | None] | None = None
    detail: Callable[[Evaluation], str] = _no_detail
    tile: str | None = None
    style: Style = "fraction"

    def read(self, evaluation: Evaluation) -> Value | None:
        """Return the value of the metric, or None where the evaluation has none."""
        if self.value is not None:
            return self.value(evaluation)
        return evaluation.metrics.get(self.name)


def _localisation_detail(evaluation: Evaluation) -> str:
    found = evaluation.localisation
    assert found is not None
    return (
        f"{found.n_on_object:,} of {found.n_positive_groups:,} {_which(evaluation)} groups, with "
        f"an overlap of {found.least_overlap:g} or more; the candidates allow {found.n_reachable:,}"
    )


def _predictive(evaluation: Evaluation) -> PredictiveValues | None:
    if evaluation.prevalence is None:
        return None
    decision = evaluation.decision
    return predictive_values(decision.sensitivity, decision.specificity, evaluation.prevalence)


def _at_prevalence(evaluation: Evaluation) -> str:
    assert evaluation.prevalence is not None
    return f"if {percent(evaluation.prevalence)} of the groups are positive"


def _knows_objects(evaluation: Evaluation) -> bool:
    """Return whether objects are given; else positive groups take their place."""
    return evaluation.objects is not None and evaluation.data.n_objects is not None


def _objects_detail(evaluation: Evaluation) -> str:
    found = evaluation.objects
    assert found is not None
    text = f"{found.n_found:,} of {found.n_objects:,}"
    if found.n_without_candidates:
        text += f"; {found.n_without_candidates:,} have no candidate on them"
    return text


def _winners_right(evaluation: Evaluation) -> CountOf | None:
    decision = evaluation.decision
    if decision.n_winners_on_object is None or not decision.n_judged:
        return None
    return CountOf(decision.n_winners_on_object, decision.n_judged)


def _alarms_detail(evaluation: Evaluation) -> str:
    point = evaluation.decision.point
    n_alarms = point.true_positives + point.false_positives
    return f"{point.true_positives:,} of {n_alarms:,} {'alarm' if n_alarms == 1 else 'alarms'}"


def _which(evaluation: Evaluation) -> str:
    return "annotated positive" if evaluation.n_unannotated else "positive"


#: In the order of the terminal summary.
METRIC_TABLE: tuple[EvaluationMetric, ...] = (
    EvaluationMetric(
        "group_roc_auc",
        "ranking",
        label="group AUC",
        value=lambda found: found.group_roc.auc,
        tile="Area under the ROC of groups (AUC)",
    ),
    EvaluationMetric(
        "localisation",
        "ranking",
        label="winner on the object",
        value=lambda found: found.localisation and found.localisation.share,
        detail=_localisation_detail,
        tile="Winners that overlap the object (localisation)",
        style="percent",
    ),
    EvaluationMetric(
        "candidate_roc_auc",
        "ranking",
        label="candidate AUC",
        value=lambda found: found.candidate_roc and found.candidate_roc.auc,
    ),
    EvaluationMetric(
        "cpm",
        "ranking",
        label="CPM",
        value=lambda found: found.objects and found.objects.sensitivity_at.mean,
        detail=lambda found: "objects found at ⅛ to 8 false alarms per group, on average",
    ),
    EvaluationMetric(
        "afroc_auc",
        "ranking",
        label="AFROC area",
        value=lambda found: found.objects and found.objects.afroc_auc,
    ),
    EvaluationMetric(
        "wafroc_auc",
        "ranking",
        label="wAFROC area",
        value=lambda found: found.objects and found.objects.wafroc_auc,
    ),
    EvaluationMetric(
        "average_precision",
        "ranking",
        label="average precision",
        function=group_average_precision,
    ),
    EvaluationMetric(
        "sensitivity",
        "threshold",
        label="sensitivity",
        value=lambda found: found.decision.sensitivity,
        detail=lambda found: (
            f"{found.decision.point.true_positives:,} of {found.data.n_positive_groups:,} "
            "positive groups found"
        ),
        tile="Positive groups found (sensitivity)",
        style="percent",
    ),
    EvaluationMetric(
        "specificity",
        "threshold",
        label="specificity",
        value=lambda found: found.decision.specificity,
        detail=lambda found: (
            f"{found.decision.point.false_positives:,} of {found.data.n_negative_groups:,} "
            "negative groups alarm"
        ),
        tile="Negative groups left quiet (specificity)",
        style="percent",
    ),
    EvaluationMetric(
        "precision",
        "threshold",
        value=lambda found: found.decision.point.precision,
        detail=_alarms_detail,
        tile="Alarms that are right (precision)",
        style="percent",
    ),
    EvaluationMetric(
        "precision_at_prevalence",
        "threshold",
        label="precision in use",
        value=lambda found: (values := _predictive(found)) and values.precision,
        detail=lambda found: f"alarms that are right {_at_prevalence(found)}",
        tile="Alarms that are right in use (precision)",
        style="percent",
    ),
    EvaluationMetric(
        "negative_predictive_value",
        "threshold",
        label="negative value",
        value=lambda found: (values := _predictive(found)) and values.negative,
        detail=lambda found: f"quiet groups that are negative {_at_prevalence(found)}",
        tile="Quiet groups that are negative in use (negative predictive value)",
        style="percent",
    ),
    EvaluationMetric(
        "objects_found",
        "threshold",
        label="objects found",
        value=lambda found: (
            None if not _knows_objects(found) else found.objects and found.objects.found
        ),
        detail=_objects_detail,
        tile="Objects found",
        style="percent",
    ),
    EvaluationMetric(
        "false_alarms_per_group",
        "threshold",
        label="false alarms",
        value=lambda found: None if found.froc is None else found.decision.point.false_alarms,
        detail=lambda found: "candidates per group",
        style="number",
    ),
    EvaluationMetric(
        "false_alarms_per_negative",
        "threshold",
        label="in negatives",
        value=lambda found: found.objects and found.objects.false_alarms_per_negative,
        detail=lambda found: "false alarms per negative group",
        style="number",
    ),
    EvaluationMetric(
        "false_alarms_per_patient",
        "threshold",
        value=lambda found: found.objects and found.objects.false_alarms_per_patient,
        detail=lambda found: "false alarms per patient",
        style="number",
    ),
    EvaluationMetric(
        "winners_right",
        "threshold",
        label="winners right",
        value=_winners_right,
        detail=lambda found: f"{_which(found)} groups found, by a positive candidate",
    ),
    EvaluationMetric(
        "brier_score",
        "probabilities",
        label="Brier score",
        value=lambda found: found.reliability and found.reliability.brier,
    ),
)


def computed_metrics() -> dict[str, Metric]:
    """Return the metrics that are computed from one label and one score per group.

    Examples
    --------
    >>> list(computed_metrics())
    ['average_precision']
    """
    return {each.name: each.function for each in METRIC_TABLE if each.function is not None}


def shown(
    evaluation: Evaluation, *sections: Section
) -> Iterator[tuple[EvaluationMetric, Value, str]]:
    """Yield the metrics of an evaluation, section by section, each with its value and detail.

    Labels, tiles and details call a group by the ``unit`` of the evaluation.
    """
    unit = evaluation.unit
    for section in sections:
        for metric in METRIC_TABLE:
            value = metric.read(evaluation) if metric.section == section else None
            if value is not None:
                yield (
                    replace(
                        metric,
                        label=metric.label and in_unit(metric.label, unit),
                        tile=metric.tile and in_unit(metric.tile, unit),
                    ),
                    value,
                    in_unit(metric.detail(evaluation), unit),
                )


def metric_values(evaluation: Evaluation) -> dict[str, dict[str, float | None]]:
    """Return all metrics of an evaluation as plain values, for JSON.

    Returns
    -------
    dict
        For each name either ``value``, for an interval with ``low`` and ``high``, or ``count`` and
        ``total``. Values that are not known are None, and metrics that do not apply are left out.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation import evaluate
    >>> from groupcm.simulate import capsule
    >>> train, test = (capsule(60, n_positive=20, group_size=10, seed=s) for s in (0, 1))
    >>> model = GroupClassifier(0.9).fit(train.X, train.y, train.groups)
    >>> found = metric_values(evaluate(model, test.X, test.y, test.groups, n_resamples=50))
    >>> list(found["group_roc_auc"]), found["winners_right"]["total"] <= 20
    (['value', 'low', 'high'], True)
    """
    values: dict[str, dict[str, float | None]] = {}
    for metric, value, _ in shown(evaluation, "ranking", "threshold", "probabilities"):
        if isinstance(value, CountOf):
            values[metric.name] = {"count": value.n, "total": value.total}
            continue
        names = ("value", "low", "high")
        numbers = value if isinstance(value, Interval) else (value,)
        values[metric.name] = {
            name: float(number) if math.isfinite(number) else None
            for name, number in zip(names, numbers, strict=False)
        }
    return values
