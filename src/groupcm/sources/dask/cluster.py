"""The connection to a Dask cluster, with a time limit on everything that may not come.

Dask itself waits without end for a worker and for a scheduler that has stopped. Every wait of a
fit goes through `Cluster`, which checks every few seconds whether the cluster can still work:

1. The scheduler has closed the connection: Dask's client connects again by itself, and has a few
   seconds for it.
2. The scheduler does not answer, there is no worker, or every worker is paused: the cluster has
   the time limit of the user to recover.

After that, a `ClusterError` states in one sentence what is missing.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from distributed import Client, Future

from groupcm.errors import ClusterError

__all__ = ["Cluster"]

# How long to wait for a result before asking whether the cluster can still work.
_LOOK_SECONDS = 2.0
# How long the client has to connect again, and the scheduler to answer a short question.
_CONNECT_SECONDS = 5.0


class Cluster:
    """A client, and how long its cluster may be unable to work.

    Parameters
    ----------
    client : distributed.Client
        A client that is not asynchronous.
    timeout : float
        Seconds.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float):
            raise ValueError(f"timeout must be a number of seconds; got {timeout!r}.")
        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout must be more than 0 seconds and finite; got {timeout!r}.")
        self.client: Any = client  # typed for asynchronous use too
        self._timeout = timeout
        self._look_seconds = min(_LOOK_SECONDS, timeout / 4)
        self._unable_since: float | None = None

    def require_scheduler(self) -> None:
        """Raise an error where the client is closed or cannot connect to the scheduler again."""
        deadline = time.monotonic() + _CONNECT_SECONDS
        while self.client.status in ("newly-created", "connecting"):
            if time.monotonic() > deadline:
                break
            time.sleep(self._look_seconds / 20)
        if self.client.status != "running":
            raise ClusterError(
                "the Dask scheduler is out of reach or the client closed; "
                "make a new client and a new source"
            )

    def require_able(self) -> bool:
        """Return whether the cluster can work; raise an error where it could not for too long."""
        self.require_scheduler()
        asked = time.monotonic()
        why_not = self._why_not()
        if why_not is None:
            self._unable_since = None
            return True
        if self._unable_since is None:
            self._unable_since = asked
        if time.monotonic() - self._unable_since >= self._timeout:
            self.require_scheduler()  # it may have ended just now
            raise ClusterError(why_not)
        return False

    def n_threads(self) -> int:
        """Return the number of threads that the workers have for tasks."""
        while (threads := self._ask("ncores")) is None:
            self.require_able()
            self.pause()
        return sum(threads.values())

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Wait for the results of tasks, and raise an error where the cluster cannot work.

        A value that is lost while it is waited for raises a `LookupError`.
        """
        self.require_scheduler()
        fetching = self.client.gather(list(futures), asynchronous=True)
        try:
            fetched = asyncio.run_coroutine_threadsafe(fetching, self.client.loop.asyncio_loop)
        except RuntimeError:  # the client has been closed just now
            fetching.close()
            self.require_scheduler()
            raise
        try:
            while not concurrent.futures.wait([fetched], self._look_seconds).done:
                self.require_able()
                if any(future.status == "lost" for future in futures):
                    raise LookupError("a value is lost")
            results = fetched.result()
        finally:
            fetched.cancel()
        self._unable_since = None
        return results

    def pause(self) -> None:
        """Wait a moment before something that failed is tried again."""
        time.sleep(self._look_seconds)

    def send_releases(self) -> None:
        """Make sure that futures released before are released before what is sent from now on.

        The client collects both in its event loop, where a release takes one turn more.
        """
        self.require_scheduler()
        with suppress(TimeoutError, RuntimeError):  # the client has been closed just now
            self.client.sync(asyncio.sleep, 0, callback_timeout=_CONNECT_SECONDS)

    def _why_not(self) -> str | None:
        running = self._ask("ncores_running")
        if running:
            return None
        seconds = f"{self._timeout:g} seconds"
        present = None if running is None else self._ask("ncores")
        if present is None:
            return (
                f"the Dask scheduler has not answered for {seconds}; see whether its process "
                "still runs, then make a new client and a new source"
            )
        if present:
            return (
                f"every worker of the Dask cluster has been paused for {seconds}, as workers are "
                "whose memory is full; give them more memory or start more of them"
            )
        return (
            f"the Dask cluster has had no worker for {seconds}; start some and try again, "
            "or give from_dask a longer timeout where they take longer to start"
        )

    def _ask(self, question: str) -> dict[str, int] | None:
        """Return what the scheduler answers; None where it does not."""
        try:
            ask = getattr(self.client.scheduler, question)
            return self.client.sync(ask, callback_timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, RuntimeError, AttributeError):
            # Connections break, events come late, and a client that is closed has no scheduler.
            return None
