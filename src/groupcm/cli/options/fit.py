"""The options of ``groupcm fit``, most of them taken from the declared hyperparameters.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm import TYPE_CHECKING
from groupcm.cli.options.common import (
    TABLES,
    add_columns,
    add_group_files,
    count_or_numbers,
    folds_or_share,
    number,
    number_or_numbers,
    whole,
)
from groupcm.estimators.hyperparameters import LINEAR, TREES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from groupcm.utils.parameters import Parameter

__all__ = ["BOTH_MODELS", "LINEAR_ONLY", "MAP_OPTIONS", "TREES_ONLY", "add_fit"]

_READERS: dict[str, Callable[[str], object]] = {
    "count or numbers": count_or_numbers,
    "folds or share": folds_or_share,
    "number": number,
    "number or numbers": number_or_numbers,
    "text": str,
    "whole": whole,
}
MAP_OPTIONS = ("map", "degree", "components")


def _with_option(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    return {each.name: each for each in parameters if each.option is not None}


_LINEAR, _TREES = _with_option(LINEAR), _with_option(TREES)
#: The hyperparameters with an option, by their names.
BOTH_MODELS = {name: each for name, each in _LINEAR.items() if name in _TREES}
# Folds around trees are `cv` of the calibration, so that --folds is for both models.
LINEAR_ONLY = {name: each for name, each in _LINEAR.items() if name not in _TREES and name != "cv"}
TREES_ONLY = {name: each for name, each in _TREES.items() if name not in _LINEAR}


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm fit``."""
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the model file to write: .json"
    )
    add_columns(parser.add_argument_group("columns"), with_marks=True, with_levels=True)
    add_group_files(parser, with_training=True)
    parser.add_argument(
        "--model",
        choices=("linear", "trees", "auto"),
        default="linear",
        help="a linear score with a certificate, gradient-boosted trees, or the better one on a "
        "quarter of the groups (default: %(default)s)",
    )
    parser.add_argument(
        "--place",
        choices=("linear", "trees"),
        help="also fit a second model to the positive groups alone, which chooses the candidate "
        "that locates the object; both are in one file",
    )
    _add_fold_options(parser.add_argument_group("folds that leave groups out"))
    _add_hyperparameters(parser.add_argument_group("both models"), BOTH_MODELS.values())
    linear = parser.add_argument_group("linear model (see GroupClassifier)")
    _add_hyperparameters(linear, LINEAR_ONLY.values())
    trees = parser.add_argument_group("trees (see GroupBoostingClassifier)")
    _add_hyperparameters(trees, TREES_ONLY.values())
    _add_map_options(parser.add_argument_group("feature map (see groupcm.features)"))
    large = parser.add_argument_group("large data")
    _add_hyperparameters(large, _LINEAR.values(), section="large data")


def _add_hyperparameters(group, parameters: Iterable[Parameter], section: str = "") -> None:
    """Add the options of one section; those that are not given keep the estimator's default."""
    for each in parameters:
        if each.section == section:
            _add_hyperparameter(group, each)


def _add_hyperparameter(group, parameter: Parameter) -> None:
    values, help, option = parameter.values, parameter.help, str(parameter.option)
    # The option of a flag turns it off; the others have the value in their name.
    dest = parameter.name if values.kind == "flag" else option.removeprefix("--").replace("-", "_")
    if values.kind == "flag":
        keywords = {"action": "store_false"}
    elif values.choices:
        keywords = {"choices": values.choices}
    else:
        keywords = {"type": _READERS[values.kind], "metavar": parameter.metavar}
    if parameter.default not in (..., None) and values.kind != "flag":
        default = parameter.default
        help += (
            f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
        )
    group.add_argument(option, dest=dest, default=argparse.SUPPRESS, help=help, **keywords)


def _add_fold_options(folds) -> None:
    folds.add_argument(
        "--cv",
        action="store_true",
        help="choose λ (linear model) and the threshold (both models) on groups that folds leave "
        "out",
    )
    _add_hyperparameters(folds, [_LINEAR["cv"], _LINEAR["lams"], _LINEAR["scoring"]], "folds")
    folds.add_argument(
        "--specificity",
        type=number,
        default=argparse.SUPPRESS,
        metavar="S",
        help="choose the threshold that keeps this specificity on the groups that --cv, or the "
        "choice of the number of trees, left out (default: 0.9)",
    )
    for name, help in (
        ("sensitivity", "choose the threshold that keeps this sensitivity there"),
        (
            "patient-sensitivity",
            "choose the threshold at which, of this share of the patients with positive groups, a "
            "positive group raises an alarm",
        ),
        (
            "confidence",
            "choose the threshold so that the target holds for new patients with this confidence",
        ),
    ):
        folds.add_argument(
            f"--{name}", type=number, default=argparse.SUPPRESS, metavar="S", help=help
        )
    folds.add_argument(
        "--decision-level",
        default=argparse.SUPPRESS,
        metavar="NAME",
        help="what the target is about: group, or the NAME of a --level, such as patient (default: "
        "group)",
    )
    folds.add_argument(
        "--top",
        dest="k",
        type=whole,
        default=argparse.SUPPRESS,
        metavar="K",
        help="with --decision-level, a unit raises an alarm where at least K of its groups do "
        "(default: 1)",
    )
    folds.add_argument(
        "--calibrate",
        choices=("sigmoid", "isotonic"),
        default=argparse.SUPPRESS,
        help="learn the probability that a group is positive from the scores of left-out groups",
    )


def _add_map_options(features) -> None:
    features.add_argument(
        "--map",
        choices=("polynomial", "fourier", "nystroem", "chi2"),
        help="map the features before the linear score; the outputs are computed, never stored",
    )
    features.add_argument(
        "--degree", type=whole, metavar="N", help="the degree of the polynomial (default: 2)"
    )
    features.add_argument(
        "--components",
        type=whole,
        metavar="N",
        help="the number of outputs of fourier or nystroem (default: 100)",
    )
