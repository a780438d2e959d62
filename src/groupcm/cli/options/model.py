"""The estimator that the options of ``groupcm fit`` ask for."""

from __future__ import annotations

import argparse
from typing import Any

from groupcm.boosting.classifier import GroupBoostingClassifier
from groupcm.boosting.parameters import check_tree_parameters
from groupcm.cli.options.maps import feature_map_of
from groupcm.cli.options.mistakes import mistakes_in_options
from groupcm.cli.output import mistakes
from groupcm.errors import InputError
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.parameters import check_parameters
from groupcm.estimators.path import chosen_lams
from groupcm.metrics import metric_named
from groupcm.utils.extras import BOOSTING

__all__ = ["OPTION_OF_PARAMETER", "SPECIFICITY", "asked_model"]

# The specificity that the threshold of a fit keeps on groups that folds left out.
SPECIFICITY = 0.9
_N_FOLDS = 5
_LINEAR_ONLY = (
    *("lam", "C", "loss", "delta", "penalty", "epsilon", "grouping", "solver", "tol"),
    *("max_passes", "max_time", "standardize", "lams", "map", "degree", "components", "checkpoint"),
)
_TREES_ONLY = (
    *("n_estimators", "learning_rate", "num_leaves", "min_child_samples", "power"),
    *("validation", "early_stopping", "n_warm_up"),
)
_BOTH = ("background", "min_overlap", "random_state", "memory", "scoring")
_OPTION_NAMES = {"standardize": "no-standardize", "early_stopping": "no-early-stopping"}
#: What estimators call parameters, and the command line options.
OPTION_OF_PARAMETER = {
    "use cv=": "use --folds ",
    "cv must": "--folds must",
    "lams must": "--lams must",
    'set background="negative"': "give --background negative",
    ", or a callable(y, scores, groups)": "",
    "raise memory": "raise --memory",
    "needs grouping='negative'": "needs --grouping negative",
    "needs solver='working_set'": "needs --solver working_set",
    "needs checkpoint=None": "needs no --checkpoint",
    "or pos_label)": "or --positive)",
    "set pos_label to the other label": "name the other label with --positive",
    "lower min_overlap": "lower --min-overlap",
    "min_overlap=": "--min-overlap ",
    "lower n_warm_up or raise n_estimators": "lower --n-warm-up or raise --n-estimators",
    **{f"{name} must": f"--{name.replace('_', '-')} must" for name in _TREES_ONLY},
}


def asked_model(arguments: argparse.Namespace) -> Any:
    """The estimator, its parameters checked before any table is read.

    With ``--cv`` it has ``held_out_scores_`` when it is fitted: a `GroupClassifierCV`, or trees
    inside a `CalibratedGroupClassifier`.
    """
    _refuse_options_of_the_other_model(arguments)
    if not arguments.cv:
        needing = ["folds", "lams", "calibrate"]
        # Trees leave groups out to choose how many there are.
        if arguments.model == "linear" or "early_stopping" in arguments:
            needing.append("specificity")
        for name in needing + ["scoring"] * (arguments.model == "linear"):
            if name in arguments:
                raise InputError(f"--{name} needs --cv: the groups that folds leave out")
    _require_share(arguments)
    return _trees(arguments) if arguments.model == "trees" else _linear(arguments)


def _refuse_options_of_the_other_model(arguments: argparse.Namespace) -> None:
    is_trees = arguments.model == "trees"
    for name in _LINEAR_ONLY if is_trees else _TREES_ONLY:
        if getattr(arguments, name, None) is None:
            continue
        option = _OPTION_NAMES.get(name, name.replace("_", "-"))
        right = (
            "leave it or --model trees out" if is_trees else "leave it out, or add --model trees"
        )
        raise InputError(
            f"--{option} is for {'the linear model' if is_trees else 'trees'}; {right}"
        )


def _require_share(arguments: argparse.Namespace) -> None:
    value = getattr(arguments, "specificity", SPECIFICITY)
    if not 0.0 <= value <= 1.0:
        raise InputError(f"--specificity is {value:g}; it is a share, between 0 and 1")


def _given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in names if name in arguments}


def _linear(arguments: argparse.Namespace) -> Any:
    of_fit = [name for name in _LINEAR_ONLY if name not in ("map", "degree", "components")]
    # The same command gives the same model.
    options: dict[str, Any] = {"random_state": 0} | _given(arguments, *of_fit, *_BOTH)
    with mistakes():
        feature_map = feature_map_of(arguments.map, arguments.degree, arguments.components)
    if feature_map is not None:
        options["feature_map"] = feature_map
    if arguments.cv:
        for name in ("lam", "C", "checkpoint"):
            if name in options:
                raise InputError(f"--cv chooses λ by itself, in many fits; leave out --{name}")
        with mistakes_in_options(OPTION_OF_PARAMETER):
            metric_named(options.get("scoring", "group_roc_auc"))
            chosen_lams(options.get("lams", 10))
        model = GroupClassifierCV(**options, cv=_n_folds(arguments))
    else:
        model = GroupClassifier(**options)
    with mistakes():
        check_parameters(model.get_params(deep=False))
    return model


def _trees(arguments: argparse.Namespace) -> Any:
    BOOSTING.load("lightgbm")
    if "early_stopping" in arguments:
        for name in ("validation", "scoring"):
            if name in arguments:
                raise InputError(
                    f"--{name} is for choosing the number of trees, and --no-early-stopping grows "
                    "them all; leave one of them out"
                )
    trees = GroupBoostingClassifier(**_given(arguments, *_TREES_ONLY, *_BOTH))
    with mistakes_in_options(OPTION_OF_PARAMETER):
        check_tree_parameters(trees.get_params(deep=False))
    if not arguments.cv:
        return trees
    method = getattr(arguments, "calibrate", "sigmoid")
    return CalibratedGroupClassifier(trees, method=method, cv=_n_folds(arguments))


def _n_folds(arguments: argparse.Namespace) -> int:
    return getattr(arguments, "folds", _N_FOLDS)
