"""Warnings that count what was changed or left out."""

from __future__ import annotations

import warnings

from groupcm.words import printable

__all__ = ["AnnotationWarning", "Tally"]

_MOST_KINDS = 10  # a file may call every shape by another name


class AnnotationWarning(UserWarning):
    """Something of an annotation was changed or left out; the message counts it."""


class Tally:
    """Counts of what happened, told once at the end with the first place of each.

    Examples
    --------
    >>> tally = Tally("boxes.csv")
    >>> for line in (3, 8):
    ...     tally.count("boxes reached beyond their picture and were cut", f"line {line}")
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     tally.warn(stacklevel=2)
    >>> print(told[0].message)
    boxes.csv: boxes reached beyond their picture and were cut: 2, the first at line 3
    """

    def __init__(self, where: object) -> None:
        self.where = where
        self._first: dict[str, str] = {}
        self._times: dict[str, int] = {}

    def count(self, what: str, place: str) -> None:
        """Note that it happened once more."""
        self._first.setdefault(what, place)
        self._times[what] = self._times.get(what, 0) + 1

    def warn(self, stacklevel: int) -> None:
        """Warn once for each thing that happened, at the caller so many calls above."""
        for number, (what, times) in enumerate(self._times.items()):
            place = f"the first at {self._first[what]}" if times > 1 else f"at {self._first[what]}"
            if number == _MOST_KINDS:
                what = f"and {len(self._times) - number:,} more kinds, such as {what}"
            message = printable(f"{self.where}: {what}: {times}, {place}")
            warnings.warn(message, AnnotationWarning, stacklevel=stacklevel)
            if number == _MOST_KINDS:
                break
