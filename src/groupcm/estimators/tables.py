"""Estimators fitted to the candidates of tables."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.labels import require_discrete, shown_labels
from groupcm.data.tables.roles import ColumnRoles, TableDescription, described
from groupcm.errors import Argument, InputError, ThresholdWarning
from groupcm.estimators.adapters import fit_with, takes_missing
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.level_columns import (
    check_level_columns,
    columns_to_exclude,
    level_notes,
    patient_column,
    require_nested_columns,
)
from groupcm.estimators.place import fit_place
from groupcm.estimators.table_threshold import require_reachable, tune_on_left_out
from groupcm.estimators.threshold_choice import goal_of
from groupcm.estimators.thresholds import held_out_groups_of, keep_notes
from groupcm.estimators.training.fit_setup import naming_features
from groupcm.estimators.training_notes import counts_of, training_notes
from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import DESCRIBED, Tables, listed_tables, read_with_roles
from groupcm.utils.memory import memory_to_use
from groupcm.utils.progress import announce_stage

__all__ = [
    "TableFit",
    "fit_candidates",
    "fit_place_candidates",
    "fit_tables",
    "set_feature_names",
]


@dataclass(frozen=True)
class TableFit:
    """A model that was fitted to tables; made by `fit_tables`.

    Attributes
    ----------
    model : estimator
        The fitted model, to score with and to save.
    trained : estimator
        The estimator within a calibrated model, which has the certificate or the trees; else the
        model itself.
    cross_validated : estimator or None
        The model that has the scores of groups that folds left out; None where none were.
    candidates : Candidates
        What it was trained on.
    tables : list of paths
        The tables as they were given.
    seconds : float
        The time that the fit took.
    levels : mapping of str to str
        The column of each level above the group.
    """

    model: Any
    trained: Any
    cross_validated: Any
    candidates: Candidates
    tables: Sequence[str | Path]
    seconds: float
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def gap(self) -> float | None:
        """The certified relative gap, the largest of several classes; None without certificate."""
        gap = getattr(self.trained, "gap_", None)
        return None if gap is None else float(np.max(gap))

    def notes(self) -> dict[str, Any]:
        """Return what the file of the model notes of its training.

        The columns, which scoring and evaluation then find there, the amount of data, the recipe
        of pictures, and the versions of packages.
        """
        candidates, roles = self.candidates, self.candidates.roles
        notes = {
            "columns": {role: getattr(roles, role) for role in roles.names()}
            | level_notes(self.levels),
            "trained_on": counts_of(candidates, self.tables),
            **training_notes(self.trained, self.tables),
        }
        if candidates.description is not None and candidates.description.recipe is not None:
            notes["recipe"] = candidates.description.recipe
        return notes

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the training: the model is the best so far."""
        solutions = getattr(self.trained, "solution_", [])
        solutions = solutions if isinstance(solutions, list) else [solutions]
        return any(solution.interrupted for solution in solutions)


