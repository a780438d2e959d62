"""Tables that a trained model is used on: which columns, features and classes they must have."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.data.labels import positive_label, positive_of_model
from groupcm.data.tables.all_groups import AllGroups
from groupcm.data.tables.formats import find_tables, is_parquet, open_table
from groupcm.data.tables.roles import ColumnRoles, described
from groupcm.errors import Argument, InputError
from groupcm.estimators.adapters import takes_missing
from groupcm.estimators.level_columns import check_level_columns, noted_levels, patient_column
from groupcm.estimators.tables import set_feature_names
from groupcm.estimators.thresholds import notes_of
from groupcm.persistence.model_file import read
from groupcm.sources.candidates import Candidates
from groupcm.sources.parquet import list_column
from groupcm.sources.tables import DESCRIBED, Tables, listed_tables, name_of, read_with_roles

__all__ = [
    "TrainedTables",
    "model_and_notes",
    "take_classes",
]


def model_and_notes(model: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return a fitted model and its notes; none where it was neither loaded nor fitted to tables.

    Parameters
    ----------
    model : estimator, SavedModel or path
        As `groupcm.load`, `groupcm.persistence.read` or `fit_tables` returns it, or its file.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model_and_notes(GroupClassifier())
    (GroupClassifier(), {})
    """
    if isinstance(model, str | os.PathLike):
        model = read(model)
    if hasattr(model, "notes") and hasattr(model, "model"):
        return model.model, model.notes
    found = notes_of(model)
    return model, {} if found is None else found.notes


class TrainedTables:
    """Reads tables for a trained model: columns as they are given, else as in training.

    Parameters
    ----------
    model : estimator, SavedModel or path
        The fitted model; its file notes the columns of training.
    tables : path, or sequence of paths
        The tables that may describe columns that are not given.
    given : ColumnRoles
        The columns that the user named.
    features : sequence of str, optional
        Feature columns in the order of training; by default those of the model, by name.
    pos_label : label, optional
        The positive label of the tables, where their labels differ from the model's.
    name : str
        What an error calls the model.
    roles : sequence of str
        The roles that the description of the tables may fill in.
    levels : mapping of str to str, optional
        The column of each level above the group; by default those of training that all tables
        have.
    """

    def __init__(
        self,
        model: Any,
        tables: Tables,
        given: ColumnRoles,
        *,
        features: Sequence[str] | None = None,
        pos_label: Any = None,
        name: str = "the model",
        roles: Sequence[str] = DESCRIBED,
        levels: Mapping[str, str] | None = None,
    ) -> None:
        self.model, self.notes = model_and_notes(model)
        self.tables, self.name = listed_tables(tables), name
        self.description = described(self.tables)
        self.given = given.filled_in(self.description, roles)
        self.group = self._needed("group")
        self.features = self._features(features)
        self._pos_label = pos_label
        self._without_patients: set[Path] = set()  # the tables that a warning has named
        self.levels = (
            noted_levels(self.notes.get("columns"), self.tables)
            if levels is None
            else check_level_columns(levels, self.tables, self.given)
        )

    @property
    def label(self) -> str:
        """The column of labels."""
        return self._needed("label")

    def noted(self, role: str) -> str | None:
        """Return the column that a role had in training, where that is known."""
        return (self.notes.get("columns") or {}).get(role)

    def patient(self) -> str | None:
        """Return the column of patients: as given, else as in training, where the tables have it.

        A warning is raised where they do not.
        """
        return self._patient(find_tables(self.tables))

    def read(self) -> Candidates:
        """Read the tables, with groups of both classes and with all that they are annotated with.

        The column ``annotated`` is that of training where none is given and all tables have it.
        """
        return self._read_annotated(self.tables, self.given.object, self.given.annotated)

    def read_validation(self, tables: Tables) -> Candidates:
        """Read other tables with groups of both classes, such as those to choose a threshold on."""
        return self._read_annotated(tables, None, None)

    def read_training(self, tables: Tables) -> Candidates:
        """Read tables to train such a model again."""
        noted = {role: self.noted(role) for role in ("overlap", "annotated", "object", "weight")}
        return self._read_labelled(tables, ColumnRoles.of(noted))

    def read_to_score(self) -> Candidates:
        """Read the tables with no other column than groups and, where it is given, labels."""
        candidates = read_with_roles(
            self.tables,
            ColumnRoles(self.group, self.given.label),
            features=self.features,
            allow_missing=takes_missing(self.model),
            allow_empty=True,
        )
        self._set_feature_names(candidates.feature_names)
        return candidates

    def _read_annotated(
        self, tables: Tables, object: str | None, annotated: str | None
    ) -> Candidates:
        if annotated is None:
            noted = self.noted("annotated")
            files = find_tables(listed_tables(tables))
            is_there = all(noted in open_table(file).schema.names for file in files)
            annotated = noted if is_there else None
        return self._read_labelled(tables, ColumnRoles(object=object, annotated=annotated))

    def _read_labelled(self, tables: Tables, more: ColumnRoles) -> Candidates:
        tables = listed_tables(tables)
        files = find_tables(tables)
        self._require_features(files)
        patient = self._patient(files)
        candidates = read_with_roles(
            files,
            replace(more, group=self.group, label=self.label, patient=patient),
            features=self.features,
            allow_missing=takes_missing(self.model),
        )
        self._set_feature_names(candidates.feature_names)
        take_classes(candidates, self.model, self._pos_label)
        self._require_classes(candidates, name_of(tables))
        return candidates

    def _needed(self, role: str) -> str:
        column = self.given.get(role) or self.noted(role)
        if column is None:
            raise InputError(
                f"{self.name} does not record which column is the {role}; name it with ",
                Argument(role),
            )
        return column

    def _features(self, given: Sequence[str] | None) -> list[str]:
        if given is not None:
            return list(given)
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            raise InputError(
                f"{self.name} was trained without feature names; give them in the order of "
                "training with ",
                Argument("features"),
            )
        return [str(name) for name in names]

    def _set_feature_names(self, names: Sequence[str]) -> None:
        n_trained = self.model.n_features_in_
        if len(names) != n_trained:
            raise InputError(
                f"{len(names)} features are named, and {self.name} was trained with {n_trained}"
            )
        set_feature_names(self.model, names)

    def _require_features(self, files: Sequence[Path]) -> None:
        """Refuse tables that lack features of the model, naming all that are missing."""
        for file in files:
            table = open_table(file)
            missing = [name for name in self.features if name not in table.schema.names]
            if not missing or (is_parquet(file) and _is_list(file, self.features)):
                continue
            listed = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" * (len(missing) > 5))
            raise InputError(
                f"{file} lacks {len(missing)} of the {len(self.features)} features that "
                f"{self.name} was trained with: {listed}; give the table these columns, or name "
                "others with ",
                Argument("features"),
            )

    def _require_classes(self, candidates: Candidates, name: str) -> None:
        known = self.model.classes_.tolist()
        unknown = [value for value in candidates.classes.tolist() if value not in known]
        if unknown:
            raise InputError(
                f"the label column {self.label!r} of {name} holds {unknown[0]!r}, which is not a "
                f"class of the model; its classes are {' and '.join(map(repr, known))}"
            )
        is_positive = candidates.groups_with(known[-1])
        if is_positive.all() or not is_positive.any():
            found = "positive" if is_positive.all() else "negative"
            raise InputError(
                f"every group of {name} is {found} by its label column {self.label!r}; "
                "positive and negative groups are needed"
            )

    def _patient(self, files: Sequence[Path]) -> str | None:
        if self.given.patient is not None:
            return self.given.patient
        noted, columns = self.noted("patient"), [set(open_table(f).schema.names) for f in files]
        highest, units = patient_column(None, self.levels), "groups"
        if noted is None:
            noted = highest
        if noted is None or all(noted in names for names in columns):
            return noted
        if highest is not None and all(highest in names for names in columns):
            units = f"the units of level {list(self.levels)[-1]}"
        else:
            highest = None
        without = [file for file, names in zip(files, columns, strict=True) if noted not in names]
        if without[0] in self._without_patients:
            return highest
        self._without_patients.add(without[0])
        warnings.warn(
            f"{without[0]} has no column {noted!r}, which held the patients in training; "
            f"confidence intervals resample {units} instead, and are too narrow where a patient "
            "has several.",
            UserWarning,
            stacklevel=2,
        )
        return highest


