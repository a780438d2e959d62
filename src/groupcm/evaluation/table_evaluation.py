"""The evaluation of a model on tables of candidates that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.data.labels import label_named
from groupcm.data.tables.formats import find_tables
from groupcm.data.tables.role_columns import read_all_groups, read_overlap
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError
from groupcm.estimators.tables import fit_candidates
from groupcm.estimators.thresholds import ChosenThreshold, choose_threshold
from groupcm.evaluation._evaluate import evaluate_scored
from groupcm.evaluation._learning_curve import LearningGroups, learning_curve
from groupcm.evaluation.results import DataCounts, Evaluation, LearningCurve
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import require_two_classes, with_all_groups
from groupcm.evaluation.trained_tables import (
    TrainedTables,
    group_scores_of_rows,
    model_and_notes,
    score_rows,
)
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import Tables, listed_tables, name_of
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
    threshold: float | None = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    validation: Tables | None = None,
    train: Tables | None = None,
    least_overlap: float = LEAST_OVERLAP,
    title: str | None = None,
    name: str = "the model",
    **options: Any,
) -> Evaluation:
    """Evaluate a model on tables that it has not seen; ``groupcm evaluate`` calls this function.

    Parameters
    ----------
    model : estimator or SavedModel
        Of two classes, as `groupcm.load` or `groupcm.persistence.model_file.read` returns it.
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
        A table that lists every group with its label, those without candidates included.
    threshold, specificity, sensitivity : float, optional
        The threshold, or the specificity or the sensitivity that it keeps; one of them. By
        default the threshold of the model.
    validation : path, or sequence of paths, optional
        The tables to choose the threshold on, instead of those evaluated.
    train : path, or sequence of paths, optional
        Train such a model again on ever more negative groups of these tables: a learning curve.
    least_overlap : float, default=0.3
        From this overlap on, a winner is on the object.
    title : str, optional
        The title of the report.
    name : str
        What errors and the report call the model.
    **options
        ``n_resamples``, ``level`` and ``random_state`` of `groupcm.evaluation._evaluate`.

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
    _check_threshold(threshold, specificity, sensitivity, validation)
    require_two_classes(model_and_notes(model)[0])
    given = ColumnRoles(group, label, overlap, patient, annotated, object)
    trained = TrainedTables(model, tables, given, features=features, pos_label=pos_label, name=name)
    _warn_if_made_otherwise(trained)
    candidates = trained.read()
    chosen = _threshold(trained, threshold, specificity, sensitivity, validation)
    scored = _scored(trained, candidates, all_groups, pos_label)
    announce_stage("evaluating")
    data_name = name_of(tables)
    trained_on = _trained_on(trained)
    evaluation = evaluate_scored(
        trained.model,
        scored,
        threshold=chosen,
        specificity=specificity if chosen is None else None,
        sensitivity=sensitivity if chosen is None else None,
        title=title or f"{Path(name).stem} on {data_name}",
        data_name=data_name,
        object_word=trained.given.object or "object",
        least_overlap=least_overlap,
        trained_on=trained_on,
        notes=_notes(trained, scored),
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


def _check_threshold(
    threshold: float | None,
    specificity: float | None,
    sensitivity: float | None,
    validation: Tables | None,
) -> None:
    wanted = {"threshold": threshold, "specificity": specificity, "sensitivity": sensitivity}
    given = {name: value for name, value in wanted.items() if value is not None}
    if len(given) > 1:
        first, second, *_ = given
        raise InputError(
            Argument(first),
            " and ",
            Argument(second),
            " are both given; a threshold follows one",
        )
    for name, value in given.items():
        if name != "threshold" and not 0.0 <= value <= 1.0:
            raise InputError(Argument(name), f" is {value:g}; it is a share, between 0 and 1")
    if validation is not None and threshold is not None:
        raise InputError(
            Argument("validation"),
            " chooses a threshold, and ",
            Argument("threshold"),
            " gives one; leave one",
        )


def _threshold(
    trained: TrainedTables,
    threshold: float | None,
    specificity: float | None,
    sensitivity: float | None,
    validation: Tables | None,
) -> ChosenThreshold | None:
    """Return the threshold that is given, or chosen on validation tables; else None.

    None stands for the threshold of the model, or for one chosen on the groups evaluated.
    """
    if validation is None:
        return None if threshold is None else ChosenThreshold.given(threshold)
    found = score_rows(trained.model, trained.read_validation(validation))
    is_same = not set(_resolved(validation)).isdisjoint(_resolved(trained.tables))
    return choose_threshold(
        found.group_positive,
        found.group_score,
        where=f"groups of {name_of(validation)}",
        is_chosen_here=is_same,
        specificity=specificity,
        sensitivity=sensitivity,
    )


def _resolved(tables: Tables) -> list[Path]:
    return [file.resolve() for file in find_tables(listed_tables(tables))]


def _scored(
    trained: TrainedTables,
    candidates: Candidates,
    all_groups: str | Path | None,
    pos_label: Any,
) -> ScoredCandidates:
    """Score the candidates, with their overlap and with the groups that have no candidates."""
    scored = score_rows(trained.model, candidates)
    overlap = read_overlap(candidates.files, trained.given.overlap, trained.noted("overlap"))
    scored = replace(scored, overlap=overlap)
    if all_groups is None:
        return scored
    listed = read_all_groups(
        all_groups,
        group=trained.group,
        label=trained.label,
        patient=None if scored.by_patient is None else trained.patient(),
    )
    if isinstance(pos_label, str):
        pos_label = label_named(pos_label, list(listed.labels.values()))
    return with_all_groups(trained.model, scored, listed.labels, listed.patients, pos_label)


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
