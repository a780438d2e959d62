"""The first screen of a report: the decision and what it achieves, in words and in few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from groupcm.evaluation.results import Case, Decision, Evaluation
from groupcm.metrics import Interval
from groupcm.metrics.decision import DecisionRule, rule_words
from groupcm.utils.formatting import count, number, percent
from groupcm.utils.text import capitalised, counted, in_unit, plural, singular

__all__ = [
    "Kinds",
    "LevelRow",
    "TypicalCase",
    "data_sentence",
    "decision_rows",
    "level_rows",
    "share_words",
    "typical_cases",
    "verdict_sentences",
    "whole_percent",
    "yield_at_threshold",
]

_VOWELS = frozenset("aeiou")


class Kinds(NamedTuple):
    """What positive and negative units are called, such as "frames with a polyp".

    Attributes
    ----------
    unit : str
        The user's word for a unit: a group, or a unit of a level.
    thing : str or None
        The user's word for an object; None where objects are not known.

    Examples
    --------
    >>> frames = Kinds("frame", "polyp")
    >>> frames.positive(2), frames.negative(1), frames.rest()
    ('frames with a polyp', 'frame without a polyp', 'those without')
    >>> Kinds("query/queries", None).positive(2)
    'positive queries'
    """

    unit: str
    thing: str | None = None

    def positive(self, n: int = 2) -> str:
        """Return the word for ``n`` positive units."""
        return self._kind(n, "positive", "with")

    def negative(self, n: int = 2) -> str:
        """Return the word for ``n`` negative units."""
        return self._kind(n, "negative", "without")

    def rest(self) -> str:
        """Return the words for the negative units, after the positive ones were named."""
        return "the negative ones" if self.thing is None else "those without"

    def _kind(self, n: int, adjective: str, preposition: str) -> str:
        word = singular(self.unit) if n == 1 else plural(self.unit)
        if self.thing is None:
            return f"{adjective} {word}"
        article = "an" if self.thing[:1].lower() in _VOWELS else "a"
        return f"{word} {preposition} {article} {singular(self.thing)}"

    @classmethod
    def of(cls, evaluation: Evaluation, unit: str | None = None) -> Kinds:
        """Return the words of an evaluation, for its groups or for the units of a level."""
        is_named = evaluation.data.n_objects is not None and evaluation.object_word != "object"
        return cls(unit or evaluation.unit, evaluation.object_word if is_named else None)


def whole_percent(value: float) -> str:
    """Write a share in whole percent; with decimals only next to 0 % and 100 %.

    Examples
    --------
    >>> whole_percent(0.9222), whole_percent(0.9964), whole_percent(1.0)
    ('92 %', '99.6 %', '100 %')
    """
    is_near_an_end = min(abs(value), abs(1.0 - value)) < 0.015
    return percent(value) if is_near_an_end or value != value else f"{100 * value:.0f} %"


def share_words(value: Interval, level: float, then: str) -> str:
    """Write a share, what it is of, and its confidence interval.

    Examples
    --------
    >>> share_words(Interval(0.912, 0.862, 0.948), 0.95, " of the frames raise an alarm")
    '91 % of the frames raise an alarm (95 % CI 86 % to 95 %)'
    >>> share_words(Interval(1.0, float("nan"), float("nan")), 0.95, " raise none")
    '100 % raise none (confidence interval not known)'
    """
    bounds = "confidence interval not known"
    if isfinite(value.low) and isfinite(value.high):
        low, high = whole_percent(value.low), whole_percent(value.high)
        bounds = f"{percent(level)} CI {low} to {high}"
    return f"{whole_percent(value.estimate)}{then} ({bounds})"


def verdict_sentences(evaluation: Evaluation) -> list[str]:
    """Describe what the threshold does for groups, for the highest level, and for a reader."""
    found, level = evaluation.decision, evaluation.level
    sentences = [
        _outcomes(found, Kinds.of(evaluation), level, _opening(found.point.threshold, evaluation))
    ]
    highest = evaluation.levels[-1] if evaluation.levels else None
    if highest is not None and highest.decision is not None:
        kinds = Kinds.of(evaluation, highest.name)
        sentences.append(_outcomes(highest.decision, kinds, level, ""))
    shown = yield_at_threshold(evaluation)
    if shown is not None:
        share, n_found, n_units, word = shown
        sentences.append(
            f"A reader who sees only the alarms looks at {whole_percent(share)} of the "
            f"{plural(evaluation.unit)}, and sees {count(n_found)} of {counted(n_units, word)}."
        )
    return sentences


def _opening(threshold: float, evaluation: Evaluation) -> str:
    if isfinite(threshold):
        return "At this threshold, "
    return f"Here {in_unit(rule_words(threshold), evaluation.unit)}: "


def _outcomes(decision: Decision, kinds: Kinds, level: float, opening: str) -> str:
    n_positive, n_negative = _totals(decision)
    parts = []
    if n_positive:
        alarm = f" of the {kinds.positive()} raise an alarm"
        parts.append(share_words(decision.sensitivity, level, alarm))
    if n_negative:
        of = kinds.rest() if n_positive else f"the {kinds.negative()}"
        parts.append(share_words(decision.specificity, level, f" of {of} raise none"))
    return f"{opening}{', and '.join(parts)}."


def _totals(decision: Decision) -> tuple[int, int]:
    point = decision.point
    return (
        point.true_positives + point.false_negatives,
        point.false_positives + point.true_negatives,
    )


def yield_at_threshold(evaluation: Evaluation) -> tuple[float, int, int, str] | None:
    """Return the share of groups shown, and how many of the objects are in them.

    Without objects these are the positive units of the highest level; None where neither is known.

    Returns
    -------
    tuple
        The share, the numbers of units found and of all, and the word for a unit.
    """
    curve, point = evaluation.yields, evaluation.decision.point
    if curve is None:
        return None
    has_objects = evaluation.data.n_objects is not None and "objects" in curve.found
    kinds = ["objects"] if has_objects else [k for k in curve.found if k != "objects"][-1:]
    n_groups = sum(_totals(evaluation.decision))
    if not kinds or not n_groups:
        return None
    (kind,) = kinds
    share = (point.true_positives + point.false_positives) / n_groups
    at = int(np.flatnonzero(curve.thresholds >= point.threshold)[-1])
    n_units = curve.n_units[kind]
    word = evaluation.object_word if kind == "objects" else f"positive {singular(kind)}"
    return share, round(float(curve.found[kind][at]) * n_units), n_units, word


def data_sentence(evaluation: Evaluation) -> str:
    """Describe how many groups, patients and objects the numbers come from."""
    data, kinds = evaluation.data, Kinds.of(evaluation)
    n_groups = data.n_positive_groups + data.n_negative_groups
    text = counted(n_groups, evaluation.unit)
    if data.n_patients is not None:
        text += f" of {counted(data.n_patients, 'patient')}"
    n_positive, n_negative = data.n_positive_groups, data.n_negative_groups
    if kinds.thing is None:
        return f"{text}: {count(n_positive)} positive and {count(n_negative)} negative"
    text += f": {count(n_positive)} {kinds.positive(n_positive)} and {count(n_negative)} without"
    if data.n_objects is not None:
        text += f"; {counted(data.n_objects, evaluation.object_word)}"
    return text


def decision_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return the threshold, where it comes from, its target, and what is guaranteed."""
    decision, unit = evaluation.decision, evaluation.unit
    threshold, rule = decision.point.threshold, decision.rule
    rows = [("Threshold", f"{number(threshold)}: {in_unit(rule_words(threshold), unit)}")]
    rows.append(("Comes from", capitalised(in_unit(decision.chosen, unit))))
    if rule is not None and rule.target is not None:
        rows += [("Target", capitalised(in_unit(_target(rule), unit)))]
        rows += [("Guarantee", _guarantee(rule, evaluation))]
        held = _held(rule, evaluation)
        rows += [] if held is None else [("Found here", held)]
    return rows


