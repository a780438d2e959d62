"""The contenders of a comparison by name: linear models, MI-SVM, GCM, and boosted trees.

Every contender has the same number of hyperparameters to choose among, so that none wins by being
tuned harder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.misvm import MISVMClassifier
from groupcm.evaluation.comparison.candidate_models import CandidateModel
from groupcm.evaluation.comparison.contender import Budget, Contender
from groupcm.utils.extras import BOOSTING, is_installed

__all__ = [
    "DEFAULT_NAMES",
    "contender_names",
    "contenders",
    "group_trees",
]

_N_TREES = 200
_N_JOBS = 1  # small data: more threads mostly wait for each other
#: The models compared by default; trees where LightGBM is installed.
DEFAULT_NAMES = (
    *("svm", "misvm", "gcm-none", "gcm"),
    *(["trees"] if is_installed("lightgbm") else []),
)


def group_trees(budget: Budget) -> Contender:
    """Return trees on the group objective."""
    _require_lightgbm("the model 'trees'")
    from groupcm.boosting import GroupBoostingClassifier

    def make(**setting: Any) -> GroupBoostingClassifier:
        return GroupBoostingClassifier(
            _N_TREES,
            early_stopping=False,
            random_state=budget.random_state,
            n_jobs=_N_JOBS,
            **setting,
        )

    about = (
        f"{_N_TREES} gradient-boosted trees on groups: a negative group counts once, by nearly "
        "its largest loss."
    )
    return Contender("Group boosting", about, budget.group_trees, make)


def _lightgbm_trees(budget: Budget) -> Contender:
    """Return LightGBM's classifier of candidates."""
    lightgbm = _require_lightgbm("the model 'lightgbm'")

    def make(**setting: Any) -> CandidateModel:
        return budget.on_candidates(lightgbm.LGBMClassifier(**_lightgbm(budget), **setting))

    about = (
        f"{_N_TREES} gradient-boosted trees of LightGBM (log loss): positive candidates against "
    )
    return Contender("LightGBM", f"{about}{budget.negatives}.", budget.trees, make)


def _lightgbm_ranker(budget: Budget) -> Contender:
    """Return LightGBM's ranker, with a group as a query."""
    lightgbm = _require_lightgbm("the model 'lightgbm-ranker'")
    from groupcm.evaluation.comparison.candidate_models import RankingModel

    def make(**setting: Any) -> RankingModel:
        return RankingModel(
            lightgbm.LGBMRanker(objective="lambdarank", **_lightgbm(budget), **setting)
        )

    about = (
        f"{_N_TREES} gradient-boosted trees of LightGBM (LambdaRank): in each positive group its "
        "positive candidates above its others; negative groups have no such pairs and teach it "
        "nothing."
    )
    return Contender("LightGBM ranker", about, budget.trees, make)


def _xgboost_trees(budget: Budget) -> Contender:
    """Return XGBoost's classifier of candidates."""
    if not is_installed("xgboost"):
        raise InputError("the model 'xgboost' needs XGBoost; install it with: pip install xgboost")
    from xgboost import XGBClassifier

    def make(num_leaves: int, learning_rate: float, min_child_samples: int) -> CandidateModel:
        trees = XGBClassifier(
            n_estimators=_N_TREES,
            tree_method="hist",
            grow_policy="lossguide",
            max_depth=0,
            max_leaves=num_leaves,
            learning_rate=learning_rate,
            # XGBoost counts a candidate by its curvature, which is a quarter at most.
            min_child_weight=0.25 * min_child_samples,
            random_state=budget.random_state,
            n_jobs=_N_JOBS,
            verbosity=0,
        )
        return budget.on_candidates(trees)

    about = f"{_N_TREES} gradient-boosted trees of XGBoost (log loss): positive candidates against "
    return Contender("XGBoost", f"{about}{budget.negatives}.", budget.trees, make)


def _require_lightgbm(what: str) -> Any:
    return BOOSTING.load("lightgbm", f"{what} requires LightGBM")


def _lightgbm(budget: Budget) -> dict[str, Any]:
    return {
        "n_estimators": _N_TREES,
        "random_state": budget.random_state,
        "deterministic": True,
        "force_row_wise": True,
        "n_jobs": _N_JOBS,
        "verbosity": -1,
    }


