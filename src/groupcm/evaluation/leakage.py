"""Features that look like labels: by their names, or because one alone separates the candidates.

A table often holds labels of other tasks next to the one that is learnt, and a fit takes every
column that is not named otherwise as a feature. What gives the answer away makes a model look
perfect, and is not there when it is used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from groupcm.errors import LeakageWarning
from groupcm.words import listed

__all__ = ["label_siblings", "rows_to_check", "separating_features", "warn_of_leakage"]

# What begins, or ends, the name of a label whatever the others are called.
_ALWAYS = {"label", "labels", "target", "targets", "truth", "groundtruth", "gt"}
# What does so where the label's own name begins, or ends, with it.
_LIKE_THE_LABEL = _ALWAYS | {"y", "is", "has", "class", "outcome", "diagnosis"}

_LARGEST_AREA = 0.99
_FEWEST_ROWS = 10
_MOST_ROWS = 2_000
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


def rows_to_check(labels: NDArray[Any], n_features: int) -> NDArray[np.intp]:
    """Return some rows of every class, evenly spread, in ascending order.

    Examples
    --------
    >>> rows_to_check(np.array([0, 1, 0, 1]), 3).tolist()
    [0, 1, 2, 3]
    """
    classes = np.unique(labels)[:_MOST_CLASSES]
    most = min(_MOST_ROWS, max(1, _MOST_VALUES // (n_features * len(classes))))
    rows = []
    for value in classes:
        of_class = np.flatnonzero(labels == value)
        spread = np.linspace(0, len(of_class) - 1, min(len(of_class), most))
        rows.append(of_class[np.unique(spread.astype(np.intp))])
    return np.sort(np.concatenate(rows))


def separating_features(
    X: NDArray[np.floating], labels: NDArray[Any], names: Sequence[str]
) -> list[tuple[str, float]]:
    """Return the features whose values alone have a candidate AUC above 0.99, and that AUC.

    Of more than two classes each is one against the rest. An AUC below one half counts as its
    mirror image. Fewer than ten rows of a class, or of the others, say too little.

    Examples
    --------
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([1.0 - y, np.arange(40.0)])
    >>> separating_features(X, y, ["other_label", "size"])
    [('other_label', 1.0)]
    """
    classes = np.unique(labels)
    found = []
    for j, name in enumerate(names):
        known = np.isfinite(X[:, j])
        areas = [
            _area(X[known, j], labels[known] == value)
            for value in (classes[1:] if len(classes) == 2 else classes[:_MOST_CLASSES])
        ]
        if (largest := max(areas, default=0.5)) > _LARGEST_AREA:
            found.append((name, largest))
    return found


def _area(values: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> float:
    n_positive = int(np.count_nonzero(is_positive))
    n_negative = len(values) - n_positive
    if min(n_positive, n_negative) < _FEWEST_ROWS:
        return 0.5
    ranks = float(rankdata(values)[is_positive].sum())
    area = (ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)
    return max(area, 1.0 - area)


def warn_of_leakage(
    label: str, X: NDArray[np.floating], labels: NDArray[Any], names: Sequence[str]
) -> None:
    """Warn, in one sentence, of features that look like labels, and say how to leave them out.

    Parameters
    ----------
    label : str
        The name of the label column.
    X : ndarray of shape (n, d)
        Some rows; see `rows_to_check`.
    labels : ndarray of shape (n,)
    names : sequence of str
        The features.
    """
    siblings, separating = label_siblings(label, names), separating_features(X, labels, names)
    reasons = []
    if siblings:
        is_like = "is named like a label" if len(siblings) == 1 else "are named like labels"
        reasons.append(f"{_named(siblings)} {is_like}")
    if separating:
        area = max(area for _, area in separating)
        by_itself = "separates" if len(separating) == 1 else "each separate"
        reasons.append(
            f"{_named([name for name, _ in separating])} {by_itself} the candidates without the "
            f"others (AUC {area:.3f})"
        )
    if not reasons:
        return
    both = list(dict.fromkeys([*siblings, *(name for name, _ in separating)]))
    option = ",".join(both[:_MOST_NAMES]) + (",…" if len(both) > _MOST_NAMES else "")
    warnings.warn(
        f"of the features, {', and '.join(reasons)}; leave out with --exclude {option} what is "
        "not known when the model is used.",
        LeakageWarning,
        stacklevel=2,
    )


def _named(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:_MOST_NAMES]]
    return listed(shown + [f"{len(names) - _MOST_NAMES} more"] * (len(names) > _MOST_NAMES))
