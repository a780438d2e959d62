"""Few wide rows: the problem in as many variables as there are rows, as a start for the whole.

Where the penalty is a square, ``ρ Σ_j (f_j w_j)² / 4κ``, the best weights are a combination of the
rows ``X``, and the problem depends on their products alone::

    w = F⁻² Xᵀ β,   X F⁻² Xᵀ = R Rᵀ,   u = Rᵀ β
    X w = R u,      Σ_j (f_j w_j)² = ‖u‖²

With 480 rows of 20,000 features, ``u`` has 480 numbers. The Huber penalty is a square as long as no
weight is above ε; where one is, and for the rounding of ``R``, the solver of the whole problem
(`groupcm.solvers.multipliers`) continues from the solution and its dual. All bounds are its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from groupcm.objective.penalties import make_penalty
from groupcm.objective.problem import Problem
from groupcm.solvers.newton_system import row_products
from groupcm.solvers.solution import Task
from groupcm.sources.rows.solver_rows import ArrayRows, MappedRows
from groupcm.utils.typing import Vector

__all__ = ["RowSpace", "applies"]

# So many features a row, for at most so many rows, and so many values in all.
_FEATURES_PER_ROW = 3
_MOST_ROWS = 2_000
_MOST_VALUES = 1 << 24
# What is added to the diagonal of the products, as a share: centred rows are linearly dependent.
_RIDGE = 1e-12
# How much of the tolerance the solution here may use up.
_SHARE = 0.1


def applies(task: Task) -> bool:
    """Return whether a task has few rows, of many features, and a penalty that is a square."""
    rows = task.rows
    return (
        isinstance(rows, ArrayRows)
        and not isinstance(rows, MappedRows)
        and isinstance(rows.X, np.ndarray)
        and rows.n_rows <= _MOST_ROWS
        and rows.n_rows * _FEATURES_PER_ROW <= rows.n_features
        and rows.n_rows * rows.n_features <= _MOST_VALUES
        and task.problem.penalty.conjugate_factor > 0.0
        and not task.problem.penalty.makes_zeros
    )


@dataclass(frozen=True)
class RowSpace:
    """The rows of an array, standardised, and their coordinates ``R``."""

    source: ArrayRows
    units: Vector | float
    X: NDArray[np.float64]
    R: NDArray[np.float64]

    @classmethod
    def of(cls, task: Task) -> RowSpace:
        """Return that of a task's rows."""
        source, units = task.rows, task.problem.units
        assert isinstance(source, ArrayRows)
        X = source.take(slice(0, source.n_rows))
        assert isinstance(X, np.ndarray)
        X = X[:, :-1]
        products = row_products(X if np.all(np.equal(units, 1.0)) else X / units)
        products[np.diag_indices_from(products)] *= 1.0 + _RIDGE
        products[np.diag_indices_from(products)] += _RIDGE * np.max(np.diagonal(products))
        return cls(source, units, X, np.linalg.cholesky(products).astype(np.float64))

    def is_of(self, task: Task) -> bool:
        """Return whether a task has the same rows, in the same units."""
        rows = task.rows
        return (
            isinstance(rows, ArrayRows)
            and rows.X is self.source.X
            and rows.mean is self.source.mean
            and rows.scale is self.source.scale
            and task.problem.units is self.units
        )

    def task(self, task: Task) -> Task:
        """Return the task in the coordinates; the rows have the same numbers."""
        problem, n = task.problem, len(self.R)
        rho = problem.rho / (4.0 * problem.penalty.conjugate_factor)
        return replace(
            task,
            problem=Problem(problem.loss, make_penalty("l2"), rho),
            rows=ArrayRows(self.R, np.zeros(n), np.ones(n)),
            tol=_SHARE * task.tol,
        )

    def inside(self, theta: Vector) -> Vector:
        """Return the coordinates of a point, of which they keep the margins."""
        u = solve_triangular(self.R, self.X @ theta[:-1], lower=True, check_finite=False)
        return np.append(u, theta[-1])

    def outside(self, theta: Vector) -> Vector:
        """Return the point that has these coordinates."""
        beta = solve_triangular(self.R, theta[:-1], lower=True, trans=1, check_finite=False)
        w = self.X.T @ beta / (self.units * self.units)
        return np.append(w, theta[-1])
