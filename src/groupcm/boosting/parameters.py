"""Checks of the hyperparameters of trees that concern several of them, and those of LightGBM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groupcm.errors import Argument, ParameterError
from groupcm.estimators.hyperparameters import TREES, check_parameters
from groupcm.utils.extras import BOOSTING
from groupcm.utils.parallel import n_threads

__all__ = ["check_tree_parameters", "lightgbm_parameters", "with_more"]

# The parameters of the class, by LightGBM's main names for them.
_OWN = {
    "num_iterations": "n_estimators",
    "learning_rate": "learning_rate",
    "num_leaves": "num_leaves",
    "min_data_in_leaf": "min_child_samples",
    "bagging_fraction": "subsample",
    "feature_fraction": "colsample_bytree",
    "extra_trees": "extra_trees",
    "lambda_l2": "reg_lambda",
    "num_threads": "n_jobs",
    "seed": "random_state",
    "objective": "loss",
    "metric": "scoring",
    "early_stopping_round": "n_iter_no_change",
    "categorical_feature": "categorical_features",
    "monotone_constraints": "monotone_constraints",
}
_WAYS = ("force_row_wise", "force_col_wise")
# Candidates far from their group's largest loss have next to no curvature; a leaf needs some.
_LEAST_CURVATURE = 1e-3
# From here on LightGBM is faster feature by feature than row by row.
_MANY_FEATURES = 40
# Below this, threads mostly wait for each other, and on busy cores for minutes.
_MANY_ROWS = 50_000


def check_tree_parameters(given: Mapping[str, Any]) -> None:
    """Raise one sentence about the first parameter that has an impossible value.

    Examples
    --------
    >>> check_tree_parameters({"validation": 1.5})
    Traceback (most recent call last):
    groupcm.errors.ParameterError: validation must be a number of folds from 2, or a share of the
    groups between 0 and 1; got 1.5.
    """
    check_parameters(given, TREES)
    if given.get("first_power") == float("inf"):
        raise ParameterError(
            Argument("first_power"),
            " must be finite; for the maximum set ",
            Argument("power", float("inf")),
            ", ",
            Argument("n_annealed", 0),
            ".",
        )
    if given.get("power") == float("inf") and given.get("n_annealed", 0) > 0:
        raise ParameterError(
            Argument("power"),
            " cannot grow to infinity in steps; set ",
            Argument("n_annealed", 0),
            " with ",
            Argument("power", float("inf")),
            ".",
        )


def lightgbm_parameters(estimator: Any, seed: int, n_rows: int, n_features: int) -> dict[str, Any]:
    """Return LightGBM's parameters for an estimator, and so many candidates and features."""
    parameters = {
        "learning_rate": estimator.learning_rate,
        "num_leaves": estimator.num_leaves,
        "min_data_in_leaf": estimator.min_child_samples,
        "min_sum_hessian_in_leaf": _LEAST_CURVATURE,
        "bagging_fraction": estimator.subsample,
        "bagging_freq": 1 if estimator.subsample < 1.0 else 0,
        "feature_fraction": estimator.colsample_bytree,
        "extra_trees": estimator.extra_trees,
        "lambda_l2": estimator.reg_lambda,
        "num_threads": estimator.n_jobs or (n_threads() if n_rows >= _MANY_ROWS else 1),
        "seed": seed,
        "deterministic": True,
        "force_row_wise": n_features < _MANY_FEATURES,
        "force_col_wise": n_features >= _MANY_FEATURES,
        "feature_pre_filter": False,
        "verbosity": -1,
    }
    return with_more(parameters, estimator.lightgbm_params or {})


def with_more(parameters: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return LightGBM's parameters with those that the user adds, under any alias.

    Examples
    --------
    >>> with_more({"min_sum_hessian_in_leaf": 1e-3}, {"min_child_weight": 0.1})
    {'min_child_weight': 0.1}
    >>> with_more({}, {"eta": 0.1})
    Traceback (most recent call last):
    groupcm.errors.ParameterError: lightgbm_params has 'eta', which is the parameter learning_rate;
    set that.
    """
    aliases = BOOSTING.load("lightgbm").basic._ConfigAliases
    for name, own in _OWN.items():
        for alias in aliases.get(name) & set(more):
            raise _wrong(f"{alias!r}, which is the parameter {own}; set that.")
    _require_known(more, aliases)
    overruled = {name for name in parameters if aliases.get(name) & set(more)}
    if set(_WAYS) & set(more):
        overruled |= set(_WAYS)
    return {**{k: v for k, v in parameters.items() if k not in overruled}, **more}


def _require_known(more: Mapping[str, Any], aliases: Any) -> None:
    known = set().union(*aliases.aliases.values())
    for name in more:
        if name not in known:
            raise _wrong(f"{name!r}, which LightGBM does not know.")
        if name in aliases.get("linear_tree") and more[name] not in (False, "false"):
            raise _wrong(f"{name!r}, but a leaf is one number here.")


def _wrong(what: str) -> ParameterError:
    return ParameterError(Argument("lightgbm_params"), f" has {what}")
