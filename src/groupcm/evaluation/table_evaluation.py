"""The evaluation of a model on tables of candidates that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.data.labels import label_named
from groupcm.data.tables.all_groups import read_all_groups
from groupcm.data.tables.role_columns import read_overlap, read_values
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError
from groupcm.estimators.tables import fit_candidates
from groupcm.evaluation._evaluate import evaluate_scored
from groupcm.evaluation._learning_curve import LearningGroups, learning_curve
from groupcm.evaluation.data_summary import object_word
from groupcm.evaluation.object_rows import with_listed
from groupcm.evaluation.provenance import digest_files
from groupcm.evaluation.results import DataCounts, Evaluation, LearningCurve
from groupcm.evaluation.row_scores import group_scores_of_rows, score_rows
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import require_two_classes
from groupcm.evaluation.table_objects import read_all_objects, with_hit_column
from groupcm.evaluation.table_threshold import (
    check_threshold,
    read_validated,
    resolved_files,
    threshold_of_tables,
    with_level_columns,
)
from groupcm.evaluation.trained_tables import TrainedTables, model_and_notes
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import Tables, name_of
from groupcm.utils.progress import announce_stage, without_steps

__all__ = ["evaluate_tables"]

# Rows of the training tables that are picked out fit into this.
_MOST_BYTES = 1 << 30


def evaluate_tables(
    model: Any,
    tables: Tables,
    *,
    group: str | None = None,
    label: str | None = None,
    patient: str | None = None,
    overlap: str | None = None,
    annotated: str | None = None,
    object: str | None = None,
    features: Sequence[str] | None = None,
    pos_label: Any = None,
    all_groups: str | Path | None = None,
    all_objects: str | Path | None = None,
    threshold: float | None = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    false_alarms: float | None = None,
    confidence: float | None = None,
    decision_level: str = "group",
    validation: Tables | None = None,
    train: Tables | None = None,
    least_overlap: float | Sequence[float] = LEAST_OVERLAP,
    hit_rule: str = "label",
    hit_column: str | None = None,
    title: str | None = None,
    name: str = "the model",
    levels: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    **options: Any,
) -> Evaluation:
    """Evaluate a model on tables that it has not seen; ``groupcm evaluate`` calls this function.

    Parameters
    ----------
    model : estimator or SavedModel
        Of two classes, as `groupcm.load` or `groupcm.persistence.read` returns it.
    tables : path, or sequence of paths
        Files and folders; see `groupcm.sources.read_candidates`.
    group, label, patient, overlap, annotated, object : str, optional
        The column of each role; see `groupcm.data.tables.roles.ColumnRoles`. By default those that
        the tables describe, or those of training.
    features : sequence of str, optional
        Feature columns in the order of training; by default those of the model, by name.
    pos_label : label, optional
        The positive label of the tables, where their labels differ from the model's.
    all_groups : path, optional
        A table that lists every group with its label, those without candidates included, and with
        its patient and its units of ``levels`` where the tables have those.
    all_objects : path, optional
        A table that lists every object, one row for each group that shows it, by the columns of
        objects and groups, and that of patients where a group has no candidates. Objects that no
        candidate is on count as missed.
    threshold, specificity, sensitivity, false_alarms : float, optional
        The threshold, or the specificity or the sensitivity that it keeps, or the largest number of
        false alarms per group; one of them. By default the threshold of the model.
    confidence : float, optional
        With ``validation``, choose the threshold so that the target holds for new patients with
        this confidence.
    decision_level : str
        With ``validation``, what the target is about: "group", or one of ``levels``.
    validation : path, or sequence of paths, optional
        The tables to choose the threshold on, instead of those evaluated.
    train : path, or sequence of paths, optional
        Train such a model again on ever more negative groups of these tables: a learning curve.
    least_overlap : float or sequence of float, default=0.3
        From this overlap on, a winner is on the object.
    hit_rule : {"label", "overlap", "centre", "distance"}
        When a candidate is on an object; see `groupcm.evaluation.evaluate_scored`.
    hit_column : str, optional
        The column that the rules "centre" and "distance" read: true or false, or the distance of
        the centres. By default ``centre_inside`` and ``centre_distance``.
    title : str, optional
        The title of the report.
    name : str
        What errors and the report call the model.
    levels : mapping of str to str, optional
        The column of each level above the group, from the lowest to the highest, such as
        ``{"video": "video_id", "patient": "patient_id"}``: the result has the metrics of each. By
        default those of training that all tables have.
    by : sequence of str
        Columns such as site or size: the result has the main metrics of each subgroup.
    **options
        ``hit``, ``most_distance``, ``groups_per_second``, ``n_resamples``, ``level``,
        ``random_state``, ``aggregate``, ``k``, ``prevalence`` and ``unit`` of
        `groupcm.evaluation.evaluate_scored`.

    Returns
    -------
    Evaluation
        `groupcm.report.save.save_evaluation` writes it as a report.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.tables import fit_tables
    >>> from groupcm.simulate import capsule_to_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> for seed, part in enumerate(("train.parquet", "test.parquet")):
    ...     _ = capsule_to_parquet(folder / part, 60, n_positive=20, seed=seed)
    >>> columns = {"group": "frame", "label": "label"}
    >>> others = ["overlap", "patient", "polyp"]
    >>> fit = fit_tables(GroupClassifier(), folder / "train.parquet", **columns, exclude=others)
    >>> found = evaluate_tables(fit.model, folder / "test.parquet", **columns, n_resamples=50)
    >>> found.data.n_positive_groups, found.group_roc.auc.estimate > 0.5
    (20, True)
    """
    check_threshold(
        threshold, specificity, sensitivity, validation, confidence, decision_level, false_alarms
    )
    require_two_classes(model_and_notes(model)[0])
    given = ColumnRoles(group, label, overlap, patient, annotated, object)
    trained = TrainedTables(
        model, tables, given, features=features, pos_label=pos_label, name=name, levels=levels
    )
    _warn_if_made_otherwise(trained)
    candidates = trained.read()
    validated = read_validated(trained, validation)
    chosen = threshold_of_tables(
        trained,
        threshold,
        specificity,
        sensitivity,
        validation,
        validated,
        confidence,
        decision_level,
        options.get("k"),
        false_alarms,
    )
    columns = [by] if isinstance(by, str) else by
    scored = _scored(trained, candidates, all_groups, all_objects, pos_label, columns)
    scored = with_hit_column(scored, candidates, hit_rule, hit_column)
    announce_stage("evaluating")
    data_name = name_of(tables)
    trained_on = _trained_on(trained)
    evaluation = evaluate_scored(
        trained.model,
        scored,
        threshold=chosen,
        specificity=specificity if chosen is None else None,
        sensitivity=sensitivity if chosen is None else None,
        false_alarms=false_alarms if chosen is None else None,
        title=title or f"{Path(name).stem} on {data_name}",
        data_name=data_name,
        object_word=object_word(trained.given.object),
        least_overlap=least_overlap,
        hit_rule=hit_rule,
        trained_on=trained_on,
        notes=_notes(trained, scored),
        validation=validated,
        files=digest_files([name, *resolved_files(tables), *resolved_files(validation or ())]),
        **options,
    )
    _warn_if_seen(trained_on, evaluation.data)
    if train is None:
        return evaluation
    counts, learning = _learn_again(trained, train, candidates, scored)
    training = evaluation.training
    if training.trained_on is None:
        training = replace(training, trained_on=counts)
    return replace(evaluation, training=training, learning=learning)


def _scored(
    trained: TrainedTables,
    candidates: Candidates,
    all_groups: str | Path | None,
    all_objects: str | Path | None,
    pos_label: Any,
    by: Sequence[str],
) -> ScoredCandidates:
    """Score the candidates, with all that is known of them and of what has no candidates."""
    scored = score_rows(trained.model, candidates)
    overlap = read_overlap(candidates.files, trained.given.overlap, trained.noted("overlap"))
    columns = {name: read_values(candidates.files, name) for name in by}
    scored = replace(scored, overlap=overlap, columns=columns or None)
    scored = with_level_columns(trained, candidates, scored)
    patient = None if scored.by_patient is None else trained.patient()
    listed = None
    patients, pairs = {}, None
    if all_groups is not None:
        listed = read_all_groups(
            all_groups,
            group=trained.group,
            label=trained.label,
            patient=patient,
            levels=trained.levels,
            by=by,
        )
        patients = listed.patients or {}
        if isinstance(pos_label, str):
            pos_label = label_named(pos_label, list(listed.labels.values()))
    if all_objects is not None:
        if trained.given.object is None:
            raise InputError(
                Argument("all_objects"),
                " lists all objects; name their column with ",
                Argument("object"),
            )
        objects = read_all_objects(
            all_objects,
            candidates.files,
            object=trained.given.object,
            group=trained.group,
            patient=patient,
        )
        pairs, patients = objects.pairs, {**(objects.patients or {}), **patients}
    return with_listed(
        trained.model,
        scored,
        all_groups=None if listed is None else listed.labels,
        all_patients=patients if patient is not None else None,
        all_objects=pairs,
        all_levels=None if listed is None else listed.levels,
        all_columns=None if listed is None else listed.columns,
        pos_label=pos_label,
    )


def _learn_again(
    trained: TrainedTables, train: Tables, test: Candidates, scored: ScoredCandidates
) -> tuple[DataCounts, LearningCurve]:
    """Return the amount of training data, and the group AUC on ``test`` that less of it gives."""
    model, candidates = trained.model, trained.read_training(train)
    is_positive = candidates.groups_with(model.classes_[1])
    counts = DataCounts(
        name_of(train),
        candidates.n_rows,
        int(is_positive.sum()),
        int((~is_positive).sum()),
        candidates.n_patients,
    )
    groups = LearningGroups(
        is_positive,
        lambda fresh, chosen: fit_candidates(fresh, candidates, chosen),
        candidates.most_groups(_MOST_BYTES),
    )
    # The steps of so many fits would bury everything else.
    with without_steps():
        learning = learning_curve(
            model,
            groups,
            scored,
            lambda fitted: group_scores_of_rows(fitted, test).score,
            on_fit=lambda size, fit, n_fits: announce_stage(
                f"fit {fit} of {n_fits}: {size:,} negative groups"
            ),
        )
    return counts, learning


def _trained_on(trained: TrainedTables) -> DataCounts | None:
    noted = trained.notes.get("trained_on")
    return None if noted is None else DataCounts(**noted)


def _warn_if_seen(noted: DataCounts | None, found: DataCounts) -> None:
    """Warn where the tables have the name and the counts of those trained on."""
    if noted is None or replace(noted, n_objects=None) != replace(found, n_objects=None):
        return
    warnings.warn(
        f"{found.name} has the name and the numbers of groups and candidates that the model was "
        "trained on; on groups that it has seen, every metric is optimistic.",
        UserWarning,
        stacklevel=3,
    )


def _warn_if_made_otherwise(trained: TrainedTables) -> None:
    """Warn where candidates of pictures were made by another recipe than in training."""
    noted, about = trained.notes.get("recipe"), trained.description
    if noted is None or about is None or about.recipe in (None, noted):
        return
    warnings.warn(
        f"{name_of(trained.tables)} was made by another recipe of pictures (proposals, features, "
        "sizes) than the model was trained with, so that its scores may not be comparable; make "
        "it with the options of the training table.",
        UserWarning,
        stacklevel=3,
    )


def _notes(trained: TrainedTables, scored: ScoredCandidates) -> dict[str, str]:
    n_clusters = len(np.unique(scored.group_clusters))
    drawn = "groups" if scored.by_patient is None else "patients"
    return {
        "Model": trained.name,
        "Tables": ", ".join(map(str, trained.tables)),
        "Confidence intervals": f"95 %, bootstrap over {n_clusters:,} {drawn}",
    }
