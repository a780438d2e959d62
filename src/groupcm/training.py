"""From a user's rows to the solution of one class against the rest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from groupcm.candidates import Groups
from groupcm.group_index import GroupIndex, index_groups
from groupcm.grouping import Costs, binary_terms
from groupcm.losses import make_loss
from groupcm.penalties import make_penalty
from groupcm.problem import Problem
from groupcm.scaling import SAMPLE_VALUES, Scaling, measure_scaling
from groupcm.smoothing import Matrix
from groupcm.solvers import lbfgs, working_set
from groupcm.solvers.solution import Solution, Task
from groupcm.sources.arrays import ArraySource, NonFiniteValue
from groupcm.validation import (
    as_labels,
    as_matrix,
    as_overlap,
    check_length,
    distinct,
    feature_names,
    require_finite,
    rows_with,
)

__all__ = ["Options", "TrainingData", "read_training_data", "scale_features", "solve_class"]

_SOLVERS = {"working_set": working_set.solve, "lbfgs": lbfgs.solve}


class Options(Protocol):
    """The estimator's parameters that training needs."""

    lam: float
    C: float | None
    loss: str
    delta: float
    penalty: str
    epsilon: float
    grouping: str
    background: str
    min_overlap: float
    standardize: bool
    solver: str
    tol: float
    max_passes: float


@dataclass(frozen=True)
class TrainingData:
    """Candidates, validated; ``groups`` is None where every row is its own group."""

    X: Matrix
    y: NDArray[Any]
    classes: NDArray[Any]
    groups: Groups | None
    overlap: NDArray[Any] | None
    names: NDArray[Any] | None


def read_training_data(
    options: Options,
    X: Any,
    y: ArrayLike,
    groups: ArrayLike | None,
    overlap: ArrayLike | None,
) -> TrainingData:
    """Check what `fit` was given, without copying what need not be copied."""
    names = feature_names(X)
    X = as_matrix(X, options)
    y = as_labels(y, X.shape[0])
    index: GroupIndex | None = None
    if groups is not None:
        check_length("groups", groups, X.shape[0])
        index = index_groups(groups)
    overlap = as_overlap(overlap, X.shape[0])
    classes = distinct(y)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]}); two or more are needed.")
    together = None if index is None else Groups.from_index(index)
    # In large grouped data the first pass meets a bad value anyway.
    grouped = together is not None and options.grouping != "none"
    if not isinstance(X, np.ndarray) or X.size <= SAMPLE_VALUES or not grouped:
        require_finite(X, names)
    return TrainingData(X, y, classes, together, overlap, names)


def scale_features(options: Options, data: TrainingData) -> Scaling:
    """Mean and deviation of every feature, if they shall be used; warns of constant ones."""
    if not options.standardize:
        return Scaling.none(data.X.shape[1])
    # Always the same sample, so that the optimum does not depend on the seed.
    scaling = measure_scaling(data.X, data.groups, np.random.default_rng(0))
    if np.any(scaling.constant):
        columns = np.flatnonzero(scaling.constant)
        named = columns if data.names is None else data.names[columns]
        shown = ", ".join(str(name) for name in named[:5]) + ("…" if len(named) > 5 else "")
        warnings.warn(
            f"{len(named)} of {data.X.shape[1]} features are constant and get weight 0: {shown}.",
            UserWarning,
            stacklevel=3,
        )
    return scaling


def solve_class(
    options: Options, data: TrainingData, label: Any, scaling: Scaling, seed: int
) -> Solution | None:
    """One class against the rest; None for a class that every group holds."""
    n_rows, n_features = data.X.shape
    positive_rows = rows_with(data.y, label)
    if len(data.classes) > 2 and _every_group_has(data.groups, positive_rows):
        return None
    costs = Costs(options.lam, options.C)
    source = ArraySource(data.X, scaling.mean, scaling.scale)
    task = Task(
        Problem(
            make_loss(options.loss, options.delta),
            make_penalty(options.penalty, options.epsilon),
            costs.rho(n_features),
        ),
        binary_terms(
            n_rows,
            positive_rows,
            data.groups,
            costs=costs,
            grouping=options.grouping,
            background=options.background,
            overlap=data.overlap,
            min_overlap=options.min_overlap,
        ),
        source,
        options.tol,
        options.max_passes,
        seed,
    )
    try:
        solution = _SOLVERS[options.solver](task)
    except NonFiniteValue:
        require_finite(data.X, data.names)
        raise
    if not solution.converged:
        used_up = solution.passes >= options.max_passes
        advice = "raise max_passes" if used_up else "no more progress was made, so raise tol"
        warnings.warn(
            f"stopped after {solution.passes:.3g} passes at a relative gap of "
            f"{solution.gap:.2g}, above tol={options.tol:g}; {advice}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return solution


def _every_group_has(groups: Groups | None, rows: NDArray[np.int64]) -> bool:
    return groups is not None and len(np.unique(groups.of_rows(rows))) == len(groups)
