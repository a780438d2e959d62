"""Validation of labels, scores and groups, and the class and score of each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import GroupIndex, index_groups, no_groups, require_present
from groupcm.data.labels import order_classes

__all__ = [
    "Truth",
    "groups_of_rows",
    "positive_rows",
    "read_truth",
    "require_both_classes",
    "rows_and_groups",
    "valid_scores",
]


@dataclass(frozen=True)
class Truth:
    """The class and the score of every group: whether it is positive, and its winner's score.

    Attributes
    ----------
    is_positive : ndarray of bool
    scores : ndarray
    index : GroupIndex or None
        Which rows the groups came from; None where every row is a group.
    """

    is_positive: NDArray[np.bool_]
    scores: NDArray[Any]
    index: GroupIndex | None = None

    @cached_property
    def n_positive(self) -> int:
        return int(np.count_nonzero(self.is_positive))

    @property
    def n_negative(self) -> int:
        return len(self.is_positive) - self.n_positive


def read_truth(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    finite: bool = False,
) -> Truth:
    """Return the class and the largest score of every group; raise `ValueError` for invalid input.

    ``pos_label`` is the positive one of the two labels, by default the larger. ``finite`` rejects
    the score +inf, which is not a threshold; -inf is the score of a group without candidates.

    Examples
    --------
    >>> truth = read_truth([0, 1, 0], [0.5, 0.2, 0.9], ["a", "a", "b"])
    >>> truth.is_positive.tolist(), truth.scores.tolist()
    ([True, False], [0.5, 0.9])
    """
    if groups is None or no_groups(groups):
        is_positive = positive_rows(y, pos_label)
        return Truth(is_positive, valid_scores(scores, len(is_positive), finite=finite))
    is_positive, scores, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=finite
    )
    truth = Truth(index.maxima(is_positive), index.maxima(scores), index)
    require_both_classes(truth.is_positive, "group")
    return truth


def rows_and_groups(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    *,
    pos_label: Any = None,
    finite: bool = False,
) -> tuple[NDArray[np.bool_], NDArray[Any], GroupIndex]:
    """Return the class and the score of every candidate, and the index of their groups.

    Examples
    --------
    >>> rows_and_groups([0, 1], [0.5, 0.2], ["a", "a"])[0].tolist()
    [False, True]
    """
    is_positive = positive_rows(y, pos_label)
    scores = valid_scores(scores, len(is_positive), finite=finite)
    return is_positive, scores, groups_of_rows(groups, len(is_positive))


def groups_of_rows(groups: ArrayLike, n_rows: int) -> GroupIndex:
    """Index the groups of so many rows; raise where their numbers differ.

    Examples
    --------
    >>> groups_of_rows(["a", "a", "b"], 3).n_groups
    2
    """
    index = index_groups(np.arange(n_rows) if no_groups(groups) else groups)
    if index.n_rows != n_rows:
        raise ValueError(
            f"y has {n_rows} rows but groups has {index.n_rows}; both need one value per candidate."
        )
    return index


def positive_rows(y: ArrayLike, pos_label: Any = None) -> NDArray[np.bool_]:
    """Return which rows have ``pos_label``, by default the larger of two labels.

    Numbers are not sorted. Two texts without ``pos_label`` are a guess, with a
    `groupcm.errors.PositiveLabelWarning`.

    Examples
    --------
    >>> positive_rows(["cancer", "healthy"], "cancer").tolist()
    [True, False]
    """
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"y must hold one label per candidate, at least one; got shape {y.shape}.")
    require_present(y, "y has no label at row {}; every candidate needs one.")
    labels = np.array([y.min(), y.max()]) if y.dtype.kind in "biuf" else np.unique(y)
    if len(labels) > 2 or not np.all((y == labels[0]) | (y == labels[-1])):
        raise ValueError("y holds more than two labels; these metrics need exactly two.")
    if labels[0] == labels[-1]:
        raise ValueError(f"y holds only the label {labels[0]!s}; these metrics need both classes.")
    return np.asarray(y == order_classes(labels, pos_label)[-1])


def valid_scores(scores: ArrayLike, n_rows: int, *, finite: bool = False) -> NDArray[Any]:
    """Return one number per candidate; raise where one is NaN.

    Examples
    --------
    >>> valid_scores([1.0, 2.0], 2).tolist()
    [1.0, 2.0]
    """
    scores = np.asarray(scores)
    if scores.shape != (n_rows,):
        raise ValueError(
            f"scores must hold one number per candidate, shape ({n_rows},) to match y; "
            f"got shape {scores.shape}."
        )
    if scores.dtype == bool:
        scores = scores.astype(np.int8)
    if scores.dtype.kind not in "iuf":
        scores = _as_numbers(scores)
    require_present(scores, "scores is NaN at row {}; every candidate needs a number.")
    if finite and scores.dtype.kind == "f" and np.isposinf(scores).any():
        raise ValueError(
            f"scores is infinite at row {np.argmax(np.isposinf(scores))}; "
            "a threshold needs finite scores (or -inf for a group without candidates)."
        )
    return scores


def require_both_classes(is_positive: NDArray[np.bool_], unit: str) -> None:
    """Raise `ValueError` where every group, or candidate, is of one class.

    Examples
    --------
    >>> require_both_classes(np.array([True, False]), "group")
    """
    if is_positive.all() or not is_positive.any():
        found = "positive" if is_positive[0] else "negative"
        raise ValueError(
            f"every {unit} is {found}; at least one positive and one negative {unit} are needed."
        )


def _as_numbers(scores: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return scores.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"scores must hold one number per candidate; got values such as {scores[0]!r}."
        ) from None
