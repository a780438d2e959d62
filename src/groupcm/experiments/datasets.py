"""The synthetic training sets and the test set of the paper's experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from groupcm.data.tables.parquet import open_parquet
from groupcm.estimators.scoring import LinearScorer
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments.sizes import Sizes, Trained
from groupcm.objective.terms import NO_ORDER, Groups
from groupcm.simulate import FEATURE_NAMES, Capsule, capsule, capsule_to_parquet
from groupcm.sources import from_parquet
from groupcm.utils.typing import Vector

__all__ = [
    "Entries",
    "TestSet",
    "TrainingSet",
    "best_rows",
    "draw_test_set",
    "draw_training_set",
    "source_of",
]

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

    def first(self, n_groups: int, polyps: NDArray[np.int32] | None = None) -> LabelledCandidates:
        """Return the first negative frames, and the positive ones of all or of some polyps."""
        if n_groups >= len(self.order) and polyps is None:
            return self.held
        negative = np.isin(self.held.groups, self.order[:n_groups])
        positive = self.polyp >= 0 if polyps is None else np.isin(self.polyp, polyps)
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
    sizes: Sizes, seed: int, folder: Path | None = None, on_rows: OnRows | None = None
) -> TrainingSet:
    """Draw a training set.

    Parameters
    ----------
    sizes : Sizes
    seed : int
        The seed of patients, polyps and frames.
    folder : Path, optional
        The folder for the Parquet file of a training set larger than ``sizes.held_in_memory``.
    on_rows : callable, optional
        Is called with the number of rows written so far and of all rows.

    Examples
    --------
    >>> sizes = Sizes(negatives=(500, 1000), n_positive=9, n_polyps=3, n_patients=20, group_size=10)
    >>> small = draw_training_set(sizes, seed=1).first(50)
    >>> len(set(small.groups)), len(set(small.groups[small.y == 1]))
    (59, 9)
    """
    rng = np.random.default_rng([seed, 1])
    frames = _draw_frames(
        sizes,
        sizes.most,
        {"n_positive": sizes.n_positive, "n_polyps": sizes.n_polyps, "seed": seed},
        None if folder is None else folder / f"training-{seed}.parquet",
        on_rows,
    )
    if isinstance(frames, Path):
        return _partly_held(frames, sizes.groups(sizes.largest_held), rng)
    held = LabelledCandidates(frames.X, frames.y, frames.groups, frames.overlap, frames.patient)
    negative = np.unique(frames.groups[frames.polyp < 0])
    return TrainingSet(held, frames.polyp, rng.permutation(negative))


def _draw_frames(
    sizes: Sizes,
    n_negatives: int,
    options: dict[str, Any],
    file: Path | None,
    on_rows: OnRows | None,
) -> Capsule | Path:
    """Draw frames with so many negative candidates, into a file if memory should not hold them."""
    options |= {
        "n_negative": sizes.groups(n_negatives),
        "n_patients": sizes.n_patients,
        "group_size": sizes.group_size,
    }
    if n_negatives <= sizes.held_in_memory:
        return capsule(**options)
    if file is None:
        raise ValueError("a data set larger than held_in_memory needs a folder.")
    capsule_to_parquet(file, **options, on_rows=on_rows)
    return file


def _partly_held(file: Path, n_groups: int, rng: np.random.Generator) -> TrainingSet:
    """Read the positive frames, and some of the negative ones."""
    ids = open_parquet(file).read(columns=["frame", "polyp"])
    frames, first = np.unique(ids["frame"].to_numpy(), return_index=True)
    is_negative = ids["polyp"].to_numpy()[first] < 0
    del ids
    order = rng.permutation(frames[is_negative])[:n_groups]
    wanted = pc.field("frame").isin(np.concatenate([order, frames[~is_negative]]))
    verified = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    format = ds.ParquetFileFormat(default_fragment_scan_options=verified)
    table = ds.dataset(file, format=format).to_table(filter=wanted)
    X = np.empty((len(table), len(FEATURE_NAMES)), np.float32)
    for j, name in enumerate(FEATURE_NAMES):
        X[:, j] = table[name].to_numpy()
    y, groups, overlap, patient, polyp = (
        table[name].to_numpy() for name in ("label", "frame", "overlap", "patient", "polyp")
    )
    return TrainingSet(LabelledCandidates(X, y, groups, overlap, patient), polyp, order, file)


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


@dataclass(frozen=True, eq=False)
class Entries:
    """Labels and patients of what is ranked: groups or candidates."""

    positive: NDArray[np.bool_]
    patient: NDArray[Any]


@dataclass(frozen=True, eq=False)
class TestSet:
    """Frames of patients that are in no training set.

    Attributes
    ----------
    groups : Entries
        All frames.
    candidates : Entries
        The best candidate of each positive frame, and some or all candidates of negative frames.
    n_negative_candidates : int
        The number of candidates of all negative frames.
    """

    # Otherwise pytest would collect a class of this name as tests.
    __test__ = False

    groups: Entries
    candidates: Entries
    n_negative_candidates: int
    rows: NDArray[np.float32]
    frames: Capsule | Path

    def group_scores(self, models: Sequence[Trained]) -> Vector:
        """Return the largest score of each frame, one column per model."""
        scorer = _scorer(models)
        if isinstance(self.frames, Path):
            return scorer.of_source_groups(source_of(self.frames)).score
        return scorer.of_groups(self.frames.X, Groups(self.frames.group_ptr, NO_ORDER))[0]

    def candidate_scores(self, models: Sequence[Trained]) -> Vector:
        """Return the score of each of the candidates, one column per model."""
        return _scorer(models).of_rows(self.rows)


def _scorer(models: Sequence[Trained]) -> LinearScorer:
    coef = np.stack([model.coef for model in models])
    return LinearScorer(coef, np.array([model.intercept for model in models]), None)


def draw_test_set(
    sizes: Sizes, seed: int, folder: Path | None = None, on_rows: OnRows | None = None
) -> TestSet:
    """Draw a test set; the parameters are those of `draw_training_set`.

    Examples
    --------
    >>> sizes = Sizes(test_negatives=500, n_test_positive=9, n_test_polyps=3, n_patients=20,
    ...               group_size=10, n_test_candidates=100)
    >>> test = draw_test_set(sizes, seed=0)
    >>> int(test.groups.positive.sum()), len(test.groups.positive), len(test.rows)
    (9, 59, 109)
    """
    rng = np.random.default_rng([seed, 3])
    frames = _draw_frames(
        sizes,
        sizes.test_negatives,
        {"n_positive": sizes.n_test_positive, "n_polyps": sizes.n_test_polyps, "seed": seed},
        None if folder is None else folder / f"test-{seed}.parquet",
        on_rows,
    )
    if isinstance(frames, Path):
        y, groups, overlap, polyp, patient = _columns_of(frames)
    else:
        y, groups, overlap = frames.y, frames.groups, frames.overlap
        polyp, patient = frames.polyp, frames.patient
    best = best_rows(LabelledCandidates(np.empty((0, 0)), y, groups, overlap))
    negative = np.flatnonzero(polyp < 0)
    n_chosen = min(sizes.n_test_candidates, len(negative))
    chosen = rng.choice(negative, n_chosen, replace=False)
    rows = np.sort(np.concatenate([best, chosen]))
    begins = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    return TestSet(
        Entries(polyp[begins] >= 0, patient[begins]),
        Entries(y[rows] == 1, patient[rows]),
        len(negative),
        _rows_of(frames, rows),
        frames,
    )


def _columns_of(file: Path) -> tuple[NDArray[Any], ...]:
    names = ("label", "frame", "overlap", "polyp", "patient")
    return tuple(open_parquet(file).read(columns=[name])[name].to_numpy() for name in names)


def _rows_of(frames: Capsule | Path, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the features of some rows, which must ascend."""
    if not isinstance(frames, Path):
        return frames.X[rows]
    found = np.empty((len(rows), len(FEATURE_NAMES)), np.float32)
    file, first = open_parquet(frames), 0
    for number in range(file.num_row_groups):
        n_rows = file.metadata.row_group(number).num_rows
        lo, hi = np.searchsorted(rows, [first, first + n_rows])
        table = file.read_row_group(number, columns=FEATURE_NAMES)
        for j, name in enumerate(FEATURE_NAMES):
            found[lo:hi, j] = table[name].to_numpy()[rows[lo:hi] - first]
        first += n_rows
    return found
