"""What the solvers on streamed sources share: the first ball, a pass, and a fit between passes.

`groupcm.solvers.streamed`, `groupcm.solvers.streamed_partial_auc` and
`groupcm.solvers.streamed_alone` solve a problem on a sample first. How far the solution moves from
a share of the sample to all of it shows how far it will move once more,

    Var(first − sample) : Var(sample − whole) = 1/n_first − 1/n_sample : 1/n_sample − 1/n_whole

and so how large the ball around it must be in which a pass over all rows screens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.objective.terms import Terms
from groupcm.solvers import working_set
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.solvers.screened import ScreenedTask
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.sources.rows.chunk import Chunk
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.screening import Ball, TermRows
from groupcm.utils.typing import Vector

__all__ = ["Points", "StreamedFit", "first_ball", "screen"]

# The ball is so many times larger than the distance expected.
_SAFETY = 3.0
# After a pass that did not settle everything, the next move as a share of the last.
_NEXT_MOVE = 0.5


@dataclass
class StreamedFit:
    """One task on its way: from ``start``, in ``ball``, with ``pending`` terms to be screened."""

    trace: Trace
    screened: ScreenedTask
    start: Vector
    ball: Ball
    pending: list[TermRows] = field(default_factory=list)
    done: bool = False

    def move_on(
        self,
        theta: Vector,
        open_terms: Sequence[NDArray[np.bool_]],
        ball_around: Callable[[Vector, Vector], Ball] = working_set.ball_around,
    ) -> None:
        """Go on around ``theta``, with the terms that are not settled there."""
        self.ball = ball_around(theta, _NEXT_MOVE * (theta - self.start))
        self.start = self.ball.theta
        self.pending = [
            part.rows.only(mask) for part, mask in zip(self.screened.parts, open_terms, strict=True)
        ]


class Points:
    """The latest point of each task, which a checkpoint stores if there is one.

    Attributes
    ----------
    left : dict of int to ndarray
        The points that an earlier fit had reached.
    latest : list of ndarray or None
        None for a task that has not been started.
    """

    def __init__(self, checkpoint: Checkpoint | None, n_tasks: int) -> None:
        self._checkpoint = checkpoint
        self.left: dict[int, Vector] = checkpoint.read() if checkpoint is not None else {}
        self.latest: list[Vector | None] = [self.left.get(k) for k in range(n_tasks)]

    def store(self) -> None:
        """Write the checkpoint."""
        if self._checkpoint is not None:
            self._checkpoint.write(self.latest)


def first_ball(
    task: Task,
    on_sample: Task,
    n_sampled: Callable[[Sequence[Terms]], int],
    *,
    solve: Callable[..., Solution] = working_set.solve,
    bracket: Callable[..., None] = working_set.bracket,
    ball_around: Callable[[Vector, Vector], Ball] = working_set.ball_around,
) -> Ball:
    """Return a ball around the optimum on the sample that should hold that of all rows.

    Parameters
    ----------
    task, on_sample : Task
        The problem on all rows, and on the sample.
    n_sampled : callable
        Returns how many of some terms were drawn at random.
    solve, bracket, ball_around : callable
        As those of `groupcm.solvers.working_set`.
    """
    rng = np.random.default_rng(task.seed)
    first = working_set.sample_of(on_sample, working_set.FIRST_SHARE, rng, working_set.FIRST_TOL)
    small = solve(first, silent=True).point
    trace = Trace(on_sample, small, silent=True)
    bracket(trace, warm=True)
    n_first, n_sample, n_whole = (n_sampled(each.terms) for each in (first, on_sample, task))
    unseen = max(0.0, 1.0 / n_sample - 1.0 / n_whole)
    ratio = np.sqrt(unseen / max(1.0 / n_first - 1.0 / n_sample, unseen / 4.0, 1e-300))
    return ball_around(trace.latest, _SAFETY * float(ratio) * (trace.latest - small))


def screen(
    reader: SourceReader,
    pending: Iterable[TermRows],
    job: Callable[[int, int], Callable[[Chunk], Any]],
) -> list[Any]:
    """Return what ``job(first, stop)`` finds in each unit of rows that holds pending terms."""
    ptr = reader.source.unit_ptr
    units = np.zeros(len(ptr) - 1, dtype=bool)
    for rows in pending:
        units |= rows.touches(ptr)

    def of_unit(unit: int) -> Callable[[Chunk], Any]:
        return job(int(ptr[unit]), int(ptr[unit + 1]))

    return reader.run(of_unit, [int(unit) for unit in np.flatnonzero(units)], "screening")
