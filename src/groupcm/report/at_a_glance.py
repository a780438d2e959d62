"""The first screen of a report: the decision and what it achieves, in words and in few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from groupcm.evaluation.results import Case, Decision, Evaluation, LevelResult
from groupcm.metrics import Interval
from groupcm.metrics.decision import DecisionRule, rule_words
from groupcm.utils.formatting import count, number, percent
from groupcm.utils.text import capitalised, counted, in_unit, plural, singular

__all__ = [
    "Kinds",
    "LevelRow",
    "TypicalCase",
    "data_sentence",
    "decided_level",
    "decision_rows",
    "glance_title",
    "level_rows",
    "share_words",
    "typical_cases",
    "verdict_sentences",
    "whole_percent",
    "yield_at_threshold",
    "yield_sentence",
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


def decided_level(evaluation: Evaluation) -> LevelResult | None:
    """Return the level above the group that the threshold was chosen for; None for groups."""
    rule = evaluation.decision.rule
    for found in evaluation.levels:
        if rule is not None and found.name == rule.level and found.decision is not None:
            return found
    return None


def glance_title(evaluation: Evaluation) -> str:
    """Return the heading of the first screen, which names the level of the decision."""
    found = decided_level(evaluation)
    return f"The decision for each {singular(evaluation.unit if found is None else found.name)}"


def verdict_sentences(evaluation: Evaluation) -> list[str]:
    """Describe what the threshold does at its own level, at another one, and for a reader.

    The level of the decision comes first. Next to groups, that is the highest level; next to a
    level above, the groups.
    """
    decided = decided_level(evaluation)
    highest = evaluation.levels[-1] if evaluation.levels else None
    shown = [_of_groups(evaluation), _of_level(evaluation, highest)]
    if decided is not None:
        shown = [_of_level(evaluation, decided), _of_groups(evaluation)]
    opening = _opening(evaluation.decision.point.threshold, evaluation)
    sentences = [
        _outcomes(decision, kinds, evaluation.level, "" if place else opening)
        for place, (decision, kinds) in enumerate(each for each in shown if each is not None)
    ]
    reader = yield_sentence(evaluation)
    return sentences if reader is None else [*sentences, reader]


def _of_groups(evaluation: Evaluation) -> tuple[Decision, Kinds]:
    return evaluation.decision, Kinds.of(evaluation)


def _of_level(evaluation: Evaluation, found: LevelResult | None) -> tuple[Decision, Kinds] | None:
    if found is None or found.decision is None:
        return None
    return found.decision, Kinds.of(evaluation, found.name)


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
    quiet = decision.specificity
    if n_positive and n_negative and quiet.estimate < 0.5:
        alarms = Interval(1.0 - quiet.estimate, 1.0 - quiet.high, 1.0 - quiet.low)
        also = share_words(alarms, level, f" of {kinds.rest()}")
        return f"{opening}{parts[0]}, but so do {also}."
    if n_negative:
        of = kinds.rest() if n_positive else f"the {kinds.negative()}"
        parts.append(share_words(quiet, level, f" of {of} raise none"))
    return f"{opening}{', and '.join(parts)}."


def _totals(decision: Decision) -> tuple[int, int]:
    point = decision.point
    return (
        point.true_positives + point.false_negatives,
        point.false_positives + point.true_negatives,
    )


def yield_sentence(evaluation: Evaluation, share: float = 0.95) -> str | None:
    """Describe how few groups have to be shown to find most objects, and what the alarms show.

    Without objects these are the positive units of the highest level; None where neither is known.
    """
    kind, alarms = _unit_of_yield(evaluation), yield_at_threshold(evaluation)
    if kind is None or alarms is None or evaluation.yields is None:
        return None
    alarms_shown, n_found, n_units, word = alarms
    groups, units = plural(evaluation.unit), counted(n_units, word)
    shown = evaluation.yields.at_yield(share, kind).shown
    opening = f"Even all {groups} do not show {percent(share)} of the {units}"
    if isfinite(shown):
        opening = (
            f"Showing the {whole_percent(shown)} of the {groups} with the highest scores finds "
            f"{percent(share)} of the {units}"
        )
    return (
        f"{opening}; the alarms, {whole_percent(alarms_shown)} of the {groups}, show "
        f"{counted(n_found, word)}."
    )


def _unit_of_yield(evaluation: Evaluation) -> str | None:
    """Return the kind of unit that a reader looks for."""
    curve = evaluation.yields
    if curve is None:
        return None
    if evaluation.data.n_objects is not None and "objects" in curve.found:
        return "objects"
    return next((kind for kind in reversed(curve.found) if kind != "objects"), None)


def yield_at_threshold(evaluation: Evaluation) -> tuple[float, int, int, str] | None:
    """Return the share of groups shown, and how many of the objects are in them.

    Without objects these are the positive units of the highest level; None where neither is known.

    Returns
    -------
    tuple
        The share, the numbers of units found and of all, and the word for a unit.
    """
    curve, point = evaluation.yields, evaluation.decision.point
    kind, n_groups = _unit_of_yield(evaluation), sum(_totals(evaluation.decision))
    if curve is None or kind is None or not n_groups:
        return None
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
    if rule is None or rule.target_words is None or rule.guarantee_words is None:
        return [*rows, ("Comes from", capitalised(in_unit(decision.chosen, unit)))]
    rows += [
        ("Target", capitalised(in_unit(rule.target_words, unit))),
        ("Guarantee", capitalised(in_unit(rule.guarantee_words, unit))),
        ("Chosen on", capitalised(in_unit(rule.chosen_on or "not known", unit))),
    ]
    held = _held(rule, evaluation)
    return rows if held is None else [*rows, ("Found here", held)]


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

    With ``brief``, two levels: that of the decision first, then the groups; or the groups and the
    highest level, where the decision is about groups.
    """
    kinds, data = Kinds.of(evaluation), evaluation.data
    groups = LevelRow(
        capitalised(plural(evaluation.unit)),
        _about(kinds, data.n_positive_groups, data.n_negative_groups),
        evaluation.decision,
        evaluation.group_roc.auc,
    )
    decided = decided_level(evaluation)
    if brief and decided is not None:
        return [_level_row(evaluation, decided), groups]
    above = evaluation.levels[-1:] if brief else evaluation.levels
    return [groups, *(_level_row(evaluation, each) for each in above)]


def _level_row(evaluation: Evaluation, found: LevelResult) -> LevelRow:
    return LevelRow(
        capitalised(plural(found.name)),
        _about(Kinds.of(evaluation, found.name), found.n_positive, found.n_negative),
        found.decision,
        None if found.roc is None else found.roc.auc,
        None if found.note is None else in_unit(found.note, evaluation.unit),
    )


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
