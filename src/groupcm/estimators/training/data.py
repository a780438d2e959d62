"""The candidates of a fit, validated: `TrainingData`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.group_table import GroupTable, group_level, table_of_index
from groupcm.data.groups import GroupIndex
from groupcm.data.validation import require_finite, rows_with
from groupcm.errors import Argument, InputError
from groupcm.objective.grouping import RowWeights
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import NO_ORDER, Groups, Index
from groupcm.sources.rows.reader import SourceReader

__all__ = ["TrainingData"]


@dataclass(frozen=True)
class TrainingData:
    """Candidates, validated.

    Attributes
    ----------
    X : ndarray, CSR matrix or SourceReader
        The rows, as they are stored.
    y : ndarray
        The class of each row: one of ``labels``.
    labels, classes : ndarray
        How the classes are written in ``y``, and what the user calls them; two are in the order
        (negative, positive).
    groups : Groups or None
        None where every row is its own group.
    overlap : ndarray, object with ``[rows]``, or None
    names : ndarray or None
        Of the features.
    memory : int
        Bytes that may be used.
    objects : ndarray or None
        Which object of its group a row shows; looked at for positive rows only.
    annotated : ndarray of bool or None
        Whether it is annotated which candidates of the row's group are positive; the same for
        all rows of a positive group.
    weights : RowWeights or None
        ``sample_weight``, above 0 for every row: candidates of weight 0 are not among the rows.
    rows : ndarray or None
        Where candidates of weight 0 were left out, the number of each row in what was given.
    n_given : int
        How many candidates were given, where some were left out.
    """

    X: Any
    y: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]
    groups: Groups | None
    overlap: Any
    names: NDArray[Any] | None
    memory: int
    objects: NDArray[Any] | None = None
    annotated: NDArray[np.bool_] | None = None
    weights: RowWeights | None = None
    rows: Index | None = None
    n_given: int = 0

    @property
    def stream(self) -> SourceReader | None:
        """The stream, where the rows are not in memory."""
        return self.X if isinstance(self.X, SourceReader) else None

    @property
    def rows_in_memory(self) -> Matrix | None:
        """The rows, unless they must be read."""
        return None if isinstance(self.X, SourceReader) else self.X

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Features as they are stored, before any map."""
        return self.X.source.n_features if isinstance(self.X, SourceReader) else self.X.shape[1]

    def require_two_classes(self, reason: str = "") -> None:
        """Raise one sentence, with the reason where one is given, where there are more classes."""
        n_classes = len(self.classes)
        if n_classes > 2:
            # In scikit-learn's words, which its checks look for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"has {n_classes} classes{reason}; make one of them against the rest."
            )

    def against_rest(self, number: int) -> TrainingData:
        """Return the same candidates with two classes: whether they are of this one."""
        two = np.array([False, True])
        is_of_class = np.asarray(self.y == self.labels[number])
        return replace(self, y=is_of_class, labels=two, classes=two)

    def require_two_classes_in_memory(self, who_needs: str) -> None:
        """Raise one sentence where there are more classes, or rows that must be read."""
        self.require_two_classes()
        if self.stream is not None:
            raise InputError(
                f"{who_needs} all {self.n_rows:,} candidates in memory, and they do not fit; "
                "raise ",
                Argument("memory"),
                ", or train on fewer groups.",
            )

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Which rows are of the positive one of two classes."""
        return np.asarray(self.y == self.labels[1])

    def rows_of(self, number: int) -> Index:
        """Return the rows of a class."""
        return rows_with(self.y, self.labels[number])

    def unannotated_groups(self) -> Index:
        """Return the unannotated positive groups, in order (rows, where there are no groups)."""
        if self.annotated is None:
            return NO_ORDER
        positive = np.concatenate([self.rows_of(k) for k in range(1, len(self.classes))])
        return self.groups_of(positive[~self.annotated[positive]])

    def groups_of(self, rows: Index) -> Index:
        """Return the groups of these rows, in order (the rows, where there are no groups)."""
        if self.groups is None:
            return np.unique(rows)
        has_some = np.zeros(len(self.groups), dtype=np.bool_)  # quicker than to sort the numbers
        has_some[self.groups.of_rows(rows)] = True
        return np.flatnonzero(has_some)

    def group_table(self, patients: ArrayLike | None, ids: Any = None) -> GroupTable:
        """Return the label and the patient of each group of two classes.

        A group of two patients is refused, by its id where ``ids`` has one per row.
        """
        named = ids
        if self.stream is not None and self.groups is not None and ids is None:
            # Of many rows, no number per row.
            every = np.arange(len(self.groups))
            index = GroupIndex(every, self.groups.ptr[:-1], every, self.n_rows)
            return table_of_index(index, self.is_positive, patients)
        if ids is None or isinstance(ids, str):
            named = None if self.groups is None else self.groups.numbers()
        return group_level(self.is_positive, named, patients)

    def require_finite(self) -> None:
        """Name the first value that is not finite, if there is one."""
        if isinstance(self.X, SourceReader):
            self.X.source.require_finite()
        else:
            require_finite(self.X, self.names, self.rows)

    def as_given(self, rows: Index) -> Index:
        """Return the numbers of these rows in what the user gave."""
        return rows if self.rows is None else self.rows[rows]

    def left_of(self, values: Any) -> Any:
        """Return those of some values, one per candidate given, that belong to the rows."""
        return values if self.rows is None or values is None else np.asarray(values)[self.rows]

    def take(self, rows: Index) -> NDArray[np.floating]:
        """Return some rows, as they are stored."""
        return self.X.raw(rows) if isinstance(self.X, SourceReader) else self.X[rows]
