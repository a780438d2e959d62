"""One line of the benchmark table: what was measured and what it is held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Figure", "as_json", "table"]


@dataclass
class Figure:
    """A measured number, its bound and its goal.

    Attributes
    ----------
    key : str
        The letter of the benchmark it belongs to.
    what : str
        What was measured, in words.
    measured : float or None
        None where it could not be measured; `note` then says why.
    bound, goal : float or None
        What must and what should be reached; None where there is none.
    direction : {"at most", "at least"}
        On which side of the bound the good values lie.
    unit : {"x", "s", "%", "GB"}
        ``x`` is a ratio.
    judged : bool
        False at sizes the bound does not speak about.
    sound : bool
        False if a side condition failed (a fit without its certificate), which no
        speed makes good.
    lower_limit : bool
        True if the real value may be larger than `measured`.
    note : str
        Absolute values, choices made, side conditions.
    samples : dict
        Every single measurement in seconds, by what it measured.
    """

    key: str
    what: str
    measured: float | None
    bound: float | None = None
    goal: float | None = None
    direction: Literal["at most", "at least"] = "at most"
    unit: Literal["x", "s", "%", "GB"] = "x"
    judged: bool = True
    sound: bool = True
    lower_limit: bool = False
    note: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)

    def reaches(self, limit: float | None) -> bool | None:
        """Whether the figure is on the good side of `limit`; None where that is not asked."""
        if not self.sound:
            return False
        if limit is None or not self.judged:
            return None
        if self.measured is None:
            return False
        if self.direction == "at most":
            return self.measured <= limit
        return self.measured >= limit

    @property
    def passed(self) -> bool | None:
        """Whether the bound holds; None where there is none to judge."""
        return self.reaches(self.bound)


def as_json(figure: Figure) -> dict[str, object]:
    """The figure and its verdicts as plain values."""
    return {**vars(figure), "passed": figure.passed, "goal_reached": figure.reaches(figure.goal)}


def table(figures: list[Figure]) -> str:
    """Lay the figures out as text, one line a figure, the notes below."""
    head = ("", "figure", "measured", "bound", "goal", "verdict")
    lines = [head, *(_cells(figure) for figure in figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rows = [
        "  ".join(
            # Numbers line up on the right, words on the left.
            cell.rjust(width) if column in (2, 3, 4) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    rule = "-" * max(map(len, rows))
    notes = [f"({figure.key}) {figure.what}: {figure.note}" for figure in figures if figure.note]
    return "\n".join([rows[0], rule, *rows[1:], rule, *notes])


def _cells(figure: Figure) -> tuple[str, ...]:
    sign = "<=" if figure.direction == "at most" else ">="
    unit = figure.unit

    def shown(value: float | None, before: str = "") -> str:
        return "-" if value is None else f"{before}{value:.4g} {unit}"

    return (
        figure.key,
        figure.what,
        shown(figure.measured, ">= " if figure.lower_limit else ""),
        shown(figure.bound, f"{sign} "),
        shown(figure.goal, f"{sign} "),
        _verdict(figure),
    )


def _verdict(figure: Figure) -> str:
    if figure.passed is None:
        return "-" if figure.bound is None else "not judged"
    if not figure.passed:
        return "MISSED"
    return "pass, goal" if figure.reaches(figure.goal) else "pass"
