"""Work on many pictures, several at a time, in processes of their own.

A *task* is any picklable object with a ``name`` and a method ``read()`` that gives pixels:
`PictureFile` and `VideoFrame` are ready ones; a dataclass of your own may hold one of them beside
whatever else is known of the picture. *Work* is a picklable callable ``work(task, pixels)``: a
function of a module, or a frozen dataclass with ``__call__`` that holds a recipe or a model.
`map_pictures` yields ``task, result`` in the order of the tasks, whatever the number of
processes, and holds a few tasks and results in memory at most.

- A picture that cannot be read stops the work by its sentence, after the results before it were
  yielded; with ``skip_unreadable`` its result is an `Unreadable` instead. Only an `InputError`
  of ``read()`` counts as that: an error of the work itself always stops it.
- Ctrl-C, an error and a loop that ends early end the processes. So that they end at once and not
  when Python comes to it, write ``with closing(map_pictures(...)) as found:`` around the loop.
  The processes of a program that was killed end by themselves.
- Progress goes to `groupcm.utils.progress.announce_reading`, in pictures.
- The processes import the program that started them: a script of your own that works with more
  than one needs ``if __name__ == "__main__":`` around its calls.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from groupcm.errors import InputError
from groupcm.images import worker_process
from groupcm.images.reading import MOST_PIXELS, Pixels, read_named
from groupcm.utils.parallel import n_threads
from groupcm.utils.progress import announce_reading, count_reading

__all__ = ["PictureFile", "PictureTask", "Unreadable", "VideoFrame", "map_pictures"]

_FEW = 16  # so many are nearly done by the time that other processes have begun
_AHEAD = 4  # tasks under way for each process: one slow picture does not stop the others


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
    """A picture whose pixels are there already."""

    name: str
    pixels: Pixels

    def read(self) -> Pixels:
        """Return its pixels."""
        return self.pixels


@dataclass(frozen=True)
class Unreadable:
    """A picture that could not be read, and the sentence that says why."""

    name: str
    reason: str


Task = TypeVar("Task", bound=PictureTask)
Result = TypeVar("Result")
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
        What to do with a picture; see above.
    tasks
        Pictures, taken from it a few ahead of the one that is waited for.
    n_tasks
        How many there are, for the progress; None where nobody knows.
    doing
        What the progress calls it.
    workers
        Processes; left out, one a core, and none beside this one where pictures are few.
    skip_unreadable
        Yield `Unreadable` for a picture that cannot be read, instead of raising its sentence.
    before
        Pictures that an earlier run did, which the progress counts as well.

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
        raise ValueError(f"workers is {workers}; it must be 1 or more")
    tasks = iter(tasks)
    first = list(islice(tasks, _FEW))
    tasks = chain(first, tasks)
    workers = workers or (1 if len(first) < _FEW else n_threads())
    of_all = None if n_tasks is None else before + n_tasks
    progress = count_reading(doing, of_all, unit="pictures", before=before)
    done = before
    announce_reading(progress(done))
    outcome_of = partial(_outcome, work)
    with closing(_found(outcome_of, tasks, workers)) as found:
        for task, outcome in found:
            if isinstance(outcome, Unreadable) and not skip_unreadable:
                raise InputError(f"{outcome.reason}; skip_unreadable=True leaves such pictures out")
            done += 1
            announce_reading(progress(done))
            yield task, outcome


def _outcome(work: Work[Task, Result], task: Task) -> Result | Unreadable:
    try:
        pixels = task.read()
    except InputError as error:
        return Unreadable(task.name, str(error))
    try:
        return work(task, pixels)
    except Exception as error:
        error.add_note(f"This was the picture {task.name}.")
        raise


def _found(
    outcome_of: Callable[[Task], Any], tasks: Iterable[Task], workers: int
) -> Generator[tuple[Task, Any]]:
    if workers == 1:
        for task in tasks:
            yield task, outcome_of(task)
        return
    with _processes(outcome_of, workers) as submit:
        under_way: deque[tuple[Task, Future[Any]]] = deque()
        for task in tasks:
            under_way.append((task, submit(task)))
            if len(under_way) > _AHEAD * workers:
                task, future = under_way.popleft()
                yield task, future.result()
        while under_way:
            task, future = under_way.popleft()
            yield task, future.result()


@contextmanager
def _processes(
    outcome_of: Callable[[Any], Any], workers: int
) -> Iterator[Callable[[Any], Future[Any]]]:
    """Processes that take tasks within the block; whatever ends the block early ends them."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=worker_process.begin,
        initargs=(pickle.dumps(outcome_of),),
    )

    def submit(task: Any) -> Future[Any]:
        with _without_ctrl_c():  # a new process would print where it was interrupted
            return pool.submit(worker_process.outcome_of, task)

    try:
        yield submit
    except BrokenProcessPool as error:
        raise InputError(
            "a process that worked on pictures ended by itself, as happens where memory runs "
            "out; use fewer of them, as with workers=1 (in a script of your own, also write "
            'if __name__ == "__main__": around the call)'
        ) from error
    except BaseException:
        # What is under way is of no use to anybody, and may take long.
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Within the block Ctrl-C waits, and processes that begin never hear it; not on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
