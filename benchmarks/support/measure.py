"""Measuring: interleaved times, peak memory, progress lines."""

from __future__ import annotations

import ctypes
import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Timed", "interleave", "peak_above", "peak_resident", "say"]


@dataclass
class Timed:
    """The repeats of one call: seconds and what each returned."""

    seconds: list[float] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The statistic every figure uses, for both sides of its ratio alike."""
        return statistics.median(self.seconds)


def say(words: str) -> None:
    """Tell how far the run is, on stderr so that stdout is the table alone."""
    print(words, file=sys.stderr, flush=True)


def interleave(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Timed]:
    """Time the calls in turn, round after round.

    A machine that is busy for a while then slows all of them, not one. Every other
    round runs backwards, so that none always follows the same neighbour. Calls
    should return little: everything they return is kept.
    """
    timed = {name: Timed() for name in calls}
    for number in range(rounds):
        for name in list(calls)[:: 1 if number % 2 == 0 else -1]:
            gc.collect()
            start = time.perf_counter()
            result = calls[name]()
            seconds = time.perf_counter() - start
            timed[name].seconds.append(seconds)
            timed[name].results.append(result)
            say(f"    round {number + 1}/{rounds}  {name}: {seconds:.4g} s")
    return timed


def peak_above(call: Callable[[], Any]) -> int | None:
    """Return the most bytes of resident memory that `call` added to what was there before.

    The kernel keeps the high-water mark itself, so a short peak is not overlooked.
    None where the system has no such mark that can be reset (it is Linux's).
    """
    gc.collect()
    _give_back_free_memory()
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = _status_bytes("VmRSS")
        call()
        return _status_bytes("VmHWM") - before
    except OSError:
        return None


def peak_resident() -> int | None:
    """Return the most bytes of resident memory this process ever had; None where unknown.

    Not ``ru_maxrss``, which begins at what the parent process had.
    """
    try:
        return _status_bytes("VmHWM")
    except OSError:
        return None


def _give_back_free_memory() -> None:
    """Return freed heap to the system: reused by the call, it would hide from the mark."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status_bytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")
