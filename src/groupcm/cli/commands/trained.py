"""What a model file says of the tables it is used on: columns, features, classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.fitting import tell_names
from groupcm.cli.commands.inputs import open_candidates
from groupcm.cli.commands.side_columns import AllGroups
from groupcm.cli.options.mistakes import mistakes_in_positive, positive_label
from groupcm.cli.output import Display
from groupcm.data.labels import positive_of_model
from groupcm.data.tables.formats import find_tables, is_parquet, open_table
from groupcm.errors import InputError
from groupcm.estimators.adapters import takes_missing
from groupcm.persistence.model_file import SavedModel
from groupcm.sources.parquet import list_column

__all__ = [
    "TrainedColumns",
    "features_of",
    "name_features",
    "name_of",
    "needed_column",
    "take_classes",
]


class TrainedColumns:
    """Which columns of tables mean what: as given, else as in training.

    Parameters
    ----------
    saved : SavedModel
    path : str
        Its file.
    group, label, patient : str or None
        Columns as given.
    features : sequence of str or None
        Feature columns as given, in the order of training.
    positive : str, optional
        The positive label of the tables, where their labels are others than the model's.
    """

    def __init__(
        self,
        saved: SavedModel,
        path: str,
        *,
        group: str | None,
        label: str | None,
        patient: str | None,
        features: Sequence[str] | None,
        positive: str | None = None,
    ) -> None:
        self.saved, self.path = saved, path
        self.group = needed_column(saved, path, "group", group)
        self.label = needed_column(saved, path, "label", label)
        self._given_patient = patient
        self._positive = positive
        self.features = features_of(saved, path, features)

    def open(
        self,
        tables: Sequence[str],
        display: Display,
        *,
        object: str | None = None,
        annotated: str | None = None,
    ) -> Candidates:
        """Open tables that have the model's features and groups of both its classes.

        The column ``annotated`` is that of training where none is given and all tables have it.
        """
        if annotated is None:
            annotated = self._noted_there("annotated", tables)
        return self._open(tables, display, object=object, annotated=annotated)

    def _noted_there(self, role: str, tables: Sequence[str]) -> str | None:
        noted = self._noted(role)
        is_there = (noted in open_table(file).schema.names for file in find_tables(tables))
        return noted if all(is_there) else None

    def open_training(self, tables: Sequence[str], display: Display) -> Candidates:
        """Open tables to train such a model again."""
        roles = ("overlap", "annotated", "object", "weight")
        noted = {role: self._noted(role) for role in roles}
        return self._open(tables, display, **noted)

    def _open(self, tables: Sequence[str], display: Display, **more: str | None) -> Candidates:
        files = find_tables(tables)
        _require_features(files, self.features, self.path)
        roles = {"group": self.group, "label": self.label, "patient": self._patient(files)}
        candidates = open_candidates(
            files,
            display,
            features=self.features,
            exclude=(),
            allow_missing=takes_missing(self.saved.model),
            allow_empty=False,
            **roles,
            **more,
        )
        name_features(self.saved.model, self.path, candidates.feature_names)
        take_classes(candidates, self.saved.model, self._positive, self.label)
        self._require_classes(candidates, name_of(tables))
        return candidates

    def _require_classes(self, candidates: Candidates, name: str) -> None:
        known = self.saved.model.classes_.tolist()
        unknown = [value for value in candidates.classes.tolist() if value not in known]
        if unknown:
            raise InputError(
                f"the label column {self.label!r} of {name} holds {unknown[0]!r}, which is not a "
                f"class of the model; it knows {' and '.join(map(repr, known))}"
            )
        is_positive = candidates.groups_with(known[-1])
        if is_positive.all() or not is_positive.any():
            found = "positive" if is_positive.all() else "negative"
            raise InputError(
                f"every group of {name} is {found} by its label column {self.label!r}; "
                "positive and negative groups are needed"
            )

    def patient(self, tables: Sequence[str]) -> str | None:
        """The column of patients: as given, else as in training, if these tables have it."""
        return self._patient(find_tables(tables))

    def _noted(self, role: str) -> str | None:
        return _noted_column(self.saved, role)

    def _patient(self, files: Sequence[Path]) -> str | None:
        """As given; else as in training, if these tables have such a column."""
        noted = self._noted("patient")
        if self._given_patient is not None or noted is None:
            return self._given_patient
        without = [file for file in files if noted not in open_table(file).schema.names]
        if not without:
            return noted
        warnings.warn(
            f"{without[0]} has no column {noted!r}, which told patients in training: intervals "
            "draw groups instead, and are too narrow where a patient has several.",
            UserWarning,
            stacklevel=2,
        )
        return None


def take_classes(
    candidates: Candidates,
    model: Any,
    positive: str | None,
    label: str,
    listed: AllGroups | None = None,
) -> AllGroups | None:
    """Let candidates have the classes of a model, of which ``positive`` names the positive one.

    Parameters
    ----------
    candidates : Candidates
    model : estimator
    positive : str or None
        The label of the candidates that means the model's positive class; where it is not given,
        their labels are the model's.
    label : str
        The column of the labels.
    listed : AllGroups, optional
        The list of all groups, whose labels are those of the candidates.

    Returns
    -------
    AllGroups or None
        The list, with the model's classes as its labels.
    """
    if len(model.classes_) != 2:
        if positive is not None:
            raise InputError(
                f"--positive is for two classes, and the model has {len(model.classes_)}; "
                "leave it out"
            )
        return listed
    occurring = candidates.classes
    if listed is not None:
        both = dict.fromkeys([*occurring.tolist(), *listed.labels.values()])
        occurring = np.array(list(both), dtype=object)
    given = positive_label(positive, occurring, label)
    if given is not None:
        with mistakes_in_positive():
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


def name_of(tables: Sequence[str | Path]) -> str:
    """What to call some tables in a sentence.

    Examples
    --------
    >>> name_of(["here/test.parquet"]), name_of(["a.csv", "b.csv"])
    ('test.parquet', '2 tables')
    """
    return Path(tables[0]).name if len(tables) == 1 else f"{len(tables)} tables"


def _noted_column(saved: SavedModel, role: str) -> str | None:
    return (saved.notes.get("columns") or {}).get(role)


def needed_column(saved: SavedModel, path: str, role: str, given: str | None) -> str:
    """The column of a role: as given, else as in training."""
    column = given or _noted_column(saved, role)
    if column is None:
        raise InputError(f"{path} does not say which column is the {role}; give --{role} COL")
    return column


def features_of(saved: SavedModel, path: str, given: Sequence[str] | None) -> list[str]:
    """The features in the model's order: as given, else by their names in training."""
    if given is not None:
        return list(given)
    names = getattr(saved.model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            f"{path} was trained without feature names; "
            "give them in the order of training with --features A,B"
        )
    return [str(name) for name in names]


def name_features(model: Any, path: str, names: Sequence[str]) -> None:
    """Let the model know its features by the names they have in the tables."""
    if len(names) != model.n_features_in_:
        raise InputError(
            f"{len(names)} features are named, and {path} was trained with {model.n_features_in_}"
        )
    tell_names(model, names)


def _require_features(files: Sequence[Path], features: Sequence[str], path: str) -> None:
    """Refuse tables that lack features of the model, naming all that are missing."""
    for file in files:
        table = open_table(file)
        missing = [name for name in features if name not in table.schema.names]
        if not missing or (is_parquet(file) and _is_list(file, features)):
            continue
        listed = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" * (len(missing) > 5))
        raise InputError(
            f"{file} lacks {len(missing)} of the {len(features)} features that {path} was trained "
            f"with: {listed}; give the table these columns, or name others with --features A,B"
        )


def _is_list(file: Path, features: Sequence[str]) -> bool:
    """Whether the features are the elements of one column of lists."""
    table = open_table(file)
    whole = features[0].rpartition("[")[0] or features[0]
    if whole not in table.schema.names:
        return False
    listed = list_column([table], set(), features)
    return listed is not None and table.schema.field(listed).type.list_size == len(features)
