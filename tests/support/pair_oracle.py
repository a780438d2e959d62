"""The partial AUC of groups written out pair by pair and handed to cvxpy: slow and independent.

    minimise  rho * sum_j h(w_j)
              + cost / share * sum_k p_k max_q sum_l q_l L(x_k(w) + y_l(w))

The maximum over q is written through its dual, ``share * nu + sum_l u_l max(0, V_l - nu)``, which
is the conditional value at risk. Nothing here is shared with the library but the terms of `oracle`.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
from oracle import GroupProblem


class PairProblem(GroupProblem):
    """One problem, from the same arguments as `GroupClassifier(objective="partial_auc")`."""

    def __init__(self, *args: Any, max_fpr: float = 1.0, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.positive = [term for term in self.terms if term.sign > 0]
        self.negative = [term for term in self.terms if term.sign < 0]
        p = np.array([term.weight for term in self.positive])
        u = np.array([term.weight for term in self.negative])
        self.p, self.u = p / p.sum(), u / u.sum()
        times = u / u.min()
        n = times.round().sum()
        whole = np.allclose(times, times.round(), rtol=1e-9)
        self.share = math.ceil(max_fpr * n - 1e-9) / n if whole else max_fpr
        self.cost = 2.0 * self.settings["lam"]

    def objective(self, w, b=0.0) -> float:
        """The objective at a point in standardised units, pair by pair."""
        s = self.Z @ w
        x = np.array([s[list(term.rows)].min() for term in self.positive])
        top = np.array([s[list(term.rows)].max() for term in self.negative])
        falling = np.argsort(-top, kind="stable")
        left, total = self.share, 0.0
        for number in falling:
            q = min(left, self.u[number])
            total += q * float(self.p @ self.loss(x - top[number]))
            left -= q
        return float(self.rho * self.penalty(w) + self.cost / self.share * total)

    def solve(self) -> float:
        """The optimum by cvxpy and Clarabel."""
        u = cp.Variable(self.Z.shape[1])
        w = cp.multiply(u, 1.0 / self.unit)
        score = ((self.Z - self.shift) / self.unit) @ u
        x, top = cp.Variable(len(self.p)), cp.Variable(len(self.u))
        constraints: list[Any] = []
        for k, term in enumerate(self.positive):
            constraints.append(x[k] <= score[list(term.rows)])
        for number, term in enumerate(self.negative):
            constraints.append(top[number] >= score[list(term.rows)])
        ones = np.ones((len(self.p), 1))
        margin = cp.reshape(x, (len(self.p), 1), order="C") @ np.ones((1, len(self.u)))
        margin = margin - ones @ cp.reshape(top, (1, len(self.u)), order="C")
        short, digits = 1 - margin, 1e-10
        if self.settings["loss"] == "logistic":
            loss, digits = cp.logistic(-margin), 1e-8
        elif self.settings["loss"] == "hinge":
            loss = cp.pos(short)
        else:
            far = cp.Variable(margin.shape, nonneg=True)
            loss = cp.square(cp.pos(short - far)) / (4 * self.settings["delta"]) + far
        of_group = self.p @ loss
        nu = cp.Variable()
        total = self.share * nu + self.u @ cp.pos(of_group - nu)
        h = self._penalty_of(w)
        program = cp.Problem(
            cp.Minimize(self.rho * h + self.cost / self.share * total), constraints
        )
        for digits in (digits, 1e-7):  # noqa: B020
            tolerances = {f"tol_{name}": digits for name in ("gap_abs", "gap_rel", "feas")}
            almost = {f"reduced_{name}": 10 * digits for name in tolerances}
            with warnings.catch_warnings(), contextlib.suppress(cp.error.SolverError):
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                program.solve(solver=cp.CLARABEL, **tolerances, **almost)
                break
        assert u.value is not None
        value = self.objective(u.value / self.unit)
        # The oracle checks itself: the program and the plain objective are one function.
        np.testing.assert_allclose(program.value, value, rtol=1e-6, atol=10 * digits)
        return value

    def _penalty_of(self, w: Any) -> Any:
        settings = self.settings
        if settings["penalty"] == "l2":
            return cp.sum_squares(w)
        if settings["penalty"] == "l1":
            return cp.norm1(w)
        if settings["penalty"] == "elasticnet":
            ratio = settings["l1_ratio"]
            return ratio * cp.norm1(w) + (1 - ratio) * cp.sum_squares(w)
        inner = cp.Variable(w.size)
        return cp.sum_squares(inner) / (2 * settings["epsilon"]) + cp.norm1(w - inner)
