"""Formatting of numbers for readers: significant digits, shares, intervals, counts, times."""

from __future__ import annotations

import sys
from math import floor, isfinite, log10

from groupcm.utils.text import capitalised, counted, plural, seconds, singular

__all__ = [
    "capitalised",
    "certified_gap",
    "count",
    "counted",
    "fraction",
    "interval",
    "number",
    "p_value",
    "percent",
    "percent_estimate",
    "percent_range",
    "plural",
    "seconds",
    "signed",
    "singular",
]

# An estimate between two bounds, such as `groupcm.metrics.Interval`.
Bounded = tuple[float, float, float]

_DECIMALS = 3
_MOST_DECIMALS = 5


def number(value: float, digits: int = 3) -> str:
    """Write a number with a few significant digits and a true minus sign.

    Examples
    --------
    >>> number(0.42137), number(-12.345), number(1234567.0), number(0.0000213)
    ('0.421', '−12.3', '1,234,567', '2.13 × 10⁻⁵')
    >>> number(float("inf")), number(0.0), number(5e-324)
    ('∞', '0', '0')
    """
    if not isfinite(value):
        text = "not known" if value != value else "∞" if value > 0 else "-∞"
    elif abs(value) < sys.float_info.min:  # 0, or next to it
        text = "0"
    elif abs(value) >= 1e9 or abs(value) < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa} × 10{_superscript(int(exponent))}"
    else:
        decimals = max(digits - 1 - floor(log10(abs(value))), 0)
        text = f"{value:,.{decimals}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def signed(value: float, decimals: int = 2) -> str:
    """Write a number with its sign, for columns of weights.

    Examples
    --------
    >>> signed(0.5), signed(-0.251), signed(-0.0001)
    ('+0.50', '−0.25', '0.00')
    """
    text = f"{value:+.{decimals}f}"
    return (text[1:] if float(text) == 0 else text).replace("-", "−")


def fraction(value: float, decimals: int | None = None) -> str:
    """Write a number between 0 and 1, such as an area or a sensitivity.

    It never rounds to 1 (or 0) what is not 1 (or 0), down to five decimals.

    Examples
    --------
    >>> fraction(0.87), fraction(0.99983), fraction(1.0), fraction(-0.021)
    ('0.870', '0.9998', '1.000', '−0.021')
    """
    if value != value:
        return "not known"
    places = _decimals_of(value) if decimals is None else decimals
    return f"{value:.{places}f}".replace("-", "−")


def interval(value: Bounded, *, with_estimate: bool = True) -> str:
    """Write an estimate with its interval, all three with the same decimals.

    Examples
    --------
    >>> interval((0.962, 0.95, 0.971))
    '0.962 (0.950 to 0.971)'
    >>> interval((0.962, 0.95, 0.971), with_estimate=False)
    '0.950 to 0.971'
    >>> interval((0.962, float("nan"), float("nan")))
    '0.962 (interval not known)'
    """
    estimate, low, high = value
    if low != low or high != high:
        unknown = "interval not known"
        return f"{fraction(estimate)} ({unknown})" if with_estimate else unknown
    places = max(map(_decimals_of, value))
    low_to_high = f"{fraction(low, places)} to {fraction(high, places)}"
    return f"{fraction(estimate, places)} ({low_to_high})" if with_estimate else low_to_high


def percent(value: float) -> str:
    """Write a share in percent; 0 % and 100 % only where they are exact.

    Examples
    --------
    >>> percent(0.874), percent(0.034), percent(0.9964), percent(0.00021), percent(1.0)
    ('87 %', '3.4 %', '99.6 %', '0.02 %', '100 %')
    """
    if value != value:
        return "not known"
    share = 100 * value
    from_the_end = min(abs(share), abs(100 - share))
    if from_the_end == 0 or from_the_end >= 9.95:
        return f"{share:.0f} %"
    decimals = 1 if from_the_end >= 0.095 else 2
    return f"{share:.{decimals}f}".rstrip("0").rstrip(".") + " %"


def percent_estimate(value: Bounded) -> str:
    """Write a share in percent next to its bounds, with the decimal that `percent_range` gives.

    Examples
    --------
    >>> percent_estimate((0.8958, 0.882, 0.908)), percent_estimate((1.0, 0.85, 1.0))
    ('89.6 %', '100 %')
    >>> percent_estimate((0.99983, 0.999, 1.0))
    '99.98 %'
    """
    share = value[0]
    text = f"{100 * share:.1f}"
    return percent(share) if text in ("0.0", "100.0", "nan") else f"{text} %"


def percent_range(value: Bounded) -> str:
    """Write the bounds of a share in percent.

    Examples
    --------
    >>> percent_range((0.8, 0.72, 0.864))
    '72.0 to 86.4 %'
    """
    _, low, high = value
    if low != low or high != high:
        return "interval not known"
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def p_value(value: float) -> str:
    """Write a p-value as papers do.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.0021), p_value(0.034), p_value(0.42)
    ('p < 0.001', 'p = 0.002', 'p = 0.034', 'p = 0.42')
    >>> p_value(float("nan"))
    'p not known'
    """
    if value != value:
        return "p not known"
    if value < 0.001:
        return "p < 0.001"
    return f"p = {value:.{3 if value < 0.1 else 2}f}"


def certified_gap(gap: float, tol: float | None = None, *, chose_candidates: bool = False) -> str:
    """Write how near a solution is to the optimum, as its certificate proves.

    Examples
    --------
    >>> certified_gap(2.7e-5, 1e-4)
    'within 0.0027 % of the global optimum'
    >>> certified_gap(2e-3, 1e-4, chose_candidates=True)
    'within 0.2 % of the global optimum for the candidates that training chose, which is not yet
    the requested 0.01 %'
    """
    chosen = " for the candidates that training chose" if chose_candidates else ""
    text = f"within {number(100 * gap, 2)} % of the global optimum{chosen}"
    if tol is not None and gap > tol:
        text += f", which is not yet the requested {number(100 * tol, 2)} %"
    return text


def count(value: int) -> str:
    """Write a count with thousands separators.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,}"


def _decimals_of(value: float) -> int:
    distance = min(abs(value), abs(1 - value))
    if distance == 0 or distance >= 0.0005:
        return _DECIMALS
    return min(max(-floor(log10(distance)), _DECIMALS), _MOST_DECIMALS)


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
