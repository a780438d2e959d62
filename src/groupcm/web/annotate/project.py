"""What a page was opened for, so that one left open does not write into something else.

One number for those that grow: the revisions of annotations, scores and problems.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

__all__ = ["PROJECT_HEADER", "Revisions", "Seen", "list_id", "project_id"]

PROJECT_HEADER = "Groupcm-Project"
"""Header in which a page that changes something tells what it was opened for."""


def project_id(file: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str:
    """Return an id of an annotation file together with a folder, the same at every start.

    Examples
    --------
    >>> project_id("a.json", "frames") == project_id("./a.json", "frames/../frames")
    True
    >>> project_id("a.json", "frames") == project_id("b.json", "frames")
    False
    """
    return _id(str(Path(each).resolve()) for each in (file, folder))


def list_id(names: Iterable[str]) -> str:
    """Return an id of the names of pictures in their order, by which numbers have a meaning."""
    return _id(names)


def _id(texts: Iterable[str]) -> str:
    told = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()[:20]


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
