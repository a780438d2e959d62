"""The threshold of a model that is fitted to tables: what is checked before, and chosen after."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex, index_groups, owner_of_groups
from groupcm.errors import Argument, InputError, ThresholdWarning
from groupcm.estimators.level_columns import read_level_columns
from groupcm.estimators.threshold_choice import Goal, TooFewCasesError, require_enough
from groupcm.sources.candidates import Candidates

__all__ = ["SPECIFICITY", "require_reachable", "tune_on_left_out"]

#: The specificity that the threshold keeps on groups that folds left out, by default.
SPECIFICITY = 0.9


def require_reachable(goal: Goal, candidates: Candidates, units: Mapping[str, str]) -> None:
    """Raise before the fit where the level is not known, or the patients are too few.

    Parameters
    ----------
    goal : Goal
    candidates : Candidates
    units : mapping of str to str
        The column of each level above the group.
    """
    if goal.level not in ("group", *units) and not (
        goal.level == "patient" and candidates.patient_index is not None
    ):
        raise InputError(
            Argument("decision_level", goal.level),
            " is not known; name its column with ",
            Argument("levels"),
        )
    if len(candidates.classes) != 2:
        return
    try:
        require_enough(
            goal,
            candidates.groups_with(candidates.positive),
            _owners(candidates.group_index, candidates.patient_index, "patients"),
        )
    except ValueError as error:
        raise InputError(str(error).removesuffix(".")) from error


def tune_on_left_out(
    model: Any, goal: Goal, candidates: Candidates, units: Mapping[str, str]
) -> None:
    """Choose the threshold on the groups that folds left out.

    Where no threshold has the guarantee, a warning is raised, and the target is kept on these
    groups alone.

    Parameters
    ----------
    model : estimator
        Fitted to the candidates, with scores of groups that folds left out.
    goal : Goal
    candidates : Candidates
    units : mapping of str to str
        The column of each level above the group.
    """
    options: dict[str, Any] = {**(goal.targets or {"specificity": SPECIFICITY}), "k": goal.k}
    if goal.level not in ("group", "patient"):
        column = {goal.level: units[goal.level]}
        by_unit = index_groups(read_level_columns(candidates.files, column)[goal.level])
        owner = _owners(candidates.group_index, by_unit, f"units of level {goal.level}")
        options["levels"] = {goal.level: owner}
    options["level"] = goal.level
    try:
        model.tune_threshold(**options, confidence=goal.confidence)
    except TooFewCasesError as error:
        sentence = str(error).removesuffix(".")
        warnings.warn(
            ThresholdWarning(f"{sentence}; the threshold keeps it on these groups alone."),
            stacklevel=3,
        )
        model.tune_threshold(**options)


def _owners(groups: GroupIndex, owners: GroupIndex | None, name: str) -> NDArray[np.intp] | None:
    return None if owners is None else owner_of_groups(groups, owners, name)
