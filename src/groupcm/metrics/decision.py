"""The rule that turns scores into alarms, and the record of how its threshold was chosen.

    a group raises an alarm  ⇔  score >= threshold

Every part of groupcm that raises alarms applies `is_alarm`, takes its threshold from
`resolve_threshold` and describes the rule with `rule_words`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.utils.fitted_state import Expected, Nullable, Number, Text
from groupcm.utils.formatting import number
from groupcm.utils.text import plural, printable

__all__ = [
    "TARGETS",
    "ChosenThreshold",
    "DecisionRule",
    "is_alarm",
    "require_threshold",
    "resolve_threshold",
    "rule_words",
    "threshold_of",
    "threshold_rule",
]

#: What a threshold can be chosen for.
TARGETS = (
    *("specificity", "sensitivity", "patient_sensitivity", "false_alarms", "youden"),
    "alarm_rate",
)
_DEFAULT = "the default: it was not tuned"
_HALF = "the default: where the probability passes one half"
# How version 0.1 wrote down what a threshold was chosen for.
_NOTED = re.compile(r"chosen for a (specificity|sensitivity) of (\d[\d.e+-]*) on (.+)")
_OF_PATIENTS = re.compile(r", of [\d,]+ patients?$")  # at the end of `DecisionRule.chosen_on`
_NOTED_YOUDEN = re.compile(r"chosen for the largest sum of sensitivity and specificity on (.+)")


def is_alarm(scores: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """Return which scores raise an alarm: ``score >= threshold``.

    A score of −∞ never does, whatever the threshold: it belongs to a group without candidates.

    Parameters
    ----------
    scores : array-like
    threshold : float

    Examples
    --------
    >>> is_alarm([0.2, 0.5, 0.7], 0.5).tolist()
    [False, True, True]
    >>> is_alarm([-float("inf"), 0.0], -float("inf")).tolist()
    [False, True]
    """
    # In float64, because a Python float next to float32 scores would be rounded to theirs.
    values = np.asarray(scores, dtype=np.float64)
    return (values >= threshold) & (values > -np.inf)


def require_threshold(value: Any) -> float:
    """Return a threshold as a float; raise one sentence where it is not a number.

    Examples
    --------
    >>> require_threshold(1), require_threshold(float("inf"))
    (1.0, inf)
    >>> require_threshold("0.5")
    Traceback (most recent call last):
    ValueError: threshold is '0.5'; it must be a number.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"threshold is {printable(repr(value))}; it must be a number.")
    if math.isnan(value):
        raise ValueError("threshold is NaN; it must be a number.")
    return float(value)


def rule_words(threshold: float) -> str:
    """Return which groups raise an alarm, in words.

    Examples
    --------
    >>> rule_words(0.5)
    'a group whose score is at least this raises an alarm'
    >>> rule_words(float("inf"))
    'no group raises an alarm'
    """
    if math.isfinite(threshold):
        return "a group whose score is at least this raises an alarm"
    return f"{'no' if threshold > 0 else 'every'} group raises an alarm"


def threshold_rule(value: float) -> str:
    """Write a threshold, and which groups raise an alarm.

    Examples
    --------
    >>> threshold_rule(0.421372)
    '0.421372; a group whose score is at least this raises an alarm'
    >>> threshold_rule(float("inf"))
    '∞; no group raises an alarm'
    """
    return f"{number(value, 6)}; {rule_words(value)}"


