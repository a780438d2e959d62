"""Scores of candidates and groups, of rows in memory or in a source of any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Groups, Index, Terms
from groupcm.kernels.screen import run_maxima
from groupcm.parallel import slices, thread_map
from groupcm.progress import announce_reading, count_reading
from groupcm.smoothing import Matrix
from groupcm.sources.arrays import ArraySource, NonFiniteValue
from groupcm.sources.chunk import Chunk
from groupcm.sources.index import join_runs, require_together
from groupcm.sources.keys import Runs
from groupcm.sources.mapped import source_in
from groupcm.sources.source import Columns, Source
from groupcm.sources.space import FeatureMap, MappedSpace, make_space

__all__ = ["GroupScores", "LinearScorer", "require_features"]

Vector = NDArray[np.float64]

_ROWS_A_THREAD = 50_000
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class GroupScores:
    """One entry a group, in order of first appearance.

    Attributes
    ----------
    group : ndarray of shape (n_groups,)
        The group ids.
    score : ndarray of shape (n_groups,) or (n_groups, n_classes)
        The largest candidate score.
    winner : ndarray of the same shape
        The row number of the candidate that has it.
    """

    group: NDArray[Any]
    score: NDArray[np.float64]
    winner: NDArray[np.int64]


class LinearScorer:
    """``s = coef · φ(x) + intercept``, one column for each row of ``coef``."""

    def __init__(self, coef: Vector, intercept: Vector, feature_map: FeatureMap | None) -> None:
        self.thetas = np.column_stack([coef, intercept])
        n_features = coef.shape[1]
        self.space = make_space(feature_map, np.zeros(n_features), np.ones(n_features))

    def of_rows(self, X: Matrix) -> Vector:
        """The score of each row in memory, not finite where a value of X is not."""
        scores = np.empty((X.shape[0], len(self.thetas)))

        def score(piece: tuple[int, int]) -> None:
            for lo in range(piece[0], piece[1], _ROWS_AT_ONCE):
                rows = slice(lo, min(lo + _ROWS_AT_ONCE, piece[1]))
                scores[rows] = self._score(X[rows])

        thread_map(score, slices(X.shape[0], _ROWS_A_THREAD))
        return scores

    def _score(self, rows: Matrix) -> Vector:
        if isinstance(self.space, MappedSpace):
            raw = np.ascontiguousarray(rows)
            return np.column_stack([self.space.score(raw, theta) for theta in self.thetas])
        return rows @ self.thetas[:, :-1].T + self.thetas[:, -1]

    def of_groups(
        self, X: Matrix, groups: Groups, chosen: Index | slice = slice(None)
    ) -> tuple[Vector, NDArray[np.int64]]:
        """The largest score of each chosen group of rows in memory, and the rows that have it."""
        if isinstance(X, np.ndarray):
            source = source_in(self.space, X)
        else:
            source = ArraySource(X, self.space.mean, self.space.scale)
        start, stop = groups.ptr[:-1][chosen], groups.ptr[1:][chosen]
        terms = Terms(-1, start, stop, groups.order, 1.0, alone=False)
        found = [source.worst(terms, theta) for theta in self.thetas]
        score = np.stack([-winners.margin for winners in found], axis=1)
        return score, np.stack([winners.row for winners in found], axis=1)

    def of_source(self, source: Source) -> Vector:
        """The score of each candidate of a source."""
        parts = self._pass(source, _ScoreRows(self.space, self.thetas), Columns(features=True))
        return np.concatenate(parts, axis=1).T

    def of_source_groups(self, source: Source) -> GroupScores:
        """The largest score of each group of a source: one pass, memory for the groups only."""
        job = _ScoreRuns(self.space, self.thetas)
        parts = self._pass(source, job, Columns(features=True, group=True))
        start, ids = join_runs([part.runs for part in parts], [part.first for part in parts])
        require_together(ids, start, source.apart)
        begins = np.concatenate([part.runs.start + part.first for part in parts])
        score = np.concatenate([part.score for part in parts], axis=1)
        winner = np.concatenate([part.winner for part in parts], axis=1)
        # A group that crosses from one chunk to the next has a run in each.
        group = np.searchsorted(start, begins, side="right") - 1
        largest = np.maximum.reduceat(score, np.searchsorted(begins, start), axis=1)
        row = np.full(largest.shape, source.n_rows, dtype=np.int64)
        for k in range(len(row)):
            has = score[k] == largest[k, group]
            np.minimum.at(row[k], group[has], winner[k, has])
        return GroupScores(ids, largest.T, row.T)

    def _pass(self, source: Source, job: Callable[[Chunk], Any], columns: Columns) -> list[Any]:
        jobs = ((unit, job) for unit in range(source.n_units))
        progress = count_reading("scoring", source.n_rows, source.nbytes)
        parts = []
        for unit, found in source.run(jobs, columns):
            parts += found
            announce_reading(progress(int(source.unit_ptr[unit + 1])))
        return parts


def require_features(source: Source, n_features: int, names: NDArray[Any] | None) -> None:
    """Refuse a source whose features are not those a model was trained with, in that order."""
    if source.n_features != n_features:
        raise ValueError(
            f"the source has {source.n_features} features, and the model was trained "
            f"with {n_features}."
        )
    if names is None or source.feature_names is None:
        return
    for name, trained in zip(source.feature_names, names, strict=True):
        if name != trained:
            raise ValueError(
                f"the source has the feature {name!r} where the model was trained with "
                f"{trained!r}; name the features in the order of training."
            )


@dataclass(frozen=True)
class _ScoreRows:
    space: Any
    thetas: Vector

    def __call__(self, chunk: Chunk) -> Vector:
        assert chunk.features is not None
        scores = self.space.scores(chunk.features, self.thetas)
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
    space: Any
    thetas: Vector

    def __call__(self, chunk: Chunk) -> _ScoredRuns:
        assert chunk.features is not None
        runs = chunk.keys.runs if chunk.keys is not None else None
        if runs is None:  # every row is its own group
            every = np.arange(chunk.n_rows)
            runs = Runs(every, every + chunk.first)
        scores = self.space.scores(chunk.features, self.thetas)
        best = np.empty((len(scores), len(runs.start)))
        winner = np.empty(best.shape, dtype=np.int64)
        for k, score in enumerate(scores):
            if run_maxima(score, runs.start, best[k], winner[k]) >= 0:
                raise NonFiniteValue("a feature is not finite")
        return _ScoredRuns(chunk.first, runs, best, winner + chunk.first)
