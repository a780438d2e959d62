"""Tasks as solvers are given them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from groupcm.data.groups import index_groups
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.losses import SmoothedHinge
from groupcm.objective.penalties import Huber
from groupcm.objective.problem import Problem
from groupcm.objective.terms import Groups
from groupcm.solvers.solution import Task
from groupcm.sources.rows.solver_rows import ArrayRows

__all__ = ["TOL", "make_task"]

TOL = 1e-6


def make_task(
    *,
    n_groups=60,
    size=10,
    d=5,
    grouping="negative",
    kind="dense",
    loss=None,
    penalty=None,
    tol=TOL,
    shuffled=False,
) -> Task:
    """A fresh task: one group in four is positive, and hard to tell from the rest."""
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(ids), d)) + 0.5 * rng.normal(size=(n_groups, d))[ids]
    positive = (ids % 4 == 0) & (np.arange(len(ids)) % size < 2)
    X[positive] += 1.0
    if shuffled:
        order = rng.permutation(len(ids))
        ids, X, positive = ids[order], X[order], positive[order]
    groups = Groups.from_index(index_groups(ids))
    costs = Costs(0.8)
    terms = binary_terms(len(X), np.flatnonzero(positive), groups, costs=costs, grouping=grouping)
    if kind == "csr":
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.3, 0.0, X))
    problem = Problem(loss or SmoothedHinge(0.5), penalty or Huber(1.0), costs.rho(d))
    source = ArrayRows(X, np.zeros(d) if kind == "csr" else np.full(d, 0.1), np.full(d, 1.5))
    return Task(problem, terms, source, tol, max_passes=1_000)