def _is_list(file: Path, features: Sequence[str]) -> bool:
    """Return whether the features are the elements of one column of lists."""
    table = open_table(file)
    whole = features[0].rpartition("[")[0] or features[0]
    if whole not in table.schema.names:
        return False
    listed = list_column([table], set(), features)
    return listed is not None and table.schema.field(listed).type.list_size == len(features)


def take_classes(
    candidates: Candidates, model: Any, pos_label: Any, listed: AllGroups | None = None
) -> AllGroups | None:
    """Give candidates the classes of a model, of which ``pos_label`` means the positive one.

    Parameters
    ----------
    candidates : Candidates
        Their labels are renamed in place.
    model : estimator
        A fitted model.
    pos_label : label or None
        The label of the candidates that means the model's positive class; a number can be given
        as text. None where their labels are the model's.
    listed : AllGroups, optional
        The list of all groups, whose labels are those of the candidates.

    Returns
    -------
    AllGroups or None
        The list, with the model's classes as its labels.
    """
    if len(model.classes_) != 2:
        if pos_label is not None:
            raise InputError(
                Argument("pos_label"),
                f" is for two classes, and the model has {len(model.classes_)}; leave it out",
            )
        return listed
    if pos_label is not None:
        occurring = candidates.classes
        if listed is not None:
            both = dict.fromkeys([*occurring.tolist(), *listed.labels.values()])
            occurring = np.array(list(both), dtype=object)
        label = str(candidates.roles.label)
        given = pos_label
        if isinstance(pos_label, str):
            given = positive_label(pos_label, occurring, label)
        where = f"the label column {label!r}"
        positive_of_model(model.classes_, occurring, given, where=where)
        is_positive = np.array([each == given for each in candidates.classes.tolist()], dtype=int)
        candidates.rename_classes(model.classes_[is_positive])
        if listed is not None:
            names = model.classes_.tolist()
            labels = {group: names[each == given] for group, each in listed.labels.items()}
            listed = replace(listed, labels=labels)
    candidates.pos_label = model.classes_[1]
    return listed