@dataclass(frozen=True)
class DecisionRule:
    """How the threshold of a model was chosen.

    Attributes
    ----------
    level : str
        What the target is about: "group", or a level above it, such as "patient".
    target : str or None
        What the threshold was chosen for, one of `TARGETS`; "youden" is the largest sum of
        sensitivity and specificity, and "alarm_rate" the share of unlabelled groups that raise an
        alarm. None where it was not tuned.
    value : float or None
        The smallest share requested, or the largest number of false alarms per group.
    guarantee : float or None
        The confidence with which the target holds on new patients; None where it was met on the
        data alone.
    chosen_on : str or None
        The data that the threshold was chosen on, such as "127 groups that the folds left out",
        or "given".
    k : int
        How many groups of a unit of ``level`` need to raise an alarm for the unit to raise one.

    Examples
    --------
    >>> DecisionRule(target="specificity", value=0.9, chosen_on="40 validation groups").words
    'chosen for a specificity of 0.9 on 40 validation groups'
    >>> DecisionRule("patient", "sensitivity", 0.9, 0.95, "200 groups of 80 patients", k=2).words
    'chosen for a sensitivity of 0.9 at the level patient (at least 2 groups raise an alarm) with a
    confidence of 0.95 on 200 groups of 80 patients'
    >>> DecisionRule(chosen_on="given").words
    'given'
    """

    level: str = "group"
    target: str | None = None
    value: float | None = None
    guarantee: float | None = None
    chosen_on: str | None = None
    k: int = 1

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "level": Text(),
        "target": Nullable(Text(TARGETS)),
        "value": Nullable(Number(low=0.0)),
        "guarantee": Nullable(Number(low=0.0, high=1.0)),
        "chosen_on": Nullable(Text()),
        "k": Number(low=1, whole=True),
    }

    @property
    def is_default(self) -> bool:
        """Whether the threshold is the one that a model has before it is tuned or set."""
        return self.target is None and self.chosen_on in (None, _HALF)

    def aggregation(self, aggregate: str | None = None, k: int | None = None) -> tuple[str, int]:
        """Return how the scores of groups make those of units: as given, else by this rule.

        Examples
        --------
        >>> rule = DecisionRule("patient", "sensitivity", 0.9, None, "80 patients", k=2)
        >>> rule.aggregation(), rule.aggregation("max", 1), DecisionRule().aggregation()
        (('kth_largest', 2), ('max', 1), ('max', 1))
        """
        number = self.k if k is None and aggregate is None else 1 if k is None else k
        return ("max" if number == 1 else "kth_largest") if aggregate is None else aggregate, number

    @property
    def words(self) -> str:
        """How the threshold was chosen, in words."""
        if self.target is None:
            return self.chosen_on or _DEFAULT
        return f"chosen for {self._goal}{self._qualified} on {self.chosen_on}"

    @property
    def target_words(self) -> str | None:
        """The target in words; None where the threshold was not chosen for one.

        Examples
        --------
        >>> DecisionRule("patient", "sensitivity", 0.9, None, "40 groups", k=2).target_words
        'a sensitivity of at least 90 % for patients, where an alarm takes at least 2 groups'
        >>> DecisionRule(target="false_alarms", value=0.5, chosen_on="40 groups").target_words
        'at most 0.5 false alarms per group'
        >>> DecisionRule(chosen_on="given").target_words
        """
        if self.target is None:
            return None
        if self.value is None or self.target in ("false_alarms", "alarm_rate"):
            return self._goal
        if self.target == "patient_sensitivity":
            return f"a positive group found in at least {_exact(self.value)} of the patients"
        words = f"a {self.target} of at least {_exact(self.value)}"
        if self.level != "group":
            words += f" for {plural(printable(self.level))}"
        if self.k > 1:
            words += f", where an alarm takes at least {self.k} groups"
        return words

    @property
    def guarantee_words(self) -> str | None:
        """The guarantee in words; None where there is no target that could have one.

        Examples
        --------
        >>> on = "200 groups that the folds left out, of 80 patients"
        >>> DecisionRule("group", "sensitivity", 0.9, 0.95, on).guarantee_words
        'holds for new patients with a confidence of 95 %'
        >>> DecisionRule("group", "sensitivity", 0.9, 0.95, "200 groups").guarantee_words
        'holds for new groups with a confidence of 95 %'
        >>> DecisionRule("group", "sensitivity", 0.9, None, "200 groups").guarantee_words
        'none: the target was met on the data that the threshold was chosen on'
        """
        if self.target is None:
            return None
        if self.guarantee is None:
            return "none: the target was met on the data that the threshold was chosen on"
        unit = "patient" if _OF_PATIENTS.search(self.chosen_on or "") else self.level
        new = plural(printable(unit))
        return f"holds for new {new} with a confidence of {_exact(self.guarantee)}"

    @property
    def _goal(self) -> str:
        if self.value is None:
            return "the largest sum of sensitivity and specificity"
        if self.target == "false_alarms":
            return f"at most {self.value:g} false alarms per group"
        if self.target == "alarm_rate":
            return f"an alarm in {self.value:.1%} of the groups"
        if self.target == "patient_sensitivity":
            return f"finding a positive group of {self.value:g} of the patients"
        return f"a {self.target} of {self.value:g}"

    @property
    def _qualified(self) -> str:
        words = "" if self.level == "group" else f" at the level {printable(self.level)}"
        if self.k > 1:
            words += f" (at least {self.k} groups raise an alarm)"
        sure = "" if self.guarantee is None else f" with a confidence of {self.guarantee:g}"
        return words + sure

    @classmethod
    def of_half(cls) -> DecisionRule:
        """Return the default of a model that gives probabilities."""
        return cls(chosen_on=_HALF)

    @classmethod
    def of_note(cls, words: str) -> DecisionRule:
        """Read what version 0.1 noted about a threshold.

        Examples
        --------
        >>> DecisionRule.of_note("chosen for a specificity of 0.9 on 40 groups").value
        0.9
        >>> DecisionRule.of_note("by hand").words
        'by hand'
        """
        found = _NOTED.fullmatch(words)
        if found is not None:
            return cls(target=found[1], value=float(found[2]), chosen_on=found[3])
        found = _NOTED_YOUDEN.fullmatch(words)
        if found is not None:
            return cls(target="youden", chosen_on=found[1])
        return cls(chosen_on=words)

    def _check_state(self) -> None:
        """Check that a target has a value, unless it is the sum of both shares."""
        if (self.value is None) == (self.target not in (None, "youden")):
            raise ValueError("a target other than youden, and nothing else, has a value")
        if self.value is not None and self.value > 1 and self.target != "false_alarms":
            raise ValueError(f"value is {self.value:g}, and a {self.target} is at most 1")
        if not self.level:
            raise ValueError("level is empty, the name of what the target is about")
        if self.target is not None and self.chosen_on is None:
            raise ValueError("chosen_on is missing, the data that the threshold was chosen on")


