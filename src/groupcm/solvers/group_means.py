"""MI-SVM's first problem: every positive group stands for itself by the mean of its candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.candidates import Index, Terms
from groupcm.smoothing import Block, Rows
from groupcm.solvers.alternating import Choice
from groupcm.solvers.solution import Task
from groupcm.sources.arrays import RowSource, Winners

__all__ = ["problem_of_means"]


def problem_of_means(choice: Choice) -> Task:
    """The problem in which each group counts by the mean of its candidates."""
    task = choice.task
    means = _WithMeans(task.source, _group_means(task.source, choice.groups))
    return replace(task, terms=[means.terms(choice.weight), *task.terms], source=means)


def _group_means(source: RowSource, groups: Terms) -> Rows:
    """The mean of each group's candidates, in the space the weights live in."""
    size = groups.stop - groups.start
    rows = groups.rows(np.arange(groups.n_rows))
    ptr = np.concatenate([[0], np.cumsum(size)])
    parts = []
    for lo, hi in _pieces(ptr, source.rows_a_block):
        shares = np.repeat(1.0 / size[lo:hi], size[lo:hi])
        inside = ptr[hi] - ptr[lo]
        average = sp.csr_array(
            (shares, np.arange(inside), ptr[lo : hi + 1] - ptr[lo]), shape=(hi - lo, inside)
        )
        parts.append(average @ source.take(rows[ptr[lo] : ptr[hi]]))
    return sp.csr_array(sp.vstack(parts)) if sp.issparse(parts[0]) else np.concatenate(parts)


def _pieces(ptr: Index, n_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of whole groups with about so many rows, at least one group each."""
    lo = 0
    while lo < len(ptr) - 1:
        hi = max(lo + 1, int(np.searchsorted(ptr, ptr[lo] + n_rows, side="right")) - 1)
        yield lo, hi
        lo = hi


class _WithMeans:
    """A source with a row more for each positive group: the mean of its candidates."""

    # No source has so many rows of its own.
    _FIRST = 1 << 48

    def __init__(self, source: RowSource, means: Rows) -> None:
        self._source = source
        self._means = means

    def terms(self, weight: float) -> Terms:
        """The means, each alone."""
        return Terms.of_rows(1, self._FIRST + np.arange(self._means.shape[0]), weight)

    @property
    def rows_read(self) -> int:
        return self._source.rows_read

    @property
    def rows_a_block(self) -> int:
        return self._source.rows_a_block

    def take(self, rows: Index | slice) -> Rows:
        if isinstance(rows, slice) or len(rows) == 0 or rows[0] < self._FIRST:
            return self._source.take(rows)
        return self._means[rows - self._FIRST]

    def worst(self, terms: Terms, theta: NDArray[np.float64]) -> Winners:
        return self._source.worst(terms, theta)

    def blocks(self, terms: Terms) -> Iterator[Block]:
        if terms.sign < 0:
            yield from self._source.blocks(terms)
            return
        means = self.take(terms.rows(np.arange(terms.n_rows)))
        yield Block(lambda: means, None, terms.sign, terms.weight)
