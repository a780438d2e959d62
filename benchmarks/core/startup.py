"""(f) Starting: a second process compiles nothing, and ``--help`` is quick."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.support.data import Store
from benchmarks.support.figure import Figure
from benchmarks.support.measure import interleave, say
from benchmarks.support.processes import checked

__all__ = ["run", "sizes"]

STARTS_A_REPEAT = 4

FIRST_FIT = """
import time
import numpy as np
from numba.core.event import install_recorder
import groupcm
from groupcm import GroupClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((1000, 13)).astype(np.float32)
groups = np.repeat(np.arange(50, dtype=np.int32), 20)
y = np.zeros(1000, dtype=np.int8)
y[:200:20] = 1
X[y == 1] += 1
with install_recorder("numba:compile") as compiled:
    start = time.perf_counter()
    GroupClassifier(lam=0.9).fit(X, y, groups, y.astype(np.float32))
    seconds = time.perf_counter() - start
print(seconds, sum(event.is_start for _, event in compiled.buffer))
"""


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses: none."""
    return set()


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure first fits in fresh processes, and the command against the bare interpreter."""
    return [*_first_fit(repeat), _help(repeat)]


def _first_fit(repeat: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as cache:
        # A cache of its own, empty at first: the run itself proves what the cache is worth.
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}

        def first_fit() -> tuple[float, int]:
            seconds, compiled = checked([sys.executable, "-c", FIRST_FIT], environment).split()
            say(f"    first fit: {float(seconds):.3g} s, {compiled} kernels compiled")
            return float(seconds), int(compiled)

        cold, compiled_first = first_fit()
        later = [first_fit() for _ in range(repeat)]
    warm = [seconds for seconds, _ in later]
    seconds = statistics.median(warm)
    compiled_again = max(compiled for _, compiled in later)
    return [
        Figure(
            "f",
            "first fit of a second process, 1,000 rows",
            seconds,
            bound=1,
            unit="s",
            sound=compiled_first > 0 and compiled_again == 0,
            note=f"from the imported package to the fitted model; the first process compiled "
            f"{compiled_first} kernels, later ones {compiled_again}",
            samples={"first fit": warm},
        ),
        Figure(
            "f",
            "the same / first fit of the process that compiled",
            seconds / cold,
            note=f"{seconds:.3g} s against {cold:.3g} s",
        ),
    ]


def _help(repeat: int) -> Figure:
    what = "groupcm --help / python -c pass"
    command = Path(sys.executable).parent / "groupcm"
    if not command.exists():
        return Figure("f", what, None, bound=3, note=f"{command} is not installed")
    calls = {
        "groupcm --help": _process(str(command), "--help"),
        "python -c pass": _process(sys.executable, "-c", "pass"),
    }
    for call in calls.values():  # the first start writes the byte code
        call()
    timed = interleave(calls, STARTS_A_REPEAT * repeat)
    ours, bare = timed["groupcm --help"], timed["python -c pass"]
    return Figure(
        "f",
        what,
        ours.median / bare.median,
        bound=3,
        note=f"{1e3 * ours.median:.3g} ms against {1e3 * bare.median:.3g} ms, "
        f"{len(bare.seconds)} starts each",
        samples={name: t.seconds for name, t in timed.items()},
    )


def _process(*command: str) -> Callable[[], None]:
    def call() -> None:
        checked(list(command))

    return call