@dataclass(frozen=True)
class ChosenThreshold:
    """A threshold and how it was chosen.

    Attributes
    ----------
    value : float
        A group that scores at least this raises an alarm.
    decision : DecisionRule
        What the threshold was chosen for, and on which data.
    is_chosen_here : bool
        Whether it was chosen on the groups that are evaluated, which makes the results optimistic.
    """

    value: float
    decision: DecisionRule = field(default_factory=DecisionRule)
    is_chosen_here: bool = False

    @property
    def chosen(self) -> str:
        """How it was chosen, in words."""
        return self.decision.words

    @classmethod
    def given(cls, value: float) -> ChosenThreshold:
        """Return a threshold that the user gave."""
        return cls(require_threshold(value), DecisionRule(chosen_on="given"))


def _exact(share: float) -> str:
    """Write a share that a user named in percent, without rounding it to a few digits."""
    return f"{100 * share:.6g} %"


def resolve_threshold(
    model: Any, given: float | ChosenThreshold | None = None
) -> ChosenThreshold | None:
    """Return the threshold that applies: the one that is given, otherwise the model's own.

    None for a model of more than two classes, where the largest score decides.

    Parameters
    ----------
    model : classifier
        Fitted.
    given : float or ChosenThreshold, optional
        What the user gave, or what was chosen on some groups.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> resolve_threshold(model.set_threshold(0.25)).value, resolve_threshold(model, 0.5).chosen
    (0.25, 'given')
    """
    if isinstance(given, ChosenThreshold):
        return given
    if given is not None:
        return ChosenThreshold.given(given)
    has_own = getattr(model, "threshold_", None) is not None
    return threshold_of(model) if has_own or len(getattr(model, "classes_", ())) == 2 else None


def threshold_of(model: Any) -> ChosenThreshold:
    """Return the threshold by which a fitted model of two classes decides.

    A model that is not groupcm's has none of its own: it decides by the sign of its score.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> threshold_of(model.set_threshold(0.25))
    ChosenThreshold(value=0.25, decision=DecisionRule(level='group', target=None, value=None,
    guarantee=None, chosen_on='given', k=1), is_chosen_here=False)
    """
    value, decision = getattr(model, "threshold_", None), getattr(model, "decision_", None)
    if value is None:
        return ChosenThreshold(0.0)
    return ChosenThreshold(
        float(value), decision if isinstance(decision, DecisionRule) else DecisionRule()
    )
