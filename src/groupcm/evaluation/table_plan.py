"""The number of patients that a study needs, from the tables of a pilot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.labels import positive_label
from groupcm.data.tables.formats import find_tables
from groupcm.data.tables.role_columns import read_key, read_numbers
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.evaluation.row_scores import score_rows
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.trained_tables import TrainedTables
from groupcm.metrics.decision import threshold_of
from groupcm.metrics.operating import (
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.registry import Metric, metric_named
from groupcm.metrics.sample_size import SampleSize, sample_size
from groupcm.persistence.model_file import read
from groupcm.sources.tables import Tables, listed_tables, name_of

__all__ = ["PLANNED", "plan_tables"]

#: The metrics that a study can be planned for, by their names.
PLANNED = (
    "group_roc_auc",
    "group_average_precision",
    "sensitivity_at_specificity",
    "sensitivity",
    "specificity",
)


def plan_tables(
    tables: Tables,
    *,
    score: str,
    other: str | None = None,
    group: str | None = None,
    label: str | None = None,
    patient: str | None = None,
    pos_label: Any = None,
    metric: str = "group_roc_auc",
    threshold: float | None = None,
    at_specificity: float = 0.9,
    **options: Any,
) -> SampleSize:
    """Find how many patients a study needs, from a pilot; ``groupcm plan`` calls this function.

    Parameters
    ----------
    tables : path, or sequence of paths
        The pilot: one row per candidate, or per group.
    score : str
        The column of scores, or the file of a model, ``.json``, that scores the tables.
    other : str, optional
        The same of another model, which is compared with ``score``.
    group, label, patient : str, optional
        The columns; where ``score`` is a model, by default those of its training. Without
        ``group`` every row is a group, without ``patient`` every group is a patient.
    pos_label : label, optional
        The positive label; a number can be given as text.
    metric : str
        One of `PLANNED`; "sensitivity" and "specificity" are those at ``threshold``.
    threshold : float, optional
        By default that of the model.
    at_specificity : float
        For "sensitivity_at_specificity".
    **options
        ``width``, ``power``, ``difference``, ``level``, ``most``, ``n_studies`` and
        ``random_state`` of `groupcm.metrics.sample_size`.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.data.tables.formats import write_table
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(80) % 2
    >>> path = Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> write_table(pa.table({"polyp": y, "score": y + rng.standard_normal(80)}), path)
    >>> found = plan_tables(path, score="score", label="polyp", width=0.1, n_studies=100)
    >>> found.n_pilot, found.n_patients > 80
    (80, True)
    """
    given = ColumnRoles(group, label, patient=patient)
    first = _pilot(tables, score, given, pos_label)
    second = None if other is None else _pilot(tables, other, given, pos_label)
    if second is not None and len(second.scores) != len(first.scores):
        raise InputError(
            Argument("score"),
            " and ",
            Argument("other"),
            " must both be columns of scores, or both models",
        )
    if threshold is None:
        threshold = first.threshold
    planned = _metric(metric, threshold, at_specificity)
    try:
        return sample_size(
            first.is_positive,
            first.scores,
            first.groups,
            other=None if second is None else second.scores,
            clusters=first.patients,
            metric=planned,
            **options,
        )
    except ParameterError:
        raise
    except ValueError as error:
        raise InputError(f"{name_of(tables)}: {str(error).removesuffix('.')}") from error


class _Pilot:
    """Labels, scores, groups and patients of candidates, or of groups that a model scored."""

    def __init__(
        self,
        is_positive: NDArray[np.bool_],
        scores: NDArray[np.float64],
        groups: NDArray[Any] | None = None,
        patients: NDArray[Any] | None = None,
        threshold: float | None = None,
    ) -> None:
        self.is_positive, self.scores = is_positive, scores
        self.groups, self.patients, self.threshold = groups, patients, threshold


def _pilot(tables: Tables, score: str, given: ColumnRoles, pos_label: Any) -> _Pilot:
    if Path(score).suffix.lower() == ".json":
        trained = TrainedTables(read(score), tables, given, pos_label=pos_label, name=score)
        scored: ScoredCandidates = score_rows(trained.model, trained.read())
        own = threshold_of(trained.model).value
        return _Pilot(scored.group_positive, scored.group_score, None, scored.group_patient, own)
    if given.label is None:
        raise InputError("the label column is not known; name it with ", Argument("label"))
    files = find_tables(listed_tables(tables))
    scores = read_numbers(files, score, None, "score")
    assert scores is not None, "the column is given"
    labels = read_key(files, given.label, "label").per_row()
    distinct = np.unique(labels)
    if len(distinct) != 2:
        raise InputError(
            f"the label column {given.label!r} holds {len(distinct)} values; a study is planned "
            "for two"
        )
    positive = distinct[-1]
    if pos_label is not None:
        positive = positive_label(str(pos_label), distinct, given.label)
    groups, patients = (
        None if column is None else read_key(files, column, role).per_row()
        for column, role in ((given.group, "group"), (given.patient, "patient"))
    )
    return _Pilot(np.asarray(labels == positive), scores, groups, patients)


def _metric(name: str, threshold: float | None, at_specificity: float) -> Metric:
    if name not in PLANNED:
        raise ParameterError(
            Argument("metric", name), f" is not known; use one of {', '.join(PLANNED)}."
        )
    if name == "sensitivity_at_specificity":
        return partial(sensitivity_at_specificity, specificity=at_specificity)
    if name not in ("sensitivity", "specificity"):
        return metric_named(name)
    if threshold is None:
        raise InputError(f"the {name} is that at a threshold; give it with ", Argument("threshold"))
    of = sensitivity_at_threshold if name == "sensitivity" else specificity_at_threshold
    return partial(of, threshold=threshold)
