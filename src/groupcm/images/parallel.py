"""Parallel work on many pictures in several processes.

A *task* is any picklable object with a ``name`` and a method ``read()`` that returns pixels, such
as `PictureFile` and `VideoFrame`; a custom dataclass may contain one of them and further values.
*Work* is a picklable callable ``work(task, pixels)``: a function of a module, or a frozen dataclass
with ``__call__`` that contains a recipe or a model. `map_pictures` yields ``task, result`` in the
order of the tasks, for any number of processes, and holds only a few tasks and results in memory.

- A picture that cannot be read raises its error, after the results before it were yielded; with
  ``skip_unreadable`` its result is an `Unreadable` instead. This concerns an `InputError` of
  ``read()`` only: an error of the work itself is always raised.
- Ctrl-C, an error and a loop that ends early terminate the processes. For them to end immediately
  and not with garbage collection, write ``with closing(map_pictures(...)) as results:`` around the
  loop. The processes of a program that was killed end by themselves.
- Progress is reported to `groupcm.utils.progress.announce_reading`, in pictures. The remaining time
  is estimated by the time that pictures took in their process, without the start of the processes.
- Work may have a method ``prepare()``, which each process calls once before its first picture, such
  as to load compiled kernels.
- The processes import the program that started them: a script that uses more than one process needs
  ``if __name__ == "__main__":`` around its calls.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from groupcm.errors import Argument, InputError, ParameterError, PythonNote
from groupcm.images import _worker_process
from groupcm.images.reading import MOST_PIXELS, Pixels, read_named
from groupcm.utils.parallel import n_threads
from groupcm.utils.progress import announce_reading, count_reading

__all__ = ["PictureFile", "PictureTask", "Unreadable", "VideoFrame", "map_pictures"]

_FEW = 16  # fewer are nearly done by the time that other processes have started
_AHEAD = 4  # submitted tasks per process: one slow picture does not delay the others
Result = TypeVar("Result")


class PictureTask(Protocol):
    """A picture to work on."""

    @property
    def name(self) -> str: ...

    def read(self) -> Pixels: ...


@dataclass(frozen=True)
class PictureFile:
    """A picture of a folder, by the name that `groupcm.images.listing.list_pictures` gives it."""

    folder: Path
    name: str
    most_pixels: int = MOST_PIXELS

    def read(self) -> Pixels:
        """Read its pixels."""
        return read_named(self.folder, self.name, most_pixels=self.most_pixels)


@dataclass(frozen=True, eq=False)
class VideoFrame:
    """A picture whose pixels are in memory."""

    name: str
    pixels: Pixels

    def read(self) -> Pixels:
        """Return its pixels."""
        return self.pixels


@dataclass(frozen=True)
class Unreadable:
    """A picture that could not be read, and the error message.

    The error is missing where the message was read from a file of an earlier run.
    """

    name: str
    reason: str
    error: InputError | None = field(default=None, compare=False, repr=False)

    @property
    def message(self) -> InputError | str:
        """The reason as a part of a message, whose arguments a command can spell as options."""
        return self.reason if self.error is None else self.error


Task = TypeVar("Task", bound=PictureTask)
Work = Callable[[Task, Pixels], Result]


def map_pictures(
    work: Work[Task, Result],
    tasks: Iterable[Task],
    *,
    n_tasks: int | None = None,
    doing: str = "working",
    workers: int | None = None,
    skip_unreadable: bool = False,
    before: int = 0,
) -> Generator[tuple[Task, Result | Unreadable]]:
    """Yield each task with ``work(task, task.read())``, in order.

    Parameters
    ----------
    work
        A function of a task and its pixels; see above.
    tasks
        Pictures; a few are taken ahead of the one that is yielded next.
    n_tasks
        The number of tasks, for the progress; None if it is unknown.
    doing
        The name of the work in the progress.
    workers
        Number of processes; by default one per core, and only this one for few pictures.
    skip_unreadable
        Yield `Unreadable` for a picture that cannot be read, instead of raising its error.
    before
        Pictures that an earlier run completed, which the progress counts as well.

    Examples
    --------
    >>> import numpy as np
    >>> def mean(task, pixels):
    ...     return float(pixels.mean())
    >>> frames = [VideoFrame(f"frame {n}", np.full((2, 2), n, dtype=np.uint8)) for n in (1, 2)]
    >>> [(task.name, found) for task, found in map_pictures(mean, frames)]
    [('frame 1', 1.0), ('frame 2', 2.0)]
    """
    if workers is not None and workers < 1:
        raise ParameterError(Argument("workers"), f" is {workers}; it must be 1 or more")
    tasks = iter(tasks)
    first = list(islice(tasks, _FEW))
    tasks = chain(first, tasks)
    workers = workers or (1 if len(first) < _FEW else n_threads())
    of_all = None if n_tasks is None else before + n_tasks
    timed = _Timed(work)
    if workers == 1 and len(first) == _FEW:
        timed.prepare()
    progress = count_reading(doing, of_all, unit="pictures", before=before)
    done, pace = before, _Pace(workers)
    announce_reading(progress(done))
    with closing(_results(timed, tasks, workers)) as results:
        for task, (result, seconds) in results:
            if isinstance(result, Unreadable) and not skip_unreadable:
                raise InputError(
                    result.message,
                    "; ",
                    Argument("skip_unreadable", True),
                    " leaves such pictures out",
                )
            done += 1
            announce_reading(replace(progress(done), seconds_per_row=pace.after(seconds)))
            yield task, result


@dataclass
class _Pace:
    """Seconds per picture, of the work in all processes or between results if that is longer."""

    workers: int
    n: int = 0
    seconds: float = 0.0
    first: float = 0.0

    def after(self, seconds: float) -> float:
        """Return the pace after a result of a picture that took ``seconds`` in its process."""
        now = time.perf_counter()
        self.n, self.seconds = self.n + 1, self.seconds + seconds
        self.first = self.first or now
        return max(self.seconds / self.n / self.workers, (now - self.first) / max(self.n - 1, 1))


@dataclass(frozen=True)
class _Timed:
    """Work that also returns the seconds it took, and the error of an unreadable picture."""

    work: Work[Any, Any]

    def prepare(self) -> None:
        prepare = getattr(self.work, "prepare", None)
        if prepare is not None:
            prepare()

    def __call__(self, task: Any) -> tuple[Any, float]:
        began = time.perf_counter()
        return self._result(task), time.perf_counter() - began

    def _result(self, task: Any) -> Any:
        try:
            pixels = task.read()
        except InputError as error:
            return Unreadable(task.name, str(error), error)
        try:
            return self.work(task, pixels)
        except Exception as error:
            error.add_note(f"This was the picture {task.name}.")
            raise


def _results(function: _Timed, tasks: Iterable[Task], workers: int) -> Generator[tuple[Task, Any]]:
    if workers == 1:
        for task in tasks:
            yield task, function(task)
        return
    with _processes(function, workers) as submit:
        submitted: deque[tuple[Task, Future[Any]]] = deque()
        for task in tasks:
            submitted.append((task, submit(task)))
            if len(submitted) > _AHEAD * workers:
                task, future = submitted.popleft()
                yield task, future.result()
        while submitted:
            task, future = submitted.popleft()
            yield task, future.result()


@contextmanager
def _processes(function: _Timed, workers: int) -> Iterator[Callable[[Any], Future[Any]]]:
    """Start processes that call the function within the block; an error terminates them."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=_worker_process.begin,
        initargs=(pickle.dumps(function),),
    )

    def submit(task: Any) -> Future[Any]:
        with _without_ctrl_c():  # a new process would print where it was interrupted
            return pool.submit(_worker_process.call, task)

    try:
        yield submit
    except BrokenProcessPool as error:
        raise InputError(
            "a process that worked on pictures ended by itself, as happens where memory runs "
            "out; use fewer of them, such as with ",
            Argument("workers", 1),
            PythonNote(
                ' (in a script of your own, also write if __name__ == "__main__": around the call)'
            ),
        ) from error
    except BaseException:
        # Results of running tasks are not needed, and may take long.
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Defer Ctrl-C within the block, and block it in processes started there; not on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