def fit_tables(
    model: Any,
    tables: Tables | Candidates,
    *,
    group: str | None = None,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    annotated: str | None = None,
    object: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    pos_label: Any = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    patient_sensitivity: float | None = None,
    confidence: float | None = None,
    decision_level: str = "group",
    k: int = 1,
    calibrate: str | None = None,
    levels: Mapping[str, str] | None = None,
    place: Any = None,
) -> TableFit:
    """Fit a model to tables of candidates; ``groupcm fit`` calls this function.

    The model, and the file that `groupcm.save` writes, know the columns, so that tables to score
    and to evaluate need none. Parquet files are streamed. Features that give the label away, or
    that identify patients, are named in a warning.

    Parameters
    ----------
    model : estimator
        Any classifier of groupcm; is fitted in place.
    tables : path, or sequence of paths
        Files and folders; see `groupcm.sources.read_candidates`. Candidates that are open already,
        such as those of `groupcm.sources.open_candidates`, have their columns.
    group, label, overlap, patient, annotated, object, weight : str, optional
        The column of each role; see `groupcm.data.tables.roles.ColumnRoles`. Those that the tables
        describe need not be named.
    features, exclude : sequence of str, optional
        The feature columns, and those to leave out; see `groupcm.sources.read_candidates`.
    pos_label : label, optional
        The positive one of two labels; a number can be given as text. By default that of the
        model, else the larger.
    specificity, sensitivity, patient_sensitivity : float, optional
        Choose the threshold that keeps one of these on the groups that folds left out, by default
        a specificity of 0.9. Where one is given and there are no such groups, a warning is raised.
    confidence : float, optional
        Choose it so that the target holds for new patients with this confidence. Tables with too
        few patients for that are refused before the fit; where the scores turn out not to allow
        it, the threshold keeps the target on the groups alone, and a warning is raised.
    decision_level : str
        What the target is about: "group", or one of ``levels``.
    k : int
        A unit of that level raises an alarm where at least so many of its groups do.
    calibrate : {"sigmoid", "isotonic"}, optional
        Also learn the probability of a group from the scores of the groups left out, for a
        `GroupClassifierCV`. A `CalibratedGroupClassifier` learns it anyway.
    levels : mapping of str to str, optional
        The column of each level above the group, from the lowest to the highest, such as
        ``{"video": "video_id", "patient": "patient_id"}``. They are not features, and the model
        knows them. Folds split no unit of the highest level, or no ``patient``, where it is given
        too and contains whole units of that level.
    place : estimator, optional
        Any classifier of groupcm, which is fitted to the positive groups alone and chooses in each
        group the candidate that locates the object; see `groupcm.estimators.place`.

    Returns
    -------
    TableFit

    See Also
    --------
    groupcm.report.model_card.fit_notes : Notes to save with the model that also record how well
        groups that folds left out are ranked.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifierCV
    >>> from groupcm.simulate import capsule_to_parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> _ = capsule_to_parquet(path, 60, n_positive=20, n_patients=40, layout="list")
    >>> columns = {"group": "frame", "label": "label", "patient": "patient"}
    >>> fit = fit_tables(GroupClassifierCV(lams=[0.5], cv=2), path, **columns)
    >>> fit.candidates.n_patients, bool(fit.trained.gap_ <= 1e-4)
    (40, True)
    """
    goal = goal_of(
        specificity=specificity,
        sensitivity=sensitivity,
        patient_sensitivity=patient_sensitivity,
        confidence=confidence,
        level=decision_level,
        k=k,
    )
    if isinstance(tables, Candidates):
        candidates, tables, units = tables, tables.named, {}
    else:
        tables = listed_tables(tables)
        about = described(tables)
        given = ColumnRoles(group, label, overlap, patient, annotated, object, weight)
        units = check_level_columns(levels, tables, given)
        given = replace(given, patient=patient_column(patient, units))
        roles = _roles(model, given, tables, about)
        candidates = read_with_roles(
            tables,
            roles,
            about,
            features=features,
            exclude=[*exclude, *columns_to_exclude(units, roles)],
            allow_missing=takes_missing(model),
        )
    _require_classes(model, candidates)
    require_nested_columns(
        candidates.files, units, candidates.group_index, candidates.patient_index
    )
    _set_positive(model, candidates, pos_label)
    require_reachable(goal, candidates, units)
    candidates.warn_of_leakage()
    n_features = len(candidates.feature_names)
    announce_stage(f"fitting {candidates.n_rows:,} rows × {n_features} features")
    start = time.perf_counter()
    fit_candidates(model, candidates)
    seconds = time.perf_counter() - start
    has_left_out = held_out_groups_of(model) is not None
    if has_left_out:
        tune_on_left_out(model, goal, candidates, units)
    elif goal.targets:
        warnings.warn(
            ThresholdWarning(
                Argument(next(iter(goal.targets))),
                " had no effect: no groups of both classes were left out to choose the threshold "
                "on, which stays 0.",
            ),
            stacklevel=2,
        )
    saved, trained = model, model
    if isinstance(model, CalibratedGroupClassifier):
        trained = model.estimator_
        # The folds around the estimator left groups out for its threshold, too.
        trained.threshold_, trained.decision_ = model.threshold_, model.decision_
    elif calibrate is not None:
        saved = CalibratedGroupClassifier.of_held_out(model, method=calibrate)
    if place is not None:
        fit_place_candidates(trained, place, candidates)
    left_out = model if has_left_out else None
    fit = TableFit(saved, trained, left_out, candidates, tables, seconds, units)
    for part in {id(part): part for part in (saved, model, trained)}.values():
        keep_notes(part, fit.notes())
    return fit


