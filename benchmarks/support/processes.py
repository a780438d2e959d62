"""Work in processes of their own: a command's output, a call's result and its peak memory."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.support.measure import peak_resident

__all__ = ["Fresh", "checked", "fresh"]


@dataclass(frozen=True)
class Fresh:
    """What a call gave in a process that did nothing else.

    ``peak`` is the most resident memory that process had, in bytes; None where the system
    does not tell.
    """

    result: Any
    peak: int | None


def fresh(call: Callable[..., Any], **arguments: Any) -> Fresh:
    """Run a function of this package in a new process; arguments and result go as JSON."""
    request = json.dumps([call.__module__, call.__qualname__, arguments])
    answer = checked([sys.executable, "-m", "benchmarks.support.processes", request])
    return Fresh(**json.loads(answer.splitlines()[-1]))


def checked(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; its own complaint becomes the error."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"{' '.join(command[:3])} ended with {done.returncode}: {last[0]}")
    return done.stdout


def _answer(request: str) -> None:
    module, name, arguments = json.loads(request)
    result = getattr(importlib.import_module(module), name)(**arguments)
    print(json.dumps({"result": result, "peak": peak_resident()}))


if __name__ == "__main__":
    _answer(sys.argv[1])
