"""Progress on a terminal, drawn by rich: a line for the pass, and one for the fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from groupcm.commands.words import seconds, short, speed
from groupcm.progress import Reading, Step
from groupcm.words import printable

__all__ = ["Bars", "drawn_bars"]

_BAR_WIDTH = 10  # what a terminal of 80 columns has beside the words


class Bars:
    """What is being done, with a bar that fills as rows are read; below it how far a fit is."""

    def __init__(self, progress: Any, tol: float) -> None:
        self._progress, self._tol = progress, min(max(tol, 1e-16), 0.5)
        self._doing = "starting"
        self._pass = progress.add_task(self._doing, start=False, note="")
        self._fit = progress.add_task("gap", total=1.0, note="", visible=False)

    def status(self, text: str) -> None:
        self._doing = text
        # A bar that has not started moves to and fro: nobody knows how long it takes.
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
    """Draw within the ``with`` block, and leave nothing behind."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(_BAR_WIDTH),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bars(progress, tol)
