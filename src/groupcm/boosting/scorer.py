"""Scores of trees, for rows in memory or in a source of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

from groupcm.boosting.forest import Forest
from groupcm.data.validation import require_no_infinity
from groupcm.estimators.scoring import ScoreChunk, Scorer
from groupcm.kernels.maxima import run_maxima
from groupcm.kernels.trees import score_csr_rows, score_rows, shapley_values
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups
from groupcm.sources.base import Source
from groupcm.sources.rows.chunk import Features, NonFiniteValue
from groupcm.utils.parallel import n_threads, slices, thread_map
from groupcm.utils.typing import Vector

__all__ = ["TreeScorer", "score_in_thread"]


# The least work that is worth handing to a thread.
_ROWS_A_THREAD = 4096
_EXPLAINED_ROWS_A_THREAD = 16


class TreeScorer(Scorer):
    """``s = Σ_t leaf_t(x)``, one column of scores for each forest.

    A value may be missing (NaN); none is infinite.

    Parameters
    ----------
    forests : sequence of Forest
    num_threads : int, default=-1
        At most so many threads score rows in memory; -1 for as many as the process may use.

    Examples
    --------
    >>> import lightgbm
    >>> from groupcm.boosting.lightgbm_text import read_forest
    >>> X, settings = np.arange(40.0)[:, None], {"min_data_in_leaf": 5, "verbose": -1}
    >>> booster = lightgbm.train(settings, lightgbm.Dataset(X, X[:, 0] > 20), 3)
    >>> scorer = TreeScorer([read_forest(booster.model_to_string())])
    >>> bool(np.all(scorer.of_rows(X)[:, 0] == booster.predict(X, raw_score=True)))
    True
    """

    def __init__(self, forests: Sequence[Forest], num_threads: int = -1) -> None:
        self.forests = tuple(forests)
        self.num_threads = n_threads() if num_threads < 1 else num_threads

    def of_rows(self, X: Matrix) -> Vector:
        """Return the score of each row in memory, or `NonFiniteValue` where a value is infinite."""
        return _scores(self.forests, X, self.num_threads).T

    def of_groups(self, X: Matrix, groups: Groups) -> tuple[Vector, NDArray[np.int64]]:
        scores = _scores(self.forests, X, self.num_threads)
        score = np.empty((len(groups), len(scores)))
        winner = np.empty(score.shape, dtype=np.int64)
        best, position = np.empty(len(groups)), np.empty(len(groups), dtype=np.int64)
        for k, column in enumerate(scores):
            in_order = column[groups.order] if len(groups.order) else column
            run_maxima(in_order, groups.ptr[:-1], best, position)
            score[:, k] = best
            winner[:, k] = groups.order[position] if len(groups.order) else position
        return score, winner

    def require_values(self, X: Matrix, names: NDArray[Any] | None) -> None:
        """Raise where X holds infinity."""
        require_no_infinity(X, names)

    def on_chunks(self, source: Source) -> ScoreChunk:
        # Units are scored side by side, a thread each.
        is_shared = source.n_units > 1
        return _TreeChunks(self.forests, 1 if is_shared else self.num_threads)

    def contributions(self, rows: NDArray[np.floating], column: int = 0) -> tuple[Vector, float]:
        """``s = expected + Σ_j contribution_j``: exact Shapley values of the trees.

        Returns
        -------
        contributions : ndarray of shape (n, d)
        expected : float
            The mean score in training.
        """
        forest = self.forests[column]
        X = np.ascontiguousarray(rows, dtype=np.float64)
        # Exact for polynomials of the degree that the features on the longest path make.
        n_most = min(forest.depth, len(forest.columns))
        points, weights = roots_legendre(max(1, (n_most + 1) // 2))
        contributions = np.empty(X.shape)

        def explain(piece: tuple[int, int]) -> None:
            shapley_values(
                X[slice(*piece)],
                forest.columns,
                forest.roots,
                forest.nodes,
                forest.cuts,
                forest.sets,
                forest.leaf_value,
                forest.shares,
                0.5 + 0.5 * points,
                0.5 * weights,
                forest.depth,
                contributions[slice(*piece)],
            )

        thread_map(explain, _pieces(len(X), _EXPLAINED_ROWS_A_THREAD, self.num_threads))
        return contributions, forest.expected

    def gain_shares(self) -> Vector:
        """Which share of what its splits gained in training each feature has, shape (k, d)."""
        return np.stack([_gain_shares(forest) for forest in self.forests])

    def n_trees(self) -> list[int]:
        """How many trees each column of scores adds up."""
        return [forest.n_trees for forest in self.forests]


@dataclass(frozen=True)
class _TreeChunks:
    forests: tuple[Forest, ...]
    num_threads: int

    def __call__(self, features: Features) -> Vector:
        return _scores(self.forests, features.matrix(), self.num_threads)


def score_in_thread(forest: Forest, rows: Matrix) -> Vector:
    """Return the score of each row, computed in this thread; infinity is a `NonFiniteValue`."""
    return _scores([forest], rows, 1)[0]


def _scores(forests: Sequence[Forest], rows: Matrix, num_threads: int) -> Vector:
    """Return the scores of rows, shape (k, n), or `NonFiniteValue` where a value is infinite."""
    n, d = rows.shape
    for forest in forests:
        if forest.n_features != d:
            raise ValueError(f"the rows have {d} features, but the trees {forest.n_features}.")
    scores = np.empty((len(forests), n))
    score = _score_dense if isinstance(rows, np.ndarray) else _score_csr
    rows = np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows

    def fill(piece: tuple[int, int]) -> bool:
        return all(
            score(forest, rows, *piece, out) < 0
            for forest, out in zip(forests, scores[:, slice(*piece)], strict=True)
        )

    if not all(thread_map(fill, _pieces(n, _ROWS_A_THREAD, num_threads))):
        raise NonFiniteValue("a feature is infinite")
    return scores


def _score_dense(forest: Forest, X: Matrix, lo: int, hi: int, out: Vector) -> int:
    return score_rows(X[lo:hi], forest.columns, *_arrays(forest), out)


def _score_csr(forest: Forest, X: Matrix, lo: int, hi: int, out: Vector) -> int:
    # The other rows are not copied, and neither are these.
    rows = (X.data, X.indices, X.indptr[lo : hi + 1])
    return score_csr_rows(*rows, forest.column_of, *_arrays(forest), out)


def _arrays(forest: Forest) -> tuple[Any, Any, Vector, Any, Vector, int]:
    """Return the trees as the kernels take them."""
    values = forest.leaf_value
    return forest.roots, forest.nodes, forest.cuts, forest.sets, values, forest.depth


def _gain_shares(forest: Forest) -> Vector:
    gain = np.maximum(forest.split_gain, 0.0)
    largest = gain.max(initial=0.0)
    if largest == 0.0:
        return np.zeros(forest.n_features)
    of_feature = np.bincount(forest.split_feature, gain / largest, forest.n_features)
    return of_feature / of_feature.sum()


def _pieces(n: int, at_least: int, most: int) -> list[tuple[int, int]]:
    """Cut ``range(n)`` into even pieces for at most so many threads."""
    if most >= n_threads():
        return slices(n, at_least)
    edges = np.linspace(0, n, max(1, min(most, n // at_least)) + 1).astype(np.int64)
    return [(int(lo), int(hi)) for lo, hi in pairwise(edges)]
