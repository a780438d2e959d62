"""The options of ``groupcm fit``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm import TYPE_CHECKING
from groupcm.cli.options.parts import (
    TABLES,
    add_columns,
    count_or_numbers,
    folds_or_share,
    number,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Kind = Callable[[str], object] | tuple[str, ...]

__all__ = ["add_fit"]

_BOTH: list[tuple[str, Kind, str]] = [
    ("background", ("ignore", "negative"), "the other rows of a positive group"),
    ("min-overlap", number, "leave out positive groups that fit worse than this"),
    (
        "class-weight",
        ("balanced", "none"),
        "both classes weigh the same (balanced, the default), or all groups do",
    ),
    ("random-state", whole, "seed of what is random (0)"),
]
_LINEAR: list[tuple[str, Kind, str]] = [
    ("lam", number, "weight of the loss against the penalty, between 0 and 1"),
    ("C", number, "weight of the loss in the SVM's form; --lam is then not used"),
    ("loss", ("smoothed_hinge", "hinge"), "loss of a margin"),
    ("delta", number, "half-width of the smoothed hinge's bend"),
    ("penalty", ("huber", "l2", "l1"), "penalty of the weights"),
    ("epsilon", number, "where the Huber penalty turns from square to linear"),
    ("grouping", ("negative", "both", "none"), "which groups count once, by their worst row"),
    ("solver", ("working_set", "lbfgs"), "algorithm"),
    ("tol", number, "stop at this certified relative gap"),
    ("max-passes", number, "stop after reading the rows this often"),
    ("max-time", number, "stop after this many seconds with the best model so far"),
]
_TREES: list[tuple[str, Kind, str]] = [
    ("n-estimators", whole, "trees, at most"),
    ("learning-rate", number, "how much of each tree is taken"),
    ("num-leaves", whole, "leaves of each tree, at most"),
    ("min-child-samples", whole, "rows a leaf needs"),
    ("power", number, "from 1: a negative group counts by all its rows; higher: by its worst"),
    ("validation", folds_or_share, "folds, or one share of the groups, to choose how many trees"),
    ("n-warm-up", whole, "trees before groups without annotation take part"),
]


def add_fit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="model to write")
    columns = parser.add_argument_group("columns")
    add_columns(columns, with_marks=True)
    parser.add_argument(
        "--model",
        choices=("linear", "trees"),
        default="linear",
        help="a linear score with a certificate, or gradient-boosted trees (default: %(default)s)",
    )
    _add_fold_options(parser.add_argument_group("folds, which leave groups out"))
    _add_options(parser.add_argument_group("both models"), _BOTH)
    linear = parser.add_argument_group("linear model (see GroupClassifier)")
    _add_options(linear, _LINEAR)
    linear.add_argument(
        "--no-standardize",
        dest="standardize",
        action="store_false",
        default=argparse.SUPPRESS,
        help="take the features as they are, not on one scale",
    )
    trees = parser.add_argument_group("trees (see GroupBoostingClassifier)")
    _add_options(trees, _TREES)
    trees.add_argument(
        "--no-early-stopping",
        dest="early_stopping",
        action="store_false",
        default=argparse.SUPPRESS,
        help="grow all trees, without leaving out groups to choose how many",
    )
    _add_map_options(parser.add_argument_group("feature map (see groupcm.features)"))
    _add_large_data_options(parser.add_argument_group("large data"))


def _add_fold_options(folds) -> None:
    folds.add_argument(
        "--cv",
        action="store_true",
        help="choose λ on groups that folds leave out (linear), and the threshold by their scores "
        "(both models)",
    )
    folds.add_argument(
        "--folds", type=whole, default=argparse.SUPPRESS, metavar="N", help="how many (5)"
    )
    folds.add_argument(
        "--lams",
        type=count_or_numbers,
        default=argparse.SUPPRESS,
        metavar="N|A,B",
        help="how many λ, more where the best is at the end (10), or which: 0.001,0.01,0.1; linear",
    )
    folds.add_argument(
        "--scoring",
        default=argparse.SUPPRESS,
        metavar="METRIC",
        help="what to choose λ, or the number of trees, by: group_roc_auc (the default), "
        "group_average_precision or sensitivity_at_specificity",
    )
    folds.add_argument(
        "--specificity",
        type=number,
        default=argparse.SUPPRESS,
        metavar="S",
        help="choose the threshold that keeps this specificity on left-out groups (0.9): those of "
        "--cv, or those that choose the number of trees",
    )
    folds.add_argument(
        "--calibrate",
        choices=("sigmoid", "isotonic"),
        default=argparse.SUPPRESS,
        help="learn the probability of a group from the scores of left-out groups",
    )


def _add_options(group, options: Sequence[tuple[str, Kind, str]]) -> None:
    """Add what an estimator takes; what is not given keeps the estimator's own default."""
    for name, kind, help in options:
        keywords = {"choices": kind} if isinstance(kind, tuple) else {"type": kind, "metavar": "N"}
        group.add_argument(f"--{name}", default=argparse.SUPPRESS, help=help, **keywords)


def _add_map_options(features) -> None:
    features.add_argument(
        "--map",
        choices=("polynomial", "fourier", "nystroem", "chi2"),
        help="score these features of the features; they are computed, never stored",
    )
    features.add_argument(
        "--degree", type=whole, metavar="N", help="of the polynomial (default: 2)"
    )
    features.add_argument(
        "--components",
        type=whole,
        metavar="N",
        help="how many features fourier or nystroem make (default: 100)",
    )


def _add_large_data_options(data) -> None:
    data.add_argument(
        "--memory",
        default=argparse.SUPPRESS,
        metavar="SIZE",
        help="what a fit on Parquet files may use, as 2GB; rows beyond it are read again and "
        "again, but trees need them all (default: 60 %% of what is free)",
    )
    data.add_argument(
        "--checkpoint",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="keep the state of a long linear fit here, and go on from it where it exists",
    )
