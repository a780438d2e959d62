"""Who hears how a fit is going.

A solver announces each step with `announce`; whoever wants to show it, the
command line or ``verbose=1``, listens with `listening`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Step", "announce", "listening", "print_step", "relative_gap"]


def relative_gap(upper: float, lower: float) -> float:
    """``(upper − lower) / upper``, never negative: rounding may cross two equal bounds.

    Examples
    --------
    >>> relative_gap(2.0, 1.5)
    0.25
    """
    return max(0.0, (upper - lower) / max(upper, 1e-300))


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

    passes: float
    objective: float
    lower_bound: float
    working_rows: int
    seconds: float

    @property
    def gap(self) -> float:
        """Relative gap, ``(objective − lower_bound) / objective``."""
        return relative_gap(self.objective, self.lower_bound)


_listeners: ContextVar[tuple[Callable[[Step], None], ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(listener: Callable[[Step], None]) -> Iterator[None]:
    """Within the ``with`` block, every announced `Step` also goes to ``listener``.

    Examples
    --------
    >>> heard = []
    >>> with listening(heard.append):
    ...     announce(Step(1.0, 0.5, 0.25, 10, 0.1))
    >>> heard[0].gap
    0.5
    """
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def announce(step: Step) -> None:
    """Tell every listener of this context."""
    for listener in _listeners.get():
        listener(step)


def print_step(step: Step) -> None:
    """Show a step as one plain line."""
    print(
        f"{step.seconds:8.2f} s  {step.passes:6.2f} passes  objective {step.objective:.6g}"
        f"  gap {step.gap:.1e}  working rows {step.working_rows:,}",
        flush=True,
    )
