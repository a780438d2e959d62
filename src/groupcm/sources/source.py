"""Where candidates come from: units of rows that are read one at a time.

A pass is a map over the units and a reduction. A source knows how many rows
each unit has and runs a job on a unit's rows where they are: in a thread of
this process, or in another process that holds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index
from groupcm.errors import InputError
from groupcm.sources.chunk import Chunk
from groupcm.sources.index import CandidateIndex

__all__ = ["Columns", "Job", "Source"]

Result = TypeVar("Result")
# A job may be sent to another process: it is a picklable callable.
Job = Callable[[Chunk], Result]


@dataclass(frozen=True)
class Columns:
    """Which columns a job needs."""

    features: bool = False
    group: bool = False
    label: bool = False
    overlap: bool = False


class Source(ABC):
    """Candidates in units of rows, the rows of a group together.

    Attributes
    ----------
    feature_names : list of str or None
    n_features : int
    dtype : dtype
        float32 or float64: the type every feature is read as.
    memory : int or None
        How many bytes a fit may use, where the user has set it.
    """

    feature_names: list[str] | None
    n_features: int
    dtype: np.dtype[Any]
    memory: int | None = None
    # Whether all rows may be brought into this process where they fit, and which share of
    # them may be where they do not.
    loads_whole: bool = True
    sample_share: float = 0.1
    # Whether single rows can be read without decoding those around them.
    reads_single_rows: bool = False

    @property
    @abstractmethod
    def unit_ptr(self) -> Index:
        """Unit ``u`` holds rows ``unit_ptr[u]`` to ``unit_ptr[u + 1]``."""

    @abstractmethod
    def run(
        self, jobs: Iterable[tuple[int, Job[Result]]], columns: Columns
    ) -> Iterator[tuple[int, list[Result]]]:
        """Run each job on its unit; yield the unit and its results, one a chunk, in order.

        Several run at once; no more are under way than can be held in memory.
        """

    @abstractmethod
    def index(self) -> CandidateIndex:
        """Which rows are which group's and of which class; read once and kept."""

    @abstractmethod
    def overlap_of(self, rows: Index) -> NDArray[np.floating] | None:
        """How well each of these rows fits its annotation; None without such a column."""

    @abstractmethod
    def where(self, row: int) -> str:
        """Say in words where a row is, such as ``row 7 of frames.parquet``."""

    @abstractmethod
    def sort_advice(self) -> str:
        """Say how to bring the rows of each group together."""

    def apart(self, group: Any, row: int, again: int) -> InputError:
        """The error for a group that is found again after it ended."""
        return InputError(
            f"the rows of group {group!s} do not stand together: {self.where(row)} and "
            f"{self.where(again)} (counted from 0) hold it, with other groups between; "
            f"{self.sort_advice()}"
        )

    @property
    def n_rows(self) -> int:
        return int(self.unit_ptr[-1])

    @property
    def n_units(self) -> int:
        return len(self.unit_ptr) - 1

    @property
    def nbytes(self) -> int:
        """What all features take when they are decoded."""
        return self.n_rows * self.n_features * self.dtype.itemsize
