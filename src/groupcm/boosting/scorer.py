"""Scores by trees, of rows in memory or in a source of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.candidates import Groups
from groupcm.kernels.screen import run_maxima
from groupcm.parallel import n_threads
from groupcm.scoring import Scorer
from groupcm.smoothing import Matrix
from groupcm.source_scores import ScoreChunk
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.chunk import Features
from groupcm.sources.source import Source
from groupcm.validation import require_no_infinity

__all__ = ["TreeScorer"]

Vector = NDArray[np.float64]

_ROWS_AT_ONCE = 1 << 16


class TreeScorer(Scorer):
    """``s = Σ_t tree_t(x)``, one column for each booster.

    A value may be missing (NaN); none is infinite.

    Parameters
    ----------
    boosters : sequence of lightgbm.Booster
    num_threads : int, default=-1
        Threads that score rows in memory; -1 for as many as the process may use.

    Examples
    --------
    >>> import lightgbm
    >>> X, settings = np.arange(40.0)[:, None], {"min_data_in_leaf": 5, "verbose": -1}
    >>> booster = lightgbm.train(settings, lightgbm.Dataset(X, X[:, 0] > 20), 3)
    >>> scorer = TreeScorer([booster])
    >>> bool(scorer.of_rows(X[:1]) < scorer.of_rows(X[-1:]))
    True
    """

    def __init__(self, boosters: Sequence[Any], num_threads: int = -1) -> None:
        self.boosters = tuple(boosters)
        self.num_threads = n_threads() if num_threads < 1 else num_threads

    def of_rows(self, X: Matrix) -> Vector:
        """The score of each row in memory, or `NonFiniteValue` where a value is infinite."""
        scores = np.empty((X.shape[0], len(self.boosters)))
        for lo in range(0, X.shape[0], _ROWS_AT_ONCE):
            part = slice(lo, lo + _ROWS_AT_ONCE)
            scores[part] = _predict(self.boosters, X[part], self.num_threads)
        return scores

    def of_groups(self, X: Matrix, groups: Groups) -> tuple[Vector, NDArray[np.int64]]:
        scores = self.of_rows(X)
        score = np.empty((len(groups), len(self.boosters)))
        winner = np.empty(score.shape, dtype=np.int64)
        best, position = np.empty(len(groups)), np.empty(len(groups), dtype=np.int64)
        for k in range(len(self.boosters)):
            in_order = scores[groups.order, k] if len(groups.order) else scores[:, k]
            run_maxima(np.ascontiguousarray(in_order), groups.ptr[:-1], best, position)
            score[:, k] = best
            winner[:, k] = groups.order[position] if len(groups.order) else position
        return score, winner

    def require_values(self, X: Matrix, names: NDArray[Any] | None) -> None:
        """Raise where X holds infinity."""
        require_no_infinity(X, names)

    def on_chunks(self, source: Source) -> ScoreChunk:
        # Units are scored side by side, a thread each.
        is_shared = source.n_units > 1
        return _TreeChunks(self.boosters, 1 if is_shared else self.num_threads)

    def contributions(self, rows: NDArray[np.floating], column: int = 0) -> tuple[Vector, float]:
        """``s = expected + Σ_j contribution_j``: exact Shapley values of the trees.

        Returns
        -------
        contributions : ndarray of shape (n, d)
        expected : float
            The mean score in training, as the trees remember it.
        """
        booster = self.boosters[column]
        found = booster.predict(rows, pred_contrib=True, num_threads=self.num_threads)
        return found[:, :-1], float(found[0, -1]) if len(found) else 0.0

    def gain_shares(self) -> Vector:
        """Which share of what its splits gained in training each feature has, shape (k, d)."""
        gains = np.stack([b.feature_importance("gain") for b in self.boosters])
        total = gains.sum(axis=1, keepdims=True)
        return gains / np.where(total > 0.0, total, 1.0)

    def n_trees(self) -> list[int]:
        """How many trees each column of scores adds up."""
        return [booster.num_trees() for booster in self.boosters]


@dataclass(frozen=True)
class _TreeChunks:
    boosters: tuple[Any, ...]
    num_threads: int

    def __call__(self, features: Features) -> Vector:
        rows = features.matrix()
        return np.ascontiguousarray(_predict(self.boosters, rows, self.num_threads).T)


def _predict(boosters: Sequence[Any], rows: Matrix, num_threads: int) -> Vector:
    """The score of each row, or `NonFiniteValue` where a value is infinite."""
    if not rows.shape[0]:
        return np.empty((0, len(boosters)))
    if np.any(np.isinf(rows if isinstance(rows, np.ndarray) else rows.data)):
        raise NonFiniteValue("a feature is infinite")
    native = _native(rows)
    found = [b.predict(native, raw_score=True, num_threads=num_threads) for b in boosters]
    return np.column_stack(found)


def _native(rows: Matrix) -> Any:
    """Rows as LightGBM knows them, not copied."""
    if isinstance(rows, np.ndarray):
        return rows
    return sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
