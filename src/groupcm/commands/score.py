"""``groupcm score``: a model and tables in, one row per group out."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.any_estimator import takes_missing
from groupcm.commands.described_columns import fill_in_columns
from groupcm.commands.display import Display, mistakes, plain_warnings, working
from groupcm.commands.evaluation_words import threshold_words
from groupcm.commands.inputs import Candidates, open_candidates
from groupcm.commands.trained import (
    features_of,
    name_features,
    needed_column,
    take_classes,
)
from groupcm.commands.words import print_line, show_rows
from groupcm.decision import is_alarm
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.metrics import group_roc_auc
from groupcm.persistence import read
from groupcm.progress import listening
from groupcm.scoring import GroupScores
from groupcm.table_formats import check_not_input, check_table_name, write_table
from groupcm.thresholds import threshold_of
from groupcm.training_profile import compare_with_profile, profile_of, warn_of_shift

__all__ = ["Scored", "run", "score_candidates"]


@dataclass(frozen=True)
class Scored:
    """Scores of groups.

    Attributes
    ----------
    table : pyarrow.Table
        One row per group: ``group``, ``score``, ``winner``, ``alarm`` (whether the score is at
        least the model's threshold), and ``probability`` where the model is calibrated; with more
        than two classes one score and one winner per class.
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
        if arguments.label is not None:
            take_classes(candidates, saved.model, arguments.positive, arguments.label)
        scored = score_candidates(saved.model, candidates, display, arguments.label is not None)
        _warn_of_shift(saved.model, candidates, scored.table)
    write_table(scored.table, output)
    rows = [("rows", f"{candidates.n_rows:,}"), ("groups", f"{scored.table.num_rows:,}")]
    show_rows(rows + _alarm_rows(saved.model, scored.table) + scored.auc)
    print_line(f"Wrote {output}.")
    return 0


def _warn_of_shift(model: Any, candidates: Candidates, table: pa.Table) -> None:
    """Warn where the groups differ from those of the training by more than chance."""
    profile = profile_of(model)
    if profile is not None:
        values = candidates.drawn_values()
        scores = table["score"].to_numpy()
        warn_of_shift(compare_with_profile(profile, scores, values, candidates.feature_names))


def _alarm_rows(model: Any, table: pa.Table) -> list[tuple[str, str]]:
    """Return the threshold and how many groups reach it; nothing for more than two classes."""
    if "alarm" not in table.column_names:
        return []
    own = threshold_of(model)
    n_alarms = np.count_nonzero(table["alarm"].to_numpy())
    return [
        ("threshold", f"{threshold_words(own.value)} ({own.chosen})"),
        ("alarms", f"{n_alarms:,} of {table.num_rows:,} groups"),
    ]


def score_candidates(
    model: Any, candidates: Candidates, display: Display, has_truth: bool
) -> Scored:
    """Score the groups of candidates whose features are in the model's order."""
    if has_truth:
        _check_labels(model, candidates)
    display.status(f"scoring {candidates.n_rows:,} rows")
    with mistakes(), listening(display.step, display.reading):
        found = candidates.group_scores(model)
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
    return Scored(
        pa.table(columns), _auc(model, candidates, found) if has_truth and len(found.group) else []
    )


def _check_labels(model: Any, candidates: Candidates) -> None:
    known = model.classes_.tolist()
    unknown = sorted(set(candidates.classes.tolist()) - set(known), key=str)
    if unknown:
        raise InputError(
            f"the label {unknown[0]!r} is not a class of the model; "
            f"it knows {', '.join(map(repr, known))}"
        )


def _auc(model: Any, candidates: Candidates, found: GroupScores) -> list[tuple[str, str]]:
    classes = model.classes_
    if found.score.ndim == 1:
        return [("group AUC", _one_auc(candidates.groups_with(classes[1]), found.score))]
    return [
        (f"group AUC of {value}", _one_auc(candidates.groups_with(value), found.score[:, c]))
        for c, value in enumerate(classes)
    ]


def _one_auc(holds: np.ndarray, score: np.ndarray) -> str:
    """Compare the groups that hold a class with those that do not, where there are both."""
    if holds.all() or not holds.any():
        return f"not defined: {'every' if holds.all() else 'no'} group holds the class"
    return f"{group_roc_auc(holds, score):.4f}"
