"""The synthetic training sets of the paper's experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.tables.parquet import open_parquet
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments.sizes import Sizes
from groupcm.simulate import FEATURE_NAMES, capsule, capsule_to_parquet
from groupcm.simulate.world import make_plan
from groupcm.sources import from_parquet

__all__ = ["TrainingSet", "best_rows", "draw_training_set", "source_of"]

OnRows = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Positive frames, and negative frames in a random order.

    Attributes
    ----------
    held : LabelledCandidates
        All positive frames, and as many negative ones as are held in memory.
    polyp : ndarray of shape (n,)
        The polyp of each row's frame, -1 where there is none.
    order : ndarray
        The negative frames that are held, in a random order.
    file : Path or None
        The file of all negative frames, if they are more.
    """

    held: LabelledCandidates
    polyp: NDArray[np.int32]
    order: NDArray[Any]
    file: Path | None = None

    def first(
        self, n_groups: int, polyps: NDArray[np.int32] | None = None, *, one_frame: bool = False
    ) -> LabelledCandidates:
        """Return the first negative frames, and positive ones of all or of some polyps.

        With ``one_frame``, each polyp has its first frame only.
        """
        if n_groups >= len(self.order) and polyps is None:
            return self.held
        negative = np.isin(self.held.groups, self.order[:n_groups])
        if polyps is None:
            positive = self.polyp >= 0
        elif one_frame:
            found, begins = np.unique(self.polyp, return_index=True)
            frames = self.held.groups[begins[np.isin(found, polyps)]]
            positive = np.isin(self.held.groups, frames)
        else:
            positive = np.isin(self.polyp, polyps)
        return self.held.take(np.flatnonzero(negative | positive))

    def one_by_one(self, n_candidates: int, rng: np.random.Generator) -> LabelledCandidates:
        """Return negative candidates drawn from all frames, and the best of each positive frame."""
        negatives = np.flatnonzero(self.polyp < 0)
        drawn = rng.choice(negatives, min(n_candidates, len(negatives)), replace=False)
        rows = np.concatenate([best_rows(self.held), drawn])
        return self.held.take(np.sort(rows))


def best_rows(data: LabelledCandidates) -> NDArray[np.intp]:
    """Return the positive candidate of largest overlap in each positive group, the first of ties.

    Examples
    --------
    >>> y, groups = np.array([1, 1, 0, 1]), np.array([7, 7, 7, 8])
    >>> best_rows(LabelledCandidates(np.zeros((4, 1)), y, groups, np.array([0.2, 0.9, 0, 0.5])))
    array([1, 3])
    """
    assert data.overlap is not None
    rows = np.flatnonzero(data.y)
    rows = rows[np.lexsort((-data.overlap[rows], data.groups[rows]))]
    return np.sort(rows[np.unique(data.groups[rows], return_index=True)[1]])


def draw_training_set(
    sizes: Sizes,
    seed: int,
    folder: Path | None = None,
    on_rows: OnRows | None = None,
    *,
    number: int = 0,
) -> TrainingSet:
    """Draw a training set.

    Parameters
    ----------
    sizes : Sizes
    seed : int
        The seed of patients, polyps and frames.
    folder : Path, optional
        The folder for the Parquet file of a training set larger than ``sizes.held_in_memory``. A
        file that a previous run has completed there is used again.
    on_rows : callable, optional
        Is called with the number of rows written so far and of all rows.
    number : int, default=0
        The number of the set, which determines its size.

    Examples
    --------
    >>> sizes = Sizes(negatives=(500, 1000), n_positive=9, n_polyps=3, n_patients=20, group_size=10)
    >>> small = draw_training_set(sizes, seed=1).first(50)
    >>> len(set(small.groups)), len(set(small.groups[small.y == 1]))
    (59, 9)
    """
    rng = np.random.default_rng([seed, 1])
    most = sizes.negatives_of(number)[-1]
    options: dict[str, Any] = {
        "n_negative": sizes.groups(most),
        "n_positive": sizes.n_positive,
        "n_polyps": sizes.n_polyps,
        # A small set without the largest size may have fewer frames than patients.
        "n_patients": min(sizes.n_patients, sizes.groups(most)),
        "group_size": sizes.group_size,
        "seed": seed,
        "world": sizes.world,
    }
    if most <= sizes.held_in_memory:
        frames = capsule(**options)
        held = LabelledCandidates(frames.X, frames.y, frames.groups, frames.overlap, frames.patient)
        negative = np.unique(frames.groups[frames.polyp < 0])
        return TrainingSet(held, frames.polyp, rng.permutation(negative))
    if folder is None:
        raise ValueError("a data set larger than held_in_memory needs a folder.")
    file = folder / f"training-{seed}.parquet"
    if not file.exists():
        capsule_to_parquet(file, **options, on_rows=on_rows)
    polyp = make_plan(**options).polyp
    order = rng.permutation(np.flatnonzero(polyp < 0))[: sizes.groups(sizes.largest_held)]
    return _partly_held(file, polyp, order)


def _partly_held(file: Path, polyp: NDArray[np.int32], order: NDArray[np.intp]) -> TrainingSet:
    """Read the positive frames, and some of the negative ones, a row group at a time."""
    wanted = polyp >= 0
    wanted[order] = True
    others = ["frame", "label", "overlap", "polyp", "patient"]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ["X", *others]}
    for batch in open_parquet(file).iter_batches(columns=[*FEATURE_NAMES, *others]):
        rows = np.flatnonzero(wanted[batch["frame"].to_numpy()])
        if len(rows):
            X = np.stack([batch[name].to_numpy()[rows] for name in FEATURE_NAMES], axis=1)
            parts["X"].append(X)
            for name in others:
                parts[name].append(batch[name].to_numpy()[rows])
    joined = {}
    for name in ["X", *others]:  # one after the other, so that little is held twice
        joined[name] = np.concatenate(parts.pop(name))
    X, groups, y, overlap, polyps, patient = (joined[name] for name in ["X", *others])
    return TrainingSet(LabelledCandidates(X, y, groups, overlap, patient), polyps, order, file)


def source_of(file: Path) -> Any:
    """Return the candidates of a Parquet file of synthetic frames as a streamed source."""
    return from_parquet(
        file,
        group="frame",
        label="label",
        overlap="overlap",
        patient="patient",
        features=FEATURE_NAMES,
    )
