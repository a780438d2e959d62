"""What a person sees while a command works, and the words it ends with.

Progress and warnings go to the error stream, results to the output stream.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from groupcm.errors import InputError
from groupcm.progress import Step

__all__ = ["Display", "mistakes", "plain_warnings", "seconds", "show_rows", "working"]


class Display(Protocol):
    """Shows what is being done."""

    def status(self, text: str) -> None:
        """Say what begins now."""
        ...

    def step(self, step: Step) -> None:
        """Show how far a fit is."""
        ...


class _Lines:
    """Plain lines, for a log file or a pipe, or where rich is not installed."""

    def status(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def step(self, step: Step) -> None:
        self.status(f"  {step.seconds:8.2f} s  {step.passes:6.2f} passes  gap {step.gap:.1e}")


class _Bar:
    """A spinner with the passes and the gap, and a bar that fills as the gap closes."""

    def __init__(self, bars, task, tol: float) -> None:
        self._bars, self._task, self._tol = bars, task, tol

    def status(self, text: str) -> None:
        self._bars.update(self._task, description=text, total=None, note="")

    def step(self, step: Step) -> None:
        # Each factor of ten in the gap takes about as long as the last one.
        closed = math.log(max(step.gap, self._tol)) / math.log(self._tol)
        self._bars.update(
            self._task,
            total=1.0,
            completed=min(max(closed, 0.0), 1.0),
            note=f"{step.passes:.2f} passes, gap {step.gap:.1e}",
        )


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
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        yield _Lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bar(bars, bars.add_task("starting", total=None, note=""), min(max(tol, 1e-16), 0.5))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show a warning as one line, without the place in our code that raised it."""

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        print(f"groupcm: warning: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


@contextmanager
def mistakes() -> Iterator[None]:
    """Within the block, what an estimator or a metric refuses is the user's mistake."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def seconds(value: float) -> str:
    """Say a time in as many digits as matter.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.2)
    ('0.012 s', '75 s')
    """
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"


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