def _svm(budget: Budget) -> Contender:
    def make(C: float = 1.0) -> CandidateModel:
        return budget.on_candidates(
            LinearSVC(C=C, dual="auto", class_weight="balanced", max_iter=10_000, random_state=0)
        )

    about = "scikit-learn's linear SVM (squared hinge, classes balanced): positive candidates "
    return Contender("SVM", f"{about}against {budget.negatives}.", budget.costs, make)


def _logistic_regression(budget: Budget) -> Contender:
    def make(C: float = 1.0) -> CandidateModel:
        return budget.on_candidates(
            LogisticRegression(C=C, class_weight="balanced", max_iter=10_000)
        )

    about = "scikit-learn's logistic regression (classes balanced): positive candidates against "
    return Contender("logistic regression", f"{about}{budget.negatives}.", budget.costs, make)


def _misvm(budget: Budget) -> Contender:
    about = (
        "MI-SVM: only the labels of groups; the candidate of a positive group is chosen anew in "
        "every round."
    )

    def make(lam: float = 0.5) -> MISVMClassifier:
        # Many problems a fit, of which only the choices matter but for the last.
        return MISVMClassifier(lam, tol=1e-3)

    return Contender("MI-SVM", about, budget.lams, make, by_group_labels=True)


def _gcm(budget: Budget, name: str, grouping: str, about: str) -> Contender:
    def make(lam: float = 0.5) -> GroupClassifier:
        return GroupClassifier(lam, grouping=grouping, random_state=budget.random_state)

    # Only negative groups that count once leave a positive one something to choose by.
    knows = ("annotated", "objects") if grouping == "negative" else ()
    return Contender(name, about, budget.lams, make, has_path=True, knows=knows)


def _gcm_without_grouping(budget: Budget) -> Contender:
    about = "The GCM's loss and penalty with every candidate alone (the paper's Problem 4)."
    return _gcm(budget, "GCM without grouping", "none", about)


def _gcm_with_grouping(budget: Budget) -> Contender:
    about = (
        "Group Classification Machine: a negative group counts once, by its largest loss "
        "(the paper's Problem 6)."
    )
    return _gcm(budget, "GCM", "negative", about)


_MAKERS: dict[str, Callable[[Budget], Contender]] = {
    "svm": _svm,
    "logistic": _logistic_regression,
    "lightgbm": _lightgbm_trees,
    "lightgbm-ranker": _lightgbm_ranker,
    "xgboost": _xgboost_trees,
    "misvm": _misvm,
    "gcm-none": _gcm_without_grouping,
    "gcm": _gcm_with_grouping,
    "trees": group_trees,
}


def contender_names() -> list[str]:
    """Return the names that `contenders` accepts."""
    return list(_MAKERS)


def contenders(
    names: Sequence[str] = DEFAULT_NAMES,
    n_settings: int = 10,
    *,
    max_negatives: int | None = 100_000,
    random_state: int = 0,
) -> list[Contender]:
    """Return contenders by name, each with the same number of hyperparameters to try.

    Parameters
    ----------
    names : sequence of str
        Names of `contender_names`.
    n_settings : int, default=10
        The number of hyperparameters that each may choose among.
    max_negatives : int or None, default=100,000
        The number of negative candidates for models trained on candidates; None for all.
    random_state : int, default=0
        The seed of the models.

    Examples
    --------
    >>> models = contenders(["svm", "gcm-none", "gcm"], n_settings=3)
    >>> [model.name for model in models]
    ['SVM', 'GCM without grouping', 'GCM']
    >>> [models[0].describe(setting) for setting in models[0].settings]
    ['C = 1e-05', 'C = 0.01', 'C = 10']
    >>> contenders(["forest"])
    Traceback (most recent call last):
    ValueError: there is no model 'forest' to compare; choose among svm, logistic, lightgbm, ...
    """
    if n_settings < 1:
        raise ParameterError(Argument("n_settings"), f" must be at least 1; got {n_settings}.")
    if max_negatives is not None and max_negatives < 1:
        raise ParameterError(
            Argument("max_negatives"), f" must be at least 1; got {max_negatives}."
        )
    wanted = [name.lower() for name in names]
    unknown = next((name for name in wanted if name not in _MAKERS), None)
    if unknown is not None or not wanted:
        known = ", ".join(_MAKERS)
        what = "no model is named" if unknown is None else f"there is no model {unknown!r}"
        raise ValueError(f"{what} to compare; choose among {known}.")
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise ValueError(f"the model {twice!r} is named twice; name each once.")
    budget = Budget(n_settings, max_negatives, random_state)
    return [_MAKERS[name](budget) for name in wanted]
