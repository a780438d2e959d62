"""The test set of the paper's experiment, and the scores of all models on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import NO_ORDER, Groups
from groupcm.comparison.data import LabelledCandidates
from groupcm.experiments.sizes import Sizes
from groupcm.experiments.training_set import best_rows, source_of
from groupcm.experiments.trial import Trained
from groupcm.scoring import LinearScorer
from groupcm.simulate import FEATURE_NAMES, Capsule, capsule, capsule_to_parquet
from groupcm.table_formats import open_parquet

__all__ = ["Entries", "TestSet", "draw_test_set"]

Vector = NDArray[np.float64]
OnRows = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Entries:
    """What is ranked, groups or candidates: the truth and whose they are."""

    positive: NDArray[np.bool_]
    patient: NDArray[Any]


@dataclass(frozen=True, eq=False)
class TestSet:
    """Frames of patients whom no training set holds.

    Attributes
    ----------
    groups : Entries
        All frames.
    candidates : Entries
        The best candidate of each positive frame, and some or all of the negative frames'.
    n_negative_candidates : int
        Of all negative frames.
    """

    # pytest takes a class for tests where its name begins so.
    __test__ = False

    groups: Entries
    candidates: Entries
    n_negative_candidates: int
    rows: NDArray[np.float32]
    frames: Capsule | Path

    def group_scores(self, models: Sequence[Trained]) -> Vector:
        """The largest score of each frame, a column a model."""
        scorer = _scorer(models)
        if isinstance(self.frames, Path):
            return scorer.of_source_groups(source_of(self.frames)).score
        return scorer.of_groups(self.frames.X, Groups(self.frames.group_ptr, NO_ORDER))[0]

    def candidate_scores(self, models: Sequence[Trained]) -> Vector:
        """The score of each of the candidates, a column a model."""
        return _scorer(models).of_rows(self.rows)


def _scorer(models: Sequence[Trained]) -> LinearScorer:
    coef = np.stack([model.coef for model in models])
    return LinearScorer(coef, np.array([model.intercept for model in models]), None)


def draw_test_set(
    sizes: Sizes, seed: int, folder: Path | None = None, on_rows: OnRows | None = None
) -> TestSet:
    """Make one; the parameters are those of `draw_training_set`.

    Examples
    --------
    >>> sizes = Sizes(test_negatives=500, n_test_positive=9, n_test_polyps=3, n_patients=20,
    ...               group_size=10, n_test_candidates=100)
    >>> made = draw_test_set(sizes, seed=0)
    >>> int(made.groups.positive.sum()), len(made.groups.positive), len(made.rows)
    (9, 59, 109)
    """
    rng = np.random.default_rng([seed, 3])
    made: dict[str, Any] = {
        "n_negative": sizes.groups(sizes.test_negatives),
        "n_positive": sizes.n_test_positive,
        "n_polyps": sizes.n_test_polyps,
        "n_patients": sizes.n_patients,
        "group_size": sizes.group_size,
        "seed": seed,
    }
    if sizes.test_negatives > sizes.held_in_memory:
        if folder is None:
            raise ValueError("a test set larger than held_in_memory needs a folder.")
        frames = folder / f"test-{seed}.parquet"
        capsule_to_parquet(frames, **made, on_rows=on_rows)
        columns = _columns_of(frames)
    else:
        frames = capsule(**made)
        columns = frames.y, frames.groups, frames.overlap, frames.polyp, frames.patient
    y, groups, overlap, polyp, patient = columns
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
    """The features of some rows, which ascend."""
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
