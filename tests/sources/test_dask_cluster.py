"""A Dask cluster that breaks: the pass goes on, or one sentence says what is wrong."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event, Lock

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from dask_tables import (
    ALL,
    FEATURES,
    ROLES,
    check_same_candidates,
    cluster_of,
    column_sums,
    cut_anywhere,
    every_unit,
    source_of,
    table,
)
from distributed import Client, Status

from groupcm import GroupClassifier
from groupcm.errors import ClusterError, InputError
from groupcm.sources.dask import cluster as dask_cluster
from groupcm.sources.dask import workers as dask_workers
from groupcm.sources.dask.source import from_dask
from groupcm.sources.rows.chunk import Chunk
from groupcm.utils.progress import listening

# Workers that import this file by name would need it on their path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

SHORT = 0.2  # seconds that a cluster has to recover where it never will


@pytest.fixture(scope="module")
def two_processes():
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def client(two_processes):
    """Two workers in processes of their own, which a test may kill."""
    with two_processes.as_current():
        yield two_processes


@pytest.fixture(scope="module")
def two_threads():
    with cluster_of(2, processes=False) as client:
        yield client


@pytest.fixture
def here(two_threads):
    """Two workers in threads of this process, which start at once and must not be killed."""
    with two_threads.as_current():
        yield two_threads


@dataclass
class DieOnce:
    """Sum the columns; the first to come kills its process instead."""

    marker: Path

    def __call__(self, chunk: Chunk) -> np.ndarray:
        try:
            self.marker.touch(exist_ok=False)
        except FileExistsError:
            return column_sums(chunk)
        os._exit(1)


def test_a_worker_that_dies_does_not_lose_the_pass(client, tmp_path):
    frames = table(40)
    source = source_of(cut_anywhere(frames, 6))
    total = np.sum(every_unit(source, DieOnce(tmp_path / "died")), axis=0)
    assert (tmp_path / "died").exists()
    np.testing.assert_allclose(total, frames[FEATURES].sum(), rtol=1e-5)
    check_same_candidates(source, frames)


@contextmanager
def no_death_allowed(client: Client) -> Iterator[None]:
    """Dask gives up a task as soon as one worker died of it."""

    def allow(n_deaths: int, dask_scheduler=None) -> None:
        dask_scheduler.allowed_failures = n_deaths

    client.run_on_scheduler(partial(allow, 0))
    try:
        yield
    finally:
        client.run_on_scheduler(partial(allow, 3))


def test_a_partition_that_kills_its_workers_while_it_is_read_is_named(client, monkeypatch):
    monkeypatch.setattr(dask_workers, "_ATTEMPTS", 0)
    parts = [delayed(part) for part in cut_anywhere(table(), 3)]
    with (
        no_death_allowed(client),
        pytest.raises(ClusterError, match=r"died .* partition 3 .*smaller partitions"),
    ):
        from_dask([*parts, delayed(os._exit)(1)], **ROLES)


def die_or_read(marker: Path, part: pd.DataFrame) -> pd.DataFrame:
    """Kill the process unless the marker exists."""
    if not marker.exists():
        marker.touch()
        os._exit(1)
    return part


@pytest.mark.slow
def test_what_dask_gave_up_is_tried_again(client, tmp_path, monkeypatch):
    frames = table()
    *parts, last = cut_anywhere(frames, 3)
    with no_death_allowed(client):
        read = delayed(die_or_read)(tmp_path / "died while reading", last)
        source = from_dask([*map(delayed, parts), read], **ROLES)
        check_same_candidates(source, frames)
        total = np.sum(every_unit(source, DieOnce(tmp_path / "died")), axis=0)
        np.testing.assert_allclose(total, frames[FEATURES].sum(), rtol=1e-5)
        monkeypatch.setattr(dask_workers, "_ATTEMPTS", 0)
        with pytest.raises(ClusterError, match="died again and again at work on partition 1"):
            list(source.run([(1, lambda chunk: os._exit(1))], ALL))


def read_too_much() -> None:
    """Take memory until the worker is ended for it."""
    held = [np.ones(1 << 22) for _ in range(40)]
    Event().wait()
    del held


@pytest.mark.slow
def test_a_partition_that_does_not_fit_is_named(monkeypatch):
    monkeypatch.setattr(dask_workers, "_ATTEMPTS", 0)
    with (
        cluster_of(1, allowed_failures=0, memory_limit="500MB"),
        pytest.raises(ClusterError, match=r"died .* partition 1 .*more memory"),
    ):
        from_dask([delayed(table()), delayed(read_too_much)()], **ROLES)


def read_once_more(folder: Path, part: pd.DataFrame) -> pd.DataFrame:
    """Fails the first time, as shared storage may."""
    if not any(folder.iterdir()):
        (folder / "failed").touch()
        raise OSError("the storage does not answer")
    return part


def test_a_read_that_fails_once_is_read_again(here, tmp_path):
    frames = table()
    source = from_dask([delayed(read_once_more)(tmp_path, frames)], **ROLES)
    check_same_candidates(source, frames)


def test_cancelled_partitions_are_made_again(here):
    frames = table()
    source = source_of(cut_anywhere(frames, 4))
    here.cancel(source._held._held[1:3], force=True)
    check_same_candidates(source, frames)


def test_data_that_was_sent_to_the_workers_and_is_lost_is_named(here):
    frames = table()
    sent = here.scatter([frames])
    source = from_dask(sent, **ROLES)
    here.cancel([*sent, *source._held._held], force=True)
    with pytest.raises(ClusterError, match=r"lost partition 0 .*delayed table"):
        source.index()


@pytest.mark.slow
def test_a_restarted_cluster_does_not_lose_the_source(client):
    frames = table()
    source = source_of(cut_anywhere(frames, 4))
    client.restart()
    check_same_candidates(source, frames)


class TwoArguments(Exception):
    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what}\n  in {where}.")


def fail(error: Exception) -> None:
    raise error


def fail_with_two(what: str, where: str) -> None:
    raise TwoArguments(what, where)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (partial(pd.read_parquet, "/no/such.parquet"), r"FileNotFoundError: .*; .*shared storage"),
        (partial(fail, ModuleNotFoundError("no 'x'")), "ModuleNotFoundError: no 'x'; install the"),
        (partial(fail, MemoryError()), "MemoryError; cut it into smaller"),
        (partial(fail, TimeoutError("late")), "TimeoutError: late; every worker must reach"),
        (partial(fail, KeyError("frame")), "KeyError: 'frame'; the function"),
        (partial(fail_with_two, "bad", "a.csv"), "TwoArguments: bad in a.csv; the function"),
        (partial(fail, ValueError("x" * 10_000)), "ValueError: x{300}…; the function"),
    ],
)
def test_a_read_that_fails_names_the_partition(here, read, said):
    parts = [delayed(part) for part in cut_anywhere(table(), 2)]
    said = f"^partition 2 \\(counted from 0\\) cannot be read by a worker: {said}"
    with pytest.raises(InputError, match=said) as caught:
        from_dask([*parts, delayed(read)()], **ROLES)
    assert not isinstance(caught.value, ClusterError)
    assert "\n" not in str(caught.value)


class OfAnotherEnvironment:
    """Something of a module that the cluster does not have."""

    def __reduce__(self):
        return import_module, ("no_such_module",)


def test_a_scheduler_that_cannot_unpack_a_partition_says_so(here):
    parts = [delayed(table()), delayed(fail)(OfAnotherEnvironment())]
    with pytest.raises(InputError, match=r"^partition 0 .*RuntimeError: .*; install the same"):
        from_dask(parts, **ROLES)


def test_partitions_that_cannot_be_sent_are_refused(here):
    with pytest.raises(InputError, match=r"cannot be sent to the workers.*can be pickled"):
        from_dask([delayed(lambda lock: table())(Lock())], **ROLES)


def remove_all_workers(client: Client) -> None:
    client.cluster.scale(0)
    client.cluster.sync(client.cluster._correct_state)
    assert client.nthreads() == {}


def test_a_cluster_without_workers_is_reported_within_the_time_limit(monkeypatch):
    frames = table()
    with cluster_of(0, processes=False) as client:
        with pytest.raises(ClusterError, match=r"had no worker for 0\.2 seconds; start some"):
            source_of([frames], timeout=SHORT)
        client.cluster.scale(1)
        client.wait_for_workers(1)
        source = source_of(cut_anywhere(frames, 3), timeout=SHORT)
        remove_all_workers(client)
        for work in (source.index, partial(GroupClassifier().fit, source)):
            with pytest.raises(ClusterError, match="no worker"):
                work()
        client.cluster.scale(1)
        client.wait_for_workers(1)
        check_same_candidates(source, frames)


def test_workers_that_leave_in_the_middle_of_a_pass_are_missed():
    with cluster_of(1, processes=False) as client:
        source = source_of(cut_anywhere(table(), 40), timeout=SHORT)
        run = source.run([(unit, column_sums) for unit in range(source.n_units)], ALL)
        next(run)
        remove_all_workers(client)
        with pytest.raises(ClusterError, match="no worker"):
            list(run)


def pause(dask_worker) -> None:
    dask_worker.status = Status.paused


def test_workers_that_are_all_paused_are_reported():
    # Without a limit of memory Dask does not let the worker go on by itself.
    with cluster_of(1, processes=False, memory_limit=0) as client:
        source = source_of([table()], timeout=SHORT)
        client.run(pause)
        with pytest.raises(ClusterError, match=r"has been paused for 0\.2 seconds.*memory"):
            source.index()


CLUSTER = """
import sys
from distributed import LocalCluster
with LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
    dashboard_address="127.0.0.1:0", silence_logs=50,
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@contextmanager
def process_of_a_cluster() -> Iterator[subprocess.Popen[str]]:
    """A scheduler and its worker in one process, which a test ends or stops."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER], text=True, env=environment, **pipes
    ) as process:
        assert process.stdout is not None
        try:
            with Client(process.stdout.readline().strip()):
                try:
                    yield process
                finally:
                    process.kill()  # a scheduler that is stopped keeps its client from closing
        finally:
            process.kill()


def test_a_scheduler_that_stops_or_dies_is_reported(tmp_path, monkeypatch):
    frames = table()
    with process_of_a_cluster() as process:
        source = source_of(cut_anywhere(frames, 40))
        check_same_candidates(source, frames)
        monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", SHORT)
        monkeypatch.setattr(source._held._cluster, "_timeout", SHORT)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(ClusterError, match=r"scheduler has not answered for 0\.2 seconds"):
            source.require_finite()
        process.send_signal(signal.SIGCONT)
        # A connection that is closed is noticed whatever the limit.
        monkeypatch.setattr(source._held._cluster, "_timeout", 3600.0)
        check_same_candidates(source, frames)
        with pytest.raises(ClusterError, match=r"scheduler is out of reach.*a new client"):
            every_unit(source, DieOnce(tmp_path / "died"))
        for work in (source.require_finite, partial(GroupClassifier().fit, source)):
            with pytest.raises(ClusterError, match="scheduler is out of reach"):
                work()
        with pytest.raises(ClusterError, match="scheduler is out of reach"):
            source_of([frames])


def test_a_closed_cluster_is_reported():
    with cluster_of(1, processes=False):
        source = source_of(cut_anywhere(table(), 20))
        run = source.run([(unit, column_sums) for unit in range(20)], ALL)
        next(run)
    for passes in (run, source.run([(0, column_sums)], ALL)):
        with pytest.raises(ClusterError, match="scheduler is out of reach or the client closed"):
            list(passes)


def test_results_that_do_not_arrive_are_fetched_again(here, monkeypatch):
    frames = table()
    source = source_of(cut_anywhere(frames, 3), timeout=SHORT)
    gather, failing = Client.gather, [OSError("broken pipe"), KeyError("a key of Dask")]

    async def fetch(self, futures):
        if failing:
            raise failing.pop()
        return await gather(self, futures, asynchronous=True)

    monkeypatch.setattr(Client, "gather", lambda self, futures, asynchronous: fetch(self, futures))
    check_same_candidates(source, frames)
    assert not failing
    failing += [OSError("broken pipe")] * 100
    with pytest.raises(ClusterError, match=r"work on partition 0 .*OSError: broken pipe; see"):
        source.require_finite()


def test_the_client_that_is_named_is_used_though_another_is_newer(two_threads):
    frames = table()
    with cluster_of(0, processes=False):
        source = from_dask([delayed(frames)], **ROLES, client=two_threads, timeout=SHORT)
        check_same_candidates(source, frames)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "2 minutes", True, None])
def test_a_time_limit_that_is_none_is_refused(here, timeout):
    with pytest.raises(ValueError, match="timeout must be"):
        source_of([table()], timeout=timeout)


def states_of_tasks(dask_scheduler) -> list[str]:
    return [task.state for task in dask_scheduler.tasks.values()]


def check_left(client: Client, n_values: int, n_tasks: int | None = None) -> None:
    """So many values are left on the workers, as soon as the scheduler hears of all releases."""
    for _ in range(1000):
        left = client.run_on_scheduler(states_of_tasks)
        values = [state for state in left if state != "released"]
        if len(values) == n_values and n_tasks in (None, len(left)):
            return
    pytest.fail(f"left on the cluster: {left}")


def kept_error(work) -> BaseException | None:
    """Keep the exception with its traceback, as an interactive session does."""
    try:
        work()
    except (InputError, KeyboardInterrupt, ZeroDivisionError) as error:
        return error
    return None


def press_ctrl_c_while_waiting(source, patch: pytest.MonkeyPatch) -> None:
    """Interrupt a pass where Ctrl-C finds it: waiting for the results of a task under way.

    Not by a signal, which arrives anywhere, such as between the submission of a task and the
    assignment of its future, and which a runner in the background inherits as ignored.
    """

    def interrupted(futures, seconds):
        raise KeyboardInterrupt

    with patch.context() as patched:
        patched.setattr(dask_cluster.concurrent.futures, "wait", interrupted)
        list(source.run([(0, column_sums)], ALL))


def test_nothing_is_left_on_the_workers_but_the_partitions_of_a_source(monkeypatch):
    interrupted = []

    def interrupt_at(step, reading) -> None:
        if reading.doing == step:
            interrupted.append(step)
            raise KeyboardInterrupt

    def work(source) -> None:
        source._index = None
        GroupClassifier().fit(source).group_scores(source)

    with cluster_of(1, processes=False) as client:
        source = source_of(cut_anywhere(table(30), 6), memory="1kB")
        check_left(client, 6)
        work(source)
        check_left(client, 6)
        kept = [
            kept_error(partial(every_unit, source, lambda chunk: 1 / 0)),
            kept_error(partial(press_ctrl_c_while_waiting, source, monkeypatch)),
        ]
        assert list(map(type, kept)) == [ZeroDivisionError, KeyboardInterrupt]
        check_left(client, 6)
        steps = ["reading groups and labels", "reading a sample", "screening", "scoring"]
        for step in steps:
            with listening(lambda step: None, partial(interrupt_at, step)):
                kept.append(kept_error(partial(work, source)))
            check_left(client, 6)
        assert set(interrupted) == set(steps)
        del source, kept
        gc.collect()
        check_left(client, 0, 0)
        kept = [kept_error(partial(source_of, [table(), table().drop(columns="f2")]))]
        assert isinstance(kept[0], InputError)
        check_left(client, 0)
