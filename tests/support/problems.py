"""Random small problems, awkward on purpose, and the grid of settings they are drawn for.

Ties, duplicate rows, shuffled order, groups of one, several positives a group, features on very
different scales: a seed decides, so a failing case can be made again from its name alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from oracle import GroupProblem, count_left_out

from groupcm.objective import losses, penalties

LOSSES = tuple(losses.LOSSES)
PENALTIES = tuple(penalties.PENALTIES)
GROUPINGS = ("negative", "both", "none")
BACKGROUNDS = ("ignore", "negative")
KINDS = ("float64", "float32", "csr")
LABELS = ((0, 1), (-1, 1), ("no", "yes"), (False, True))


class Case(NamedTuple):
    """One point of the grid, with a seed for everything the grid leaves open."""

    loss: str
    penalty: str
    grouping: str
    background: str
    kind: str
    seed: int

    def __str__(self) -> str:
        return "-".join(str(part) for part in self)


@dataclass(frozen=True)
class Problem:
    """The arguments of one fit: `GroupClassifier(**settings).fit(X, y, groups, overlap)`."""

    X: Any
    y: np.ndarray
    groups: np.ndarray
    overlap: np.ndarray | None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def positive_label(self) -> Any:
        return np.unique(self.y)[1]

    @property
    def fit_args(self) -> tuple:
        return self.X, self.y, self.groups, self.overlap

    @property
    def n_left_out(self) -> int:
        positive = self.y == self.positive_label
        min_overlap = self.settings.get("min_overlap", 0.0)
        return count_left_out(positive, self.groups, self.overlap, min_overlap)

    def oracle(self) -> GroupProblem:
        return GroupProblem(*self.fit_args, positive_label=self.positive_label, **self.settings)


def grid(seeds) -> list[Case]:
    """Every loss × penalty × grouping × kind, the paper's for each background and each seed."""
    found = []
    for loss, penalty, grouping, kind in itertools.product(LOSSES, PENALTIES, GROUPINGS, KINDS):
        in_paper = loss in LOSSES[:2] and penalty in PENALTIES[:3]
        backgrounds, some = (BACKGROUNDS, seeds) if in_paper else (BACKGROUNDS[1:], seeds[:1])
        found += [
            Case(loss, penalty, grouping, background, kind, seed)
            for background in backgrounds
            for seed in some
        ]
    return found


def make_problem(case: Case, **fixed: Any) -> Problem:
    """The random problem that a case names; `fixed` settings win over drawn ones."""
    grid_point = [
        options.index(value)
        for options, value in zip(
            (LOSSES, PENALTIES, GROUPINGS, BACKGROUNDS, KINDS), case[:-1], strict=True
        )
    ]
    rng = np.random.default_rng([case.seed, *grid_point])
    settings = {
        "loss": case.loss,
        "penalty": case.penalty,
        "grouping": case.grouping,
        "background": case.background,
        "lam": float(rng.choice([0.1, 0.5, 0.9, 0.97])),
        "delta": float(rng.choice([0.1, 0.5, 1.0])),
        "epsilon": float(rng.choice([0.1, 1.0, 3.0])),
        "standardize": bool(rng.random() < 0.6),
    }
    data = make_data(rng, with_overlap=bool(rng.random() < 0.5))
    X, y, groups, overlap = data
    if overlap is not None:
        settings["min_overlap"] = float(rng.choice([0.0, 0.5]))
    if case.penalty == "elasticnet":
        settings["l1_ratio"] = float(rng.choice([0.0, 0.2, 0.5, 0.95, 1.0]))
    if case.kind == "csr":
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.4, 0.0, X))
    elif case.kind == "float32":
        X = X.astype(np.float32)
    if case.loss != "smoothed_hinge":
        del settings["delta"]
    if case.penalty != "huber":
        del settings["epsilon"]
    if fixed.get("C") is not None:
        del settings["lam"]
    return Problem(X, y, groups, overlap, settings | fixed)


def make_data(rng: np.random.Generator, *, with_overlap: bool = False):
    """Rows, labels, group ids and overlaps of 4 to 10 groups of 1 to 6 candidates."""
    n_groups, d = int(rng.integers(4, 11)), int(rng.integers(1, 7))
    group = np.repeat(np.arange(n_groups), rng.integers(1, 7, n_groups))
    n = len(group)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n_groups, d))[group]
    positive = np.zeros(n, dtype=bool)
    for k in rng.choice(n_groups, size=int(rng.integers(1, n_groups)), replace=False):
        rows = np.flatnonzero(group == k)
        positive[rng.choice(rows, size=int(rng.integers(1, len(rows) + 1)), replace=False)] = True
    X[positive] += rng.uniform(0.0, 2.0, size=d)
    if rng.random() < 0.3:
        X = X.round()  # ties between candidates
    twins = rng.integers(n, size=(2, n // 6))
    X[twins[0]] = X[twins[1]]
    X = X * 10.0 ** rng.uniform(-0.7, 0.7, d) + rng.normal(size=d)

    overlap = None
    if with_overlap:
        overlap = np.where(positive, rng.random(n).round(1), 0.0)
        overlap[np.flatnonzero(positive)[0]] = 0.9  # at least one group fits well enough
    low, high = LABELS[rng.integers(len(LABELS))]
    y = np.where(positive, np.array([high]), np.array([low]))
    ids = rng.permutation(10 * n_groups)[:n_groups] - 5
    names = ids if rng.random() < 0.5 else np.array([f"frame {i}" for i in ids])
    order = rng.permutation(n)
    overlap = None if overlap is None else overlap[order]
    return X[order], y[order], names[group][order], overlap
