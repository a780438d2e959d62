"""Pictures are scored in the background, while people already look at them."""

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
from groupcm.web.server.scored_pictures import NumberedPicture, PictureResult, ResultOfPicture

__all__ = ["BackgroundScores", "Result", "picture_stamp"]

Result = PictureResult | Unreadable

_SECONDS_TO_END = 10.0


class BackgroundScores:
    """Scores of the pictures of a library, in the order of their names, as they become known.

    Parameters
    ----------
    library
        The pictures.
    scorer
        Scores one; its threshold is known as ``threshold``.
    workers
        Processes; 1 works in a thread of this process; None takes one a core, where there are
        more than a few pictures.
    known
        Results of earlier work, by the numbers of their pictures, which are not made again.
    heard
        Called with every new result, in the thread that made it.

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
        heard: Callable[[NumberedPicture, Result], None] | None = None,
    ) -> None:
        self._library, self._scorer, self._workers = library, scorer, workers
        self._results: dict[int, Result] = dict(known or {})
        self._arrived = list(self._results)
        self._heard = heard
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._others: set[BaseProcess] = set()

    @property
    def threshold(self) -> float | None:
        """From this score on a picture raises an alarm; None where nobody said."""
        return self._scorer.threshold

    @property
    def n_scored(self) -> int:
        """How many pictures have a score."""
        with self._lock:
            return sum(isinstance(each, PictureResult) for each in self._results.values())

    @property
    def n_failed(self) -> int:
        """How many pictures could not be scored."""
        with self._lock:
            return sum(isinstance(each, Unreadable) for each in self._results.values())

    @property
    def running(self) -> bool:
        """Whether more scores are to come."""
        return self._thread is not None and self._thread.is_alive()

    def result(self, number: int) -> Result | None:
        """What is known of a picture; None where that is still to come."""
        return self._results.get(number)

    def score(self, number: int) -> float | None:
        """Score of a picture; None where it is not known yet, or never will be."""
        result = self._results.get(number)
        return result.score if isinstance(result, PictureResult) else None

    def changed_since(self, revision: int) -> tuple[int, dict[int, float | None]]:
        """Return the newest revision, and the scores that became known after an older one."""
        with self._lock:
            known = revision if 0 <= revision <= len(self._arrived) else 0
            numbers = self._arrived[known:]
            newest = len(self._arrived)
        return newest, {number: self.score(number) for number in numbers}

    def add(self, task: NumberedPicture, result: Result) -> None:
        """Take a result for the newest of its picture."""
        with self._lock:
            self._results[task.number] = result
            self._arrived.append(task.number)
        if self._heard is not None:
            self._heard(task, result)

    def start(self) -> None:
        """Begin; a second call does nothing."""
        if self._thread is None and not self._stopping.is_set():
            self._others = set(multiprocessing.active_children())
            self._thread = threading.Thread(target=self._run, name="scores", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the work and its processes; what is under way is lost."""
        self._stopping.set()
        if self._thread is None:
            return
        # One of them may be at a large picture for long, and nobody waits for it any more. They
        # are all processes that began since: the server has no others.
        for child in set(multiprocessing.active_children()) - self._others:
            child.terminate()
        self._thread.join(_SECONDS_TO_END)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the work ends, and say whether it did."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.running

    def _run(self) -> None:
        work = map_pictures(
            ResultOfPicture(self._scorer),
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
        """Say of each picture that is left why it has no score."""
        for number, name in enumerate(self._library.names):
            if number not in self._results:
                task = NumberedPicture(number, PictureFile(self._library.folder, name))
                self.add(task, Unreadable(name, reason))


class _Stopped(Exception):
    """Nobody wants more pictures."""


def picture_stamp(library: PictureLibrary, number: int) -> str:
    """Return what changes when the picture's file does; empty where the file is gone."""
    try:
        return ":".join(map(str, library.stamp(number)))
    except InputError:
        return ""