def fit_candidates(
    model: Any, candidates: Candidates, groups: NDArray[np.bool_] | None = None
) -> Any:
    """Fit a model to candidates; it also learns the names of the features.

    Parameters
    ----------
    model : estimator
        Is fitted in place, with as much of what is known of the candidates as it asks for.
    candidates : Candidates
        As `groupcm.sources.read_candidates` returns them.
    groups : ndarray of bool, one per group, optional
        The groups to train on, whose rows are then read into memory; by default all.

    Returns
    -------
    estimator

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> from groupcm.sources import read_candidates
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.0\\nb,0,1.0\\n")
    >>> train = read_candidates(path, group="frame", label="polyp")
    >>> fit_candidates(GroupClassifier(), train).feature_names_in_.tolist()
    ['size']
    """
    rows = None
    if groups is not None and not groups.all():
        rows = np.flatnonzero(groups[candidates.group_index.codes])
    elif candidates.is_streamed and isinstance(model, CalibratedGroupClassifier):
        _require_memory(model.estimator.memory, candidates)
        rows = np.arange(candidates.n_rows)
    takes_patients = "patients" in signature(model.fit).parameters
    if getattr(getattr(model, "estimator", model), "grouping", "negative") != "none":
        candidates.require_one_weight()
    known = candidates.fit_arguments(rows, patients=takes_patients)
    if rows is None and candidates.is_streamed:
        return model.fit(known.pop("X"), **known)
    with naming_features(candidates.feature_names):
        fit_with(model, known.pop("X"), known.pop("y"), **known)
    set_feature_names(model, candidates.feature_names)
    return model


def fit_place_candidates(model: Any, place: Any, candidates: Candidates) -> Any:
    """Fit a place model to the positive groups of candidates, which are read into memory.

    Parameters
    ----------
    model : estimator
        Fitted to the candidates; gets the place model.
    place : estimator
        Is fitted in place.
    candidates : Candidates

    Returns
    -------
    estimator
        The model.
    """
    announce_stage("fitting the place model")
    index = candidates.group_index
    rows = np.flatnonzero(candidates.groups_with(candidates.positive)[index.codes])
    known = candidates.fit_arguments(rows)
    known["groups"] = index.codes[rows]
    with naming_features(candidates.feature_names):
        fit_place(model, place, known.pop("X"), known.pop("y"), **known)
    set_feature_names(place, candidates.feature_names)
    return model


def set_feature_names(model: Any, names: Sequence[str]) -> None:
    """Set the names of the features of a fitted model, and of the one within it."""
    while model is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
        model = getattr(model, "estimator_", None)


def _roles(
    model: Any, given: ColumnRoles, tables: Sequence[str | Path], about: TableDescription | None
) -> ColumnRoles:
    """Return the columns; objects that the tables know are left out where the model takes none."""
    is_by_group = getattr(_part(model), "grouping", "negative") == "negative"
    if given.object is not None and not is_by_group:
        raise InputError(
            Argument("object"),
            " needs ",
            Argument("grouping", "negative"),
            ", where each object counts by itself",
        )
    filled = [role for role in DESCRIBED if is_by_group or role != "object"]
    roles = given.filled_in(about, filled)
    roles.require(["group", "label"], tables[0], about)
    return roles


def _part(model: Any) -> Any:
    return model.estimator if isinstance(model, CalibratedGroupClassifier) else model


def _require_classes(model: Any, candidates: Candidates) -> None:
    classes, label = candidates.classes, candidates.roles.label
    if label is None:
        raise InputError(
            "the groups have no labels, which a fit needs; give a table of them with ",
            Argument("labels"),
        )
    require_discrete(classes, where=f"the label column {label!r}")
    is_cross_validated = isinstance(model, GroupClassifierCV | CalibratedGroupClassifier)
    if len(classes) > 2 and is_cross_validated:
        raise InputError(
            f"cross-validation is for two labels, and the label column {label!r} holds "
            f"{len(classes)} ({shown_labels(classes)}); fit without it, or make a column of one "
            "label against the rest"
        )
    if len(classes) < 2:
        raise InputError(
            f"the label column {label!r} holds {classes[0]} in every row; "
            "a fit needs two classes or more"
        )


def _set_positive(model: Any, candidates: Candidates, pos_label: Any) -> None:
    """Set the positive label of the model and of its candidates."""
    part = _part(model)
    candidates.name_positive(part.pos_label if pos_label is None else pos_label)
    part.set_params(pos_label=candidates.pos_label)


def _require_memory(memory: int | str | None, candidates: Candidates) -> None:
    source = candidates.X
    if source.nbytes > memory_to_use(memory, source.memory):
        raise InputError(
            f"folds of trees need all {candidates.n_rows:,} candidates in memory, and they do not "
            "fit; raise ",
            Argument("memory"),
            ", or train on fewer groups",
        )
