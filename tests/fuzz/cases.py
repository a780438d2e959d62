"""Cases of a target: drawn from a seed, and shrunk when they fail."""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.database import ExampleDatabase, InMemoryExampleDatabase

from fuzz.outcomes import Verdict

__all__ = ["TARGETS", "draw_case", "load_target", "shrink_case"]

# Each target and its share of the cases of a run.
TARGETS = {
    "problems": 0.4,
    "model_files": 0.2,
    "tree_text": 0.1,
    "annotation_files": 0.2,
    "table_files": 0.1,
}

_BYTES = 1 << 14
# How long a failure is shrunk for.
_MOST_TRIALS = 200
_MOST_SECONDS = 60.0


def load_target(name: str) -> ModuleType:
    """Import a target: ``cases()``, ``warm_up()``, ``run(case, sandbox)`` and ``MEGABYTES``."""
    return importlib.import_module(f"fuzz.{name}")


def draw_case(target: str, seed: int, number: int) -> Any:
    """Return case ``number`` of a seed: the same one in every process."""
    drawn: list[Any] = []
    body = _test_of(target, drawn.append, None)
    for attempt in range(100):
        if body.hypothesis.fuzz_one_input(_bytes_of(target, seed, number, attempt)) is not None:
            return drawn[-1]
    raise RuntimeError(f"the strategy of {target} rejects almost everything")


def shrink_case(
    target: str, seed: int, number: int, run: Callable[[Any], Verdict], verdict: Verdict
) -> tuple[Any, Verdict]:
    """Return a simpler case with the same outcome and check, as Hypothesis finds it."""
    smallest, n_trials = (draw_case(target, seed, number), verdict), 0
    end = time.monotonic() + _MOST_SECONDS

    def fail_again(case: Any) -> None:
        nonlocal smallest, n_trials
        if case == smallest[0]:
            found = smallest[1]
        elif n_trials < _MOST_TRIALS and time.monotonic() < end:
            n_trials += 1
            found = run(case)
        else:
            return
        if (found.outcome, found.check) == (verdict.outcome, verdict.check):
            smallest = (case, found)
            raise AssertionError(found.check)

    body = _test_of(target, fail_again, InMemoryExampleDatabase())
    for attempt in range(100):
        # A case that fails is left in the database, from where shrinking begins.
        try:
            if body.hypothesis.fuzz_one_input(_bytes_of(target, seed, number, attempt)) is not None:
                break
        except AssertionError:
            try:
                body()
            except Exception:  # it failed again, or flickered once trials ran out
                return smallest
    return smallest


def _bytes_of(target: str, seed: int, number: int, attempt: int) -> bytes:
    return random.Random(f"{target}/{seed}/{number}/{attempt}").randbytes(_BYTES << attempt // 4)


def _test_of(target: str, body: Callable[[Any], None], database: ExampleDatabase | None) -> Any:
    @settings(
        database=database,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.reuse, Phase.shrink],
        print_blob=False,
    )
    @given(load_target(target).cases())
    def test(case: Any) -> None:
        body(case)

    return test
