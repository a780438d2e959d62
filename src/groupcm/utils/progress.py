"""Who hears how a fit is going.

A solver announces each step with `announce`; whoever wants to show it, the
command line or ``verbose=1``, listens with `listening`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar

from groupcm.utils.fitted_state import Expected, Number

__all__ = [
    "Reading",
    "Step",
    "announce",
    "announce_reading",
    "announce_stage",
    "count_pictures",
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
    """Where a solver stands after reading some rows.

    Attributes
    ----------
    passes : float
        Rows read so far, in units of all rows.
    objective : float
        The smallest objective seen: an upper bound of the optimum.
    lower_bound : float
        The largest certified lower bound of the optimum.
    working_rows : int
        Rows the solver holds in memory.
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
    """How far one pass over rows, or over pictures, is.

    Attributes
    ----------
    doing : str
        What the rows are read for, such as "scoring".
    rows : int
        Rows read so far in this pass.
    of_rows : int or None
        Rows it will read; None where nobody knows, as in a video.
    bytes : int or None
        What those rows take in memory; None where nobody counts.
    seconds : float
        Time since the pass began.
    unit : str
        What is counted: "rows" or "pictures".
    before : int
        Those of them that were ready when the pass began.
    """

    doing: str
    rows: int
    of_rows: int | None
    bytes: int | None
    seconds: float
    unit: str = "rows"
    before: int = 0

    @property
    def is_over(self) -> bool:
        """Whether everything is read."""
        return self.of_rows is not None and self.rows >= self.of_rows

    @property
    def rows_a_second(self) -> float:
        """Speed so far."""
        return (self.rows - self.before) / max(self.seconds, 1e-9)

    @property
    def bytes_a_second(self) -> float | None:
        """Speed so far."""
        return None if self.bytes is None else self.bytes / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far."""
        if self.of_rows is None or self.rows <= self.before:
            return None
        return (self.of_rows - self.rows) / max(self.rows_a_second, 1e-9)


_listeners: ContextVar[tuple[Callable[[Step], None], ...]] = ContextVar("listeners", default=())
_readers: ContextVar[tuple[Callable[[Reading], None], ...]] = ContextVar("readers", default=())
_audience: ContextVar[tuple[Callable[[str], None], ...]] = ContextVar("audience", default=())


@contextmanager
def listening(
    listener: Callable[[Step], None],
    reading: Callable[[Reading], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Within the ``with`` block, every announced `Step` also goes to ``listener``.

    ``reading`` hears every `Reading`, which come far more often; ``stage`` what begins, in
    work that is made of many fits.

    Examples
    --------
    >>> heard = []
    >>> with listening(heard.append):
    ...     announce(Step(1.0, 0.5, 0.25, 10, 0.1))
    >>> heard[0].gap
    0.5
    """
    heard = _listeners.set((*_listeners.get(), listener))
    read = _readers.set((*_readers.get(), *([reading] if reading else [])))
    told = _audience.set((*_audience.get(), *([stage] if stage else [])))
    try:
        yield
    finally:
        _listeners.reset(heard)
        _readers.reset(read)
        _audience.reset(told)


@contextmanager
def without_steps() -> Iterator[None]:
    """Within the ``with`` block nobody hears a `Step`: of many fits, those of each are noise."""
    heard = _listeners.set(())
    try:
        yield
    finally:
        _listeners.reset(heard)


def announce(step: Step) -> None:
    """Tell every listener of this context."""
    for listener in _listeners.get():
        listener(step)


def announce_stage(text: str) -> None:
    """Tell every listener of this context what begins.

    Examples
    --------
    >>> with listening(print, stage=print):
    ...     announce_stage("fold 1 of 5")
    fold 1 of 5
    """
    for listener in _audience.get():
        listener(text)


def announce_reading(reading: Reading) -> None:
    """Tell every listener of this context how far a pass is."""
    for listener in _readers.get():
        listener(reading)


def count_reading(doing: str, of_rows: int, all_bytes: int) -> Callable[[int], Reading]:
    """A pass that begins now: from the rows read so far to how far it is.

    Examples
    --------
    >>> count_reading("scoring", 100, 1_000)(50).bytes
    500
    """
    began = time.perf_counter()

    def reading(rows: int) -> Reading:
        read = all_bytes * rows // max(1, of_rows)
        return Reading(doing, rows, of_rows, read, time.perf_counter() - began)

    return reading


def count_pictures(
    doing: str, of_pictures: int | None, before: int = 0
) -> Callable[[int], Reading]:
    """Work on pictures that begins now: from the pictures done so far to how far it is.

    Examples
    --------
    >>> count_pictures("proposing", 100, before=20)(50).unit
    'pictures'
    """
    began = time.perf_counter()

    def reading(done: int) -> Reading:
        seconds = time.perf_counter() - began
        return Reading(doing, done, of_pictures, None, seconds, "pictures", before)

    return reading


def print_step(step: Step) -> None:
    """Show a step as one plain line."""
    print(
        f"{step.seconds:8.2f} s  {step.passes:6.2f} passes  objective {step.objective:.6g}"
        f"  gap {step.gap:.1e}  working rows {step.working_rows:,}",
        flush=True,
    )


def print_readings(clock: Callable[[], float] = time.monotonic) -> Callable[[Reading], None]:
    """A listener that shows a long pass as one plain line every few seconds.

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
        told = f"{reading.doing} {reading.rows:,}"
        if reading.of_rows is not None:
            told += f" of {reading.of_rows:,}"
        told += f" {reading.unit}, {reading.rows_a_second:.3g} {reading.unit}/s"
        if reading.bytes_a_second is not None:
            told += f", {reading.bytes_a_second / 1e6:.3g} MB/s"
        if reading.seconds_left is not None:
            told += f", {reading.seconds_left:.0f} s left"
        print(told, flush=True)

    return show


def printing_progress(verbose: int) -> AbstractContextManager[None]:
    """Return a block within which a fit prints its steps where ``verbose`` is above 0."""
    return listening(print_step, print_readings(), print) if verbose else nullcontext()
