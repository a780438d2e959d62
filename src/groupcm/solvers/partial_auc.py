"""The working set for the partial AUC: a bracket around its certified optimum.

Of the negative groups only those among the largest, or close to them, matter, and of each of them
the rows that have been its winner. The problem on these rows is a lower bound of the whole:
leaving out rows lowers every group's largest score, and leaving out groups lowers the sum of the
largest. The objective at its solution, found by one pass over all rows, is an upper bound; the pass
also finds the new winners. Repeat until the bounds meet.

The intercept takes no part in the objective. It is set afterwards, such that a threshold of 0 is
the best operating point of the training groups up to the false-positive rate ``max_fpr``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from groupcm.objective.partial_auc import PairWeights, PartialAuc, top_share
from groupcm.objective.terms import NO_ORDER, Terms
from groupcm.solvers import working_set
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.objective import round_to_zero
from groupcm.solvers.pair_newton import COLD, WARM, PairNewton
from groupcm.solvers.pair_rows import Side
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.sources.rows.solver_rows import Winners
from groupcm.utils.typing import Vector

__all__ = ["GroupMargins", "WholePairs", "bracket", "operating_intercept", "prepare", "solve"]

# Winners of negative groups are kept of so many times the weight of those that count, and of at
# least so many more groups.
_MORE = 1.2
_AT_LEAST = 20
# Winners are kept up to a margin so far above the one from which they cost nothing.
_NEAR_MARGIN = 0.1
_FEW_ROWS = 2_000
_EARLY_SHARE = 0.3


def solve(
    task: Task,
    start: Vector | None = None,
    *,
    temperature: float = WARM,
    kept: Sequence[KeptRows] | None = None,
    silent: bool = False,
) -> Solution:
    """Minimise to the task's tolerance, or until its passes are used up, and set the intercept.

    See `groupcm.solvers.working_set.solve` for the parameters. The terms of the task, and those of
    ``kept``, are those of `prepare`.
    """
    whole = WholePairs(task)
    close = partial(bracket, whole=whole)
    found = working_set.solve(
        task, start, temperature=temperature, kept=kept, silent=silent, close=close
    )
    margins = whole.margins_at(found.point)
    return replace(found, intercept=operating_intercept(margins, whole.problem, whole.weights))


def prepare(task: Task) -> Task:
    """Return the task with every negative row that counts alone as a group of one.

    So that only the rows of the largest scores are kept.
    """
    return replace(task, terms=[_as_groups(terms) for terms in task.terms])


def _as_groups(terms: Terms) -> Terms:
    if terms.sign > 0 or not terms.alone:
        return terms
    rows = terms.rows(np.arange(terms.n_rows))
    start = np.arange(len(rows))
    if np.array_equal(rows, rows[:1] + start):
        start, rows = start + rows[0], NO_ORDER
    return replace(terms, start=start, stop=start + 1, order=rows, alone=False)


@dataclass(frozen=True)
class GroupMargins:
    """The smallest margins of all terms at one point: ``x_k`` and ``y_l``, with their weights."""

    x: Vector
    p: Vector
    y: Vector
    u: Vector

    def value(self, problem: PartialAuc, weights: PairWeights, theta: Vector) -> float:
        """Return the objective."""
        return problem.penalty_value(theta) + problem.pairs_value(
            weights, self.x, self.p, self.y, self.u
        )


class WholePairs:
    """All terms of a task: a pass gives the margin of each, and the winners of the grouped ones."""

    def __init__(self, task: Task) -> None:
        assert isinstance(task.problem, PartialAuc)
        self.task, self.problem = task, task.problem
        self.weights = self.problem.weights_of(task.terms)
        self.grouped = [terms for terms in task.terms if not terms.alone]
        self.alone = [
            block for terms in task.terms if terms.alone for block in task.rows.blocks(terms)
        ]
        self._best: tuple[Vector, GroupMargins] | None = None

    def look(self, theta: Vector) -> tuple[GroupMargins, list[Winners]]:
        """Read all rows once."""
        theta = np.append(theta[:-1], 0.0)
        winners = [self.task.rows.worst(terms, theta) for terms in self.grouped]
        parts = [
            (block.sign, block.sign * (block.load() @ theta), block.weight) for block in self.alone
        ]
        parts += [
            (terms.sign, found.margin, terms.weight)
            for terms, found in zip(self.grouped, winners, strict=True)
        ]
        sides = []
        for sign in (1, -1):
            margins = [margin for s, margin, _ in parts if s == sign]
            weights = [np.broadcast_to(w, len(m)) for s, m, w in parts if s == sign]
            sides += [np.concatenate(margins), np.concatenate(weights).astype(np.float64)]
        return GroupMargins(*sides), winners

    def offer(self, trace: Trace) -> list[Winners]:
        """Offer the objective at the trace's latest point; return the winners there."""
        margins, winners = self.look(trace.latest)
        trace.offer(trace.latest, margins.value(self.problem, self.weights, trace.latest))
        if trace.best is trace.latest:
            self._best = trace.latest, margins
        return self._wanted(margins, winners)

    def value(self, theta: Vector) -> float:
        """Return the objective at a point."""
        return self.look(theta)[0].value(self.problem, self.weights, theta)

    def margins_at(self, theta: Vector) -> GroupMargins:
        """Return the margins at a point, of the best one without reading the rows again."""
        if self._best is not None and np.array_equal(self._best[0][:-1], theta[:-1]):
            return self._best[1]
        return self.look(theta)[0]

    def _wanted(self, margins: GroupMargins, winners: Sequence[Winners]) -> list[Winners]:
        """Return the winners with a margin of minus infinity where they count or nearly do.

        All others have one of infinity, so that `KeptRows` does not keep them.
        """
        u = margins.u / self.weights.negative
        share = min(1.0, _MORE * self.weights.share + _AT_LEAST * float(np.max(u)))
        chosen, _ = top_share(margins.y, u, share)
        end = self.problem.loss.zero_margin + _NEAR_MARGIN - float(np.min(margins.x))
        far = margins.y[chosen[-1]]
        out = []
        for terms, found in zip(self.grouped, winners, strict=True):
            near = np.ones(len(found.margin), dtype=bool)
            if terms.sign < 0:
                near = (found.margin <= far) & (found.margin < end)
            out.append(replace(found, margin=np.where(near, -np.inf, np.inf)))
        return out


