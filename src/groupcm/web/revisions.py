"""One number for two that grow: the revision of the annotations and that of the scores."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

__all__ = ["Pair", "Revisions"]

_MOST = 10_000


class Pair(NamedTuple):
    """What a page has seen of both."""

    store: int
    scores: int


class Revisions:
    """Numbers given out to pages, and the pair that each stands for.

    Examples
    --------
    >>> revisions = Revisions()
    >>> seen = revisions.of(store=5, scores=2)
    >>> revisions.known(seen), revisions.known(seen + 1)
    (Pair(store=5, scores=2), None)
    >>> revisions.of(5, 2) == seen, revisions.of(5, 3) > seen
    (True, True)
    """

    def __init__(self) -> None:
        # Of the clock: a number given out by an earlier start is then not known.
        self._last = time.time_ns() // 1_000_000
        self._pairs: OrderedDict[int, Pair] = OrderedDict()
        self._lock = Lock()

    def of(self, store: int, scores: int) -> int:
        """Return the number of a pair."""
        pair = Pair(store, scores)
        with self._lock:
            if self._pairs.get(self._last) != pair:
                self._last += 1
                self._pairs[self._last] = pair
                if len(self._pairs) > _MOST:
                    self._pairs.popitem(last=False)
            return self._last

    def known(self, revision: int) -> Pair | None:
        """Return the pair of a number; None where it is too old, or of elsewhere."""
        with self._lock:
            return self._pairs.get(revision)
