"""The results of the functions of `groupcm.datasets`: a table of candidates, or pictures."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations import Annotations
from groupcm.errors import Argument, ParameterError

__all__ = ["GroupDataset", "PictureDataset"]

_PER_CANDIDATE = ("X", "y", "groups", "overlap", "patients", "folds")


@dataclass(frozen=True, eq=False, repr=False)
class GroupDataset:
    """Candidates in groups, with one label per candidate.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The features of each candidate.
    y : ndarray of shape (n,)
        1 for a candidate that is the object searched for, 0 otherwise.
    groups : ndarray of shape (n,)
        The group of each candidate; the candidates of a group are contiguous.
    overlap : ndarray of shape (n,), or None
        How well each candidate fits the annotation.
    patients : ndarray of shape (n,), or None
        What must not be divided between training and test: the patient of each candidate.
    folds : ndarray of shape (n,), or None
        The part of the data, as supplied with them, that each candidate belongs to: the number of
        a fold, or the name of a split.
    feature_names : list of str
        The names of the columns of ``X``.
    licence : str
        The terms of use of the data, with the reference to cite.
    description : str
        What groups, candidates and features are, and where the data come from.
    name : str
        A short name of the data.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.datasets import load_capsule
    >>> data = load_capsule()
    >>> data
    <GroupDataset capsule: 17,857 candidates in 120 groups, 30 of them positive; 13 features>
    >>> model = GroupClassifier().fit(**data.fit_arguments())
    """

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any]
    overlap: NDArray[Any] | None
    patients: NDArray[Any] | None
    folds: NDArray[Any] | None
    feature_names: list[str]
    licence: str
    description: str
    name: str

    def __post_init__(self) -> None:
        for name in _PER_CANDIDATE:
            values = getattr(self, name)
            if values is not None and values.shape[0] != len(self.y):
                raise ParameterError(
                    Argument(name), f" has {values.shape[0]} rows; y has {len(self.y)}."
                )

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, name: str) -> Any:
        """Return a field by its name, as from a dictionary."""
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> list[str]:
        """Return the names of the fields."""
        return [field.name for field in fields(self)]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(np.unique(self.groups))

    @property
    def n_positive_groups(self) -> int:
        """Number of groups with a positive candidate."""
        return len(np.unique(self.groups[self.y == 1]))

    def __repr__(self) -> str:
        return (
            f"<GroupDataset {self.name}: {len(self):,} candidates in {self.n_groups:,} groups, "
            f"{self.n_positive_groups:,} of them positive; {self.X.shape[1]:,} features>"
        )

    def fit_arguments(self) -> dict[str, Any]:
        """Return ``X``, ``y``, ``groups`` and ``overlap``, for ``model.fit(**…)``.

        Examples
        --------
        >>> from groupcm.datasets import load_digit_groups
        >>> list(load_digit_groups().fit_arguments())
        ['X', 'y', 'groups']
        """
        arguments = {"X": self.X, "y": self.y, "groups": self.groups}
        return arguments if self.overlap is None else arguments | {"overlap": self.overlap}

    def rows(self, which: ArrayLike) -> GroupDataset:
        """Return the dataset of some candidates, by a Boolean array or by row numbers.

        Examples
        --------
        >>> from groupcm.datasets import load_digit_groups
        >>> data = load_digit_groups()
        >>> data.rows(data.folds == 0)
        <GroupDataset digit_groups: 329 candidates in 30 groups, 10 of them positive; 64 features>
        """
        chosen = np.asarray(which)
        values = {name: getattr(self, name) for name in _PER_CANDIDATE}
        return replace(self, **{k: v[chosen] for k, v in values.items() if v is not None})


@dataclass(frozen=True, eq=False, repr=False)
class PictureDataset:
    """Pictures with annotated objects; `groupcm.images.propose_folder` finds the candidates.

    Attributes
    ----------
    folder : Path
        The folder of pictures.
    annotations : Annotations
        The pictures of the dataset, with their objects. ``extra`` of each picture contains its
        ``patient``, which `groupcm.images.propose_folder` writes to the table of candidates.
    patients : ndarray of str, or None
        What must not be divided between training and test, one value per picture, in the order of
        ``annotations``.
    folds : ndarray of str, or None
        The split of each picture, as supplied with the data.
    licence, description, name : str
        As for `GroupDataset`.

    Examples
    --------
    >>> from groupcm.datasets import fetch_magnetic_tiles
    >>> from groupcm.images import propose_folder
    >>> data = fetch_magnetic_tiles()  # doctest: +SKIP
    >>> propose_folder(  # doctest: +SKIP
    ...     data.folder, "candidates.parquet", annotations=data.annotations
    ... )
    """

    folder: Path
    annotations: Annotations
    patients: NDArray[np.str_] | None
    folds: NDArray[np.str_] | None
    licence: str
    description: str
    name: str

    def __len__(self) -> int:
        return len(self.annotations)

    @property
    def n_positive(self) -> int:
        """Number of pictures with an object."""
        return sum(picture.is_positive for picture in self.annotations)

    def __repr__(self) -> str:
        n_objects = sum(1 for _ in self.annotations.objects())
        return (
            f"<PictureDataset {self.name}: {len(self):,} pictures, {self.n_positive:,} of them "
            f"positive; {n_objects:,} objects>"
        )
