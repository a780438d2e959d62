"""Provides `Checkpoint`, a file from which an interrupted fit continues.

It holds points, not rows, so it is small; and no bounds, because what they
prove is proved again on the data of the next fit. The pass that
was under way begins again. A fit that ends by itself removes the file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from groupcm.errors import InputError
from groupcm.solvers.solution import Task
from groupcm.sources.rows.space import MappedSpace, Space
from groupcm.utils.files import check_output, remove_abandoned, whole_file
from groupcm.utils.typing import Vector

__all__ = ["Checkpoint"]

_FORMAT = "groupcm-checkpoint"
_VERSION = 1


class Checkpoint:
    """The file of one fit, known by the problems it solves."""

    def __init__(self, path: str | os.PathLike[str], tasks: Sequence[Task], space: Space) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ValueError(f"checkpoint must be the path of a file; got {path!r}.")
        self.path = check_output(path)
        self._tasks, self._space = tasks, space
        self._fingerprint = _fingerprint(tasks, space)
        self._size = space.n_features + 1

    def read(self) -> dict[int, Vector]:
        """Return the points that the tasks had reached; none where there is no file yet."""
        if not self.path.exists():
            return {}
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT or content["version"] != _VERSION:
                raise ValueError("another format")
            points = {
                k: np.array(point, dtype=np.float64)
                for k, point in enumerate(content["points"])
                if point is not None
            }
            fit = content["fit"]
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise self._not_ours() from error
        is_raw = fit != self._fingerprint and fit == _raw_fingerprint(self._tasks, self._space)
        if fit != self._fingerprint and not is_raw:
            raise InputError(
                f"{self.path} is the checkpoint of another fit (other data or options); "
                "remove it or name another file"
            )
        if not all(
            point.shape == (self._size,) and np.all(np.isfinite(point)) for point in points.values()
        ):
            raise self._not_ours()
        return {k: self._from_raw(point) if is_raw else point for k, point in points.items()}

    def _not_ours(self) -> InputError:
        return InputError(
            f"{self.path} is not a checkpoint of groupcm, or damaged; remove it or name another"
        )

    def _from_raw(self, point: Vector) -> Vector:
        """Return the weights of the rows that the solver sees, of those of the raw features."""
        w = point[:-1]
        return np.append(w * self._space.scale, point[-1] + w @ self._space.mean)

    def write(self, points: Sequence[Vector | None]) -> None:
        """Keep where the tasks are (None before a start); the file is written whole or not at all.

        Tasks after the last of the points have not been started.
        """
        content: dict[str, Any] = {
            "format": _FORMAT,
            "version": _VERSION,
            "fit": self._fingerprint,
            "points": [None if point is None else point.tolist() for point in points],
        }
        with whole_file(self.path) as temporary:
            temporary.write_text(json.dumps(content), encoding="utf-8")

    def remove(self) -> None:
        """Remove the file, and what a killed fit has left of one: nothing is left to do."""
        self.path.unlink(missing_ok=True)
        remove_abandoned(self.path)


def _fingerprint(tasks: Sequence[Task], space: Space) -> str:
    """Return the same text for the same candidates and problems, for any tolerance and memory.

    What is digested is fixed, so that the checkpoints of version 0.1 stay readable.
    """
    units = [] if _is_standardised(tasks) else [np.asarray(t.problem.units) for t in tasks]
    return _digest(tasks, space, [space.mean, space.scale, *units])


def _raw_fingerprint(tasks: Sequence[Task], space: Space) -> str | None:
    """Return what version 0.1 wrote for features that were not standardised; None for others.

    Its solver worked on the features as they are.
    """
    if _is_standardised(tasks):
        return None
    return _digest(tasks, space, [np.zeros_like(space.mean), np.ones_like(space.scale)])


def _is_standardised(tasks: Sequence[Task]) -> bool:
    """Return whether the penalty is that of the standardised features."""
    return all(isinstance(task.problem.units, float) for task in tasks)


def _digest(tasks: Sequence[Task], space: Space, numbers: Sequence[Vector]) -> str:
    digest = hashlib.sha256(np.concatenate(numbers).tobytes())
    if isinstance(space, MappedSpace):
        digest.update(repr(space.map).encode())
    for task in tasks:
        problem = task.problem
        described = f"loss={problem.loss!r}, penalty={problem.penalty!r}, rho={problem.rho!r}"
        digest.update(f"Problem({described})".encode())
        for terms in task.terms:
            digest.update(f"{terms.sign} {terms.alone}".encode())
            for part in (terms.start, terms.stop, terms.order, np.asarray(terms.weight)):
                digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
