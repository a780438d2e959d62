"""Scoring of the pictures of a library in the background, while the page is already in use."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from multiprocessing.process import BaseProcess

from groupcm.errors import InputError
from groupcm.images.parallel import PictureFile, Unreadable, map_pictures
from groupcm.images.scoring.score import PictureScorer
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import NumberedPicture, PictureResult, ScorePicture

__all__ = ["BackgroundScores", "Result", "picture_stamp"]

Result = PictureResult | Unreadable

_SECONDS_TO_END = 10.0


class BackgroundScores:
    """Scores of the pictures of a library, computed in the order of their names.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model that scores them.
    workers
        The number of processes; 1 scores in a thread of this process, and None takes one process
        per core if there are more than a few pictures.
    known
        Results of an earlier start by picture number, which are not computed again.
    on_result
        Called with every new result, in the thread that computed it.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> from groupcm.images.recipe import Recipe
    >>> home = tempfile.mkdtemp()
    >>> _ = write_frames(home, 2, height=48, width=64)
    >>> class Lightest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> library = PictureLibrary(f"{home}/frames")
    >>> scores = BackgroundScores(library, PictureScorer(Lightest(), Recipe()))
    >>> scores.score(0) is None
    True
    >>> scores.start()
    >>> scores.wait(), scores.n_scored, scores.score(0) > 0.0
    (True, 2, True)
    """

    def __init__(
        self,
        library: PictureLibrary,
        scorer: PictureScorer,
        workers: int | None = 1,
        *,
        known: Mapping[int, Result] | None = None,
        on_result: Callable[[NumberedPicture, Result], None] | None = None,
    ) -> None:
        self._library, self._scorer, self._workers = library, scorer, workers
        self._results: dict[int, Result] = dict(known or {})
        self._arrived = list(self._results)
        self._on_result = on_result
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._others: set[BaseProcess] = set()

    @property
    def threshold(self) -> float | None:
        """The score from which on a picture raises an alarm, or None."""
        return self._scorer.threshold

    @property
    def n_scored(self) -> int:
        """The number of pictures that have a score."""
        return self._count(PictureResult)

    @property
    def n_failed(self) -> int:
        """The number of pictures that could not be scored."""
        return self._count(Unreadable)

    @property
    def running(self) -> bool:
        """Whether pictures are being scored."""
        return self._thread is not None and self._thread.is_alive()

    def result(self, number: int) -> Result | None:
        """Return the result of a picture, or None if it is not known yet."""
        return self._results.get(number)

    def score(self, number: int) -> float | None:
        """Return the score of a picture, or None if it is not known yet or cannot be computed."""
        result = self._results.get(number)
        return result.score if isinstance(result, PictureResult) else None

    def changed_since(self, revision: int) -> tuple[int, dict[int, float | None]]:
        """Return the current revision, and the scores that were added after an earlier one."""
        with self._lock:
            known = revision if 0 <= revision <= len(self._arrived) else 0
            numbers = self._arrived[known:]
            newest = len(self._arrived)
        return newest, {number: self.score(number) for number in numbers}

    def add(self, task: NumberedPicture, result: Result) -> None:
        """Add a result, which replaces an earlier one of the same picture."""
        with self._lock:
            self._results[task.number] = result
            self._arrived.append(task.number)
        if self._on_result is not None:
            self._on_result(task, result)

    def start(self) -> None:
        """Start scoring; a second call does nothing."""
        if self._thread is None and not self._stopping.is_set():
            self._others = set(multiprocessing.active_children())
            self._thread = threading.Thread(target=self._run, name="scores", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop scoring and its processes; results that are being computed are lost."""
        self._stopping.set()
        if self._thread is None:
            return
        # A large picture may take long, and its result is not needed any more. The server starts
        # no other processes.
        for child in set(multiprocessing.active_children()) - self._others:
            child.terminate()
        self._thread.join(_SECONDS_TO_END)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until scoring ends, and return whether it did."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.running

    def _count(self, kind: type) -> int:
        with self._lock:
            return sum(isinstance(each, kind) for each in self._results.values())

    def _run(self) -> None:
        work = map_pictures(
            ScorePicture(self._scorer),
            self._tasks(),
            doing="scoring",
            workers=self._workers,
            skip_unreadable=True,
        )
        try:
            with closing(work) as found:
                for task, result in found:
                    if self._stopping.is_set():
                        return
                    self.add(task, result)
        except _Stopped:
            return
        except Exception as error:
            if not self._stopping.is_set():
                self._give_up(str(error) or type(error).__name__)

    def _tasks(self) -> Iterator[NumberedPicture]:
        for number, name in enumerate(self._library.names):
            if self._stopping.is_set():
                raise _Stopped
            if number not in self._results:
                yield NumberedPicture(
                    number,
                    PictureFile(self._library.folder, name),
                    picture_stamp(self._library, number),
                )

    def _give_up(self, reason: str) -> None:
        """Record for each remaining picture why it has no score."""
        for number, name in enumerate(self._library.names):
            if number not in self._results:
                task = NumberedPicture(number, PictureFile(self._library.folder, name))
                self.add(task, Unreadable(name, reason))


class _Stopped(Exception):
    """No more pictures are needed."""


def picture_stamp(library: PictureLibrary, number: int) -> str:
    """Return a text that changes when the file of a picture does; empty if the file is gone."""
    try:
        return ":".join(map(str, library.stamp(number)))
    except InputError:
        return ""
