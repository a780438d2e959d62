"""Speeds, amounts and tables of results in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from groupcm.progress import Reading
from groupcm.words import seconds

__all__ = ["seconds", "short", "show_rows", "speed"]


def short(value: float) -> str:
    """Say an amount in at most three digits and the letter of its size.

    Examples
    --------
    >>> short(950), short(25_060_000), short(999_900) + "B"
    ('950', '25.1 M', '1 MB')
    """
    if value < 999.5:
        return f"{value:.3g}"
    for letter in "kMG":
        value /= 1000
        if value < 999.5:
            return f"{value:.3g} {letter}"
    return f"{value / 1000:.3g} T"


def speed(reading: Reading) -> str:
    """Say how fast a pass is, and how long it still takes.

    Examples
    --------
    >>> speed(Reading("scoring", 5_000_000, 20_000_000, 260_000_000, 2.0))
    '2.5 M rows/s, 130 MB/s, 6 s left'
    >>> speed(Reading("proposing", 30, 90, None, 10.0, "pictures"))
    '3 pictures/s, 20 s left'
    """
    if reading.rows <= reading.before:
        return "starting"
    told = [f"{short(reading.rows_a_second)} {reading.unit}/s"]
    if reading.bytes_a_second is not None:
        told.append(f"{short(reading.bytes_a_second)}B/s")
    if reading.seconds_left is not None:
        told.append(f"{seconds(ceil(reading.seconds_left))} left")
    return ", ".join(told)


def show_rows(rows: Sequence[tuple[str, str]], indent: str = "  ") -> None:
    """Print names and values, the values below each other.

    Examples
    --------
    >>> show_rows([("rows", "400"), ("groups", "2")], indent="")
    rows    400
    groups  2
    """
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{indent}{name:<{width}}  {value}")
