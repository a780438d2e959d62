"""Contenders that are gradient-boosted trees: on groups, on candidates, and on ranks."""

from __future__ import annotations

from typing import Any

from groupcm.comparison.budget import Budget
from groupcm.comparison.candidate_model import CandidateModel
from groupcm.comparison.contender import Contender
from groupcm.errors import InputError
from groupcm.extras import is_installed, required

__all__ = ["group_trees", "lightgbm_ranker", "lightgbm_trees", "xgboost_trees"]

_N_TREES = 200
_N_JOBS = 1  # small data: more threads mostly wait for each other


def group_trees(budget: Budget) -> Contender:
    """Trees on the group objective."""
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


def lightgbm_trees(budget: Budget) -> Contender:
    """LightGBM's classifier of candidates."""
    lightgbm = _require_lightgbm("the model 'lightgbm'")

    def make(**setting: Any) -> CandidateModel:
        return budget.on_candidates(lightgbm.LGBMClassifier(**_lightgbm(budget), **setting))

    about = (
        f"{_N_TREES} gradient-boosted trees of LightGBM (log loss): positive candidates against "
    )
    return Contender("LightGBM", f"{about}{budget.negatives}.", budget.trees, make)


def lightgbm_ranker(budget: Budget) -> Contender:
    """LightGBM's ranker, with a group as a query."""
    lightgbm = _require_lightgbm("the model 'lightgbm-ranker'")
    from groupcm.comparison.ranking_model import RankingModel

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


def xgboost_trees(budget: Budget) -> Contender:
    """XGBoost's classifier of candidates."""
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
    return required("lightgbm", "boosting", f"{what} needs LightGBM")


def _lightgbm(budget: Budget) -> dict[str, Any]:
    return {
        "n_estimators": _N_TREES,
        "random_state": budget.random_state,
        "deterministic": True,
        "force_row_wise": True,
        "n_jobs": _N_JOBS,
        "verbosity": -1,
    }
