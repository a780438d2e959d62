"""Values that the workers of a Dask cluster hold, and work that goes to where they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from typing import Any, Generic, TypeVar
from uuid import uuid4

from dask.delayed import delayed
from distributed import CancelledError, Client, Future, KilledWorker

from groupcm.errors import ClusterError, InputError
from groupcm.sources.dask.cluster import Cluster

__all__ = ["OnWorkers", "Recipe"]

Held = TypeVar("Held")
Result = TypeVar("Result")

# Tasks under way for each thread of a worker: so many that each worker has some of its own among
# them, though their results are needed in order and run where their rows are.
_AHEAD = 16
# Dask itself gives up a task when four workers died of it; so often it is tried again then.
_ATTEMPTS = 2
# A file on shared storage may be out of reach for a moment.
_READ_AGAIN = 2
# What the client knows already comes at once, unless the client ends at that moment.
_KNOWN_SECONDS = 5.0
_LONGEST_REASON = 300  # characters of an error that came from a worker


@dataclass(frozen=True)
class Recipe(Generic[Held]):
    """``make(origin)``: how to have a value again. ``origin`` is a delayed value or a future."""

    make: Callable[[Any], Held]
    origin: Any


@dataclass
class _Task(Generic[Result]):
    """Work on a value; it is under way where it has a future."""

    number: int
    work: partial[Result]
    future: Future | None = None
    failures: int = 0
    # Whether its worker died. So may a task be that only waited there: Dask blames them all.
    suspect: bool = False

    @property
    def status(self) -> str | None:
        return None if self.future is None else self.future.status

    def release(self) -> None:
        # By hand: the traceback of an exception would keep the future for as long as it is kept.
        if self.future is not None:
            self.future.release()
        self.future = None


def _is_lost(future: Future) -> bool:
    """Return whether the cluster, and not the function that it ran, lost a result."""
    if future.status == "error":
        # KilledWorker, NoValidWorkerError and others like them.
        return type(_error_of(future)).__module__.partition(".")[0] == "distributed"
    return future.status in ("cancelled", "lost")


def _error_of(future: Any) -> BaseException:
    """Return what the task of a future in error raised; the client knows it already."""
    error: Any = future.exception(timeout=_KNOWN_SECONDS)
    return error


class OnWorkers(Generic[Held]):
    """Values made by recipes and kept by the workers that made them.

    A value that dies with its worker is made again from its recipe, by the scheduler or, where
    that has forgotten it, by the client. Values are never sent to the workers: what is sent
    cannot be made again.

    Parameters
    ----------
    recipes : sequence of Recipe
    client : distributed.Client
    timeout : float
        Seconds in which a cluster that cannot work must recover.
    """

    def __init__(self, recipes: Sequence[Recipe[Held]], client: Client, timeout: float) -> None:
        self._cluster = Cluster(client, timeout)
        self._recipes = list(recipes)
        # None: to be made again when it is needed.
        self._held: list[Future | None] = [*self._make(self._recipes)]

    def __len__(self) -> int:
        return len(self._held)

    def replace(self, number: int, recipe: Recipe[Held]) -> None:
        """Hold another value under this number."""
        self._recipes[number] = recipe
        (self._held[number],) = self._make([recipe])

    def release(self) -> None:
        """Let the workers drop all values, although exceptions may still refer to this object."""
        self._drop(lambda future: True)

    def _drop(self, chosen: Callable[[Future], bool]) -> None:
        for number, future in enumerate(self._held):
            if future is not None and chosen(future):
                future.release()
                self._held[number] = None

    def _make(self, recipes: Sequence[Recipe[Held]]) -> list[Future]:
        self._cluster.require_scheduler()
        # Not pure: a name of its own, because a lost value's name stays lost.
        values = [delayed(recipe.make, pure=False)(recipe.origin) for recipe in recipes]
        try:
            return list(self._cluster.client.compute(values, retries=_READ_AGAIN))
        except Exception as error:
            self._cluster.require_scheduler()
            raise InputError(
                f"the partitions cannot be sent to the workers ({_reason(error)}); make them with "
                "functions of arguments that can be pickled, such as the names of files"
            ) from error

    def run(self, tasks: Iterable[tuple[int, partial[Result]]]) -> Generator[tuple[int, Result]]:
        """``work(value)`` for each number and work, in order, a few tasks ahead.

        What the work raises is raised here. No task is left on the cluster when the iterator
        ends, is closed, or raises an exception.
        """
        todo = iter(tasks)
        queue: deque[_Task[Result]] = deque()
        most = _AHEAD * max(1, self._cluster.n_threads())
        try:
            while True:
                queue.extend(_Task(*task) for task in islice(todo, most - len(queue)))
                if not queue:
                    return
                yield from self._first_results(queue)
        finally:
            for task in queue:
                task.release()

    def _first_results(self, queue: deque[_Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Wait for the first task; fetch its result and those that are ready behind it."""
        ready: list[_Task[Result]] = []
        results: list[Result] = []
        while not results:
            # One by one, to find the task that kills workers among those that were there as well.
            alone = any(task.suspect for task in queue)
            for task in [queue[0]] if alone else queue:
                self._start(task)
            behind = takewhile(lambda task: task.status == "finished", islice(queue, 1, None))
            ready = [queue[0], *behind]
            try:
                results = self._cluster.gather([task.future for task in ready if task.future])
            except ClusterError:
                raise
            except Exception as error:
                self._recover(queue, ready, error, alone)
        for _ in ready:
            queue.popleft().release()
        for task, result in zip(ready, results, strict=True):
            yield task.number, result

    def _start(self, task: _Task[Any]) -> None:
        """Submit a task that is not under way; make the value that it needs again, if lost."""
        if task.future is not None:
            return
        number = task.number
        held = self._held[number]
        if held is None or _is_lost(held):
            # Where a task is in error, so are those that need it: the scheduler must forget them
            # all, or a new task of the same origin fails with the old error.
            self._drop(_is_lost)
            self._cluster.send_releases()
            (self._held[number],) = self._make([self._recipes[number]])
        self._cluster.require_scheduler()
        key = f"{task.work.func.__name__}-{uuid4().hex}"
        try:
            task.future = self._cluster.client.submit(task.work, self._held[number], key=key)
        except Exception:
            self._cluster.require_scheduler()  # where the client was closed just now, say so
            raise

    def _recover(
        self,
        queue: Sequence[_Task[Any]],
        ready: Sequence[_Task[Any]],
        error: Exception,
        alone: bool,
    ) -> None:
        """Take back what the cluster lost, so that it starts again; raise what cannot be done."""
        for task in ready:
            self._raise_failure(task)
        lost = [task for task in queue if task.future is not None and _is_lost(task.future)]
        for task in lost:
            self._count_failure(task, error, alone)
        if not lost:
            # Neither lost nor failed: the way from the workers to this process is broken.
            if self._cluster.require_able():
                self._count_failure(ready[0], error, alone)
            self._cluster.pause()
        for task in lost:
            task.release()
        if any(task.suspect for task in lost):
            for task in queue:
                if task.status == "pending":
                    task.release()
            self._drop(lambda future: future.status == "pending")

    def _count_failure(self, task: _Task[Any], error: Exception, alone: bool) -> None:
        task.failures += 1
        cause = _error_of(task.future) if task.status == "error" else error
        task.suspect = isinstance(cause, KilledWorker)
        if task.failures <= _ATTEMPTS or (task.suspect and not alone):
            return
        partition = f"partition {task.number} (counted from 0)"
        if task.suspect:
            raise ClusterError(
                f"the Dask workers died again and again at work on {partition}, most likely "
                "because its rows need more memory than a worker has; cut it into smaller "
                "partitions or give the workers more memory"
            ) from error
        if isinstance(cause, CancelledError | LookupError):
            raise ClusterError(
                f"Dask cancelled or lost {partition} again and again; give it as a delayed table, "
                "which the workers can read again, and not as data that was sent to them"
            ) from error
        raise ClusterError(
            f"Dask gave up the work on {partition}: {_reason(cause)}; see the logs of its "
            "scheduler and workers"
        ) from error

    def _raise_failure(self, task: _Task[Any]) -> None:
        """Raise what a function has raised on a worker, where one has."""
        held = self._held[task.number]
        if held is not None and held.status == "error" and not _is_lost(held):
            error = _error_of(held)
            if isinstance(error, InputError):
                raise error
            raise InputError(
                f"partition {task.number} (counted from 0) cannot be read by a worker: "
                f"{_reason(error)}; {_remedy(error)}"
            ) from error
        if task.future is not None and task.status == "error" and not _is_lost(task.future):
            raise _error_of(task.future)


def _reason(error: BaseException) -> str:
    """Return the kind of an error and its text on one line.

    Examples
    --------
    >>> _reason(KeyError("a column"))
    "KeyError: 'a column'"
    """
    text = " ".join(str(error).split()).rstrip(".;")
    if len(text) > _LONGEST_REASON:
        text = f"{text[:_LONGEST_REASON]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _remedy(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "cut it into smaller partitions or give the workers more memory"
    if isinstance(error, ImportError) or isinstance(error.__cause__, ImportError):
        return "install the same packages for the scheduler and every worker"
    if isinstance(error, OSError):
        return "every worker must reach the same files, as on shared storage"
    return "the function that makes this partition must return a table on every worker"
