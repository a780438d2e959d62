"""Models compared on tables of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupcm.data.labels import order_classes
from groupcm.data.tables.roles import ColumnRoles, described
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.level_columns import (
    check_level_columns,
    columns_to_exclude,
    patient_column,
    read_level_columns,
    require_nested_columns,
)
from groupcm.evaluation.comparison.compare_models import chosen_contenders, compare_models
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import DEFAULT_NAMES
from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.sources.candidates import Candidates, InMemoryCandidates
from groupcm.sources.tables import DESCRIBED, Tables, listed_tables, read_with_roles
from groupcm.utils.progress import announce_stage
from groupcm.utils.text import listed

__all__ = ["LabelledTables", "compare_tables", "read_labelled"]


class LabelledTables:
    """Candidates of two classes in memory; made by `read_labelled`.

    Parameters
    ----------
    candidates : InMemoryCandidates
        Its positive label is known.
    levels : mapping of str to str, optional
        The column of each level above the group.
    """

    def __init__(
        self, candidates: InMemoryCandidates, levels: Mapping[str, str] | None = None
    ) -> None:
        self.candidates = candidates
        self.levels = levels or {}

    @property
    def labels(self) -> tuple[Any, Any]:
        """The negative and the positive label."""
        classes = order_classes(self.candidates.classes, self.candidates.pos_label)
        negative, positive = classes.tolist()
        return negative, positive

    @property
    def name(self) -> str:
        """What a report calls the tables."""
        names = [file.name for file in self.candidates.files]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    def arguments(self) -> dict[str, Any]:
        """Return what `groupcm.evaluation.compare_models` takes.

        Those are ``X``, ``y``, ``groups``, ``overlap``, ``patients``, ``annotated``, ``objects``
        and ``pos_label``; None for what is not known.
        """
        candidates, table = self.candidates, self.candidates.table
        candidates.pos_label = self.labels[1]
        marks = candidates.annotation()
        return {
            "X": candidates.X,
            "y": candidates.labels,
            "groups": table.group.per_row(),
            "overlap": table.overlap,
            "patients": None if table.patient is None else table.patient.per_row(),
            "annotated": marks.get("annotated"),
            "objects": marks.get("objects"),
            "pos_label": candidates.pos_label,
        }


def read_labelled(
    tables: Tables,
    roles: ColumnRoles,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    pos_label: Any = None,
    levels: Mapping[str, str] | None = None,
    purpose: str = "a comparison",
) -> LabelledTables:
    """Read tables of two classes into memory, and warn of features that give the label away.

    Parameters
    ----------
    tables : path, or sequence of paths
        Files and folders; see `groupcm.sources.read_candidates`.
    roles : ColumnRoles
        The columns that are not features; those that the tables describe need not be named.
    features, exclude : sequence of str, optional
        The feature columns, and those to leave out. Missing values become NaN.
    pos_label : label, optional
        The positive one of the two labels; a number can be given as text. By default the larger.
    levels : mapping of str to str, optional
        The column of each level above the group, from the lowest to the highest; the highest takes
        the place of patients where ``roles`` names none.
    purpose : str
        What needs two classes, for an error message.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.1\\nb,0,1.2\\n")
    >>> found = read_labelled(path, ColumnRoles("frame", "polyp"))
    >>> found.name, found.arguments()["groups"].tolist()
    ('frames.csv', ['a', 'a', 'b', 'b'])
    """
    about = described(listed_tables(tables))
    units = check_level_columns(levels, tables, roles)
    roles = replace(roles, patient=patient_column(roles.patient, units))
    roles = roles.filled_in(about, DESCRIBED)
    roles.require(["group", "label"], listed_tables(tables)[0], about)
    candidates = read_with_roles(
        tables,
        roles,
        about,
        features=features,
        exclude=[*exclude, *columns_to_exclude(units, roles)],
        in_memory=True,
        allow_missing=True,
    )
    assert isinstance(candidates, InMemoryCandidates)
    require_nested_columns(
        candidates.files, units, candidates.group_index, candidates.patient_index
    )
    candidates.warn_of_leakage()
    _require_two_classes(candidates, purpose)
    candidates.name_positive(pos_label)
    return LabelledTables(candidates, units)


def compare_tables(
    tables: Tables,
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
    models: Sequence[str | Contender] = DEFAULT_NAMES,
    cv: int = 5,
    n_settings: int = 10,
    max_negatives: int | None = 100_000,
    random_state: int = 0,
    title: str | None = None,
    unit: str = "group",
    levels: Mapping[str, str] | None = None,
    **options: Any,
) -> ModelComparison:
    """Compare models on tables of candidates; ``groupcm compare`` calls this function.

    Parameters
    ----------
    tables : path, or sequence of paths
        Files and folders, which are read into memory; see `groupcm.sources.read_candidates`.
    group, label, overlap, patient, annotated, object, weight : str, optional
        The column of each role; see `groupcm.data.tables.roles.ColumnRoles`. Those that the tables
        describe need not be named.
    features, exclude : sequence of str, optional
        The feature columns, and those to leave out.
    pos_label : label, optional
        The positive one of the two labels; a number can be given as text. By default the larger.
    models, cv, n_settings, max_negatives, random_state
        See `groupcm.evaluation.compare_models`.
    title : str, optional
        The title of the report.
    unit : str, default="group"
        The word for a group in the report, such as "frame".
    levels : mapping of str to str, optional
        The column of each level above the group, from the lowest to the highest. They are not
        features, folds split no unit of the highest, and the models are compared at every level.
    **options
        More options of `groupcm.evaluation.compare_models`, such as ``learning``, ``aggregate``
        and ``k``.

    Returns
    -------
    ModelComparison
        `groupcm.report.save.save_comparison` writes it as a report.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm.simulate import capsule_to_parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> _ = capsule_to_parquet(path, 60, n_positive=20, group_size=10)
    >>> columns = {"group": "frame", "label": "label", "overlap": "overlap"}
    >>> others = ["polyp", "patient"]
    >>> few = {"cv": 2, "n_settings": 2, "learning": False, "n_resamples": 50}
    >>> found = compare_tables(path, **columns, exclude=others, models=["svm", "gcm"], **few)
    >>> [model.name for model in found.models], found.labels
    (['SVM', 'GCM'], (0, 1))
    """
    if cv < 2:
        raise ParameterError(Argument("cv"), f" must be at least 2; got {cv}.")
    # Before the tables are read, which may take long.
    chosen = chosen_contenders(models, n_settings, max_negatives, random_state)
    roles = ColumnRoles(group, label, overlap, patient, annotated, object, weight)
    data = read_labelled(
        tables, roles, features=features, exclude=exclude, pos_label=pos_label, levels=levels
    )
    _require_complete(data.candidates, chosen)
    found = compare_models(
        **data.arguments(),
        models=chosen,
        cv=cv,
        random_state=random_state,
        title=title or f"Models compared on {data.name}",
        unit=unit,
        data_name=data.name,
        progress=announce_stage,
        levels=read_level_columns(data.candidates.files, data.levels),
        **options,
    )
    return replace(found, labels=data.labels)


def _require_two_classes(candidates: Candidates, purpose: str) -> None:
    classes, label = candidates.classes, candidates.roles.label
    if len(classes) == 1:
        raise InputError(
            f"the label column {label!r} holds {classes[0]} in every row; "
            f"{purpose} needs two classes"
        )
    if len(classes) > 2:
        shown = ", ".join(map(str, classes[:3])) + (", …" if len(classes) > 3 else "")
        raise InputError(
            f"the label column {label!r} holds {len(classes)} classes ({shown}); {purpose} "
            "needs two: make a column of one of them against the rest"
        )


def _require_complete(candidates: Candidates, models: Sequence[Contender]) -> None:
    """Refuse missing values unless every model takes them."""
    refusing = [model.name for model in models if not model.takes_missing]
    if refusing:
        candidates.require_complete(
            f"{listed(refusing)} {'needs' if len(refusing) == 1 else 'need'}",
            "fill the values in, or compare only models of trees, which take them: trees, "
            "lightgbm and xgboost",
        )
