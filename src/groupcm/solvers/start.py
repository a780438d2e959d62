"""Where to begin: not at ``w = 0``, where every candidate ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.solvers.solution import Task

__all__ = ["mean_difference"]

# As many rows of each part are enough for a direction.
_ROWS = 1_000


def mean_difference(task: Task) -> NDArray[np.float64]:
    """From one class's mean to the other's, the margins of the means at ±1."""
    rng = np.random.default_rng(task.seed)
    means = {}
    for sign in (1, -1):
        rows = np.concatenate(
            [
                terms.rows(np.sort(rng.choice(terms.n_rows, min(terms.n_rows, _ROWS), False)))
                for terms in task.terms
                if terms.sign == sign
            ]
        )
        taken = task.source.take(rows)
        means[sign] = np.asarray(taken.mean(axis=0)).ravel()[:-1]
    difference = means[1] - means[-1]
    w = 2.0 * difference / max(float(difference @ difference), 1e-12)
    return np.append(w, -w @ (means[1] + means[-1]) / 2.0)
