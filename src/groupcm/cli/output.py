"""Output of the commands: lines and tables of results, progress, and warnings.

Progress and warnings go to the error stream, results to the output stream. On a terminal, progress
is drawn by rich: one line for the current pass, and one for the fit.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Protocol

from groupcm.cli.options.spelling import in_options
from groupcm.errors import InputError
from groupcm.utils.progress import Reading, Step, listening
from groupcm.utils.sections import Section, sections_as_text
from groupcm.utils.text import counted, printable, seconds

__all__ = [
    "Bars",
    "Display",
    "Lines",
    "counted",
    "drawn_bars",
    "mistakes",
    "plain_warnings",
    "positive_words",
    "print_error",
    "print_line",
    "running",
    "seconds",
    "short",
    "show_rows",
    "show_sections",
    "show_share",
    "speed",
    "working",
]

_SECONDS_BETWEEN_LINES = 2.0
_BAR_WIDTH = 10  # so that the text next to it fits a terminal of 80 columns


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


def show_rows(rows: Sequence[tuple[str, str]], indent: str = "  ") -> None:
    """Print names and values in two columns.

    Examples
    --------
    >>> show_rows([("rows", "400"), ("groups", "2")], indent="")
    rows    400
    groups  2
    """
    width = max(len(printable(name)) for name, _ in rows)
    for name, value in rows:
        print_line(f"{indent}{printable(name):<{width}}  {value}")


def show_sections(sections: Sequence[Section]) -> None:
    """Print sections of names and values.

    They are a table on a terminal, and plain text elsewhere or where rich is not installed.
    """
    try:
        if not sys.stdout.isatty():
            raise ImportError
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        for line in sections_as_text(sections).splitlines():
            print_line(line)
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for number, section in enumerate(sections):
        if number:
            table.add_row("", "")
        table.add_row(Text(section.title, style="bold"), "")
        for name, value in section.rows:
            table.add_row(Text(f"  {name}"), Text(value or "-"))
    Console().print(table)


def positive_words(labels: tuple[object, object] | None) -> str:
    """Return a sentence that names the positive and the negative label.

    Examples
    --------
    >>> positive_words(("noise", "call"))
    'Positive: call (negative: noise).'
    """
    negative, positive = labels or ("not known", "not known")
    return f"Positive: {positive} (negative: {negative})."


def short(value: float) -> str:
    """Format an amount in at most three digits with an SI prefix.

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
    """Format the speed of a pass, and the time that is left.

    Examples
    --------
    >>> speed(Reading("scoring", 5_000_000, 20_000_000, 260_000_000, 2.0))
    '2.5 M rows/s, 130 MB/s, 6 s left'
    >>> speed(Reading("proposing", 30, 90, None, 10.0, "pictures"))
    '3 pictures/s, 20 s left'
    """
    if reading.rows <= reading.before:
        return "starting"
    parts = [f"{short(reading.rows_per_second)} {reading.unit}/s"]
    if reading.bytes_per_second is not None:
        parts.append(f"{short(reading.bytes_per_second)}B/s")
    if reading.seconds_left is not None:
        parts.append(f"{seconds(math.ceil(reading.seconds_left))} left")
    return ", ".join(parts)


@contextmanager
def running(tol: float = 1e-4) -> Iterator[Display]:
    """Call the library within the ``with`` block: show its progress and warnings.

    A `ValueError` is a mistake of the user (see `mistakes`). ``tol`` is the gap at which a fit
    stops.
    """
    with (
        plain_warnings(),
        working(tol) as display,
        mistakes(),
        listening(display.step, display.reading, display.status),
    ):
        yield display


@contextmanager
def working(tol: float = 1e-4) -> Iterator[Display]:
    """Show progress within the ``with`` block: rich on a terminal, plain lines elsewhere.

    Parameters
    ----------
    tol : float
        The gap at which a fit stops.
    """
    with ExitStack() as stack:
        shown: Display = Lines()
        if sys.stderr.isatty():
            with suppress(ImportError):  # without rich, a terminal gets lines as well
                shown = stack.enter_context(drawn_bars(tol))
        yield shown


@contextmanager
def plain_warnings() -> Iterator[list[str]]:
    """Show every warning as one line, without its place in the code; yield the list of them."""
    shown: list[str] = []

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        text = in_options(message) if isinstance(message, Warning) else str(message)
        shown.append(printable(" ".join(text.split())))
        print_error(f"groupcm: warning: {shown[-1]}")

    with warnings.catch_warnings():  # not WARNINGS_LOCK: the block is a whole command
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield shown


@contextmanager
def mistakes() -> Iterator[None]:
    """Raise every `ValueError` of an estimator or a metric as an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(error) from error


def show_share(display: Display, doing: str) -> Callable[[int, int], None]:
    """Return a callback of rows done and all rows, which shows every 5 % once."""
    shown = -1

    def listen(done: int, n_rows: int) -> None:
        nonlocal shown
        if (share := 20 * done // n_rows) > shown:
            shown = share
            display.status(f"{doing}: {done:,} of {n_rows:,} rows")

    return listen


class Display(Protocol):
    """A display of progress."""

    def status(self, text: str) -> None:
        """Show what begins now."""
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
        Returns the time in seconds; a pass prints one line every two seconds.
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
        amount = f"{reading.rows:,} {reading.unit}"
        if reading.of_rows is not None:
            share = 100 * reading.rows // max(1, reading.of_rows)
            amount = f"{reading.rows:,} of {reading.of_rows:,} {reading.unit} ({share} %)"
        self.status(f"  {reading.doing}: {amount}, {speed(reading)}")

    def step(self, step: Step) -> None:
        self.status(f"  {step.seconds:8.2f} s  {step.passes:6.2f} passes  gap {step.gap:.1e}")


class Bars:
    """A bar of the rows read in the current pass, and below it a bar of the fit."""

    def __init__(self, progress: Any, tol: float) -> None:
        self._progress, self._tol = progress, min(max(tol, 1e-16), 0.5)
        self._doing = "starting"
        self._pass = progress.add_task(self._doing, start=False, note="")
        self._fit = progress.add_task("gap", total=1.0, note="", visible=False)

    def status(self, text: str) -> None:
        self._doing = text
        # A bar that has not started is indeterminate: it moves to and fro.
        self._progress.reset(self._pass, start=False, description=printable(text), note="")

    def reading(self, reading: Reading) -> None:
        if reading.is_over:
            self.status(self._doing)
            return
        of_all = "" if reading.of_rows is None else f" of {short(reading.of_rows)}"
        self._progress.start_task(self._pass)
        self._progress.update(
            self._pass,
            description=reading.doing,
            total=reading.of_rows,
            completed=reading.rows,
            note=f"{short(reading.rows)}{of_all} {reading.unit}, {speed(reading)}",
        )

    def step(self, step: Step) -> None:
        # Each factor of ten in the gap takes about as long as the last one.
        closed = math.log(max(step.gap, self._tol)) / math.log(self._tol)
        self._progress.update(
            self._fit,
            visible=True,
            completed=min(max(closed, 0.0), 1.0),
            note=f"{step.passes:.2f} passes, gap {step.gap:.1e}, {seconds(step.seconds)}",
        )


@contextmanager
def drawn_bars(tol: float) -> Iterator[Bars]:
    """Draw within the ``with`` block, and clear the lines at its end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(_BAR_WIDTH),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bars(progress, tol)
