"""The facts about the machine that a reader needs to judge a run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

__all__ = ["available_memory", "cores", "facts"]


def cores() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> float:
    """Bytes that could be used now; no limit where the system does not tell."""
    found = _field("/proc/meminfo", "MemAvailable")
    return float("inf") if found is None else 1024.0 * int(found.split()[0])


def facts() -> dict[str, object]:
    """Cores, memory and versions, as plain values for the JSON file."""
    packages = ("groupcm", "numpy", "scipy", "scikit-learn", "numba", "llvmlite", "pyarrow")
    return {
        "cores": cores(),
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "thread_pools": [
            {key: pool[key] for key in ("internal_api", "version", "num_threads")}
            for pool in threadpool_info()
        ],
    }


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
