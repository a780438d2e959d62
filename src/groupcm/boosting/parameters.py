"""What the parameters of trees may be."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from groupcm.data.labels import require_pos_label
from groupcm.estimators.parameters import require_number
from groupcm.metrics import metric_named
from groupcm.utils.extras import BOOSTING
from groupcm.utils.memory import parse_memory

__all__ = ["check_tree_parameters", "with_more"]

_WHOLE = {
    "n_estimators": 1,
    "num_leaves": 2,
    "min_child_samples": 1,
    "n_annealed": 0,
    "n_iter_no_change": 1,
    "n_warm_up": 0,
}
_CHOICES = {"background": ("ignore", "negative"), "loss": ("logistic", "smoothed_hinge")}


def check_tree_parameters(given: Mapping[str, Any]) -> None:
    """Raise one sentence about the first parameter that is not possible.

    Examples
    --------
    >>> check_tree_parameters({"num_leaves": 1})
    Traceback (most recent call last):
    ValueError: num_leaves must be a whole number of at least 2; got 1.
    >>> check_tree_parameters({"validation": 1.5})
    Traceback (most recent call last):
    ValueError: validation must be a number of folds from 2, or a share of the groups between 0
    and 1; got 1.5.
    """
    for name, least in _WHOLE.items():
        if name in given and not (_is_whole(given[name]) and given[name] >= least):
            raise ValueError(
                f"{name} must be a whole number of at least {least}; got {given[name]!r}."
            )
    for name in ("early_stopping", "extra_trees"):
        if not isinstance(given.get(name, False), bool | np.bool_):
            raise ValueError(f"{name} must be True or False; got {given[name]!r}.")
    n_jobs = given.get("n_jobs")
    if n_jobs is not None and not (_is_whole(n_jobs) and n_jobs != 0):
        raise ValueError(
            "n_jobs must be None, or a whole number other than 0, -1 for all cores; got "
            f"{n_jobs!r}."
        )
    if not isinstance(given.get("lightgbm_params") or {}, Mapping):
        raise ValueError(
            "lightgbm_params must be a dict of LightGBM's parameters, such as {'max_bin': 63}; got "
            f"{given['lightgbm_params']!r}."
        )
    if not isinstance(given.get("verbose", 0), Integral):
        raise ValueError(f"verbose must be a whole number; got {given['verbose']!r}.")
    for name, choices in _CHOICES.items():
        if name in given and given[name] not in choices:
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {listed}; got {given[name]!r}.")
    for name in ("subsample", "colsample_bytree"):
        require_number(given, name, "a share above 0, at most 1", lambda x: 0.0 < x <= 1.0)
    require_number(given, "learning_rate", "a number above 0", lambda x: 0.0 < x < float("inf"))
    require_number(given, "delta", "a number above 0", lambda x: 0.0 < x < float("inf"))
    require_number(given, "reg_lambda", "a number from 0", lambda x: 0.0 <= x < float("inf"))
    require_number(given, "min_overlap", "a number", lambda x: x == x)
    for name in ("power", "first_power"):
        require_number(given, name, "a number of at least 1", lambda x: x >= 1.0)
    if given.get("first_power") == float("inf"):
        raise ValueError("first_power must be finite; for the maximum set power=inf, n_annealed=0.")
    if given.get("power") == float("inf") and given.get("n_annealed", 0) > 0:
        raise ValueError("power cannot grow to infinity in steps; set n_annealed=0 with power=inf.")
    if "validation" in given and not _is_validation(given["validation"]):
        raise ValueError(
            "validation must be a number of folds from 2, or a share of the groups between 0 and "
            f"1; got {given['validation']!r}."
        )
    metric_named(given.get("scoring", "group_roc_auc"))
    require_pos_label(given.get("pos_label"))
    if given.get("memory") is not None:
        parse_memory(given["memory"])


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_validation(value: Any) -> bool:
    if _is_whole(value):
        return value >= 2
    return isinstance(value, float) and 0.0 < value < 1.0


# What a user says by parameters of the class, under LightGBM's main names.
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
}
_WAYS = ("force_row_wise", "force_col_wise")


def with_more(parameters: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """LightGBM's parameters with those a user adds, whatever alias they come under.

    Examples
    --------
    >>> with_more({"min_sum_hessian_in_leaf": 1e-3}, {"min_child_weight": 0.1})
    {'min_child_weight': 0.1}
    >>> with_more({}, {"eta": 0.1})
    Traceback (most recent call last):
    ValueError: lightgbm_params has 'eta', which is the parameter learning_rate; set that.
    """
    aliases = BOOSTING.load("lightgbm").basic._ConfigAliases
    for name, own in _OWN.items():
        for alias in aliases.get(name) & set(more):
            raise ValueError(
                f"lightgbm_params has {alias!r}, which is the parameter {own}; set that."
            )
    _require_known(more, aliases)
    overruled = {name for name in parameters if aliases.get(name) & set(more)}
    if set(_WAYS) & set(more):
        overruled |= set(_WAYS)
    return {**{k: v for k, v in parameters.items() if k not in overruled}, **more}


def _require_known(more: Mapping[str, Any], aliases: Any) -> None:
    known = set().union(*aliases.aliases.values())
    for name in more:
        if name not in known:
            raise ValueError(f"lightgbm_params has {name!r}, which LightGBM does not know.")
        if name in aliases.get("categorical_feature"):
            raise ValueError(
                f"lightgbm_params has {name!r}, but features are numbers here; give every category "
                "a column of 0 and 1."
            )
        if name in aliases.get("linear_tree") and more[name] not in (False, "false"):
            raise ValueError(f"lightgbm_params has {name!r}, but a leaf is one number here.")