def _target(rule: DecisionRule) -> str:
    if rule.target == "false_alarms":
        return f"at most {number(rule.value or 0.0)} false alarms per group"
    if rule.target == "patient_sensitivity":
        return f"a positive group found in at least {percent(rule.value or 0.0)} of the patients"
    if rule.value is None:
        return "the largest sum of sensitivity and specificity"
    of_level = "" if rule.level == "group" else f" of {plural(rule.level)}"
    return f"a {rule.target}{of_level} of at least {percent(rule.value)}"


def _guarantee(rule: DecisionRule, evaluation: Evaluation) -> str:
    if rule.guarantee is None:
        return "None: the target was met on the data the threshold was chosen on"
    who = "group" if evaluation.data.n_patients is None else "patient"
    new = in_unit(f"new {plural(who)}", evaluation.unit)
    return f"Holds for {new} with a confidence of {percent(rule.guarantee)}"


def _held(rule: DecisionRule, evaluation: Evaluation) -> str | None:
    """Report whether the share found agrees with the requested one."""
    decisions = {each.name: each.decision for each in evaluation.levels}
    decision = evaluation.decision if rule.level == "group" else decisions.get(rule.level)
    if decision is None or rule.value is None or evaluation.decision.is_chosen_here:
        return None
    if rule.target not in ("sensitivity", "specificity"):
        return None
    if evaluation.decision.contradiction or decision.contradiction:
        return "Less than the target, by more than chance allows"
    share = getattr(decision, rule.target)
    if share.estimate >= rule.value:
        return "The target is reached"
    return "Below the target, by no more than chance allows"


