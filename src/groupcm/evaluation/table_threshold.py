"""The threshold of an evaluation of tables: given, chosen on validation tables, or the model's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from groupcm.data.tables.formats import find_tables, open_table
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.level_columns import read_level_columns
from groupcm.evaluation.chosen_threshold import check_target, choose_on
from groupcm.evaluation.row_scores import score_rows
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.trained_tables import TrainedTables
from groupcm.metrics.decision import ChosenThreshold
from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import Tables, listed_tables, name_of

__all__ = [
    "check_threshold",
    "read_validated",
    "resolved_files",
    "threshold_of_tables",
    "with_level_columns",
]


def check_threshold(
    threshold: float | None,
    specificity: float | None,
    sensitivity: float | None,
    validation: Tables | None,
    confidence: float | None = None,
    decision_level: str = "group",
    false_alarms: float | None = None,
) -> None:
    """Raise one sentence where the options of the threshold contradict one another."""
    check_target(
        {
            "threshold": threshold,
            "specificity": specificity,
            "sensitivity": sensitivity,
            "false_alarms": false_alarms,
        }
    )
    if confidence is not None and not 0.0 < confidence < 1.0:
        raise InputError(
            Argument("confidence"), f" is {confidence:g}; it must be between 0 and 1, exclusively"
        )
    for name, is_given in (
        ("confidence", confidence is not None),
        ("decision_level", decision_level != "group"),
    ):
        if is_given and validation is None:
            raise InputError(
                Argument(name),
                " is for a threshold that is chosen on other groups; name their tables with ",
                Argument("validation"),
            )
    if validation is not None and threshold is not None:
        raise InputError(
            Argument("validation"),
            " chooses a threshold, and ",
            Argument("threshold"),
            " gives one; leave one",
        )


def threshold_of_tables(
    trained: TrainedTables,
    threshold: float | None,
    specificity: float | None,
    sensitivity: float | None,
    validation: Tables | None,
    validated: ScoredCandidates | None,
    confidence: float | None = None,
    decision_level: str = "group",
    k: int | None = None,
    false_alarms: float | None = None,
) -> ChosenThreshold | None:
    """Return the threshold that is given, or chosen on validation tables; else None.

    None is the threshold of the model, or for one chosen on the groups evaluated.
    """
    if validation is None or validated is None:
        return None if threshold is None else ChosenThreshold.given(threshold)
    is_same = not set(resolved_files(validation)).isdisjoint(resolved_files(trained.tables))
    try:
        return choose_on(
            validated,
            where=f"groups of {name_of(validation)}",
            is_chosen_here=is_same,
            specificity=specificity,
            sensitivity=sensitivity,
            false_alarms=false_alarms,
            confidence=confidence,
            level=decision_level,
            k=1 if k is None or decision_level == "group" else k,
        )
    except ValueError as error:
        raise (
            error
            if isinstance(error, ParameterError)
            else InputError(f"{name_of(validation)}: {str(error).removesuffix('.')}")
        ) from error


def read_validated(trained: TrainedTables, validation: Tables | None) -> ScoredCandidates | None:
    """Score the tables to choose the threshold on, with the levels where they have all of them."""
    if validation is None:
        return None
    candidates = trained.read_validation(validation)
    found = score_rows(trained.model, candidates)
    columns = [set(open_table(file).schema.names) for file in candidates.files]
    if not trained.levels or not all(
        names.issuperset(trained.levels.values()) for names in columns
    ):
        return found
    return with_level_columns(trained, candidates, found)


def with_level_columns(
    trained: TrainedTables, candidates: Candidates, scored: ScoredCandidates
) -> ScoredCandidates:
    """Return what was scored with the units of its levels; raise where they are not nested."""
    levels = read_level_columns(candidates.files, trained.levels)
    try:
        return replace(scored, levels=levels or None)
    except ValueError as error:
        raise InputError(f"{name_of(trained.tables)}: {str(error).removesuffix('.')}") from error


def resolved_files(tables: Tables) -> list[Path]:
    return [file.resolve() for file in find_tables(listed_tables(tables))]
