"""Scores of candidates and groups, of rows in memory or in a source of any size.

A source is read in one pass, for the score of every candidate or the largest of every group. The
scorer is a function from the features of a chunk to scores, one row per set of scores; it can be
pickled, since other processes may call it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import index_groups, require_present
from groupcm.data.validation import check_length, require_finite
from groupcm.kernels.maxima import run_maxima
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups, Index, Terms
from groupcm.sources.base import Columns, Source
from groupcm.sources.rows.chunk import Chunk, Features, NonFiniteValue
from groupcm.sources.rows.index import Runs, join_runs, require_together
from groupcm.sources.rows.solver_rows import ArrayRows, rows_in_space
from groupcm.sources.rows.space import FeatureMap, MappedSpace, Space, make_space
from groupcm.utils.parallel import slices, thread_map
from groupcm.utils.progress import announce_reading, count_reading
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = [
    "GroupScores",
    "LinearScorer",
    "ScoreChunk",
    "Scorer",
    "among_all_groups",
    "best_of_groups",
    "require_features",
    "scores_of_groups",
    "scores_of_rows",
]

ScoreChunk = Callable[[Features], Vector]
_ROWS_A_THREAD = 50_000
_ROWS_AT_ONCE = 8192


def scores_of_rows(source: Source, score: ScoreChunk) -> Vector:
    """Return the score of each candidate of a source, a column for each set of scores."""
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


@dataclass(frozen=True)
class GroupScores:
    """One entry per group, in order of first appearance or in that of ``all_groups``.

    Attributes
    ----------
    group : ndarray of shape (n_groups,)
        The group ids.
    score : ndarray of shape (n_groups,) or (n_groups, n_classes)
        The largest candidate score; -inf for a group without candidates.
    winner : ndarray of the same shape
        The row number of the candidate that has it; -1 for a group without candidates.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> model = GroupClassifier().fit(X, [0, 0, 0, 1], groups=["a", "a", "b", "b"])
    >>> found = model.group_scores(X, ["a", "a", "b", "b"])
    >>> found.group.tolist(), found.winner.tolist()
    (['a', 'b'], [1, 3])
    """

    group: NDArray[Any]
    score: NDArray[np.float64]
    winner: NDArray[np.int64]


def best_of_groups(scores: Vector, groups: ArrayLike) -> GroupScores:
    """Return the largest score of each group, from the scores of its candidates.

    Examples
    --------
    >>> best_of_groups(np.array([0.1, 0.9, 0.5]), ["a", "a", "b"]).winner
    array([1, 2])
    """
    check_length("groups", groups, len(scores))
    index = index_groups(groups, allow_empty=True)
    if index.n_groups == 0:
        return GroupScores(index.ids, np.empty(0), np.empty(0, dtype=np.int64))
    return GroupScores(index.ids, index.maxima(scores), index.winners(scores))


def among_all_groups(found: GroupScores, all_groups: ArrayLike | None) -> GroupScores:
    """Return one entry per listed group, in the order of the list.

    A group without candidates has the lowest score, -inf, and the winner -1.

    Parameters
    ----------
    found : GroupScores
        Of the groups that have candidates; all of them are in the list.
    all_groups : array-like or None
        Every group once; None returns what was found.

    Examples
    --------
    >>> found = GroupScores(np.array(["b"]), np.array([0.5]), np.array([3]))
    >>> among_all_groups(found, ["a", "b"])
    GroupScores(group=array(['a', 'b'], dtype='<U1'), score=array([-inf,  0.5]),
                winner=array([-1,  3]))
    """
    if all_groups is None:
        return found
    listed = np.asarray(all_groups)
    if listed.ndim != 1:
        raise ValueError(f"all_groups must be a list of group ids; got shape {listed.shape}.")
    require_present(listed, "all_groups has no id at position {}; every group needs one.")
    ids = np.asarray(found.group)
    if ids.dtype.kind in "mM" and listed.dtype.kind == ids.dtype.kind:
        ids = ids.astype(listed.dtype)
    place = {group: at for at, group in enumerate(listed.tolist())}
    if len(place) < len(listed):
        twice = next(group for at, group in enumerate(listed.tolist()) if place[group] != at)
        raise ValueError(f"all_groups lists the group {printable(twice)} twice; list it once.")
    at = np.empty(len(ids), dtype=np.intp)
    for number, group in enumerate(ids.tolist()):
        if group not in place:
            raise ValueError(
                f"the group {printable(group)} has candidates and is not in all_groups, which "
                "must list every group, by ids of the same type."
            )
        at[number] = place[group]
    score = np.full((len(listed), *found.score.shape[1:]), -np.inf)
    winner = np.full(score.shape, -1, dtype=np.int64)
    score[at], winner[at] = found.score, found.winner
    return GroupScores(listed, score, winner)


class Scorer(ABC):
    """What a fitted model scores with: ``k`` columns of scores, one for two classes."""

    @abstractmethod
    def of_rows(self, X: Matrix) -> Vector:
        """Return the score of each row in memory, shape (n, k)."""

    @abstractmethod
    def of_groups(self, X: Matrix, groups: Groups) -> tuple[Vector, NDArray[np.int64]]:
        """Return the largest score of each group of rows in memory, and the rows that have it."""

    @abstractmethod
    def require_values(self, X: Matrix, names: NDArray[Any] | None) -> None:
        """Raise, naming row and column, where X holds a value that has no score."""

    @abstractmethod
    def on_chunks(self, source: Source) -> ScoreChunk:
        """Return the function that scores the chunks of a source."""

    def of_source(self, source: Source) -> Vector:
        """Return the score of each candidate of a source."""
        return scores_of_rows(source, self.on_chunks(source))

    def of_source_groups(self, source: Source) -> GroupScores:
        """Return the largest score of each group of a source, in one pass."""
        return GroupScores(*scores_of_groups(source, self.on_chunks(source)))


class LinearScorer(Scorer):
    """``s = coef · φ(x) + intercept``, one column for each row of ``coef``."""

    def __init__(self, coef: Vector, intercept: Vector, feature_map: FeatureMap | None) -> None:
        self.thetas = np.column_stack([coef, intercept])
        n_features = coef.shape[1]
        self.space = make_space(feature_map, np.zeros(n_features), np.ones(n_features))

    def of_rows(self, X: Matrix) -> Vector:
        """Return the score of each row in memory, not finite where a value of X is not."""
        self._require_dense(X)
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
        # A NaN or an infinity is passed on in silence, for the caller to name.
        with np.errstate(invalid="ignore", over="ignore"):
            return rows @ self.thetas[:, :-1].T + self.thetas[:, -1]

    def of_groups(
        self, X: Matrix, groups: Groups, chosen: Index | slice = slice(None)
    ) -> tuple[Vector, NDArray[np.int64]]:
        """Return the largest score of each chosen group in memory, and the rows that have it."""
        self._require_dense(X)
        if isinstance(X, np.ndarray):
            source = rows_in_space(self.space, X)
        else:
            source = ArrayRows(X, self.space.mean, self.space.scale)
        start, stop = groups.ptr[:-1][chosen], groups.ptr[1:][chosen]
        terms = Terms(-1, start, stop, groups.order, 1.0, alone=False)
        found = [source.worst(terms, theta) for theta in self.thetas]
        score = np.stack([-winners.margin for winners in found], axis=1)
        return score, np.stack([winners.row for winners in found], axis=1)

    def _require_dense(self, X: Matrix) -> None:
        """Refuse sparse rows for a map, as training does."""
        if isinstance(self.space, MappedSpace) and not isinstance(X, np.ndarray):
            raise ValueError(
                "a feature_map needs dense rows; X is sparse: pass X.toarray(), or "
                "X.sparse.to_dense() of a data frame."
            )

    def require_values(self, X: Matrix, names: NDArray[Any] | None) -> None:
        """Raise where X holds NaN or infinity."""
        require_finite(X, names)

    def on_chunks(self, source: Source) -> ScoreChunk:
        return _LinearChunks(self.space, self.thetas)


@dataclass(frozen=True)
class _LinearChunks:
    space: Space
    thetas: Vector

    def __call__(self, features: Features) -> Vector:
        return self.space.scores(features, self.thetas)


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
