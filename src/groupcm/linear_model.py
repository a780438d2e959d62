"""What every model with a linear score knows beside its scores: weights and certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.group_model import GroupModel
from groupcm.preparing import Prepared
from groupcm.scoring import LinearScorer
from groupcm.solvers.solution import Solution

__all__ = ["LinearGroupModel"]


class LinearGroupModel(GroupModel):
    """``s = coef_ · φ(x) + intercept_``."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    objective_: Any
    lower_bound_: Any
    gap_: Any
    n_passes_: Any
    feature_map_: Any
    history_: list[Any]
    solution_: Any

    _fitted_state = (
        "coef_",
        "intercept_",
        "classes_",
        "background_",
        "n_features_in_",
        "feature_names_in_",
        "objective_",
        "lower_bound_",
        "gap_",
        "n_passes_",
        "feature_map_",
        "history_",
        "solution_",
    )

    @property
    def _scorer(self) -> LinearScorer:
        return LinearScorer(self.coef_, self.intercept_, self.feature_map_)

    def _store(self, prepared: Prepared, solutions: list[Solution | None]) -> None:
        data, scaling = prepared.data, prepared.scaling
        nothing = Solution(np.zeros(len(scaling.mean)), 0.0, 0.0, 0.0, 0.0, True, [])
        found = [nothing if solution is None else solution for solution in solutions]
        binary = len(data.classes) == 2
        self.classes_ = data.classes
        untrained = np.array([solution is None for solution in solutions])
        self.background_ = np.array([True, False]) if binary else untrained
        self.n_features_in_ = data.n_features
        self.feature_map_ = prepared.feature_map
        if data.names is not None:
            self.feature_names_in_ = data.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.coef_, self.intercept_ = scaling.in_units(
            np.stack([solution.weights for solution in found]),
            np.array([solution.intercept for solution in found]),
        )
        if not isinstance(scaling.units, float):  # the penalty was on these weights
            found = [
                replace(solution, weights=coef.copy(), intercept=float(intercept))
                for solution, coef, intercept in zip(
                    found, self.coef_, self.intercept_, strict=True
                )
            ]
        for name in ("objective", "lower_bound", "gap"):
            values = np.array([getattr(solution, name) for solution in found])
            setattr(self, f"{name}_", float(values[0]) if binary else values)
        passes = np.array([solution.passes for solution in found])
        self.n_passes_ = float(passes[0]) if binary else passes
        self.history_ = found[0].steps if binary else [solution.steps for solution in found]
        self.solution_ = found[0] if binary else found
