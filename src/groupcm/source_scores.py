"""One pass over a source: the score of every candidate, or the largest of every group.

Whoever scores gives a function from a chunk's features to scores, a row for each set of them. It
may be sent to another process, so it can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.kernels.screen import run_maxima
from groupcm.progress import announce_reading, count_reading
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.chunk import Chunk, Features
from groupcm.sources.index import join_runs, require_together
from groupcm.sources.keys import Runs
from groupcm.sources.source import Columns, Source

__all__ = ["ScoreChunk", "scores_of_groups", "scores_of_rows"]

Vector = NDArray[np.float64]
ScoreChunk = Callable[[Features], Vector]


def scores_of_rows(source: Source, score: ScoreChunk) -> Vector:
    """The score of each candidate of a source, a column for each set of scores."""
    parts = _pass(source, _ScoreRows(score), Columns(features=True))
    return np.concatenate(parts, axis=1).T


def scores_of_groups(
    source: Source, score: ScoreChunk
) -> tuple[NDArray[Any], Vector, NDArray[np.int64]]:
    """Ids, largest scores and winners of the groups of a source, in memory for these only."""
    parts = _pass(source, _ScoreRuns(score), Columns(features=True, group=True))
    start, ids = join_runs([part.runs for part in parts], [part.first for part in parts])
    require_together(ids, start, source.apart)
    begins = np.concatenate([part.runs.start + part.first for part in parts])
    best = np.concatenate([part.score for part in parts], axis=1)
    winner = np.concatenate([part.winner for part in parts], axis=1)
    # A group that crosses from one chunk to the next has a run in each.
    group = np.searchsorted(start, begins, side="right") - 1
    largest = np.maximum.reduceat(best, np.searchsorted(begins, start), axis=1)
    row = np.full(largest.shape, source.n_rows, dtype=np.int64)
    for k in range(len(row)):
        has = best[k] == largest[k, group]
        np.minimum.at(row[k], group[has], winner[k, has])
    return ids, largest.T, row.T


def _pass(source: Source, job: Callable[[Chunk], Any], columns: Columns) -> list[Any]:
    jobs = ((unit, job) for unit in range(source.n_units))
    progress = count_reading("scoring", source.n_rows, source.nbytes)
    parts = []
    with closing(source.run(jobs, columns)) as results:
        for unit, found in results:
            parts += found
            announce_reading(progress(int(source.unit_ptr[unit + 1])))
    return parts


@dataclass(frozen=True)
class _ScoreRows:
    score: ScoreChunk

    def __call__(self, chunk: Chunk) -> Vector:
        assert chunk.features is not None
        scores = self.score(chunk.features)
        if not np.all(np.isfinite(scores)):
            raise NonFiniteValue("a feature is not finite")
        return scores


@dataclass(frozen=True)
class _ScoredRuns:
    """The largest score of each run of a chunk, and the row that has it."""

    first: int
    runs: Runs
    score: Vector
    winner: NDArray[np.int64]


@dataclass(frozen=True)
class _ScoreRuns:
    score: ScoreChunk

    def __call__(self, chunk: Chunk) -> _ScoredRuns:
        assert chunk.features is not None
        runs = chunk.keys.runs if chunk.keys is not None else None
        if runs is None:  # every row is its own group
            every = np.arange(chunk.n_rows)
            runs = Runs(every, every + chunk.first)
        scores = self.score(chunk.features)
        best = np.empty((len(scores), len(runs.start)))
        winner = np.empty(best.shape, dtype=np.int64)
        for k, score in enumerate(scores):
            if run_maxima(score, runs.start, best[k], winner[k]) >= 0:
                raise NonFiniteValue("a feature is not finite")
        return _ScoredRuns(chunk.first, runs, best, winner + chunk.first)
