"""Where to begin: not at ``w = 0``, where every candidate ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from groupcm.solvers.solution import Task

__all__ = ["mean_difference"]

# As many rows of each part are enough for a direction.
_ROWS = 1_000


def mean_difference(task: Task) -> NDArray[np.float64]:
    """Return a point along the difference of the class means.

    The margins of the means are ±1, or less where the penalty would make that worse than
    ``w = 0``.
    """
    rng = np.random.default_rng(task.seed)
    # Only sample_weight gives negative terms different weights.
    is_weighted = any(isinstance(t.weight, np.ndarray) for t in task.terms if t.sign < 0)
    means = {}
    for sign in (1, -1):
        parts = [terms for terms in task.terms if terms.sign == sign]
        chosen = [
            np.sort(rng.choice(part.n_rows, min(part.n_rows, _ROWS), False)) for part in parts
        ]
        rows = [part.rows(some) for part, some in zip(parts, chosen, strict=True)]
        taken = task.rows.take(np.concatenate(rows))
        if is_weighted:
            weights = [part.row_weights(some) for part, some in zip(parts, chosen, strict=True)]
            share = np.concatenate(weights)
            means[sign] = np.asarray((share / share.sum()) @ taken).ravel()[:-1]
        else:
            means[sign] = np.asarray(taken.mean(axis=0)).ravel()[:-1]
    difference = means[1] - means[-1]
    w = 2.0 * difference / max(float(difference @ difference), 1e-12)
    w *= _best_margin(task, w)
    return np.append(w, -w @ (means[1] + means[-1]) / 2.0)


def _best_margin(task: Task, w: NDArray[np.float64]) -> float:
    """Return 1, or where that is too far the ``t`` that is best if all margins are ``t``."""

    def objective(t: float) -> float:
        loss = float(task.problem.loss.value(t))
        return task.problem.penalty_value(np.append(t * w, 0.0)) + task.total_weight * loss

    if objective(1.0) <= objective(0.0):
        return 1.0
    found: Any = minimize_scalar(lambda u: objective(10.0**u), bounds=(-20.0, 0.0))
    return 10.0 ** float(found.x)
