"""The figures and tables of the flow of data, of levels, yields and subgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from groupcm.evaluation.results import Evaluation, Subgroup, Subgroups
from groupcm.metrics import Interval
from groupcm.plots.axes import clean
from groupcm.plots.style import INK, MUTED, Series, series_of
from groupcm.report.at_a_glance import Kinds
from groupcm.report.figures.curves import end_of_yields, roc_of_models_figure, yield_figure
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.flow import FlowBox, flow_figure
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.scores import reliability_figure
from groupcm.utils.formatting import count, fraction, interval, number, percent
from groupcm.utils.text import capitalised, counted, plural, seconds, singular

__all__ = [
    "YieldRow",
    "flow_of",
    "levels_figure",
    "levels_reliability",
    "rates_rows",
    "subgroup_figures",
    "yield_of",
    "yield_rows",
]

_YIELDS = (0.9, 0.95, 0.99, 1.0)


def flow_of(evaluation: Evaluation) -> CaptionedFigure:
    """Draw how many groups came in, what was left out of what, and the four outcomes."""
    kinds, data, point = Kinds.of(evaluation), evaluation.data, evaluation.decision.point
    unit, first = evaluation.unit, evaluation.flow[0] if evaluation.flow else None
    n_groups = data.n_positive_groups + data.n_negative_groups
    n_in = n_groups if first is None else first.n_groups
    of_patients = "" if data.n_patients is None else f" of {counted(data.n_patients, 'patient')}"
    top = [f"{counted(n_in, unit)}{of_patients}", counted(data.n_candidates, "candidate")]
    aside = [FlowBox([counted(step.n_groups, unit), step.text]) for step in evaluation.flow[1:-1]]
    outcomes = [
        ("alarm: found", point.true_positives, False),
        ("no alarm: missed", point.false_negatives, True),
        ("false alarm", point.false_positives, True),
        ("no alarm", point.true_negatives, False),
    ]
    boxes = [
        FlowBox([count(data.n_positive_groups), kinds.positive(data.n_positive_groups)]),
        FlowBox([count(data.n_negative_groups), kinds.negative(data.n_negative_groups)]),
    ]
    described = "; ".join(f"{text}: {count(n)}" for text, n, _ in outcomes)
    left_out = "; ".join(f"{count(s.n_groups)} {s.text}" for s in evaluation.flow[1:-1])
    return CaptionedFigure(
        "flow",
        "Flow of data",
        f"From what came in to the four outcomes at the threshold. "
        f"{'Boxes at the side are counted differently or left out, as they say.' if aside else ''}"
        f"{'' if aside else f'No {singular(unit)} was left out.'} Dashed boxes are mistakes.",
        f"{top[0]}. {left_out + '. ' if left_out else ''}{described}.",
        flow_figure(
            FlowBox(top),
            aside,
            FlowBox([f"{counted(n_groups, unit)} evaluated"]),
            boxes,
            [FlowBox([count(n), text], is_wrong) for text, n, is_wrong in outcomes],
        ),
    )


def levels_figure(evaluation: Evaluation) -> CaptionedFigure | None:
    """Draw the ROC curve of groups and of every level that has one; None without levels."""
    rocs = {
        clean(plural(each.name)): each.roc for each in evaluation.levels if each.roc is not None
    }
    if not rocs:
        return None
    rocs = {plural(evaluation.unit): evaluation.group_roc, **rocs}
    listed = "; ".join(f"{name}: AUC {interval(roc.auc)}" for name, roc in rocs.items())
    return CaptionedFigure(
        "levels_roc",
        "ROC at every level",
        "One line per level. A unit above is positive where any of its parts is, and its score is "
        "made of theirs, so that the lines answer different questions.",
        f"{listed}.",
        roc_of_models_figure(rocs, series_of(rocs), of="unit"),
    )


def levels_reliability(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    """Draw the reliability of the probabilities of each level above the group."""
    for number_of_level, found in enumerate(evaluation.levels, start=1):
        if found.reliability is None:
            continue
        name, names = (clean(form(found.name)) for form in (singular, plural))
        yield CaptionedFigure(
            f"levels_{number_of_level}_reliability",
            f"Reliability of the probabilities of {names}",
            f"The probability of a {name} is {found.probability}. Points above the dashed line: "
            f"more {names} are positive than the probabilities say.",
            f"Brier score {fraction(found.reliability.brier)}.",
            reliability_figure(found.reliability, name),
        )


def yield_of(evaluation: Evaluation) -> CaptionedFigure | None:
    """Draw the yield curve; None where neither objects nor levels are known."""
    curve = evaluation.yields
    if curve is None:
        return None
    unit, rows = plural(evaluation.unit), yield_rows(evaluation)
    reached = "; ".join(
        f"{percent(row.share)} of the {row.kind} in {percent(row.shown)} of the {unit}"
        for row in rows
        if isfinite(row.shown)
    )
    return CaptionedFigure(
        "yield",
        f"Yield: what is found in the {unit} shown",
        f"If only the {unit} of highest score are shown (right: more of them), this share is seen "
        "in at least one of them (up). The vertical line is the chosen threshold, the dashed line "
        f"guessing.{_end_of_axis(evaluation)}",
        f"{capitalised(reached)}." if reached else "No yield is reached.",
        yield_figure(
            curve, evaluation.unit, evaluation.object_word, evaluation.decision.point.threshold
        ),
    )


def _end_of_axis(evaluation: Evaluation) -> str:
    assert evaluation.yields is not None
    end = end_of_yields(evaluation.yields, evaluation.decision.point.threshold)
    return f" The axis ends at {percent(end)}: more than that finds no more." if end < 1 else ""


class YieldRow(NamedTuple):
    """The smallest share of groups that keeps a yield."""

    kind: str
    n_units: int
    share: float
    shown: float
    threshold: float
    saved: str | None

    @property
    def words(self) -> str:
        """The share of groups shown, in words."""
        return "not reached" if isnan(self.shown) else percent(self.shown)


def yield_rows(evaluation: Evaluation) -> list[YieldRow]:
    """Return how few groups keep a yield of 90, 95, 99 and 100 %, and the time that saves."""
    curve, rate = evaluation.yields, evaluation.groups_per_second
    rows = []
    for kind in () if curve is None else curve.found:
        assert curve is not None
        word = evaluation.object_word if kind == "objects" else f"positive {singular(kind)}"
        if kind == "objects" and evaluation.data.n_objects is None:
            word = f"positive {singular(evaluation.unit)}"
        for share in _YIELDS:
            point = curve.at_yield(share, kind)
            saved = None
            if rate is not None and isfinite(point.shown):
                saved = seconds(curve.time_saved(share, kind, groups_per_second=rate))
            rows.append(
                YieldRow(
                    plural(word), curve.n_units[kind], share, point.shown, point.threshold, saved
                )
            )
    return rows


_SHARES = {
    "sensitivity": "positive {groups} found (sensitivity)",
    "specificity": "negative {groups} left quiet (specificity)",
}


def subgroup_figures(evaluation: Evaluation) -> Iterator[CaptionedFigure]:
    """Draw the sensitivity and the specificity of the subgroups of each column, below overall."""
    for k, found in enumerate(evaluation.subgroups, start=1):
        for metric, words in _SHARES.items():
            if found.is_of_objects and metric == "specificity":
                continue  # every part is compared with all negative groups
            overall: Interval = getattr(evaluation.decision, metric)
            rows = list(_forest(found, metric, overall))
            if len(rows) < 2:
                continue
            title = capitalised(words.format(groups=plural(evaluation.unit)))
            yield CaptionedFigure(
                f"subgroups_{k}_{metric}",
                f"{title}, by {found.column}",
                "The vertical line is the value of all together. Pale lines are of subgroups with "
                "few patients or groups, whose intervals are too narrow.",
                "; ".join(f"{row.name}: {interval(row.interval)}" for row in rows) + ".",
                forest_figure(rows, title, reference=overall.estimate),
            )


def _forest(found: Subgroups, metric: str, overall: Interval) -> Iterator[ForestRow]:
    yield ForestRow("all", overall, Series(INK, "solid", "D"))
    for row in found.rows:
        value: Interval | None = getattr(row, metric)
        if value is not None:
            yield ForestRow(_named(row, metric), value, Series(_colour(row), "solid", "o"))


def _named(row: Subgroup, metric: str) -> str:
    n = row.n_positive if metric == "sensitivity" else row.n_negative
    return f"{row.value} (n = {count(n)})"


def _colour(row: Subgroup) -> str:
    return MUTED if row.is_small else INK


def rates_rows(evaluation: Evaluation) -> Sequence[tuple[str, Interval]]:
    """Return the sensitivity for objects at each number of false alarms per group."""
    if evaluation.objects is None:
        return []
    at = evaluation.objects.sensitivity_at
    values = zip(at.false_alarms, at.estimate, at.low, at.high, strict=True)
    return [(number(float(x)), Interval(*map(float, rest))) for x, *rest in values]
