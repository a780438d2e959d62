"""The sets of candidates: two of sounds, one of sentences, two of pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.pictures.measuring import candidates_named
from benchmarks.pictures.sets import PICTURE_SETS
from benchmarks.real_tables import TASKS
from benchmarks.support.shared_data import read_table
from groupcm.data.folds import Folds, group_folds
from groupcm.evaluation.comparison.data import LabelledCandidates

__all__ = ["SETS", "CandidateSet", "Prepared"]

# Positive pictures in which no candidate fits better than this are tested, not trained on.
_FITS = 0.3
# Every second of 300 candidates a picture: half the time for every model.
_CANDIDATES, _STEP = 300, 2


@dataclass(frozen=True, eq=False)
class Prepared:
    """The candidates of a set, and the folds of a seed."""

    rows: LabelledCandidates
    folds: Folds


@dataclass(frozen=True)
class CandidateSet:
    """A set: what it is called, how it is made, the file it needs, how it is read.

    ``read(folder, cache, seed, step)`` takes every ``step``-th candidate of a picture.
    """

    title: str
    made: str
    needs: str
    read: Callable[..., Prepared]


def _table(name: str, n_folds: int) -> CandidateSet:
    task = TASKS[name]

    def read(folder: Path, _cache: Path, seed: int, _step: int = 1) -> Prepared:
        table = read_table(folder / task.file, **task.columns)
        rows = LabelledCandidates.check(table.X, table.y, table.groups).numbered()
        if table.split is not None:
            parts = [np.flatnonzero(table.split == part) for part in ("train", "dev")]
            return Prepared(rows, [(parts[0], parts[1])])
        return Prepared(rows, group_folds(rows.y, rows.groups, n_splits=n_folds, random_state=seed))

    return CandidateSet(task.title, f"{n_folds} folds", task.file, read)


def _pictures(name: str, title: str, n_folds: int) -> CandidateSet:
    def read(folder: Path, cache: Path, seed: int, step: int = _STEP) -> Prepared:
        made = candidates_named(folder, name, cache, _CANDIDATES).every(step)
        rows = LabelledCandidates.check(
            made.values, made.y, made.picture, made.overlap, made.cluster[made.picture]
        ).numbered()
        folds = group_folds(rows.y, rows.groups, rows.patients, n_splits=n_folds, random_state=seed)
        missed = made.positive & (made.best < _FITS)
        folds = [(train[~missed[made.picture[train]]], test) for train, test in folds]
        return Prepared(rows, folds)

    made = f"{n_folds} folds, every {_STEP} of {_CANDIDATES} candidates"
    return CandidateSet(title, made, PICTURE_SETS[name].listing, read)


SETS = {
    "psfl": _table("psfl", 5),
    "swth": _table("swth", 5),
    "wikiqa": _table("wikiqa", 1),
    "magnetic_tile": _pictures("magnetic_tile", "magnetic tiles", 3),
    "cvc_clinicdb": _pictures("cvc_clinicdb", "colonoscopy tiles", 3),
}
