"""A file that lets an interrupted fit go on: the points reached and what is proved of them.

It holds points and bounds, not rows, so it is small; the pass that was under
way begins again. A fit that ends by itself removes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.files import whole_file
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.sources.space import Space

__all__ = ["Checkpoint", "Saved"]

_FORMAT = "groupcm-checkpoint"
_VERSION = 1

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Saved:
    """Where one task was left: the point to look at next, and the best one so far."""

    latest: Vector
    best: Vector
    upper: float
    lower: float

    @classmethod
    def of(cls, trace: Trace) -> Saved:
        """Where a task is now."""
        return cls(trace.latest, trace.best, trace.upper, trace.lower)

    @classmethod
    def end(cls, solution: Solution) -> Saved:
        """Where a task ended."""
        point = np.append(solution.weights, solution.intercept)
        return cls(point, point, solution.objective, solution.lower_bound)

    def restore(self, trace: Trace) -> None:
        """Put a new trace where the old one was."""
        trace.latest, trace.best = self.latest, self.best
        trace.upper, trace.lower = self.upper, self.lower


class Checkpoint:
    """The file of one fit, known by the problems it solves."""

    def __init__(self, path: str | os.PathLike[str], tasks: Sequence[Task], space: Space) -> None:
        self.path = Path(path)
        self._fingerprint = _fingerprint(tasks, space)

    def read(self) -> list[Saved]:
        """What was left of the first tasks; nothing where there is no such file yet."""
        if not self.path.exists():
            return []
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT or content["version"] != _VERSION:
                raise ValueError("another format")
            left = [
                Saved(np.array(p["latest"]), np.array(p["best"]), _real(p["upper"]), p["lower"])
                for p in content["points"]
            ]
            same = content["fit"] == self._fingerprint
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.path} is not a checkpoint of groupcm; name another file"
            ) from error
        if not same:
            raise InputError(
                f"{self.path} is the checkpoint of another fit (other data or options); "
                "remove it or name another file"
            )
        return left

    def write(self, left: Sequence[Saved]) -> None:
        """Keep where the first tasks are; the file appears whole or not at all."""
        points = [
            {
                "latest": saved.latest.tolist(),
                "best": saved.best.tolist(),
                "upper": saved.upper if np.isfinite(saved.upper) else None,
                "lower": saved.lower,
            }
            for saved in left
        ]
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "fit": self._fingerprint,
            "points": points,
        }
        with whole_file(self.path) as beside:
            beside.write_text(json.dumps(content), encoding="utf-8")

    def remove(self) -> None:
        """Nothing is left to do."""
        self.path.unlink(missing_ok=True)


def _real(value: float | None) -> float:
    return np.inf if value is None else float(value)


def _fingerprint(tasks: Sequence[Task], space: Space) -> str:
    """The same for the same data and problems, whatever the tolerance and the memory."""
    digest = hashlib.sha256(np.concatenate([space.mean, space.scale]).tobytes())
    for task in tasks:
        digest.update(repr(task.problem).encode())
        for terms in task.terms:
            digest.update(f"{terms.sign} {len(terms)} {terms.n_rows}".encode())
            digest.update(np.asarray(terms.weight, dtype=np.float64).tobytes())
    return digest.hexdigest()
