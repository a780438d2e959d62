"""What a person sees while a command works.

Progress and warnings go to the error stream, results to the output stream.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from groupcm.commands.words import print_error, speed
from groupcm.errors import InputError
from groupcm.progress import Reading, Step
from groupcm.words import printable

__all__ = ["Display", "Lines", "mistakes", "plain_warnings", "show_share", "working"]

_SECONDS_BETWEEN_LINES = 2.0


class Display(Protocol):
    """Shows what is being done."""

    def status(self, text: str) -> None:
        """Say what begins now."""
        ...

    def reading(self, reading: Reading) -> None:
        """Show how far a pass over rows or pictures is."""
        ...

    def step(self, step: Step) -> None:
        """Show how far a fit is."""
        ...


class Lines:
    """Plain lines, for a log file or a pipe, or where rich is not installed.

    Parameters
    ----------
    clock : callable
        Seconds since some moment; a pass gets a line every two.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_reading = clock()

    def status(self, text: str) -> None:
        print_error(text)

    def reading(self, reading: Reading) -> None:
        now = self._clock()
        if now - self._last_reading < _SECONDS_BETWEEN_LINES:
            return
        self._last_reading = now
        told = f"{reading.rows:,} {reading.unit}"
        if reading.of_rows is not None:
            share = 100 * reading.rows // max(1, reading.of_rows)
            told = f"{reading.rows:,} of {reading.of_rows:,} {reading.unit} ({share} %)"
        self.status(f"  {reading.doing}: {told}, {speed(reading)}")

    def step(self, step: Step) -> None:
        self.status(f"  {step.seconds:8.2f} s  {step.passes:6.2f} passes  gap {step.gap:.1e}")


@contextmanager
def working(tol: float = 1e-4) -> Iterator[Display]:
    """Show progress within the ``with`` block: rich on a terminal, plain lines elsewhere.

    Parameters
    ----------
    tol : float
        The gap at which a fit stops.
    """
    try:
        if not sys.stderr.isatty():
            raise ImportError
        from groupcm.commands.bars import drawn_bars
    except ImportError:
        yield Lines()
        return
    with drawn_bars(tol) as bars:
        yield bars


def show_share(display: Display, doing: str) -> Callable[[int, int], None]:
    """Return a listener to rows done and rows in all, that says every twentieth once."""
    said = -1

    def listen(done: int, n_rows: int) -> None:
        nonlocal said
        if (share := 20 * done // n_rows) > said:
            said = share
            display.status(f"{doing}: {done:,} of {n_rows:,} rows")

    return listen


@contextmanager
def plain_warnings() -> Iterator[list[str]]:
    """Show a warning as one line, without the place in our code; yield what was shown."""
    shown: list[str] = []

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        shown.append(printable(" ".join(str(message).split())))
        print_error(f"groupcm: warning: {shown[-1]}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield shown


@contextmanager
def mistakes() -> Iterator[None]:
    """Within the block, what an estimator or a metric refuses is the user's mistake."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
