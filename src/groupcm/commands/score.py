"""``groupcm score``: a model and tables in, a row a group out."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.commands.display import mistakes, plain_warnings, show_rows, working
from groupcm.commands.fit import check_not_input
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.group_index import index_groups
from groupcm.metrics import group_roc_auc
from groupcm.persistence import SavedModel, read
from groupcm.table_formats import check_table_name, write_table
from groupcm.tables import CandidateTable, read_tables

__all__ = ["Scored", "run", "score_table"]


@dataclass(frozen=True)
class Scored:
    """Scores of groups.

    Attributes
    ----------
    table : pyarrow.Table
        A row a group: ``group``, ``score``, ``winner``; with more than two classes
        a score and a winner a class.
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
    group, features = _columns(saved, arguments)
    with plain_warnings(), working() as display:
        table = read_tables(
            arguments.tables,
            group=group,
            label=arguments.label,
            features=features,
            on_file=lambda path: display.status(f"reading {path}"),
        )
        display.status(f"scoring {len(table.X):,} rows")
        scored = score_table(saved.model, table)
    write_table(scored.table, output)
    rows = [("rows", f"{len(table.X):,}"), ("groups", f"{scored.table.num_rows:,}")]
    show_rows(rows + scored.auc)
    print(f"Wrote {output}.")
    return 0


def _columns(saved: SavedModel, arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """Find the group column and the features, in the model's order."""
    group = arguments.group or saved.notes.get("columns", {}).get("group")
    if group is None:
        raise InputError(
            f"{arguments.model} does not say which column is the group; give --group COL"
        )
    features = arguments.features
    if features is None:
        features = getattr(saved.model, "feature_names_in_", None)
    if features is None:
        raise InputError(
            f"{arguments.model} was trained without feature names; "
            "give them in the order of training with --features A,B"
        )
    if len(features) != saved.model.n_features_in_:
        raise InputError(
            f"{len(features)} features are named, and {arguments.model} "
            f"was trained with {saved.model.n_features_in_}"
        )
    return group, [str(name) for name in features]


def score_table(model: Any, table: CandidateTable) -> Scored:
    """Score the groups of a table whose features are in the model's order."""
    codes = table.group.codes
    with mistakes(), warnings.catch_warnings():
        # The matrix was put in the model's order by name when it was read.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        result = model.group_scores(table.X, codes)
        auc = [] if table.label is None else _auc(model, table)
    columns: dict[str, Any] = {"group": table.group.values(np.asarray(result.group))}
    if np.ndim(result.score) == 1:
        columns |= {"score": pa.array(result.score), "winner": pa.array(result.winner)}
    else:
        for c, value in enumerate(model.classes_):
            columns[f"score_{value}"] = pa.array(np.ascontiguousarray(result.score[:, c]))
            columns[f"winner_{value}"] = pa.array(np.ascontiguousarray(result.winner[:, c]))
    return Scored(pa.table(columns), auc)


def _auc(model: Any, table: CandidateTable) -> list[tuple[str, str]]:
    label, classes = np.asarray(table.label), model.classes_
    unknown = sorted(set(np.unique(label).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise InputError(
            f"the label {unknown[0]!r} is not a class of the model; "
            f"it knows {', '.join(map(repr, classes.tolist()))}"
        )
    scores = model.decision_function(table.X)
    if scores.ndim == 1:
        return [("group AUC", _one_auc(label == classes[1], scores, table.group.codes))]
    return [
        (f"group AUC of {value}", _one_auc(label == value, scores[:, c], table.group.codes))
        for c, value in enumerate(classes)
    ]


def _one_auc(positive: np.ndarray, scores: np.ndarray, groups: np.ndarray) -> str:
    """Compare the groups that hold a class with those that do not, where there are both."""
    holds = index_groups(groups).maxima(positive)
    if holds.all() or not holds.any():
        return f"not defined: {'every' if holds.all() else 'no'} group holds the class"
    return f"{group_roc_auc(positive, scores, groups):.4f}"
