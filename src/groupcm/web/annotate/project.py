"""Identity and revisions of the project that the annotate page was opened for.

The ids prevent a page that was left open from writing into another project. `Revisions` combines
the revisions of annotations, scores and problems into one number.
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
"""The header in which a page sends the id of its project with every change."""
_MOST = 10_000


def project_id(file: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str:
    """Return an id of an annotation file and a folder, which is the same at every start.

    Examples
    --------
    >>> project_id("a.json", "frames") == project_id("./a.json", "frames/../frames")
    True
    >>> project_id("a.json", "frames") == project_id("b.json", "frames")
    False
    """
    return _id(str(Path(each).resolve()) for each in (file, folder))


def list_id(names: Iterable[str]) -> str:
    """Return an id of the list of pictures, to which the numbers of pictures refer."""
    return _id(names)


def _id(texts: Iterable[str]) -> str:
    content = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:20]


class Seen(NamedTuple):
    """The revisions that a page has seen."""

    store: int
    scores: int
    problems: int


class Revisions:
    """Numbers that are sent to pages, each for one combination of revisions.

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
        # From the clock, so that a number of an earlier start is not known.
        self._last = time.time_ns() // 1_000_000
        self._given: OrderedDict[int, Seen] = OrderedDict()
        self._lock = Lock()

    def of(self, seen: Seen) -> int:
        """Return the number of a combination of revisions."""
        with self._lock:
            if self._given.get(self._last) != seen:
                self._last += 1
                self._given[self._last] = seen
                if len(self._given) > _MOST:
                    self._given.popitem(last=False)
            return self._last

    def known(self, revision: int) -> Seen | None:
        """Return the revisions of a number; None if it is too old or of another start."""
        with self._lock:
            return self._given.get(revision)
