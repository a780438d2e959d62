"""Resampling of clusters with replacement, reproducible whatever the number of threads.

Every resample draws as many clusters as there are. Resamples come in blocks; block k has a
generator of its own, child k of the seed. Each thread holds one vector of counts in memory.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.metrics.clusters import FewClustersWarning, expanded_tail, warn_of_few
from groupcm.metrics.results import Interval
from groupcm.utils.parallel import thread_map

__all__ = ["FunctionOfCounts", "Resampling"]

#: From how often each cluster was drawn to one number, or several, of that resample.
FunctionOfCounts = Callable[[NDArray[np.int64]], Any]


_RESAMPLES_A_BLOCK = 16
_MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class _Block:
    """A few resamples that share a generator."""

    seed: np.random.SeedSequence
    number: int
    n_resamples: int

    def counts(self, n_clusters: int) -> Iterator[NDArray[np.int64]]:
        """Yield how often each cluster is drawn, in one array that is filled again each time."""
        from groupcm.kernels.resample import count_draws

        child = np.random.SeedSequence(self.seed.entropy, spawn_key=(self.number,))
        generator = np.random.default_rng(child)
        count = np.empty(n_clusters, dtype=np.int64)
        for _ in range(self.n_resamples):
            count_draws(generator.integers(n_clusters, size=n_clusters, dtype=np.int32), count)
            yield count


class Resampling:
    """A bootstrap over clusters: number of resamples, seed, and confidence level.

    Examples
    --------
    >>> Resampling(level=0.9, n_resamples=200, random_state=0).n_resamples
    200
    """

    def __init__(
        self, *, level: float, n_resamples: int, random_state: int | np.random.Generator | None
    ) -> None:
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is not valid; it must lie between 0 and 1.")
        if int(n_resamples) != n_resamples or n_resamples < 2:
            raise ValueError(f"n_resamples={n_resamples!r} must be a whole number, at least 2.")
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**63))
        self.level = level
        self.n_resamples = int(n_resamples)
        self._seed = np.random.SeedSequence(random_state)

    def values(
        self,
        of_counts: FunctionOfCounts,
        positives: NDArray[np.int64],
        negatives: NDArray[np.int64],
        *,
        counted: str = "group",
        in_threads: bool = True,
    ) -> NDArray[np.float64]:
        """Return the values of a function of counts on every resample that holds both classes.

        ``positives`` and ``negatives`` count by cluster what ``counted`` names, groups or
        candidates. Where one class is in fewer than two clusters, its variation is unknown: the
        result is a single row of NaN, with a warning. There is a warning, too, where a class is
        in few clusters or many resamples lack it.
        """
        for name, there in (("positive", positives), ("negative", negatives)):
            if np.count_nonzero(there) < 2:
                _warn(
                    f"{_all_in_one(int(there.sum()), f'{name} {counted}')} one cluster; a "
                    "confidence interval needs at least two, so its bounds are NaN."
                )
                return _unknown(of_counts, len(positives))

        def of_block(block: _Block) -> list[Any]:
            return [
                of_counts(count)
                for count in block.counts(len(positives))
                if (count @ positives) and (count @ negatives)
            ]

        blocks = self._blocks()
        by_block = thread_map(of_block, blocks) if in_threads else map(of_block, blocks)
        found = [value for values in by_block for value in values]
        left_out = self.n_resamples - len(found)
        if left_out <= _MOST_LEFT_OUT * self.n_resamples:
            warn_of_few(positives, negatives, stacklevel=4)
        else:
            _warn(
                f"{left_out} of {self.n_resamples} resamples hold one class only and are left "
                f"out; {np.count_nonzero(positives)} clusters hold positive and "
                f"{np.count_nonzero(negatives)} hold negative {counted}s, so few that the "
                "confidence interval may be too narrow."
            )
        if not found:
            return _unknown(of_counts, len(positives))
        return np.array(found, dtype=np.float64)

    def _blocks(self) -> list[_Block]:
        firsts = range(0, self.n_resamples, _RESAMPLES_A_BLOCK)
        sizes = [min(_RESAMPLES_A_BLOCK, self.n_resamples - first) for first in firsts]
        # Not spawn: a second call of it would give other children.
        return [_Block(self._seed, number, size) for number, size in enumerate(sizes)]

    def bounds(
        self, values: NDArray[np.float64], n_clusters: float = math.inf
    ) -> NDArray[np.float64]:
        """Return the two quantiles around the middle ``level`` of the resamples.

        They enclose a larger share where ``n_clusters``, the clusters of the class that lies in
        fewer, are few: see `groupcm.metrics.clusters.expanded_tail`.
        """
        tail = expanded_tail(self.level, n_clusters)
        return np.quantile(values, [tail, 1 - tail], axis=0)

    def interval(
        self, estimate: float, values: NDArray[np.float64], n_clusters: float = math.inf
    ) -> Interval:
        """Return the percentile interval of a number, by `bounds`."""
        low, high = self.bounds(values, n_clusters)
        return Interval(estimate, float(low), float(high))


def _all_in_one(n: int, what: str) -> str:
    return f"the only {what} is in" if n == 1 else f"all {n} {what}s are in"


def _unknown(of_counts: FunctionOfCounts, n_clusters: int) -> NDArray[np.float64]:
    """Return one row of NaN, of the shape of the others."""
    on_the_data = np.array([of_counts(np.ones(n_clusters, dtype=np.int64))], dtype=np.float64)
    return np.full_like(on_the_data, np.nan)


def _warn(message: str) -> None:
    warnings.warn(message, FewClustersWarning, stacklevel=5)
