"""Label leakage: features that are named like labels, or that alone separate the classes.

A table often holds labels of other tasks next to the one to learn, and a fit takes every column
without a role as a feature. A feature that reveals the label makes a model look perfect, and is not
available when the model is used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from groupcm.data.groups import GroupIndex
from groupcm.errors import Argument, LeakageWarning
from groupcm.utils.text import listed

__all__ = [
    "RowsToCheck",
    "label_siblings",
    "patient_columns",
    "rows_to_check",
    "separating_features",
    "separating_groups",
    "warn_of_leakage",
    "warn_of_patients",
]

# Words that begin or end the name of a label.
_ALWAYS = {"label", "labels", "target", "targets", "truth", "groundtruth", "gt"}
# Words that do so where the label's own name begins or ends with the same word.
_LIKE_THE_LABEL = _ALWAYS | {"y", "is", "has", "class", "outcome", "diagnosis"}

# Names of a column that identifies patients.
_PATIENT = re.compile(
    r"(id|number|no|nr)?[\W_]*(patient|subject|participant|person|case)s?[\W_]*"
    r"(id|ids|uid|key|code|number|num|no|nr|name|index)?",
    re.IGNORECASE,
)

_LARGEST_AREA = 0.99
_FEWEST_ROWS = 10
_MOST_ROWS = 2_000
# The largest numbers of groups of a class, and of rows of each, that are checked.
_MOST_GROUPS, _MOST_ROWS_OF_GROUP = 200, 10
_MOST_VALUES = 4_000_000
_MOST_CLASSES = 10
_MOST_NAMES = 5


def label_siblings(label: str, features: Sequence[str]) -> list[str]:
    """Return the features that are named like the label column, or like any label.

    Examples
    --------
    >>> label_siblings("label_polyp", ["size", "label_bleeding", "target"])
    ['label_bleeding', 'target']
    >>> label_siblings("y_a", ["y_b", "x_b"]), label_siblings("polyp", ["y_b", "is_round"])
    (['y_b'], [])
    >>> label_siblings("is_polyp", ["is_adenoma", "island"])
    ['is_adenoma']
    """
    first, last = _ends(label)
    is_like = {word for word in (first, last) if word in _LIKE_THE_LABEL}
    return [name for name in features if not (is_like | _ALWAYS).isdisjoint(_ends(name))]


def _ends(name: str) -> tuple[str, str]:
    """Return the first and the last word of a name, in lower case."""
    words = [word for word in re.split(r"[^a-zA-Z0-9]+", name) if word] or [""]
    return words[0].lower(), words[-1].lower()


@dataclass(frozen=True)
class RowsToCheck:
    """The rows of a table in which features are compared with labels.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their positions, in ascending order.
    labels : ndarray of shape (n,)
    group : ndarray of int of shape (n,)
        The number of each row's group.
    holds : ndarray of bool of shape (n, n_classes)
        Whether any row of the group, checked or not, has each of the labels.
    is_of_class, is_of_group : ndarray of bool of shape (n,)
        The rows that represent their class, and those that represent their group.
    """

    rows: NDArray[np.intp]
    labels: NDArray[Any]
    group: NDArray[np.intp]
    holds: NDArray[np.bool_]
    is_of_class: NDArray[np.bool_]
    is_of_group: NDArray[np.bool_]


def rows_to_check(
    labels: NDArray[Any],
    groups: GroupIndex,
    n_features: int,
    within: NDArray[np.intp] | None = None,
) -> RowsToCheck:
    """Sample evenly spread rows of every class, and of groups with and without it.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    groups : GroupIndex
        The group of each row.
    n_features : int
        With many features, fewer rows are sampled.
    within : ndarray of int, optional
        The rows to choose from, in ascending order; by default all.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> found = rows_to_check(np.array([0, 1, 0, 1]), index_groups(["a", "a", "b", "b"]), 3)
    >>> found.rows.tolist(), found.holds.tolist()[0]
    ([0, 1, 2, 3], [True, True])
    """
    within = np.arange(len(labels)) if within is None else within
    classes = np.unique(labels)[:_MOST_CLASSES]
    most = min(_MOST_ROWS, max(1, _MOST_VALUES // (n_features * len(classes))))
    of_class = [within[_some(np.flatnonzero(labels[within] == c), most)] for c in classes]
    holds = np.stack([groups.maxima(labels == value) for value in classes], axis=1)
    codes = groups.codes
    present = np.unique(codes[within])
    chosen = np.unique(
        np.concatenate(
            [
                present[_some(np.flatnonzero(holds[present, k] == has), _MOST_GROUPS)]
                for k in range(len(classes))
                for has in (False, True)
            ]
        )
    )
    most = max(1, min(_MOST_ROWS_OF_GROUP, _MOST_VALUES // (n_features * len(chosen))))
    of_groups = _rows_of_groups(codes, within[np.isin(codes[within], chosen)], most)
    rows = np.unique(np.concatenate([*of_class, of_groups]))
    return RowsToCheck(
        rows,
        labels[rows],
        codes[rows],
        holds[codes[rows]],
        np.isin(rows, np.concatenate(of_class)),
        np.isin(rows, of_groups),
    )


def _some(values: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most so many of the values, evenly spread."""
    spread = np.linspace(0, len(values) - 1, min(len(values), most))
    return values[np.unique(spread.astype(np.intp))]


