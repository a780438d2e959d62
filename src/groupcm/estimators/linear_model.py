"""What every model with a linear score knows besides its scores: weights and certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from groupcm.estimators.group_model import GroupModel
from groupcm.estimators.scoring import LinearScorer
from groupcm.estimators.training.fit import Solved
from groupcm.estimators.training.fit_setup import Prepared
from groupcm.estimators.training.profile import measure_training
from groupcm.features.base import FeatureMap
from groupcm.solvers.alternating import OUTCOMES
from groupcm.solvers.solution import Solution
from groupcm.utils.fitted_state import (
    Array,
    Expected,
    ListOf,
    Maybe,
    Nullable,
    Number,
    PerClass,
    StateError,
    Text,
)
from groupcm.utils.progress import Step
from groupcm.utils.state_check import Part, Record, check_model

__all__ = ["ChoosingModel", "LinearGroupModel"]

# What a score is computed from.
_SCORING = ("n_features_in_", "classes_", "feature_map_", "coef_", "intercept_")
_ROUNDING = 1e-9


class LinearGroupModel(GroupModel):
    """``s = coef_ · φ(x) + intercept_``."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    objective_: Any
    lower_bound_: Any
    gap_: Any
    n_passes_: Any
    feature_map_: Any
    feature_means_: NDArray[np.float64]
    history_: list[Any]
    solution_: Any

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **GroupModel._fitted_state,
        "feature_map_": Part(
            FeatureMap,
            {"features": "n_features_in_", "outputs": "n_features_out_"},
            otherwise={"outputs": "features"},
        ),
        "coef_": Array("f", "scores", "outputs"),
        "intercept_": Array("f", "scores"),
        # Version 0.1 did not store the means.
        "feature_means_": Maybe(Array("f", "outputs")),
        # The objective is infinite where a fit was interrupted before it was known.
        "objective_": PerClass(
            Number(low=0.0, finite=False), Array("f", "scores", low=0.0, finite=False)
        ),
        "lower_bound_": PerClass(Number(low=0.0), Array("f", "scores", low=0.0)),
        "gap_": PerClass(Number(finite=False), Array("f", "scores", finite=False)),
        "n_passes_": PerClass(Number(low=0.0), Array("f", "scores", low=0.0)),
        "history_": PerClass(ListOf(Record((Step,))), ListOf(ListOf(Record((Step,))), "scores")),
        "solution_": PerClass(Record((Solution,)), ListOf(Record((Solution,)), "scores")),
    }

    @property
    def _scorer(self) -> LinearScorer:
        # An AttributeError where it is not fitted: `dir`, and so a notebook, look at properties.
        check_is_fitted(self)
        check_model(self, only=_SCORING)
        return LinearScorer(self.coef_, self.intercept_, self.feature_map_)

    def _check_state(self) -> None:
        """Check that the gap is ``(objective_ − lower_bound_) / objective_``."""
        super()._check_state()
        certificate = (self.objective_, self.lower_bound_, self.gap_)
        for upper, lower, gap in zip(*map(np.ravel, certificate), strict=True):
            implied = np.inf if upper == np.inf else (upper - lower) / max(upper, 1e-300)
            # Where rounding had crossed the bounds, version 0.1 stored a gap of 0.
            if gap != max(0.0, implied) and not abs(gap - implied) <= _ROUNDING:
                raise StateError(
                    f"gap_ is {gap:g}, but objective_ {upper:g} and lower_bound_ {lower:g} imply "
                    f"a gap of {implied:g}"
                )

    def _store(self, prepared: Prepared, solved: Solved) -> None:
        """Set the fitted attributes."""
        solutions = solved.solutions
        data, scaling = prepared.data, prepared.scaling
        nothing = Solution(np.zeros(len(scaling.mean)), 0.0, 0.0, 0.0, 0.0, True, [])
        found = [nothing if solution is None else solution for solution in solutions]
        binary = len(data.classes) == 2
        self._store_data(data, np.array([solution is None for solution in solutions]))
        self.feature_map_ = prepared.feature_map
        self.feature_means_ = scaling.feature_means.copy()
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
        self.training_profile_ = measure_training(
            data,
            LinearScorer(self.coef_, self.intercept_, self.feature_map_),
            int(np.count_nonzero(self.coef_)),
        )


class ChoosingModel(LinearGroupModel):
    """A model that may have been trained with positive groups without annotation."""

    witnesses_: NDArray[np.int64]
    outcome_: str | None
    n_rounds_: int

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **LinearGroupModel._fitted_state,
        "witnesses_": Array("i", "unannotated groups", low=0),
        "outcome_": Nullable(Text(OUTCOMES)),
        "n_rounds_": Number(low=1, whole=True),
    }

    def _store(self, prepared: Prepared, solved: Solved) -> None:
        super()._store(prepared, solved)
        found = solved.alternation
        chosen = np.empty(0, dtype=np.int64) if found is None else found.witnesses
        self.witnesses_ = prepared.data.as_given(chosen)
        self.outcome_ = None if found is None else found.outcome
        self.n_rounds_ = 1 if found is None else found.rounds
        if found is not None:
            self.n_passes_ = found.passes
