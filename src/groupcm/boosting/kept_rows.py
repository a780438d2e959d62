"""The rows of a stream that trees are grown on, found in one pass over all rows.

A negative group counts by a norm of the losses of its candidates, which those of large score
decide. A pass scores every row by the trees so far, and keeps of each group

- the candidates of largest score, and those that were kept for it before: each represents itself;
- some random ones, which represent all the others. One is drawn the more likely the larger its
  ``size = floor + L(−s)^r``, and its ``count`` is 1 divided by that probability.

So ``Σ count_i L(−s_i)^p`` over the rows kept is an unbiased estimate of that over all rows, in the
first pass. All passes draw by the same random numbers, so that they settle; the trees are fitted to
the rows that the pass before drew, and later estimates are therefore somewhat too small. The
``floor`` is the mean of ``L(−s)^r``, so that about half of the random candidates are drawn whatever
their scores, as the first trees need, and half where the later ones look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.forest import Forest
from groupcm.boosting.power_loss import PowerLoss
from groupcm.boosting.scorer import score_in_thread
from groupcm.kernels.selection import row_keys, select_candidates
from groupcm.objective.losses import make_loss
from groupcm.objective.terms import NO_ORDER, Index
from groupcm.sources.rows.chunk import Chunk, NonFiniteValue
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.screening import TermRows
from groupcm.utils.typing import Raw, Vector

__all__ = ["KeptRows", "Quota", "Sizes", "Watched", "Winners", "look_for_rows", "rows_per_group"]

# ``r``: more than 1, since the loss of a group is soon nearly the largest of its candidates.
_EXPONENT = 3.0
_LEAST_SIZE = 1e-9
# The score of a row that no tree has seen.
_NO_TREE = np.zeros(1)


@dataclass(frozen=True)
class Quota:
    """How many candidates of a group are kept for their score, and how many random ones."""

    top: int
    random: int

    @classmethod
    def of(cls, n: int) -> Quota:
        """Divide ``n`` candidates; at least half of them are kept for their score."""
        return cls(n - n // 2, n // 2)

    @property
    def noted(self) -> int:
        """How many rows of smallest key a chunk must name: the first one not drawn, too.

        Rows kept before may take the place of half of those of largest score.
        """
        return self.random + 1 + self.top // 2 if self.random else 0


@dataclass(frozen=True)
class Sizes:
    """``size_i = floor + L(−s_i)^r``: how likely a row is drawn."""

    loss: PowerLoss
    floor: float

    @classmethod
    def of(cls, loss: PowerLoss, scores: Vector) -> Sizes:
        """Return the sizes whose floor is the mean of ``L(−s)^r`` over these scores."""
        scores = scores if len(scores) else _NO_TREE
        return cls(loss, max(_LEAST_SIZE, float(np.mean(cls(loss, 0.0)(scores)))))

    def __call__(self, score: Vector) -> Vector:
        loss = make_loss(self.loss.loss, self.loss.delta)
        value = loss.jet(-score.astype(np.float32)).value.astype(np.float64)
        return self.floor + value**_EXPONENT


@dataclass(frozen=True)
class Watched:
    """Groups of which some candidates are kept."""

    terms: TermRows
    quota: Quota

    @property
    def size(self) -> Index:
        """How many candidates each group has."""
        return self.terms.stop - self.terms.start

    def places(self, rows: Index) -> tuple[Index, Index]:
        """Return which of these sorted rows are in a group, and the numbers of the groups."""
        at = rows
        if len(self.terms.rows):
            at = np.minimum(np.searchsorted(self.terms.rows, rows), len(self.terms.rows) - 1)
            at = np.where(self.terms.rows[at] == rows, at, -1)
        k = np.searchsorted(self.terms.stop, at, side="right")
        inside = (at >= 0) & (k < len(self.terms.start))
        inside &= self.terms.start[np.minimum(k, max(0, len(self.terms.start) - 1))] <= at
        return np.flatnonzero(inside), k[inside]


@dataclass(frozen=True)
class KeptRows:
    """Rows kept in memory.

    Attributes
    ----------
    row : ndarray of shape (n,)
        Their numbers, ascending.
    X : ndarray of shape (n, d)
    is_top : ndarray of bool of shape (n,)
        Which of them were kept for their score.
    """

    row: Index
    X: Raw
    is_top: NDArray[np.bool_]

    @classmethod
    def none(cls, n_features: int, dtype: np.dtype) -> KeptRows:
        return cls(NO_ORDER, np.empty((0, n_features), dtype), np.empty(0, dtype=bool))


@dataclass(frozen=True)
class Chosen:
    """The rows kept of some watched groups: those of group ``k`` are ``row[ptr[k]:ptr[k + 1]]``."""

    row: Index
    ptr: Index
    count: Vector


@dataclass(frozen=True)
class Winners:
    """What a pass found of the winners of some groups.

    Attributes
    ----------
    best : ndarray
        The largest score of each group.
    held : ndarray
        The largest score of the candidates that the trees were grown on; −inf where there is none.
    """

    best: Vector
    held: Vector

    @property
    def is_new(self) -> NDArray[np.bool_]:
        """Which groups have a winner that no tree was grown on, and that scores higher."""
        return self.best > self.held


def look_for_rows(
    reader: SourceReader,
    forest: Forest,
    watched: Sequence[Watched],
    fixed: Index,
    held: KeptRows,
    sizes: Sizes,
    seed: int,
) -> tuple[KeptRows, list[Chosen], list[Winners]]:
    """Score all rows, and return those to grow the next trees on.

    Parameters
    ----------
    reader : SourceReader
    forest : Forest
        The trees so far.
    watched : sequence of Watched
    fixed : ndarray
        Rows that are kept in any case, ascending.
    held : KeptRows
        What the pass before kept.
    sizes : Sizes
        How likely rows are drawn.
    seed : int
        Of the random candidates.

    Returns
    -------
    kept : KeptRows
    chosen : list of Chosen
        For each of ``watched``.
    winners : list of Winners
        For each of ``watched``.
    """
    ptr = reader.source.unit_ptr

    def job(unit: int) -> _Job:
        lo, hi = int(ptr[unit]), int(ptr[unit + 1])
        parts = [(each.terms.between(lo, hi), each.quota) for each in watched]
        return _Job(forest, parts, _between(fixed, lo, hi), _between(held.row, lo, hi), sizes, seed)

    found = reader.run(job, range(len(ptr) - 1), "looking for winners")
    row = np.concatenate([each.row for each in found])
    score = np.concatenate([each.score for each in found])
    is_new = np.concatenate([each.is_new for each in found])
    place = np.searchsorted(held.row, row[~is_new])
    was_top = np.zeros(len(row), dtype=bool)
    was_top[~is_new] = held.is_top[place]
    size, key = sizes(score), np.empty(len(row))
    row_keys(row, size, np.uint64(seed), key)
    is_kept = np.zeros(len(row), dtype=bool)
    is_top = np.zeros(len(row), dtype=bool)
    is_kept[np.searchsorted(row, fixed)] = True
    chosen, winners = [], []
    for number, each in enumerate(watched):
        inside, k = each.places(row)
        top, random, least = _choose(each, k, score[inside], was_top[inside], key[inside])
        is_top[inside[top]] = True
        is_kept[inside[top]] = is_kept[inside[random]] = True
        # The probability that a row's key is below that of the first row not drawn.
        count = np.ones(len(inside))
        count[random] = -1.0 / np.expm1(-size[inside[random]] * least[k[random]])
        chosen.append(_chosen(each, row[inside], k, top | random, count))
        before = ~is_new[inside]
        winners.append(_winners(each, number, found, k[before], score[inside[before]]))
    X = np.empty((int(np.count_nonzero(is_kept)), held.X.shape[1]), held.X.dtype)
    target = np.cumsum(is_kept) - 1
    old = is_kept & ~is_new
    X[target[old]] = held.X[np.searchsorted(held.row, row[old])]
    done = 0
    for each in found:
        here = slice(done, done + len(each.row))
        done += len(each.row)
        wanted = is_kept[here][each.is_new]
        X[target[here][each.is_new][wanted]] = each.raw[wanted]
    return KeptRows(row[is_kept], X, is_top[is_kept]), chosen, winners


def _between(rows: Index, lo: int, hi: int) -> Index:
    return rows[slice(*np.searchsorted(rows, [lo, hi]))]


def _choose(
    watched: Watched, k: Index, score: Vector, was_top: NDArray[np.bool_], key: Vector
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Vector]:
    """Return which rows of the groups ``k`` are kept for their score, and which are random.

    Half of those kept for their score are the best now; the others were kept before, as far as
    there are such, so that no pass forgets what another has found. The last result is the least
    key of each group among the rows that are neither.
    """
    quota = watched.quota
    is_small = watched.size[k] <= quota.top + quota.random
    by_score = _rank(k, -score)
    surely = by_score < quota.top - quota.top // 2
    turn = np.where(surely, 0, np.where(was_top, 1, 2))
    top = is_small | (_rank(k, -score, turn) < quota.top)
    rest = np.flatnonzero(~top)
    place = _rank(k[rest], key[rest])
    random = np.zeros(len(k), dtype=bool)
    random[rest[place < quota.random]] = True
    least = np.full(len(watched.size), np.inf)
    next_one = rest[place == quota.random]
    least[k[next_one]] = key[next_one]
    return top, random, least


def _rank(k: Index, *by: NDArray) -> Index:
    """Return the place of each row within its group, in the order of the last key first."""
    order = np.lexsort((*by, k))
    ordered = k[order]
    begins = np.ones(len(k), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(begins, np.arange(len(k)), 0))
    rank = np.empty(len(k), dtype=np.int64)
    rank[order] = np.arange(len(k)) - first
    return rank


def _chosen(
    watched: Watched, row: Index, k: Index, is_kept: NDArray[np.bool_], count: Vector
) -> Chosen:
    kept = np.flatnonzero(is_kept)
    kept = kept[np.lexsort((row[kept], k[kept]))]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(k[kept], minlength=len(watched.size)))])
    return Chosen(row[kept], ptr, count[kept])


def _winners(
    watched: Watched, number: int, found: Sequence[_Found], k: Index, score: Vector
) -> Winners:
    best, held = np.full((2, len(watched.terms.start)), -np.inf)
    for each in found:
        np.maximum.at(best, each.number[number], each.best[number])
    np.maximum.at(held, k, score)
    return Winners(best, held)


@dataclass(frozen=True)
class _Found:
    """What a chunk has: rows, ascending, their scores, and the features of those not yet held.

    ``number[p]`` are groups of part ``p`` and ``best[p]`` their largest scores in the chunk.
    """

    row: Index
    score: Vector
    is_new: NDArray[np.bool_]
    raw: Raw
    number: list[Index]
    best: list[Vector]


@dataclass(frozen=True)
class _Job:
    forest: Forest
    parts: list[tuple[TermRows, Quota]]
    fixed: Index
    held: Index
    sizes: Sizes
    seed: int

    def __call__(self, chunk: Chunk) -> _Found:
        assert chunk.features is not None
        score = score_in_thread(self.forest, chunk.features.matrix())
        held = _between(self.held, chunk.first, chunk.stop)
        rows = [held, _between(self.fixed, chunk.first, chunk.stop)]
        size = self.sizes(score)
        numbers, bests = [], []
        for whole, quota in self.parts:
            part = whole.between(chunk.first, chunk.stop)
            kept, best = self._select(part, quota, score, size, chunk.first)
            rows.append(kept)
            numbers.append(part.number)
            bests.append(best)
        row = np.unique(np.concatenate(rows))
        is_new = np.ones(len(row), dtype=bool)
        is_new[np.searchsorted(row, held)] = False
        raw = chunk.features.take(row[is_new] - chunk.first)
        return _Found(row, score[row - chunk.first], is_new, raw, numbers, bests)

    def _select(
        self, part: TermRows, quota: Quota, score: Vector, size: Vector, first: int
    ) -> tuple[Index, Vector]:
        in_place = len(part.rows) == 0
        offset = first if in_place else 0
        n = int(np.sum(part.stop - part.start))
        kept, best = np.empty(n, dtype=np.int64), np.empty(len(part.number))
        count = select_candidates(
            score,
            size,
            NO_ORDER if in_place else part.rows - first,
            part.start - offset,
            part.stop - offset,
            first,
            quota.top,
            quota.noted,
            np.uint64(self.seed),
            kept,
            best,
        )
        if count < 0:
            raise NonFiniteValue("a feature is not finite")
        return kept[:count] + first, best


def rows_per_group(size: Index, room: int) -> int:
    """Return how many candidates of each group may be kept so that all fit into ``room`` rows.

    Examples
    --------
    >>> rows_per_group(np.array([2, 10, 10]), 12)
    5
    >>> rows_per_group(np.array([2, 3]), 12)
    3
    """
    low, high = 0, int(size.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(size, middle).sum()) <= room:
            low = middle
        else:
            high = middle - 1
    return low
