"""Which pictures could not be read, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from groupcm.errors import InputError

__all__ = ["Problems"]


class Problems:
    """A sentence for each picture that could not be read, known once somebody tried.

    Examples
    --------
    >>> problems = Problems()
    >>> try:
    ...     with problems.noting(7):
    ...         raise InputError("h.png is cut off")
    ... except InputError:
    ...     problems.sentence(7)
    'h.png is cut off'
    >>> problems.changed_since(0)
    (1, {7})
    >>> problems.forget(7)
    >>> problems.sentence(7), problems.changed_since(1)
    (None, (2, {7}))
    """

    def __init__(self) -> None:
        self._sentences: dict[int, str] = {}
        self._changed: list[int] = []
        self._lock = Lock()

    @property
    def n_pictures(self) -> int:
        """The number of pictures that are known to be unreadable."""
        return len(self._sentences)

    def sentence(self, number: int) -> str | None:
        """Return why a picture could not be read; None where it could, or nobody tried."""
        return self._sentences.get(number)

    @contextmanager
    def noting(self, number: int) -> Iterator[None]:
        """Note what is wrong with a picture, and raise it all the same."""
        try:
            yield
        except InputError as error:
            self._note(number, " ".join(str(error).split()))
            raise

    def forget(self, number: int, sentence: str | None = None) -> None:
        """Take back what was noted of a picture, or this one sentence alone."""
        with self._lock:
            noted = self._sentences.get(number)
            if noted is not None and sentence in (None, noted):
                del self._sentences[number]
                self._changed.append(number)

    def changed_since(self, revision: int) -> tuple[int, set[int]]:
        """Return the revision now, and the pictures of which something new is known."""
        with self._lock:
            return len(self._changed), set(self._changed[revision:])

    def _note(self, number: int, sentence: str) -> None:
        with self._lock:
            if self._sentences.get(number) != sentence:
                self._sentences[number] = sentence
                self._changed.append(number)
