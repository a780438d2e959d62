"""Printing of lines and tables; speeds and amounts in words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import ceil

from groupcm.progress import Reading
from groupcm.words import printable, seconds

__all__ = ["counted", "print_error", "print_line", "seconds", "short", "show_rows", "speed"]


def print_line(text: object = "") -> None:
    r"""Print one line at once, also into a pipe; control characters in it are escaped.

    Every command prints through this function or `print_error`, so that a name from a file
    cannot move the cursor or add a line.

    Examples
    --------
    >>> print_line("Wrote two\nlines.csv.")
    Wrote two\nlines.csv.
    """
    print(printable(text), flush=True)


def print_error(text: object) -> None:
    """Print one line to the error stream, as `print_line` does."""
    print(printable(text), file=sys.stderr, flush=True)


def counted(n: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "picture"), counted(10_000, "picture")
    ('1 picture', '10,000 pictures')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


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
    width = max(len(printable(name)) for name, _ in rows)
    for name, value in rows:
        print_line(f"{indent}{printable(name):<{width}}  {value}")
