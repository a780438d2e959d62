"""A contender, which is a model with its grid of hyperparameters, and the budget shared by all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from groupcm.estimators.adapters import fit_with, require_finished, takes, takes_missing
from groupcm.estimators.path import lambda_grid, lambda_path
from groupcm.evaluation.comparison.candidate_models import CandidateModel
from groupcm.evaluation.comparison.data import LabelledCandidates

__all__ = ["Budget", "Contender", "Setting"]

Setting = Mapping[str, Any]
# The range of each hyperparameter of trees; values are spread over the logarithms.
_TREE_RANGES = {
    "num_leaves": (4, 64),
    "learning_rate": (0.02, 0.2),
    "min_child_samples": (5, 100),
}
_GROUP_TREE_RANGES = {
    "num_leaves": (8, 64),
    "min_child_samples": (10, 50),
    "power": (2.0, 10.0),
}


@dataclass(frozen=True)
class Contender:
    """A model and the hyperparameters it may choose among.

    Attributes
    ----------
    name, about : str
        A short name, and one sentence on the model and its training data.
    settings : sequence of dict
        The hyperparameters to choose among: one dict of parameters of ``make`` for each choice.
    make : callable
        ``make(**setting)`` is an estimator with ``fit(X, y, groups)`` and
        ``decision_function(X)``; its ``fit`` also receives ``overlap``, ``patients`` and what
        ``knows`` lists, if it has such parameters.
    has_path : bool
        Whether the settings are values of ``lam`` that `lambda_path` fits together.
    knows : sequence of str
        The parts of the annotation it may receive: ``annotated``, ``objects``.
    by_group_labels : bool
        Whether it uses labels of groups alone, so that no group needs an annotation.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = Contender("GCM", "Groups.", [{"lam": 0.5}, {"lam": 0.9}], GroupClassifier)
    >>> [model.describe(setting) for setting in model.settings]
    ['λ = 0.5', 'λ = 0.9']
    """

    name: str
    about: str
    settings: Sequence[Setting]
    make: Callable[..., Any]
    has_path: bool = False
    knows: Sequence[str] = ("annotated", "objects")
    by_group_labels: bool = False

    @property
    def chooses_candidates(self) -> bool:
        """Whether it chooses a candidate in unannotated positive groups."""
        return self._is_given("annotated")

    @property
    def takes_missing(self) -> bool:
        """Whether it learns from rows with missing values, and scores them."""
        return takes_missing(self._example)

    @property
    def _example(self) -> Any:
        return self.make(**self.settings[0])

    def _is_given(self, mark: str) -> bool:
        return mark in self.knows and takes(self._example, mark)

    def fit(self, setting: Setting, data: LabelledCandidates) -> Any:
        """Fit the model with the given hyperparameters.

        Unannotated groups take part where the model can learn from them.
        """
        if not (self.by_group_labels or self.chooses_candidates):
            data = data.with_candidate_labels()
        known = {"groups": data.groups, "overlap": data.overlap, "patients": data.patients}
        known |= {mark: getattr(data, mark) for mark in self.knows}
        return require_finished(fit_with(self.make(**setting), data.X, data.y, **known))

    def fit_every(self, data: LabelledCandidates) -> Sequence[Any]:
        """Fit the models of all settings, in their order, to choose among them.

        Unannotated groups take no part where a model would have to choose candidates of them
        anew for every setting.
        """
        if not self.by_group_labels:
            data = data.with_candidate_labels()
        has_objects = data.objects is not None and self._is_given("objects")
        if not self.has_path or has_objects:  # a path takes no objects
            return [self.fit(setting, data) for setting in self.settings]
        lams = [setting["lam"] for setting in self.settings]
        path = lambda_path(
            data.X, data.y, data.groups, data.overlap, lams=lams, estimator=self.make()
        )
        return [require_finished(model) for model in path.models]

    def describe(self, setting: Setting) -> str:
        """Return the given hyperparameters as text."""
        names = {"lam": "λ"}
        return ", ".join(f"{names.get(name, name)} = {_shown(v)}" for name, v in setting.items())


def _shown(value: Any) -> str:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{value:.3g}" if is_number else " ".join(str(value).split())


@dataclass(frozen=True)
class Budget:
    """The same number of hyperparameters to try for all, and the same negative candidates.

    Attributes
    ----------
    n_settings : int
    max_negatives : int or None
        The number of negative candidates for models trained on candidates; None for all.
    random_state : int

    Examples
    --------
    >>> Budget(3, None, 0).costs[1], len(Budget(3, None, 0).trees)
    ({'C': 0.01}, 3)
    """

    n_settings: int
    max_negatives: int | None
    random_state: int

    @property
    def lams(self) -> list[Setting]:
        lams = lambda_grid(self.n_settings) if self.n_settings > 1 else [0.5]
        return [{"lam": float(lam)} for lam in lams]

    @property
    def costs(self) -> list[Setting]:
        costs = np.logspace(-5.0, 1.0, self.n_settings) if self.n_settings > 1 else [1.0]
        return [{"C": float(C)} for C in costs]

    @property
    def trees(self) -> list[Setting]:
        """Hyperparameters of trees on single candidates."""
        return self._spread(_TREE_RANGES)

    @property
    def group_trees(self) -> list[Setting]:
        """Hyperparameters of trees on groups.

        Every other one searches half of the features for the best threshold; the rest draw
        thresholds at random.
        """
        kinds = (
            {"colsample_bytree": 0.5, "extra_trees": False},
            {"colsample_bytree": 1.0, "extra_trees": True},
        )
        spread = self._spread(_GROUP_TREE_RANGES)
        return [{**setting, **kinds[k % 2]} for k, setting in enumerate(spread)]

    def _spread(self, ranges: Mapping[str, tuple[float, float]]) -> list[Setting]:
        """Return Halton points, spread evenly over the logarithms."""
        from scipy.stats import qmc

        low, high = np.log(np.array(list(ranges.values()), dtype=np.float64)).T
        spread = qmc.Halton(len(ranges), scramble=False).fast_forward(1).random(self.n_settings)
        return [
            {
                name: round(value) if isinstance(least, int) else value
                for (name, (least, _)), value in zip(ranges.items(), point, strict=True)
            }
            for point in np.exp(low + spread * (high - low)).tolist()
        ]

    @property
    def negatives(self) -> str:
        most = "all" if self.max_negatives is None else f"at most {self.max_negatives:,}"
        return f"{most} candidates of negative groups"

    def on_candidates(self, estimator: Any) -> CandidateModel:
        return CandidateModel(
            estimator, max_negatives=self.max_negatives, random_state=self.random_state
        )
