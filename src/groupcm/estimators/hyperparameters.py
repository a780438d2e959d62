"""The hyperparameters of the estimators, each declared once, with its option of ``groupcm fit``.

What is heavy is imported where a value is checked, so that ``groupcm fit --help`` answers at once.

Examples
--------
>>> declared = {parameter.name: parameter for parameter in LINEAR}
>>> declared["tol"].option, declared["tol"].values.what
('--tol', 'a number above 0')
>>> check_parameters({"num_leaves": 1}, TREES)
Traceback (most recent call last):
groupcm.errors.ParameterError: num_leaves must be a whole number of at least 2; got 1.
>>> check_parameters({"random_state": -1}, LINEAR)
Traceback (most recent call last):
groupcm.errors.ParameterError: random_state must be None, a whole number from 0 to 4294967295 or a
RandomState; got -1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from numbers import Integral

from groupcm.errors import Argument, ParameterError
from groupcm.objective import OBJECTIVE_PARAMETERS, OBJECTIVES
from groupcm.objective.losses import LOSSES
from groupcm.objective.penalties import PENALTIES
from groupcm.utils.memory import parse_memory
from groupcm.utils.parameters import (
    ABOVE_ZERO,
    Parameter,
    Values,
    check_parameters,
    is_whole,
    number,
    one_of,
    or_none,
    whole_number,
)

TYPE_CHECKING = False  # of `typing`, which takes long to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LINEAR", "PLUGINS", "TREES", "check_parameters"]

_INFINITY = float("inf")

#: The plug-ins by the hyperparameter that chooses one of them.
PLUGINS = {"loss": LOSSES, "penalty": PENALTIES, "objective": OBJECTIVES}
_SHARE = number("a share above 0, at most 1", lambda x: 0.0 < x <= 1.0)
_POWER = number("a number of at least 1", lambda x: x >= 1.0)


def _is_flag(value: Any) -> bool:
    import numpy as np

    return isinstance(value, Integral | np.bool_)


def _is_strict_flag(value: Any) -> bool:
    import numpy as np

    return isinstance(value, bool | np.bool_)


def _is_seed(value: Any) -> bool:
    from sklearn.utils import check_random_state

    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


def _is_label(value: Any) -> bool:
    from groupcm.data.labels import require_pos_label

    require_pos_label(value)
    return True


def _is_class_weight(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return True
    if not isinstance(value, Mapping):
        return False
    for label, weight in value.items():
        if not ABOVE_ZERO.allow(weight):
            raise ParameterError(
                Argument("class_weight"),
                f" must have a number above 0 for each label; got {weight!r} for {label!r}.",
            )
    return True


def _is_memory(value: Any) -> bool:
    return value is None or parse_memory(value) > 0


def _is_metric(value: Any) -> bool:
    from groupcm.metrics import metric_named

    return metric_named(value) is not None


def _is_map(value: Any) -> bool:
    if value is None or callable(getattr(value, "transform", None)):
        return True
    raise ParameterError(
        Argument("feature_map"),
        " must be None, a map of groupcm.features or a fitted transformer of scikit-learn; ",
        f"{value!r} has no transform.",
    )


def _is_validation(value: Any) -> bool:
    return value >= 2 if is_whole(value) else isinstance(value, float) and 0.0 < value < 1.0


def _is_n_jobs(value: Any) -> bool:
    return value is None or (is_whole(value) and value != 0)


def _is_checked_later(value: Any) -> bool:
    """Return True: what splits the folds and what fits the path check these themselves."""
    return True


def _is_list_or(*words: str) -> Callable[[Any], bool]:
    """Return a test for None, one of the words, or several values, which are checked later."""
    return lambda value: (
        value is None or value in words
        if isinstance(value, str | None)
        else hasattr(value, "__len__")
    )


def _is_params(value: Any) -> bool:
    return isinstance(value or {}, Mapping)


_BOTH = (
    Parameter(
        "background",
        one_of("ignore", "negative"),
        "ignore",
        option="--background",
        help="the other rows of a positive group: ignore them, or count them as negative",
    ),
    Parameter(
        "min_overlap",
        number("a number", lambda x: x == x),
        0.0,
        option="--min-overlap",
        help="leave out positive groups whose best row overlaps the annotation by less than this",
    ),
    Parameter(
        "class_weight",
        Values(
            "None, 'balanced' or a dict of label: weight",
            _is_class_weight,
            "choice",
            ("balanced", "none"),
        ),
        "balanced",
        option="--class-weight",
        help="give both classes the same total weight (balanced), or all groups the same (none)",
    ),
    Parameter(
        "memory",
        Values("an amount of memory", _is_memory),
        None,
        option="--memory",
        help="how much memory a fit on Parquet files may use, such as 2GB; rows beyond it are "
        "read again in every pass (default: 60 %% of the free memory)",
        section="large data",
        metavar="SIZE",
    ),
    Parameter(
        "pos_label",
        Values("None or a label: a text, a number, True or False", _is_label),
        None,
        # As in every command that reads labels, the option is one of the columns.
    ),
    Parameter("verbose", Values("a whole number", lambda value: isinstance(value, Integral)), 0),
)
_SEED = Parameter(
    "random_state",
    Values(f"None, a whole number from 0 to {2**32 - 1} or a RandomState", _is_seed, "whole"),
    option="--random-state",
    help="seed of everything that is random (default: 0)",
)
_SCORING = Parameter(
    "scoring",
    Values("a metric", _is_metric),
    "group_roc_auc",
    option="--scoring",
    help="the metric that chooses λ, or the number of trees: group_roc_auc, group_partial_auc, "
    "group_average_precision or sensitivity_at_specificity",
    section="folds",
    metavar="METRIC",
)

#: The hyperparameters of the linear models; not every one of them has all.
LINEAR: tuple[Parameter, ...] = (
    Parameter(
        "lams",
        Values("a count or values of λ", _is_checked_later, "count or numbers"),
        10,
        option="--lams",
        help="the number of values of λ to try (more are tried if the best is the first or the "
        "last), or the values: 0.001,0.01,0.1; linear model only",
        section="folds",
        metavar="N|A,B",
    ),
    Parameter(
        "cv",
        Values("a number of folds, or folds", _is_checked_later, "whole"),
        5,
        option="--folds",
        help="how many folds",
        section="folds",
    ),
    _SCORING,
    Parameter(
        "lam",
        number("a number between 0 and 1, both excluded", lambda x: 0.0 < x < 1.0),
        0.5,
        option="--lam",
        help="λ, the weight of the loss against the penalty (the regularisation), between 0 and 1",
    ),
    Parameter(
        "C",
        or_none(ABOVE_ZERO),
        None,
        option="--C",
        help="the weight of the loss in the parametrisation of the SVM; it replaces --lam",
    ),
    Parameter(
        "loss",
        one_of(*LOSSES),
        option="--loss",
        help="the loss of a margin (default: smoothed_hinge)",
    ),
    *LOSSES.hyperparameters,
    *OBJECTIVE_PARAMETERS,
    Parameter(
        "penalty",
        one_of(*PENALTIES),
        option="--penalty",
        help="the penalty of the weights (default: huber)",
    ),
    *PENALTIES.hyperparameters,
    Parameter(
        "grouping",
        one_of("negative", "both", "none"),
        "negative",
        option="--grouping",
        help="which groups count once, by the row with the largest loss",
    ),
    *_BOTH,
    _SEED,
    Parameter(
        "solver",
        one_of("working_set", "lbfgs"),
        "working_set",
        option="--solver",
        help="the algorithm; lbfgs is the paper's, slower and less exact",
    ),
    Parameter("tol", ABOVE_ZERO, 1e-4, option="--tol", help="stop at this certified relative gap"),
    Parameter(
        "max_passes",
        ABOVE_ZERO,
        1000,
        option="--max-passes",
        help="stop after this many passes over the rows",
    ),
    Parameter(
        "max_time",
        or_none(ABOVE_ZERO),
        None,
        option="--max-time",
        help="stop after this many seconds, with the best model so far",
        metavar="SECONDS",
    ),
    Parameter(
        "standardize",
        Values("True or False", _is_flag, "flag"),
        True,
        option="--no-standardize",
        help="use the features as they are, without standardising them",
    ),
    Parameter(
        "checkpoint",
        Values("None or a path", lambda value: isinstance(value, str | os.PathLike | None)),
        None,
        option="--checkpoint",
        help="keep the state of a long linear fit in this file, and continue from it if it exists",
        section="large data",
        metavar="FILE",
    ),
    Parameter(
        "feature_map",
        Values("None or a transformer", _is_map),
        None,
    ),
    Parameter("max_iter", number("at least 2", lambda x: 2 <= x < _INFINITY), 50),
)

#: The hyperparameters of the gradient-boosted trees.
TREES: tuple[Parameter, ...] = (
    Parameter(
        "n_estimators",
        whole_number(1),
        300,
        option="--n-estimators",
        help="the largest number of trees",
    ),
    Parameter(
        "learning_rate",
        ABOVE_ZERO,
        0.05,
        option="--learning-rate",
        help="the weight with which each tree is added",
    ),
    Parameter(
        "num_leaves",
        whole_number(2),
        31,
        option="--num-leaves",
        help="the largest number of leaves per tree",
    ),
    Parameter(
        "min_child_samples",
        whole_number(1),
        20,
        option="--min-child-samples",
        help="the smallest number of rows per leaf",
    ),
    Parameter("n_annealed", whole_number(0), 100),
    Parameter("max_passes", whole_number(2), 5),
    Parameter("n_iter_no_change", whole_number(1), 50),
    Parameter("extra_trees", Values("True or False", _is_strict_flag, "flag"), False),
    Parameter(
        "n_jobs",
        Values("None, or a whole number other than 0, -1 for all cores", _is_n_jobs, "whole"),
        None,
    ),
    Parameter(
        "categorical_features",
        Values('"from_dtype", None or a list of features', _is_list_or("from_dtype")),
        "from_dtype",
    ),
    Parameter(
        "monotone_constraints",
        Values("None, a dict of feature: direction, or a direction per feature", _is_list_or()),
        None,
    ),
    Parameter(
        "lightgbm_params",
        Values("a dict of LightGBM's parameters, such as {'max_bin': 63}", _is_params),
        None,
    ),
    *_BOTH,
    *OBJECTIVE_PARAMETERS,
    _SEED,
    Parameter("loss", one_of("logistic", "smoothed_hinge"), "logistic"),
    Parameter("delta", ABOVE_ZERO, 0.5),
    Parameter("subsample", _SHARE, 1.0),
    Parameter("colsample_bytree", _SHARE, 0.5),
    Parameter("reg_lambda", number("a number from 0", lambda x: 0.0 <= x < _INFINITY), 0.0),
    Parameter(
        "power",
        _POWER,
        5.0,
        option="--power",
        help="with 1, a negative group counts by all its rows; the higher, the more by the row "
        "with the largest loss",
    ),
    Parameter("first_power", _POWER, 1.0),
    Parameter(
        "validation",
        Values(
            "a number of folds from 2, or a share of the groups between 0 and 1",
            _is_validation,
            "folds or share",
        ),
        3,
        option="--validation",
        help="the number of folds, or the share of the groups, that chooses the number of trees",
    ),
    _SCORING,
    Parameter(
        "n_warm_up",
        whole_number(0),
        100,
        option="--n-warm-up",
        help="the number of trees before unannotated groups take part",
    ),
    Parameter(
        "early_stopping",
        Values("True or False", _is_strict_flag, "flag"),
        True,
        option="--no-early-stopping",
        help="grow all trees, without leaving out groups to choose their number",
    ),
)
