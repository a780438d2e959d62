"""What hyperparameters and data need of each other, checked before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groupcm.errors import Argument, InputError, ParameterError, UnusedParameterWarning, warn_user
from groupcm.estimators.hyperparameters import LINEAR, PLUGINS
from groupcm.estimators.training.data import TrainingData
from groupcm.objective.terms import Index
from groupcm.utils.registry import unused_parameters

if TYPE_CHECKING:
    from groupcm.estimators.training.fit_setup import Hyperparameters

_DEFAULT_LAM = next(each.default for each in LINEAR if each.name == "lam")

__all__ = ["require_choosable", "require_possible", "warn_of_unused"]


def warn_of_unused(estimator: Any) -> None:
    """Warn of hyperparameters that were set and have no effect with the others.

    They are those that the loss, the penalty or the objective does not have, and ``lam`` where
    ``C`` replaces it.
    """
    given = estimator.get_params(deep=False)
    default = {h.name: h.default for each in PLUGINS.values() for h in each.hyperparameters}
    if given.get("C") is not None and "lam" in given and given["lam"] != _DEFAULT_LAM:
        warn_user(
            UnusedParameterWarning(Argument("lam"), " has no effect with ", Argument("C"), ".")
        )
    for name, message in unused_parameters(given, PLUGINS).items():
        if np.any(np.asarray(given[name]) != default[name]):
            warn_user(UnusedParameterWarning(*message))


def require_possible(options: Hyperparameters, data: TrainingData) -> None:
    """Refuse hyperparameters that cannot go together, or not with data that must be read."""
    if options.objective == "partial_auc":
        _require_pairs(options)
    if data.stream is not None and options.solver != "working_set":
        raise ParameterError(
            Argument("solver", options.solver),
            " needs all rows in memory, and these do not fit; use ",
            Argument("solver", "working_set"),
            ", or raise ",
            Argument("memory"),
            ".",
        )


def require_choosable(options: Hyperparameters, data: TrainingData, unannotated: Index) -> None:
    """Refuse what cannot go with positive groups in which a candidate must be chosen."""
    n = len(unannotated)
    which = f"{n:,} positive group{'s are' if n > 1 else ' is'} not annotated"
    if len(data.classes) > 2:
        raise ValueError(
            f"{which}, and candidates are chosen for two classes only; y has "
            f"{len(data.classes)}: make one of them against the rest, or leave those groups out."
        )
    if n == len(data.groups_of(data.rows_of(1))):
        raise ValueError(
            f"{which}, and there is no other to start from; annotate some, or use MISVMClassifier, "
            "which needs only the labels of groups."
        )
    wanted = {"grouping": "negative", "solver": "working_set", "checkpoint": None}
    for name, right in wanted.items():
        given = getattr(options, name)
        if given != right:
            raise ParameterError(
                f"{which}, which needs ",
                Argument(name, right),
                "; got ",
                Argument(name, given),
                ": change it, or leave those groups out.",
            )
    if data.stream is not None:
        raise InputError(
            f"{which}, which needs all {data.n_rows:,} candidates in memory, and they do not fit; "
            "raise ",
            Argument("memory"),
            ", or leave those groups out.",
        )


def _require_pairs(options: Hyperparameters) -> None:
    """Refuse what cannot go with an objective of pairs of groups."""
    wanted = {"C": None, "solver": "working_set"}
    for name, right in wanted.items():
        given = getattr(options, name)
        if given != right:
            raise ParameterError(
                Argument("objective", options.objective),
                " needs ",
                Argument(name, right),
                "; got ",
                Argument(name, given),
                ".",
            )
