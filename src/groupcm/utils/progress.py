"""Progress of fits and of passes over rows or pictures.

A solver announces each step with `announce`; the command line, or ``verbose=1``, registers a
function with `listening` to show it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import ClassVar

from groupcm.utils.fitted_state import Expected, Number

__all__ = [
    "Reading",
    "Step",
    "announce",
    "announce_reading",
    "announce_stage",
    "count_reading",
    "listening",
    "print_readings",
    "print_step",
    "printing_progress",
    "relative_gap",
    "without_steps",
]

_SECONDS_BETWEEN_LINES = 5.0


def relative_gap(upper: float, lower: float) -> float:
    """Return ``(upper − lower) / upper``.

    Examples
    --------
    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if upper == float("inf"):
        return upper
    return (upper - lower) / max(upper, 1e-300)


@dataclass(frozen=True)
class Step:
    """The progress of a solver after it has read some rows.

    Attributes
    ----------
    passes : float
        Rows read so far, in multiples of all rows.
    objective : float
        The smallest objective so far: an upper bound of the optimum.
    lower_bound : float
        The largest certified lower bound of the optimum.
    working_rows : int
        Rows that the solver keeps in memory.
    seconds : float
        Time since the fit began.
    """

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "passes": Number(low=0.0),
        "objective": Number(low=0.0, finite=False),
        "lower_bound": Number(low=0.0),
        "working_rows": Number(low=0.0, whole=True),
        "seconds": Number(low=0.0),
    }

    passes: float
    objective: float
    lower_bound: float
    working_rows: int
    seconds: float

    @property
    def gap(self) -> float:
        """Relative gap, ``(objective − lower_bound) / objective``."""
        return relative_gap(self.objective, self.lower_bound)


@dataclass(frozen=True)
class Reading:
    """The progress of one pass over rows or pictures.

    Attributes
    ----------
    doing : str
        The purpose of the pass, such as "scoring".
    rows : int
        Rows read so far in this pass.
    of_rows : int or None
        All rows of the pass; None if their number is not known, as in a video.
    bytes : int or None
        The memory of the rows read so far; None if it is not counted.
    seconds : float
        Time since the pass began.
    unit : str
        What is counted: "rows" or "pictures".
    before : int
        The part of ``rows`` that was done before the pass began.
    seconds_per_row : float or None
        The time of the work alone, where ``seconds`` contains more, such as the start of
        processes; None otherwise.
    """

    doing: str
    rows: int
    of_rows: int | None
    bytes: int | None
    seconds: float
    unit: str = "rows"
    before: int = 0
    seconds_per_row: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether all rows are read."""
        return self.of_rows is not None and self.rows >= self.of_rows

    @property
    def rows_per_second(self) -> float:
        """The speed so far."""
        return (self.rows - self.before) / max(self.seconds, 1e-9)

    @property
    def bytes_per_second(self) -> float | None:
        """The speed so far."""
        return None if self.bytes is None else self.bytes / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the speed so far, which does not include the start.

        Examples
        --------
        >>> Reading("proposing", 1, 11, None, 5.0, "pictures", seconds_per_row=0.25).seconds_left
        2.5
        """
        if self.of_rows is None or self.rows <= self.before:
            return None
        if self.seconds_per_row is not None:
            return (self.of_rows - self.rows) * self.seconds_per_row
        return (self.of_rows - self.rows) / max(self.rows_per_second, 1e-9)


@dataclass(frozen=True)
class _Listener:
    step: Callable[[Step], None] | None
    reading: Callable[[Reading], None] | None
    stage: Callable[[str], None] | None


