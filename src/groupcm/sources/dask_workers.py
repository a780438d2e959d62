"""Values that the workers of a Dask cluster hold, and work that goes to where they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar
from uuid import uuid4

from dask.delayed import delayed
from distributed import CancelledError, Client, Future, KilledWorker, wait

__all__ = ["OnWorkers", "Recipe"]

Held = TypeVar("Held")
Result = TypeVar("Result")

# Tasks under way for each thread of a worker: so many that each worker has some of its own among
# them, though they are asked for in order and run where their rows are.
_AHEAD = 16
# Dask itself gives up a task when four workers died of it; so often it is tried again then.
_ATTEMPTS = 2
# A file on shared storage may be out of reach for a moment.
_READ_AGAIN = 2
# How long to wait for a result before asking whether there are workers at all, and then for one.
_LOOK_AFTER_SECONDS = 10.0
_WAIT_FOR_WORKER_SECONDS = 120.0


@dataclass(frozen=True)
class Recipe(Generic[Held]):
    """``make(origin)``: how to have a value again. ``origin`` is a delayed value or a future."""

    make: Callable[[Any], Held]
    origin: Any


@dataclass
class _Task(Generic[Result]):
    number: int
    work: partial[Result]
    future: Future
    failures: int = 0


def _is_lost(task: _Task[Any]) -> bool:
    future = task.future
    if future.status == "error":
        return isinstance(future.exception(), KilledWorker)
    return future.status in ("cancelled", "lost")


class OnWorkers(Generic[Held]):
    """Values made by recipes and kept by the workers that made them.

    A value that dies with its worker is made again from its recipe, by the scheduler or, where
    that has forgotten it, by the client. Values are never sent to the workers: what is sent
    cannot be made again.
    """

    def __init__(self, recipes: Sequence[Recipe[Held]], client: Client) -> None:
        self._client: Any = client  # typed for asynchronous use too
        self._recipes = list(recipes)
        self._held = self._make(self._recipes)

    def __len__(self) -> int:
        return len(self._held)

    def replace(self, number: int, recipe: Recipe[Held]) -> None:
        """Hold another value under this number."""
        self._recipes[number] = recipe
        (self._held[number],) = self._make([recipe])

    def _make(self, recipes: Sequence[Recipe[Held]]) -> list[Future]:
        # Not pure: a name of its own, because a lost value's name stays lost.
        values = [delayed(recipe.make, pure=False)(recipe.origin) for recipe in recipes]
        return list(self._client.compute(values, retries=_READ_AGAIN))

    def run(self, tasks: Iterable[tuple[int, partial[Result]]]) -> Iterator[tuple[int, Result]]:
        """``work(value)`` for each number and work, in order, a few tasks ahead.

        What the work raises is raised here.
        """
        todo = iter(tasks)
        under_way: deque[_Task[Result]] = deque()
        self._require_scheduler()
        most = _AHEAD * max(1, sum(self._client.nthreads().values()))
        try:
            while True:
                for number, work in islice(todo, most - len(under_way)):
                    under_way.append(_Task(number, work, self._submit(number, work)))
                if not under_way:
                    return
                yield from self._first_results(under_way)
        finally:
            under_way.clear()  # the scheduler drops what nobody waits for

    def _submit(self, number: int, work: partial[Result]) -> Future:
        self._require_scheduler()
        key = f"{work.func.__name__}-{uuid4().hex}"
        return self._client.submit(work, self._held[number], key=key)

    def _first_results(self, under_way: deque[_Task[Result]]) -> Iterator[tuple[int, Result]]:
        """Wait for the first task; fetch its result and those that are ready behind it."""
        while True:
            try:
                self._wait_for(under_way[0].future)
                n_ready = 1
                while n_ready < len(under_way) and under_way[n_ready].future.status == "finished":
                    n_ready += 1
                ready = list(islice(under_way, n_ready))
                results = self._client.gather([task.future for task in ready])
                break
            except (KilledWorker, CancelledError) as error:
                for task in filter(_is_lost, under_way):
                    self._try_again(task, error)
        for _ in ready:
            under_way.popleft()
        for task, result in zip(ready, results, strict=True):
            yield task.number, result

    def _wait_for(self, future: Future) -> None:
        while not future.done():
            try:
                wait([future], timeout=_LOOK_AFTER_SECONDS)
            except TimeoutError:
                self._require_worker()

    def _require_scheduler(self) -> None:
        if self._client.status in ("closing", "closed"):
            raise RuntimeError(
                "the Dask scheduler is out of reach or the client closed; "
                "make a new client and a new source"
            )

    def _require_worker(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_WAIT_FOR_WORKER_SECONDS)
        except TimeoutError as error:
            raise RuntimeError(
                f"the Dask cluster has had no worker for {_WAIT_FOR_WORKER_SECONDS:g} seconds; "
                "start some and try again"
            ) from error

    def _try_again(self, task: _Task[Result], error: BaseException) -> None:
        task.failures += 1
        if task.failures > _ATTEMPTS:
            raise RuntimeError(
                f"workers died again and again at work on partition {task.number} (counted from "
                "0); cut it into smaller partitions or give the workers more memory"
            ) from error
        held = self._held[task.number]
        if held.status == "error":
            held.retry()
        elif held.status in ("cancelled", "lost"):
            (self._held[task.number],) = self._make([self._recipes[task.number]])
        task.future = self._submit(task.number, task.work)
