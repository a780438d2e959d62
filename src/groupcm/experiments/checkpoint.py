"""What the paper's experiment has finished: models and counts, kept so that it can continue.

A run that was stopped, even by ``kill -9``, continues where it was: every file appears whole or not
at all. The numbers are those of a run without interruption, because models are stored with all
their digits and everything else is drawn again from its seed.
"""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.experiments.output import write_text
from groupcm.experiments.sizes import Trained, Trial
from groupcm.utils.files import whole_file

__all__ = ["Checkpoint"]

_NAME = "progress"


class Checkpoint:
    """Finished models and arrays in a folder; without a folder, nothing is kept.

    Parameters
    ----------
    folder : Path or None
        The folder of the experiment's output.
    identity : dict
        What the results depend on; a folder of another experiment is refused.

    Attributes
    ----------
    is_new : bool
        Whether no run has used the folder before.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> Checkpoint(folder, {"seed": 1}).save_arrays("test", auc=np.ones(2))
    >>> Checkpoint(folder, {"seed": 1}).arrays("test")["auc"]
    array([1., 1.])
    >>> Checkpoint(folder, {"seed": 2})
    Traceback (most recent call last):
    groupcm.errors.InputError: ... holds the progress of another experiment ...
    """

    def __init__(self, folder: Path | None, identity: dict[str, Any] | None = None) -> None:
        self._began = time.time()
        self.is_new = True
        self.place = None if folder is None else folder / _NAME
        if self.place is None:
            return
        text = json.dumps(identity, sort_keys=True, indent=1) + "\n"
        stored = self.place / "experiment.json"
        if stored.exists():
            self.is_new = False
            if stored.read_text(encoding="utf-8") != text:
                raise InputError(
                    f"{self.place} holds the progress of another experiment (another version, "
                    "scale or seed); remove it or choose another folder"
                )
        else:
            self.place.mkdir(parents=True, exist_ok=True)
            write_text(stored, text)

    def model(self, number: int, trial: Trial) -> Trained | None:
        """Return a finished model of a training set."""
        found = self._read(_model_name(number, trial))
        if found is None:
            return None
        numbers = ("value", "seconds", "n_passes", "gap")
        return Trained(
            Trial(**found["trial"]),
            np.array(found["coef"]),
            found["intercept"],
            found["setting"],
            n_rows=found["n_rows"],
            **{name: math.nan if found[name] is None else found[name] for name in numbers},
        )

    def save_model(self, number: int, model: Trained) -> None:
        """Keep a model."""
        values = {**asdict(model), "coef": model.coef.tolist()}
        # JSON has no NaN.
        values = {name: None if value != value else value for name, value in values.items()}
        self._write(_model_name(number, model.trial), values)

    def arrays(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Return arrays that were kept under a name."""
        if self.place is None or not (file := self.place / f"{name}.npz").exists():
            return None
        with np.load(file) as found:
            return dict(found)

    def save_arrays(self, name: str, **arrays: NDArray[Any]) -> None:
        """Keep arrays."""
        if self.place is not None:
            with whole_file(self.place / f"{name}.npz") as temporary, temporary.open("wb") as file:
                values: dict[str, Any] = dict(arrays)
                np.savez(file, **values)
            self._note_usage()

    def remove(self, name: str) -> None:
        """Forget arrays."""
        if self.place is not None:
            (self.place / f"{name}.npz").unlink(missing_ok=True)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is finished yet."""
        names = {"experiment.json", "runs.json"}
        return self.place is None or {file.name for file in self.place.iterdir()} <= names

    def clear(self) -> None:
        """Remove everything."""
        if self.place is not None:
            shutil.rmtree(self.place, ignore_errors=True)

    def usage(self) -> list[tuple[float, float]]:
        """Return the seconds of each run until its last note, and its peak of memory in bytes."""
        self._note_usage()
        runs = list((self._read("runs") or {}).values()) or [self._own_usage()]
        return [(run["seconds"], run["peak"]) for run in runs]

    def _own_usage(self) -> dict[str, float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"seconds": time.time() - self._began, "peak": peak}

    def _note_usage(self) -> None:
        if self.place is not None:
            runs = self._read("runs") or {}
            runs[f"{os.getpid()} at {self._began:.3f}"] = self._own_usage()
            self._write_plainly("runs", runs)

    def _read(self, name: str) -> dict[str, Any] | None:
        if self.place is None or not (file := self.place / f"{name}.json").exists():
            return None
        return json.loads(file.read_text(encoding="utf-8"))

    def _write(self, name: str, values: dict[str, Any]) -> None:
        if self.place is not None:
            self._write_plainly(name, values)
            self._note_usage()

    def _write_plainly(self, name: str, values: dict[str, Any]) -> None:
        assert self.place is not None
        write_text(self.place / f"{name}.json", json.dumps(values, ensure_ascii=False) + "\n")


def _model_name(number: int, trial: Trial) -> str:
    method = trial.method.replace(" ", "-")
    variant = trial.variant.replace(" ", "-")
    return "-".join(filter(None, [f"set-{number:03}", method, str(trial.negatives), variant]))
