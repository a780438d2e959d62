"""Predictive values at a prevalence other than that of the data.

    precision        =  s π / (s π + (1 − c)(1 − π))        the share of alarms that are right
    negative value   =  c (1 − π) / (c (1 − π) + (1 − s) π)  the share of quiet groups that are

of a sensitivity s, a specificity c and a prevalence π, the share of groups that are positive. Data
that were collected to evaluate a model often have many more positive groups than the model will
meet in use; sensitivity and specificity carry over, and the share of alarms that are right does
not.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from groupcm.errors import Argument, ParameterError
from groupcm.metrics.results import Interval

__all__ = ["PredictiveValues", "predictive_values", "require_prevalence"]


class PredictiveValues(NamedTuple):
    """The precision and the negative predictive value, with their intervals.

    Attributes
    ----------
    precision : Interval
        The share of the groups that raise an alarm that are positive.
    negative : Interval
        The share of the groups that raise none that are negative.

    Examples
    --------
    >>> found = predictive_values(0.9, 0.9, prevalence=0.5)
    >>> round(found.precision.estimate, 3), round(found.negative.estimate, 3)
    (0.9, 0.9)
    """

    precision: Interval
    negative: Interval


def predictive_values(
    sensitivity: Interval | float, specificity: Interval | float, prevalence: float
) -> PredictiveValues:
    """Compute the precision and the negative predictive value at a prevalence.

        precision = s π / (s π + (1 − c)(1 − π)),    negative = c (1 − π) / (c (1 − π) + (1 − s) π)

    Both rise with s and with c. The lower bound therefore combines the lower bounds of s and of c,
    and the upper bound their upper bounds. That is wider than an interval of the same level need
    be, because both shares are rarely at the same end of their intervals.

    Parameters
    ----------
    sensitivity, specificity : Interval or float
        With a number, which has no bounds, those of the result are NaN.
    prevalence : float
        The share π of positive groups, between 0 and 1.

    Returns
    -------
    PredictiveValues
        The precision is NaN where there are no alarms at all, the negative predictive value where
        everything raises an alarm.

    Examples
    --------
    >>> found = predictive_values(Interval(0.9, 0.8, 0.95), Interval(0.95, 0.9, 0.97), 0.01)
    >>> round(found.precision.estimate, 3), round(found.negative.estimate, 4)
    (0.154, 0.9989)
    >>> round(found.precision.low, 3), round(found.precision.high, 3)
    (0.075, 0.242)
    """
    pi = require_prevalence(prevalence)
    s, c = _bounded(sensitivity), _bounded(specificity)
    ends = list(zip(s, c, strict=True))
    return PredictiveValues(
        Interval(*(_share(a * pi, (1.0 - b) * (1.0 - pi)) for a, b in ends)),
        Interval(*(_share(b * (1.0 - pi), (1.0 - a) * pi) for a, b in ends)),
    )


def require_prevalence(value: Any) -> float:
    """Return a prevalence as a float; raise one sentence where it is not between 0 and 1.

    Examples
    --------
    >>> require_prevalence(1)
    Traceback (most recent call last):
    groupcm.errors.ParameterError: prevalence is 1; it is the share of positive groups, above 0 and
    below 1.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ParameterError(
            Argument("prevalence"),
            f" is {value!r}; it is the share of positive groups, above 0 and below 1.",
        )
    return float(value)


def _bounded(value: Interval | float) -> Interval:
    return value if isinstance(value, Interval) else Interval(float(value), math.nan, math.nan)


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest > 0.0 else math.nan