def bracket(
    trace: Trace,
    *,
    warm: bool,
    rounds: float = np.inf,
    effort: float = np.inf,
    zeros: bool = False,
    warm_temperature: float = WARM,
    kept: Sequence[KeptRows] | None = None,
    whole: WholePairs | None = None,
) -> None:
    """Close the bracket around the optimum, as `groupcm.solvers.working_set.bracket` does."""
    task = trace.task
    # A sample is another task.
    whole = whole if whole is not None and whole.task is task else WholePairs(task)
    trace.latest = np.append(trace.latest[:-1], 0.0)
    if kept is None:
        kept = [KeptRows(terms, task.rows, np.inf) for terms in whole.grouped]
    if task.n_rows <= _FEW_ROWS:
        for rows in kept:
            rows.keep_all()
    idle, is_exact = 0, False
    while rounds > 0 and idle < 3:
        winners = whole.offer(trace)
        if trace.closed or trace.exhausted:
            break
        new = sum(rows.keep(found) for rows, found in zip(kept, winners, strict=True))
        is_settled = new == 0 and trace.lower > 0.0
        idle = idle + 1 if is_settled and is_exact else 0
        is_exact = is_settled or warm
        enough = 0.0 if is_exact else _EARLY_SHARE * (trace.latest_upper - trace.lower)
        blocks = whole.alone + [block for rows in kept for block in rows.blocks()]
        positive, negative = (
            Side([block for block in blocks if block.sign == sign], sign) for sign in (1, -1)
        )
        inner = PairNewton(
            whole.problem,
            whole.weights,
            positive,
            negative,
            trace.latest,
            most_evaluations=effort,
            budget=task.budget,
        )
        try:
            rule = replace(task.stop_rule, share=working_set.INNER_SHARE * 0.1**idle)
            slack = trace.latest_upper - trace.lower
            inner.minimise(rule, warm_temperature if warm else COLD, slack, enough)
        finally:
            trace.latest, warm = inner.best, False
            trace.raise_lower(inner.lower)
        if trace.closed:
            break
        rounds -= 1
        trace.announce(sum(len(rows) for rows in kept))
    if zeros and whole.problem.penalty.makes_zeros:
        round_to_zero(trace, whole.value)
    trace.announce(sum(len(rows) for rows in kept))


def operating_intercept(margins: GroupMargins, problem: PartialAuc, weights: PairWeights) -> float:
    """Return ``b`` such that ``w·x + b ≥ 0`` is the best operating point up to ``max_fpr``.

    Of all thresholds that raise alarms for at most this share of the negative groups, it is the
    one of the largest ``C+ · sensitivity + C− · specificity``, halfway to the next score below it,
    where ``C±`` is what the terms of each class weigh together: by default the same.
    """
    scores = np.concatenate([margins.x, -margins.y])
    found = np.concatenate([margins.p / weights.positive, np.zeros(len(margins.y))])
    false = np.concatenate([np.zeros(len(margins.x)), margins.u / weights.negative])
    falling = np.argsort(-scores, kind="stable")
    scores = scores[falling]
    ends = np.append(scores[1:] < scores[:-1], True)
    tpr, fpr = np.cumsum(found[falling])[ends], np.cumsum(false[falling])[ends]
    levels = scores[ends]
    gain = weights.positive * tpr - weights.negative * fpr
    gain = np.where(fpr <= problem.max_fpr * (1.0 + 1e-9), gain, -np.inf)
    best = int(np.argmax(gain))
    if gain[best] <= 0.0:  # no alarm is better than any
        return -float(levels[0] + max(1.0, abs(levels[0])))
    below = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1.0
    return -float(levels[best] / 2 + below / 2)
