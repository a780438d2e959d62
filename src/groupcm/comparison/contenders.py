"""The models that are compared: what each is, and the settings it may choose among.

Every contender has the same number of settings, so that none wins by being tuned harder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from groupcm.classifier import GroupClassifier
from groupcm.comparison.candidate_model import CandidateModel
from groupcm.comparison.contender import Contender, Setting
from groupcm.misvm import MISVMClassifier
from groupcm.selection import lambda_grid

__all__ = ["DEFAULT_NAMES", "contender_names", "contenders"]


@dataclass(frozen=True)
class _Budget:
    """What every contender is given."""

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
        """Points spread evenly over the logarithms of three parameters."""
        from scipy.stats import qmc

        low, high = np.log([4.0, 0.02, 5.0]), np.log([64.0, 0.2, 100.0])
        spread = qmc.Halton(3, scramble=False).fast_forward(1).random(self.n_settings)
        return [
            {"num_leaves": round(leaves), "learning_rate": rate, "min_child_samples": round(least)}
            for leaves, rate, least in np.exp(low + spread * (high - low)).tolist()
        ]

    @property
    def negatives(self) -> str:
        most = "all" if self.max_negatives is None else f"at most {self.max_negatives:,}"
        return f"{most} candidates of negative groups"

    def on_candidates(self, estimator: Any) -> CandidateModel:
        return CandidateModel(
            estimator, max_negatives=self.max_negatives, random_state=self.random_state
        )


def _svm(budget: _Budget) -> Contender:
    def make(C: float = 1.0) -> CandidateModel:
        return budget.on_candidates(
            LinearSVC(C=C, dual="auto", class_weight="balanced", max_iter=10_000, random_state=0)
        )

    about = "scikit-learn's linear SVM (squared hinge, classes balanced): positive candidates "
    return Contender("SVM", f"{about}against {budget.negatives}.", budget.costs, make)


def _logistic_regression(budget: _Budget) -> Contender:
    def make(C: float = 1.0) -> CandidateModel:
        return budget.on_candidates(
            LogisticRegression(C=C, class_weight="balanced", max_iter=10_000)
        )

    about = "scikit-learn's logistic regression (classes balanced): positive candidates against "
    return Contender("logistic regression", f"{about}{budget.negatives}.", budget.costs, make)


def _lightgbm(budget: _Budget) -> Contender:
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        raise ValueError(
            "lightgbm is not installed; install it with: pip install lightgbm"
        ) from None

    def make(**setting: Any) -> CandidateModel:
        trees = LGBMClassifier(
            n_estimators=200,
            random_state=budget.random_state,
            deterministic=True,
            force_row_wise=True,
            n_jobs=1,  # small data: more threads mostly wait for each other
            verbosity=-1,
            **setting,
        )
        return budget.on_candidates(trees)

    about = "200 gradient-boosted trees of LightGBM (log loss): positive candidates against "
    return Contender("LightGBM", f"{about}{budget.negatives}.", budget.trees, make)


def _misvm(budget: _Budget) -> Contender:
    about = (
        "MI-SVM: only the labels of groups; the candidate of a positive group is chosen "
        "again and again."
    )

    def make(lam: float = 0.5) -> MISVMClassifier:
        # Many problems a fit, of which only the choices matter but for the last.
        return MISVMClassifier(lam, tol=1e-3)

    return Contender("MI-SVM", about, budget.lams, make, uses_overlap=False)


def _gcm(budget: _Budget, name: str, grouping: str, about: str) -> Contender:
    def make(lam: float = 0.5) -> GroupClassifier:
        return GroupClassifier(lam, grouping=grouping, random_state=budget.random_state)

    return Contender(name, about, budget.lams, make, has_path=True)


def _gcm_without_grouping(budget: _Budget) -> Contender:
    about = "The GCM's loss and penalty with every candidate alone (the paper's Problem 4)."
    return _gcm(budget, "GCM without grouping", "none", about)


def _gcm_with_grouping(budget: _Budget) -> Contender:
    about = (
        "Group Classification Machine: a negative group counts once, by its largest loss "
        "(the paper's Problem 6)."
    )
    return _gcm(budget, "GCM", "negative", about)


_MAKERS: dict[str, Callable[[_Budget], Contender]] = {
    "svm": _svm,
    "logistic": _logistic_regression,
    "lightgbm": _lightgbm,
    "misvm": _misvm,
    "gcm-none": _gcm_without_grouping,
    "gcm": _gcm_with_grouping,
}
DEFAULT_NAMES = ("svm", "misvm", "gcm-none", "gcm")


def contender_names() -> list[str]:
    """The names that `contenders` knows."""
    return list(_MAKERS)


def contenders(
    names: Sequence[str] = DEFAULT_NAMES,
    n_settings: int = 10,
    *,
    max_negatives: int | None = 100_000,
    random_state: int = 0,
) -> list[Contender]:
    """Contenders by name, each with the same number of settings.

    Parameters
    ----------
    names : sequence of str
        Of `contender_names`.
    n_settings : int, default=10
        How many settings each may choose among.
    max_negatives : int or None, default=100,000
        How many negative candidates the models trained on candidates see; None for all.
    random_state : int, default=0
        Of what is random in a model.

    Examples
    --------
    >>> models = contenders(n_settings=3)
    >>> [model.name for model in models]
    ['SVM', 'MI-SVM', 'GCM without grouping', 'GCM']
    >>> [models[0].words(setting) for setting in models[0].settings]
    ['C = 1e-05', 'C = 0.01', 'C = 10']
    >>> contenders(["forest"])
    Traceback (most recent call last):
    ValueError: there is no model 'forest' to compare; choose among svm, logistic, lightgbm, ...
    """
    if n_settings < 1:
        raise ValueError(f"n_settings must be at least 1; got {n_settings}.")
    if max_negatives is not None and max_negatives < 1:
        raise ValueError(f"max_negatives must be at least 1; got {max_negatives}.")
    wanted = [name.lower() for name in names]
    unknown = next((name for name in wanted if name not in _MAKERS), None)
    if unknown is not None or not wanted:
        known = ", ".join(_MAKERS)
        what = "no model is named" if unknown is None else f"there is no model {unknown!r}"
        raise ValueError(f"{what} to compare; choose among {known}.")
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise ValueError(f"the model {twice!r} is named twice; name each once.")
    budget = _Budget(n_settings, max_negatives, random_state)
    return [_MAKERS[name](budget) for name in wanted]