class LevelRow(NamedTuple):
    """What the threshold does at one level: shares with their intervals, and counts."""

    name: str
    about: str
    decision: Decision | None
    auc: Interval | None
    note: str | None = None


def level_rows(evaluation: Evaluation, *, brief: bool = False) -> list[LevelRow]:
    """Return the outcomes of groups, and those of the levels above them.

    With ``brief``, of the levels above only the highest.
    """
    kinds, data = Kinds.of(evaluation), evaluation.data
    rows = [
        LevelRow(
            capitalised(plural(evaluation.unit)),
            _about(kinds, data.n_positive_groups, data.n_negative_groups),
            evaluation.decision,
            evaluation.group_roc.auc,
        )
    ]
    above = evaluation.levels[-1:] if brief else evaluation.levels
    rows += [
        LevelRow(
            capitalised(plural(each.name)),
            _about(Kinds.of(evaluation, each.name), each.n_positive, each.n_negative),
            each.decision,
            None if each.roc is None else each.roc.auc,
            None if each.note is None else in_unit(each.note, evaluation.unit),
        )
        for each in above
    ]
    return rows


def _about(kinds: Kinds, n_positive: int, n_negative: int) -> str:
    with_, without = ("positive", "negative") if kinds.thing is None else ("with", "without")
    return f"{count(n_positive)} {with_}, {count(n_negative)} {without}"


class TypicalCase(NamedTuple):
    """A group of median score for its outcome; ``case`` is None where the outcome is absent."""

    title: str
    about: str
    case: Case | None
    is_positive: bool


def typical_cases(evaluation: Evaluation) -> Sequence[TypicalCase]:
    """Return a group that was found, one that was missed, and a false alarm."""
    kinds, unit = Kinds.of(evaluation), evaluation.unit
    point, one = evaluation.decision.point, singular(unit)
    numbers = {
        "found": (point.true_positives, "Found", f"No {kinds.positive(1)} raised an alarm."),
        "missed": (point.false_negatives, "Missed", f"No {kinds.positive(1)} was missed."),
        "false_alarm": (
            point.false_positives,
            "False alarm",
            f"No {kinds.negative(1)} raised an alarm.",
        ),
    }
    found = []
    for name, (n, title, nothing) in numbers.items():
        case = evaluation.typical.get(name)
        about = nothing if n == 0 else f"the {one} of median score among {count(n)}"
        if case is None and n:
            about = f"{counted(n, unit)}, without candidates to show"
        found.append(TypicalCase(title, about, case, name != "false_alarm"))
    return found
