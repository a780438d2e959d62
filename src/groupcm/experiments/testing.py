"""Test sets of any size: models are scored while the candidates are drawn, and nothing is stored.

::

    AUC_m = 1 / (2 n+ N) Σ_j worth_m(bin(s_j)),  worth_m(k) = 2 #{positives above bin k} + #{in it}

The frames with polyps are drawn first: between the smallest and the largest of their scores, n bins
are laid. Every negative candidate (level 0) and every negative frame's largest (level 1) then adds
one to its bin, and its worth to the sum of its patient. These sums are whole numbers, so that the
result depends neither on threads nor on where a run was interrupted. Within one of 16,384
bins, a pair counts one half, which changes an AUC by less than 1e-5.

From them follow, without any stored score, the areas, their variation over patients

    ψ_p = Σ_{i in p} (V_i − AUC) / n+  +  Σ_{j in p} (V_j − AUC) / N

where ``V_i`` is the share of negatives below positive i and ``V_j`` that of positives above
negative j (the estimate of Obuchowski: the variance of the AUC is ``P / (P − 1) Σ_p ψ_p²``), and
the ROC curves.

Candidates are drawn again and not stored because drawing 326 million takes as long as reading them
from 20 GB of files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments.checkpoint import Checkpoint
from groupcm.experiments.datasets import best_rows
from groupcm.experiments.sizes import Sizes, TestSize, Trained
from groupcm.kernels.placements import count_placements
from groupcm.simulate import Capsule
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import Plan, make_plan
from groupcm.utils.parallel import n_threads, one_blas_thread, thread_map
from groupcm.utils.typing import Vector

__all__ = ["LEVELS", "Tested", "draw_test_plan", "score_models"]

LEVELS = ("candidate", "group")
_BINS = 16_384
_COARSE = 64
_PARTS = 20
# Scores of so many candidates are held at once by each thread.
_ROWS_AT_ONCE = 8_192
Floats = NDArray[np.float32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tested:
    """What is known of each model on one test set; the first axis is the level of `LEVELS`.

    Attributes
    ----------
    auc : ndarray of shape (2, n_models)
    influence : ndarray of shape (2, n_models, n_patients)
        ψ of the module's formula.
    fpr, tpr : ndarray of shape (2, n_models, n_bins + 2)
        The ROC curves, from the largest threshold to the smallest.
    coarse_negatives, coarse_positives : ndarray of shape (2, n_models, n_patients, 65)
        The candidates or frames of each patient by coarse bins of the score, ascending; empty where
        they were not requested.
    n_positive, n_negative : ndarray of shape (2,)
        The numbers of positives and of negatives.
    """

    auc: Vector
    influence: Vector
    fpr: Floats
    tpr: Floats
    coarse_negatives: Counts
    coarse_positives: Counts
    n_positive: Counts
    n_negative: Counts


def draw_test_plan(sizes: Sizes, size: TestSize, seed: int) -> Plan:
    """Place the frames of a test set.

    Examples
    --------
    >>> plan = draw_test_plan(Sizes(), TestSize(20_000, 9, 3, 20), seed=0)
    >>> int((plan.polyp >= 0).sum()), len(plan.polyp)
    (9, 109)
    """
    return make_plan(
        sizes.groups(size.negatives),
        size.n_positive,
        size.n_polyps,
        size.n_patients,
        sizes.group_size,
        seed,
        sizes.world,
    )


def score_models(
    plan: Plan,
    models: Sequence[Trained],
    *,
    with_bands: bool,
    checkpoint: Checkpoint | None = None,
    name: str = "test",
    on_part: Callable[[int, int], None] | None = None,
) -> Tested:
    """Score all models in one pass over a test set.

    Parameters
    ----------
    plan : Plan
    models : sequence of Trained
    with_bands : bool
        Whether to count the coarse bins, which the bands of ROC curves need.
    checkpoint : Checkpoint, optional
        Stores the counts after every part of the pass, and the result.
    name : str
        The name of the test set in it.
    on_part : callable, optional
        Is called with the numbers of parts done and of all parts.
    """
    checkpoint = checkpoint or Checkpoint(None)
    done = checkpoint.arrays(name)
    if done is not None:
        return Tested(**done)
    with one_blas_thread():
        positives = _Positives(plan, models)
        counts = _Counts.empty(len(models), len(plan.patient_effects), with_bands)
        edges = np.linspace(0, plan.n_chunks, min(_PARTS, plan.n_chunks) + 1).astype(int)
        first = 0
        stored = checkpoint.arrays(f"{name}-part")
        if stored is not None:
            first = int(stored.pop("part"))
            counts = _Counts(**stored)
        for part in range(first, len(edges) - 1):
            _count(plan, models, positives, range(edges[part], edges[part + 1]), counts)
            checkpoint.save_arrays(f"{name}-part", part=np.array(part + 1), **vars(counts))
            if on_part is not None:
                on_part(part + 1, len(edges) - 1)
    tested = _tested(plan, positives, counts)
    checkpoint.save_arrays(
        name, **{field.name: getattr(tested, field.name) for field in fields(tested)}
    )
    checkpoint.remove(f"{name}-part")
    return tested


@dataclass(eq=False)
class _Counts:
    """The counts of `count_placements`."""

    histogram: Counts
    sums: Counts
    coarse: Counts

    @classmethod
    def empty(cls, n_models: int, n_patients: int, with_bands: bool) -> _Counts:
        n_coarse = _COARSE + 1 if with_bands else 1
        return cls(
            np.zeros((2, n_models, _BINS + 2), np.int64),
            np.zeros((2, n_models, n_patients), np.int64),
            np.zeros((2, n_models, n_patients, n_coarse), np.int64),
        )

    def add(self, other: _Counts) -> None:
        for name, values in vars(self).items():
            values += getattr(other, name)


def _scores(models: Sequence[Trained], X: Floats) -> Floats:
    """Return scores of shape (n_models, n)."""
    coef = np.stack([model.coef for model in models]).astype(np.float32)
    intercept = np.array([model.intercept for model in models], np.float32)
    return coef @ X.T + intercept[:, None]


class _Positives:
    """The scores of the frames with polyps, and the bins that they define."""

    def __init__(self, plan: Plan, models: Sequence[Trained]) -> None:
        frames = np.flatnonzero(plan.polyp >= 0)
        chunks = np.unique(frames // plan.frames_a_chunk)
        found = thread_map(lambda chunk: _positive_scores(plan, models, int(chunk)), chunks)
        self.scores = np.concatenate(list(found), axis=2)
        self.patient = plan.patient[frames]
        low, high = self.scores.min(axis=2).astype(float), self.scores.max(axis=2).astype(float)
        self.low = low
        self.scale = _BINS / np.maximum(high - low, 1e-12)
        steps = ((self.scores - low[..., None]) * self.scale[..., None]).astype(np.int64)
        self.bin = np.clip(1 + steps, 1, _BINS)
        self.histogram = np.zeros((*low.shape, _BINS + 2), np.int64)
        for level in range(2):
            for m in range(len(models)):
                np.add.at(self.histogram[level, m], self.bin[level, m], 1)
        below_or_in = np.cumsum(self.histogram, axis=2)
        n = len(self.patient)
        self.worth = 2 * (n - below_or_in) + self.histogram
        self.coarse = (_COARSE * (below_or_in - self.histogram) // n).astype(np.uint8)


def _positive_scores(plan: Plan, models: Sequence[Trained], chunk: int) -> Floats:
    """Return the scores of the best candidates and of the frames, shape (2, n_models, n)."""
    piece = draw_chunk(plan, chunk)[0]
    best = best_rows(LabelledCandidates(piece.X, piece.y, piece.groups, piece.overlap))
    of_positive = np.flatnonzero(piece.polyp >= 0)
    scores = _scores(models, piece.X[of_positive])
    begins = np.flatnonzero(np.diff(piece.groups[of_positive], prepend=-1))
    of_frames = np.maximum.reduceat(scores, begins, axis=1)
    return np.stack([scores[:, np.searchsorted(of_positive, best)], of_frames])


def _count(
    plan: Plan, models: Sequence[Trained], positives: _Positives, chunks: range, counts: _Counts
) -> None:
    """Add the counts of some chunks, in several threads with counts of their own."""
    with_bands = counts.coarse.shape[-1] > 1
    coarse = positives.coarse if with_bands else np.zeros_like(positives.coarse)

    def count(share: range) -> _Counts:
        own = _Counts.empty(len(models), counts.sums.shape[2], with_bands)
        for chunk in share:
            piece = draw_chunk(plan, chunk)[0]
            frames = plan.frames(chunk)
            patient = np.where(plan.polyp[frames] < 0, plan.patient[frames], -1)
            _count_piece(piece, patient, models, positives, coarse, own)
        return own

    n = n_threads()
    for own in thread_map(count, [chunks[k::n] for k in range(n)]):
        counts.add(own)


def _count_piece(
    piece: Capsule,
    patient: NDArray[np.int32],
    models: Sequence[Trained],
    positives: _Positives,
    coarse: NDArray[np.uint8],
    counts: _Counts,
) -> None:
    start = piece.group_ptr
    at = 0
    while at < len(patient):
        # Whole frames, at least one.
        last = int(np.searchsorted(start, start[at] + _ROWS_AT_ONCE, side="right")) - 1
        last = min(max(last, at + 1), len(patient))
        scores = _scores(models, piece.X[start[at] : start[last]])
        bad = count_placements(
            scores,
            start[at : last + 1] - start[at],
            patient[at:last],
            positives.low,
            positives.scale,
            positives.worth,
            coarse,
            counts.histogram,
            counts.sums,
            counts.coarse,
        )
        if bad >= 0:
            raise ValueError("a model has a score that is not finite.")
        at = last


def _tested(plan: Plan, positives: _Positives, counts: _Counts) -> Tested:
    n_patients, n_positive = len(plan.patient_effects), len(positives.patient)
    is_negative = plan.polyp < 0
    of_patient = np.bincount(plan.patient[is_negative], minlength=n_patients)
    rows = np.diff(plan.row_ptr)[is_negative]
    rows_of_patient = np.bincount(plan.patient[is_negative], weights=rows, minlength=n_patients)
    size = np.stack([rows_of_patient, of_patient]).astype(float)  # (2, n_patients)
    n_negative = size.sum(axis=1)
    auc = counts.sums.sum(axis=2) / (2 * n_positive * n_negative[:, None])
    below = np.cumsum(counts.histogram, axis=2) - counts.histogram / 2
    n_models = auc.shape[1]
    influence = np.empty((2, n_models, n_patients))
    n_coarse = counts.coarse.shape[-1]
    coarse_positives = np.zeros((2, n_models, n_patients, n_coarse), np.int64)
    for level in range(2):
        for m in range(n_models):
            bins = positives.bin[level, m]
            share = below[level, m, bins] / n_negative[level] - auc[level, m]
            influence[level, m] = (
                np.bincount(positives.patient, weights=share, minlength=n_patients) / n_positive
                + (counts.sums[level, m] / (2 * n_positive) - size[level] * auc[level, m])
                / n_negative[level]
            )
            if n_coarse > 1:
                at = positives.coarse[level, m, bins]
                np.add.at(coarse_positives[level, m], (positives.patient, at), 1)
    fpr = np.cumsum(counts.histogram[..., ::-1], axis=2) / n_negative[:, None, None]
    tpr = np.cumsum(positives.histogram[..., ::-1], axis=2) / n_positive
    return Tested(
        auc,
        influence,
        fpr.astype(np.float32),
        tpr.astype(np.float32),
        counts.coarse,
        coarse_positives,
        np.array([n_positive, n_positive]),
        n_negative.astype(np.int64),
    )