def _rows_of_groups(codes: NDArray[np.intp], rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most so many rows of each group, evenly spread, whatever their labels."""
    rows = rows[np.argsort(codes[rows], kind="stable")]
    _, start, size = np.unique(codes[rows], return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(start, size)
    size = np.repeat(size, size)
    return rows[(place + 1) * most // size > place * most // size]


def separating_features(
    X: NDArray[np.floating], labels: NDArray[Any], names: Sequence[str]
) -> list[tuple[str, float]]:
    """Return the features whose values alone have a candidate AUC above 0.99, and that AUC.

    Of more than two classes each is one against the rest. An AUC below one half counts as its
    mirror image. Fewer than ten rows of a class, or of the others, are too few.

    Examples
    --------
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([1.0 - y, np.arange(40.0)])
    >>> separating_features(X, y, ["other_label", "size"])
    [('other_label', 1.0)]
    """
    classes = np.unique(labels)
    classes = classes[1:] if len(classes) == 2 else classes[:_MOST_CLASSES]
    return _separating([X], labels[:, None] == classes, names)


def separating_groups(
    X: NDArray[np.floating],
    group: NDArray[np.intp],
    holds: NDArray[np.bool_],
    names: Sequence[str],
) -> list[tuple[str, float]]:
    """Return the features whose largest or smallest value separates groups, and the AUC.

    For each class, the groups that hold it are compared with the others, as `separating_features`
    compares candidates.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    group : ndarray of int of shape (n,)
    holds : ndarray of bool of shape (n, n_classes)
        Whether the group of each row holds each class.
    names : sequence of str

    Examples
    --------
    >>> group = np.repeat(np.arange(30), 2)
    >>> X = np.column_stack([group % 3, np.arange(60.0)])
    >>> holds = (group % 3 == 2)[:, None]
    >>> separating_groups(X, group, holds, ["frame_has_polyp", "size"])
    [('frame_has_polyp', 1.0)]
    """
    order = np.argsort(group, kind="stable")
    X, holds = X[order], holds[order]
    _, start = np.unique(group[order], return_index=True)
    known = np.isfinite(X)
    high = np.maximum.reduceat(np.where(known, X, -np.inf), start)
    low = np.minimum.reduceat(np.where(known, X, np.inf), start)
    return _separating([high, low], holds[start], names)


def _separating(
    tables: Sequence[NDArray[np.floating]], classes: NDArray[np.bool_], names: Sequence[str]
) -> list[tuple[str, float]]:
    """Return the features that separate a class in any of the tables, with the largest AUC."""
    found = []
    for j, name in enumerate(names):
        known = np.isfinite(tables[0][:, j])
        areas = [_area(X[known, j], of_class[known]) for X in tables for of_class in classes.T]
        if (largest := max(areas, default=0.5)) > _LARGEST_AREA:
            found.append((name, largest))
    return found


def patient_columns(features: Sequence[str]) -> list[str]:
    """Return the features that are named like an id of patients.

    Examples
    --------
    >>> patient_columns(["Patient ID", "subject", "patient_age", "case_no", "staircase"])
    ['Patient ID', 'subject', 'case_no']
    """
    return [name for name in features if _PATIENT.fullmatch(name.strip())]


def _area(values: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> float:
    n_positive = int(np.count_nonzero(is_positive))
    n_negative = len(values) - n_positive
    if min(n_positive, n_negative) < _FEWEST_ROWS:
        return 0.5
    ranks = float(rankdata(values)[is_positive].sum())
    area = (ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)
    return max(area, 1.0 - area)


def warn_of_leakage(
    label: str,
    X: NDArray[np.floating],
    found: RowsToCheck,
    names: Sequence[str],
    measured: Collection[str] = (),
) -> None:
    """Warn of features that look like labels, and name the argument that leaves them out.

    Parameters
    ----------
    label : str
        The name of the label column.
    X : ndarray of shape (n, d)
        The rows to check.
    found : RowsToCheck
    names : sequence of str
        The features.
    measured : collection of str
        The features that are known to be measurements of pictures, and are not checked.
    """
    checked = [j for j, name in enumerate(names) if name not in measured]
    names = [names[j] for j in checked]
    X = X if len(checked) == X.shape[1] else X[:, checked]
    reasons, named = [], label_siblings(label, names)
    if named:
        is_like = "is named like a label" if len(named) == 1 else "are named like labels"
        reasons.append(f"{_named(named)} {is_like}")
    separate: list[str] = []
    for what, separating in _separations(X, found, names):
        new = [(name, area) for name, area in separating if name not in separate]
        if new:
            separate += [name for name, _ in new]
            by_itself = "separates" if len(new) == 1 else "each separate"
            reasons.append(
                f"{_named([name for name, _ in new])} {by_itself} {what} "
                f"(AUC {max(area for _, area in new):.3f})"
            )
    if not reasons:
        return
    both = list(dict.fromkeys([*named, *separate]))
    warning = LeakageWarning(
        f"of the features, {', and '.join(reasons)}; leave out with ",
        *_excluding(both),
        " what is not known when the model is used.",
    )
    warnings.warn(warning, stacklevel=2)


def _separations(
    X: NDArray[np.floating], found: RowsToCheck, names: Sequence[str]
) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return what is separated, in words, and by which features: by values or missing values."""
    some, whole = found.is_of_class, found.is_of_group
    labels, group, holds = found.labels[some], found.group[whole], found.holds[whole]
    missing = ~np.isfinite(X)
    gaps = np.flatnonzero(missing.any(axis=0))
    missing = missing[:, gaps].astype(np.float32)
    with_gaps = [names[j] for j in gaps.tolist()]
    by_gaps = "by where its values are missing"
    return [
        ("the candidates without the others", separating_features(X[some], labels, names)),
        (f"the candidates {by_gaps}", separating_features(missing[some], labels, with_gaps)),
        ("the groups without the others", separating_groups(X[whole], group, holds, names)),
        (f"the groups {by_gaps}", separating_groups(missing[whole], group, holds, with_gaps)),
    ]


def warn_of_patients(names: Sequence[str], patient: str | None) -> None:
    """Warn of features that are named like patients, which folds would split.

    Parameters
    ----------
    names : sequence of str
        The features.
    patient : str or None
        The column of patients, where one is given.
    """
    found = patient_columns(names)
    if not found:
        return
    is_like = "is named like a patient" if len(found) == 1 else "are named like patients"
    remedy = ["leave out with ", *_excluding(found), " the columns that identify patients"]
    if patient is None:
        remedy = [
            "name the column of patients with ",
            Argument("patient", found[0]),
            ", so that no fold splits one, or leave it out with ",
            *_excluding(found),
        ]
    warning = LeakageWarning(f"of the features, {_named(found)} {is_like}; ", *remedy, ".")
    warnings.warn(warning, stacklevel=2)


def _excluding(names: Sequence[str]) -> list[object]:
    return [Argument("exclude", list(names[:_MOST_NAMES])), *[",…"] * (len(names) > _MOST_NAMES)]


def _named(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:_MOST_NAMES]]
    return listed(shown + [f"{len(names) - _MOST_NAMES} more"] * (len(names) > _MOST_NAMES))
