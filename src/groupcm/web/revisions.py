"""One number for those that grow: the revisions of annotations, scores and problems."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

__all__ = ["Revisions", "Seen"]

_MOST = 10_000


class Seen(NamedTuple):
    """What a page has seen of each."""

    store: int
    scores: int
    problems: int


class Revisions:
    """Numbers given out to pages, and what each stands for.

    Examples
    --------
    >>> revisions = Revisions()
    >>> seen = revisions.of(Seen(store=5, scores=2, problems=0))
    >>> revisions.known(seen), revisions.known(seen + 1)
    (Seen(store=5, scores=2, problems=0), None)
    >>> revisions.of(Seen(5, 2, 0)) == seen, revisions.of(Seen(5, 3, 0)) > seen
    (True, True)
    """

    def __init__(self) -> None:
        # Of the clock: a number given out by an earlier start is then not known.
        self._last = time.time_ns() // 1_000_000
        self._given: OrderedDict[int, Seen] = OrderedDict()
        self._lock = Lock()

    def of(self, seen: Seen) -> int:
        """Return the number of what is seen."""
        with self._lock:
            if self._given.get(self._last) != seen:
                self._last += 1
                self._given[self._last] = seen
                if len(self._given) > _MOST:
                    self._given.popitem(last=False)
            return self._last

    def known(self, revision: int) -> Seen | None:
        """Return what a number stands for; None where it is too old, or of elsewhere."""
        with self._lock:
            return self._given.get(revision)
