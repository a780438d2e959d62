"""``groupcm score``: a model and tables in, one row per group out."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.cli.commands.described_columns import fill_in_columns
from groupcm.cli.commands.inputs import Candidates, open_candidates
from groupcm.cli.commands.side_columns import AllGroups, read_all_groups
from groupcm.cli.commands.trained import features_of, name_features, needed_column, take_classes
from groupcm.cli.output import (
    Display,
    mistakes,
    plain_warnings,
    print_error,
    print_line,
    show_rows,
    working,
)
from groupcm.cli.summaries import format_threshold
from groupcm.data.tables.formats import check_not_input, check_table_name, write_table
from groupcm.errors import InputError
from groupcm.estimators.adapters import takes_missing
from groupcm.estimators.scoring import GroupScores, among_all_groups
from groupcm.estimators.thresholds import threshold_of
from groupcm.estimators.training.profile import compare_with_profile, profile_of, warn_of_shift
from groupcm.evaluation.scoring import class_numbers, truth_of_all_groups
from groupcm.metrics import group_roc_auc
from groupcm.metrics.decision import is_alarm
from groupcm.persistence.model_file import read
from groupcm.utils.files import check_output
from groupcm.utils.progress import listening

__all__ = ["Scored", "run", "score_candidates"]


@dataclass(frozen=True)
class Scored:
    """Scores of groups.

    Attributes
    ----------
    table : pyarrow.Table
        One row per group: ``group``, ``score``, ``winner``, ``alarm`` (whether the score is at
        least the model's threshold), and ``probability`` where the model is calibrated; with more
        than two classes one score and one winner per class. A group without candidates has the
        score -inf, in every format (CSV: ``-inf``), the winner -1, and never an alarm.
    auc : list of (str, str)
        The group AUC of each class in words, empty where the truth is not known.
    """

    table: pa.Table
    auc: list[tuple[str, str]]


def run(arguments: argparse.Namespace) -> int:
    """Read, score, write, and say how it went."""
    check_table_name(arguments.output)
    output = check_output(arguments.output)
    check_not_input(output, arguments.tables)
    saved = read(arguments.model)
    fill_in_columns(arguments)
    if arguments.positive is not None and arguments.label is None:
        raise InputError("--positive says which label is positive; name their column with --label")
    group = needed_column(saved, arguments.model, "group", arguments.group)
    features = features_of(saved, arguments.model, arguments.features)
    with plain_warnings(), working() as display:
        candidates = open_candidates(
            arguments.tables,
            display,
            group=group,
            label=arguments.label,
            features=features,
            allow_missing=takes_missing(saved.model),
            allow_empty=True,
        )
        name_features(saved.model, arguments.model, candidates.feature_names)
        listed = None
        if arguments.all_groups is not None:
            listed = read_all_groups(arguments.all_groups, group=group, label=arguments.label)
        if arguments.label is not None:
            listed = take_classes(
                candidates, saved.model, arguments.positive, arguments.label, listed
            )
        scored = score_candidates(
            saved.model, candidates, display, arguments.label is not None, listed
        )
        _warn_of_shift(saved.model, candidates, scored.table)
    write_table(scored.table, output)
    rows = [("rows", f"{candidates.n_rows:,}"), ("groups", f"{scored.table.num_rows:,}")]
    show_rows(rows + _alarm_rows(saved.model, scored.table) + scored.auc)
    print_line(f"Wrote {output}.")
    return 0


def _warn_of_shift(model: Any, candidates: Candidates, table: pa.Table) -> None:
    """Warn where the groups differ from those of the training by more than chance."""
    profile = profile_of(model)
    if profile is not None and candidates.n_rows:
        values = candidates.drawn_values()
        scores = table["score"].to_numpy()
        shift = compare_with_profile(profile, scores, values, candidates.feature_names)
        warn_of_shift(shift)
        if shift.note is not None:
            print_error(f"groupcm: {shift.note}")


def _alarm_rows(model: Any, table: pa.Table) -> list[tuple[str, str]]:
    """Return the threshold and how many groups reach it; nothing for more than two classes."""
    if "alarm" not in table.column_names:
        return []
    own = threshold_of(model)
    n_alarms = np.count_nonzero(table["alarm"].to_numpy())
    return [
        ("threshold", f"{format_threshold(own.value)} ({own.chosen})"),
        ("alarms", f"{n_alarms:,} of {table.num_rows:,} groups"),
    ]


def score_candidates(
    model: Any,
    candidates: Candidates,
    display: Display,
    has_truth: bool,
    listed: AllGroups | None = None,
) -> Scored:
    """Score the groups of candidates whose features are in the model's order.

    With a list of all groups, those without candidates have the score -inf and the winner -1. Its
    labels agree with those of the candidates; see `groupcm.evaluation.scoring.truth_of_all_groups`.
    """
    if has_truth:
        _check_labels(model, candidates)
    display.status(f"scoring {candidates.n_rows:,} rows")
    with mistakes(), listening(display.step, display.reading):
        proposed = candidates.group_scores(model)
        found = among_all_groups(proposed, None if listed is None else listed.ids)
    columns: dict[str, Any] = {"group": pa.array(found.group)}
    if found.score.ndim == 1:
        alarm = is_alarm(found.score, threshold_of(model).value)
        columns |= {"score": pa.array(found.score), "winner": pa.array(found.winner)}
        columns["alarm"] = pa.array(alarm)
        if hasattr(model, "calibrator_"):
            columns["probability"] = pa.array(model.calibrator_(found.score))
    else:
        for c, value in enumerate(model.classes_):
            columns[f"score_{value}"] = pa.array(np.ascontiguousarray(found.score[:, c]))
            columns[f"winner_{value}"] = pa.array(np.ascontiguousarray(found.winner[:, c]))
    if not has_truth:
        return Scored(pa.table(columns), [])
    held = np.zeros((len(proposed.group), len(model.classes_)), dtype=bool)
    if len(held):
        held = np.column_stack([candidates.groups_with(value) for value in model.classes_])
    if listed is not None:
        with mistakes():
            codes = class_numbers(model.classes_, listed.labels)
            ids = np.asarray(proposed.group)
            held = truth_of_all_groups(model, ids, held, np.asarray(listed.ids), codes)
    auc = _auc(model, held, found) if len(proposed.group) else []
    return Scored(pa.table(columns), auc)


def _check_labels(model: Any, candidates: Candidates) -> None:
    known = model.classes_.tolist()
    unknown = sorted(set(candidates.classes.tolist()) - set(known), key=str)
    if unknown:
        raise InputError(
            f"the label {unknown[0]!r} is not a class of the model; "
            f"it knows {', '.join(map(repr, known))}"
        )


def _auc(model: Any, held: np.ndarray, found: GroupScores) -> list[tuple[str, str]]:
    if found.score.ndim == 1:
        return [("group AUC", _one_auc(held[:, 1], found.score))]
    return [
        (f"group AUC of {value}", _one_auc(held[:, c], found.score[:, c]))
        for c, value in enumerate(model.classes_)
    ]


def _one_auc(holds: np.ndarray, score: np.ndarray) -> str:
    """Compare the groups that hold a class with those that do not, where there are both."""
    if holds.all() or not holds.any():
        return f"not defined: {'every' if holds.all() else 'no'} group holds the class"
    return f"{group_roc_auc(holds, score):.4f}"
