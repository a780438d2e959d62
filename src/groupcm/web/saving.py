"""Changes that are confirmed only when they are on the disk.

Writing a whole file takes longer than changing one picture. While one write goes on the next
changes wait, and all that wait share the next write.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread
from typing import Generic, TypeVar

__all__ = ["Saver"]

State = TypeVar("State")


class Saver(Generic[State]):
    """A state in memory that follows a file.

    Parameters
    ----------
    state
        What the file holds now. It is never changed in place: a change makes another one.
    write
        Writes a state, whole; called in a thread of its own, one call at a time.

    Examples
    --------
    >>> written = []
    >>> saver = Saver((), written.append)
    >>> saver.change(lambda state: (*state, "box")).result()
    ('box',)
    >>> written, saver.saved
    ([('box',)], ('box',))
    >>> saver.close()
    """

    def __init__(self, state: State, write: Callable[[State], None]) -> None:
        self._current = self._saved = state
        self._write = write
        self._waiting: list[Future[State]] = []
        self._changed = Condition()
        self._closed = False
        self._thread: Thread | None = None

    @property
    def saved(self) -> State:
        """The state that is on the disk."""
        return self._saved

    def change(self, make: Callable[[State], State]) -> Future[State]:
        """Make the next state from the current one; the result comes when it is on the disk.

        ``make`` sees all changes made before, also those that wait. Where it raises, nothing
        changes. Where a write fails, all changes that wait fail with it and are undone.
        """
        with self._changed:
            if self._closed:
                raise RuntimeError("no change can be saved after the end")
            self._current = make(self._current)
            future: Future[State] = Future()
            self._waiting.append(future)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="saving", daemon=True)
                self._thread.start()
            self._changed.notify()
        return future

    def close(self) -> None:
        """Wait until all changes are on the disk; no more are taken."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                state, sharing = self._current, self._waiting
                self._waiting = []
            try:
                if state is not self._saved:
                    self._write(state)
            except BaseException as error:
                with self._changed:
                    self._current = self._saved
                    sharing += self._waiting
                    self._waiting = []
                for future in sharing:
                    future.set_exception(error)
            else:
                with self._changed:
                    self._saved = state
                for future in sharing:
                    future.set_result(state)