_listeners: ContextVar[tuple[_Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(
    listener: Callable[[Step], None],
    reading: Callable[[Reading], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Within the ``with`` block, call ``listener`` with every announced `Step`.

    ``reading`` is called with every `Reading`, which come far more often; ``stage`` with the text
    of every stage that begins, in work that consists of many fits.

    Examples
    --------
    >>> steps = []
    >>> with listening(steps.append):
    ...     announce(Step(1.0, 0.5, 0.25, 10, 0.1))
    >>> steps[0].gap
    0.5
    """
    before = _listeners.set((*_listeners.get(), _Listener(listener, reading, stage)))
    try:
        yield
    finally:
        _listeners.reset(before)


@contextmanager
def without_steps() -> Iterator[None]:
    """Within the ``with`` block, announce no `Step`, as in one of many fits."""
    before = _listeners.set(tuple(replace(each, step=None) for each in _listeners.get()))
    try:
        yield
    finally:
        _listeners.reset(before)


def announce(step: Step) -> None:
    """Call every listener of this context with a step."""
    for listener in _listeners.get():
        if listener.step is not None:
            listener.step(step)


def announce_stage(text: str) -> None:
    """Call every listener of this context with the stage that begins.

    Examples
    --------
    >>> with listening(print, stage=print):
    ...     announce_stage("fold 1 of 5")
    fold 1 of 5
    """
    for listener in _listeners.get():
        if listener.stage is not None:
            listener.stage(text)


def announce_reading(reading: Reading) -> None:
    """Call every listener of this context with the progress of a pass."""
    for listener in _listeners.get():
        if listener.reading is not None:
            listener.reading(reading)


def count_reading(
    doing: str,
    of_rows: int | None,
    all_bytes: int | None = None,
    *,
    unit: str = "rows",
    before: int = 0,
) -> Callable[[int], Reading]:
    """Start a pass; return a function from the rows read so far to the progress.

    Examples
    --------
    >>> count_reading("scoring", 100, 1_000)(50).bytes
    500
    >>> count_reading("proposing", 100, unit="pictures", before=20)(50).unit
    'pictures'
    """
    began = time.perf_counter()

    def reading(rows: int) -> Reading:
        n_bytes = None if all_bytes is None else all_bytes * rows // max(1, of_rows or 0)
        return Reading(doing, rows, of_rows, n_bytes, time.perf_counter() - began, unit, before)

    return reading


def print_step(step: Step) -> None:
    """Print a step as one line."""
    print(
        f"{step.seconds:8.2f} s  {step.passes:6.2f} passes  objective {step.objective:.6g}"
        f"  gap {step.gap:.1e}  working rows {step.working_rows:,}",
        flush=True,
    )


def print_readings(clock: Callable[[], float] = time.monotonic) -> Callable[[Reading], None]:
    """Return a listener that prints the progress of a long pass every few seconds.

    Examples
    --------
    >>> now = iter([0.0, 1.0, 6.0])
    >>> show = print_readings(lambda: next(now))
    >>> show(Reading("screening", 1_000_000, 9_000_000, 52_000_000, 1.0))
    >>> show(Reading("screening", 6_000_000, 9_000_000, 312_000_000, 6.0))
    screening 6,000,000 of 9,000,000 rows, 1e+06 rows/s, 52 MB/s, 3 s left
    """
    last = clock()

    def show(reading: Reading) -> None:
        nonlocal last
        now = clock()
        if now - last < _SECONDS_BETWEEN_LINES:
            return
        last = now
        line = f"{reading.doing} {reading.rows:,}"
        if reading.of_rows is not None:
            line += f" of {reading.of_rows:,}"
        line += f" {reading.unit}, {reading.rows_per_second:.3g} {reading.unit}/s"
        if reading.bytes_per_second is not None:
            line += f", {reading.bytes_per_second / 1e6:.3g} MB/s"
        if reading.seconds_left is not None:
            line += f", {reading.seconds_left:.0f} s left"
        print(line, flush=True)

    return show


def printing_progress(verbose: int) -> AbstractContextManager[None]:
    """Return a block within which a fit prints its steps where ``verbose`` is above 0."""
    return listening(print_step, print_readings(), print) if verbose else nullcontext()
