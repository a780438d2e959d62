"""Scores of the groups of tables, as a table of one row per group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.data.groups import index_groups
from groupcm.data.tables.all_groups import AllGroups, read_all_groups
from groupcm.data.tables.formats import check_not_input, write_table
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError
from groupcm.estimators.level_columns import read_level_columns, require_nested_columns
from groupcm.estimators.place import place_model
from groupcm.estimators.scoring import GroupScores, among_all_groups
from groupcm.estimators.shift import Shift, compare_with_profile, drawn_values, warn_of_shift
from groupcm.estimators.training.profile import profile_of
from groupcm.evaluation.row_scores import group_scores_of_rows
from groupcm.evaluation.scoring import class_numbers, truth_of_all_groups
from groupcm.evaluation.trained_tables import TrainedTables, model_and_notes, take_classes
from groupcm.metrics import group_roc_auc
from groupcm.metrics.decision import ChosenThreshold, is_alarm, threshold_of
from groupcm.metrics.levels import level_scores
from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import Tables
from groupcm.utils.progress import announce_stage
from groupcm.utils.text import printable

__all__ = ["GroupAuc", "TableScores", "score_tables", "write_scores"]


@dataclass(frozen=True)
class GroupAuc:
    """The group AUC of one class.

    Attributes
    ----------
    label : label
        The class.
    auc : float or None
        None where every group holds the class, or none does.
    n_holding, n_groups : int
        The number of groups that hold the class, and of all groups.
    """

    label: Any
    auc: float | None
    n_holding: int
    n_groups: int


@dataclass(frozen=True)
class TableScores:
    """Scores of the groups of tables; made by `score_tables`.

    Attributes
    ----------
    table : pyarrow.Table
        One row per group: ``group``, ``score``, ``winner``, ``alarm`` (whether the score is at
        least the model's threshold), and ``probability`` where the model is calibrated; with more
        than two classes one score and one winner per class. With a place model also ``located``,
        the candidate that it chooses. A group without candidates has the score -inf, the winner
        -1, and never an alarm.
    n_rows : int
        The number of candidates.
    threshold : ChosenThreshold or None
        The threshold of the model; None with more than two classes.
    auc : sequence of GroupAuc
        One of the positive class, or one of each of more than two classes; empty where the truth
        is not known.
    shift : Shift or None
        The comparison with the groups of training; None where the model has no profile of them.
    levels : mapping of str to pyarrow.Table
        For each level above the group one row per unit: ``unit``, ``score``, ``alarm`` (unless the
        score is a mean, which has no threshold), ``n_groups``, and ``winner``, the group with the
        largest score, which is empty where no group has candidates.
    """

    table: pa.Table
    n_rows: int
    threshold: ChosenThreshold | None = None
    auc: Sequence[GroupAuc] = ()
    shift: Shift | None = None
    levels: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def n_alarms(self) -> int | None:
        """The number of groups that reach the threshold; None with more than two classes."""
        if "alarm" not in self.table.column_names:
            return None
        return int(np.count_nonzero(self.table["alarm"].to_numpy()))

    def level_alarms(self) -> list[tuple[str, int, int]]:
        """Return the name, the number of alarms and the number of units of each level."""
        return [
            (name, int(np.count_nonzero(table["alarm"].to_numpy())), table.num_rows)
            for name, table in self.levels.items()
            if "alarm" in table.column_names
        ]


def write_scores(
    found: TableScores, path: str | Path, tables: Sequence[str | Path] = ()
) -> list[Path]:
    """Write the scores of groups, and next to them those of each level.

    ``scores.csv`` then has the groups and ``scores_video.csv`` the videos.

    Parameters
    ----------
    found : TableScores
    path : path
        Parquet, CSV or Arrow, by its ending.
    tables : sequence of paths
        The tables that were scored, which are never overwritten.

    Returns
    -------
    list of Path
        The files, that of groups first.

    Examples
    --------
    >>> import tempfile
    >>> frames, videos = pa.table({"group": ["a"]}), pa.table({"unit": ["v"]})
    >>> scores = TableScores(frames, 1, levels={"video": videos})
    >>> [file.name for file in write_scores(scores, Path(tempfile.mkdtemp()) / "scores.csv")]
    ['scores.csv', 'scores_video.csv']
    """
    first = Path(path)
    files = {first: found.table}
    for name, table in found.levels.items():
        word = re.sub(r"[^\w.-]+", "_", name)
        files[first.with_name(f"{first.stem}_{word}{first.suffix}")] = table
    for file in files:
        check_not_input(file, tables)
    for file, table in files.items():
        write_table(table, file)
    return list(files)


def score_tables(
    model: Any,
    tables: Tables | Candidates,
    *,
    group: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    pos_label: Any = None,
    all_groups: str | Path | None = None,
    name: str = "the model",
    levels: Mapping[str, str] | None = None,
    aggregate: str | None = None,
    k: int | None = None,
) -> TableScores:
    """Score the groups of tables; ``groupcm score`` calls this function.

    A `groupcm.errors.ShiftWarning` is issued if the groups differ from those of the training by
    more than chance.

    Parameters
    ----------
    model : estimator, SavedModel or path
        As `groupcm.load` or `groupcm.persistence.read` returns it, or its file.
    tables : path, or sequence of paths
        Files and folders; see `groupcm.sources.read_candidates`; or candidates that are open.
    group : str, optional
        The column of groups; by default the one that the tables describe, or that of training.
    label : str, optional
        The column of labels, where they are known: the group AUC is computed from them.
    features : sequence of str, optional
        Feature columns in the order of training; by default those of the model, by name.
    pos_label : label, optional
        The positive label of the tables, where their labels differ from the model's.
    all_groups : path, optional
        A table that lists every group, those without candidates included, with its units of
        ``levels``.
    name : str
        What an error calls the model.
    levels : mapping of str to str, optional
        The column of each level above the group, from the lowest to the highest, for a model of
        two classes. By default those of training that all tables have.
    aggregate, k
        How the scores of groups make those of units; see `groupcm.metrics.level_scores`. By
        default as in the decision of the model, else the largest.

    Returns
    -------
    TableScores

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.tables import fit_tables
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.0\\nb,0,1.0\\n")
    >>> fit = fit_tables(GroupClassifier(), path, group="frame", label="polyp")
    >>> found = score_tables(fit.model, path, group="frame", label="polyp")
    >>> found.table["group"].to_pylist(), found.auc[0].auc
    (['a', 'b'], 1.0)
    """
    if isinstance(tables, Candidates):
        model, _ = model_and_notes(model)
        if tables.roles.label is not None:
            take_classes(tables, model, pos_label, None)
            _check_labels(model, tables)
        return _score(model, tables, None)
    roles = ColumnRoles(group, label)
    trained = TrainedTables(
        model,
        tables,
        roles,
        features=features,
        pos_label=pos_label,
        name=name,
        roles=("group", "label"),
        levels=levels,
    )
    label = trained.given.label
    if pos_label is not None and label is None:
        raise InputError(
            Argument("pos_label"),
            " names the positive label; name the column of labels with ",
            Argument("label"),
        )
    candidates = trained.read_to_score()
    listed = None
    if all_groups is not None:
        listed = read_all_groups(
            all_groups, group=trained.group, label=label, levels=trained.levels
        )
    if label is not None:
        listed = take_classes(candidates, trained.model, pos_label, listed)
        _check_labels(trained.model, candidates)
    found = _score(trained.model, candidates, listed)
    if found.threshold is None or not trained.levels:
        return found
    of_groups = _units_of_groups(trained, candidates, listed)
    rule = found.threshold.decision.aggregation(aggregate, k)
    by_level = _level_tables(found.table, of_groups, found.threshold, *rule)
    return replace(found, levels=by_level)


def _units_of_groups(
    trained: TrainedTables, candidates: Candidates, listed: AllGroups | None
) -> dict[str, NDArray[Any]]:
    """Return the unit of each scored group at each level; raise where they are not nested."""
    files, groups = candidates.files, candidates.group_index
    require_nested_columns(files, trained.levels, groups)
    units = read_level_columns(files, trained.levels)
    first = groups.winners(np.zeros(groups.n_rows)) if groups.n_groups else []
    of_groups = {name: values[first] for name, values in units.items()}
    if listed is None:
        return of_groups
    for name, values in of_groups.items():
        known = (listed.levels or {})[name]
        for group, unit in zip(groups.ids.tolist(), values.tolist(), strict=True):
            if known[group] != unit:
                raise InputError(
                    f"the group {printable(group)} is in {printable(name)} "
                    f"{printable(known[group])} by the list of all groups, and in "
                    f"{printable(unit)} by its candidates; the two need to agree"
                )
    return {
        name: np.array([known[group] for group in listed.ids])
        for name, known in (listed.levels or {}).items()
    }


def _level_tables(
    table: pa.Table,
    units: Mapping[str, NDArray[Any]],
    threshold: ChosenThreshold,
    aggregate: str,
    k: int,
) -> dict[str, pa.Table]:
    """Return the table of each level from that of groups."""
    score = table["score"].to_numpy()
    if not len(score):
        return {}
    try:
        found = level_scores(
            np.arange(len(score)) == 0,  # the classes are not used
            score,
            {"group": np.arange(len(score)), **units},
            aggregate=aggregate,
            k=k,
        )
    except ValueError as error:
        raise InputError(str(error).removesuffix(".")) from error
    tables = {}
    for name, ids in units.items():
        index = index_groups(ids)
        winner = index.winners(score)
        columns = {"unit": pa.array(index.ids), "score": pa.array(found[name].scores)}
        if aggregate != "top_mean":
            columns["alarm"] = pa.array(is_alarm(found[name].scores, threshold.value))
        columns["n_groups"] = pa.array(np.bincount(index.codes))
        at = pa.array(winner, mask=score[winner] == -np.inf)
        columns["winner"] = table["group"].take(at)
        tables[name] = pa.table(columns)
    return tables


def _score(model: Any, candidates: Candidates, listed: AllGroups | None) -> TableScores:
    announce_stage(f"scoring {candidates.n_rows:,} rows")
    proposed = group_scores_of_rows(model, candidates)
    found = among_all_groups(proposed, None if listed is None else listed.ids)
    table = _table(model, found)
    place = place_model(model)
    if place is not None:
        located = among_all_groups(group_scores_of_rows(place, candidates), found.group).winner
        table = table.add_column(3, "located", pa.array(located))
    shift = _shift(model, candidates, table)
    threshold = threshold_of(model) if found.score.ndim == 1 else None
    auc: Sequence[GroupAuc] = ()
    if candidates.roles.label is not None:
        held = _held(model, candidates, proposed, listed)
        auc = _aucs(model, held, found) if len(proposed.group) else ()
    return TableScores(table, candidates.n_rows, threshold, auc, shift)


def _table(model: Any, found: GroupScores) -> pa.Table:
    columns: dict[str, Any] = {"group": pa.array(found.group)}
    if found.score.ndim == 1:
        alarm = is_alarm(found.score, threshold_of(model).value)
        columns |= {"score": pa.array(found.score), "winner": pa.array(found.winner)}
        columns["alarm"] = pa.array(alarm)
        if hasattr(model, "calibrator_"):
            columns["probability"] = pa.array(model.calibrator_(found.score))
        return pa.table(columns)
    for c, value in enumerate(model.classes_):
        columns[f"score_{value}"] = pa.array(np.ascontiguousarray(found.score[:, c]))
        columns[f"winner_{value}"] = pa.array(np.ascontiguousarray(found.winner[:, c]))
    return pa.table(columns)


def _shift(model: Any, candidates: Candidates, table: pa.Table) -> Shift | None:
    """Compare the groups with those of training, and warn where they differ."""
    profile = profile_of(model)
    if profile is None or not candidates.n_rows:
        return None
    groups = None if candidates.is_streamed else candidates.group_index.codes
    values = drawn_values(candidates.X, groups)
    scores = table["score"].to_numpy()
    shift = compare_with_profile(profile, scores, values, candidates.feature_names)
    warn_of_shift(shift)
    return shift


def _held(
    model: Any, candidates: Candidates, proposed: GroupScores, listed: AllGroups | None
) -> NDArray[np.bool_]:
    """Return which classes each group holds."""
    held = np.zeros((len(proposed.group), len(model.classes_)), dtype=bool)
    if len(held):
        held = np.column_stack([candidates.groups_with(value) for value in model.classes_])
    if listed is None:
        return held
    codes = class_numbers(model.classes_, listed.labels)
    return truth_of_all_groups(
        model, np.asarray(proposed.group), held, np.asarray(listed.ids), codes
    )


def _check_labels(model: Any, candidates: Candidates) -> None:
    known = model.classes_.tolist()
    unknown = sorted(set(candidates.classes.tolist()) - set(known), key=str)
    if unknown:
        raise InputError(
            f"the label {unknown[0]!r} is not a class of the model; its classes "
            f"are {', '.join(map(repr, known))}"
        )


def _aucs(model: Any, held: NDArray[np.bool_], found: GroupScores) -> list[GroupAuc]:
    if found.score.ndim == 1:
        return [_auc(model.classes_[1], held[:, 1], found.score)]
    return [_auc(c, held[:, j], found.score[:, j]) for j, c in enumerate(model.classes_)]


def _auc(label: Any, holds: NDArray[np.bool_], score: NDArray[np.float64]) -> GroupAuc:
    """Compare the groups that hold a class with those that do not, where there are both."""
    is_defined = holds.any() and not holds.all()
    auc = group_roc_auc(holds, score) if is_defined else None
    return GroupAuc(label, auc, int(holds.sum()), len(holds))
