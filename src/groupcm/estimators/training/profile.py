"""The profile of a training: the quantiles of its groups' scores and features.

A model stores the shares of its training groups below a few cuts, for the scores of the groups and
for the features of candidates drawn from them. `groupcm.estimators.shift` compares new groups with
them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.estimators.scoring import Scorer
from groupcm.estimators.training.data import TrainingData
from groupcm.features.scaling import groups_to_measure, rows_to_measure
from groupcm.objective.terms import NO_ORDER, Groups, Index
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.fitted_state import Array, Expected, Flag, Number
from groupcm.utils.typing import Vector

__all__ = [
    "TrainingProfile",
    "column_blocks",
    "dense",
    "draw_candidates",
    "measure_training",
    "profile_of",
    "shares_below",
]

_LEVELS = np.array([0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95])
# A model with more features than this stores the profile of its scores only.
_MOST_FEATURES = 2_000
# The largest numbers of training groups, and of their rows, that are measured.
_MOST_GROUPS, _MOST_ROWS = 2_000, 200_000
# The largest numbers of candidates that are drawn, and of their values.
_DRAWN, _DRAWN_VALUES = 4_000, 20_000_000
# A file is read again in so many places at most.
_MOST_UNITS = 32


@dataclass(frozen=True)
class TrainingProfile:
    """Shares of the training groups below a few cuts; negative groups first, then positive ones.

    Attributes
    ----------
    score_groups, feature_groups : ndarray of shape (2,)
        How many groups the scores, and the features, are those of.
    score_cuts : ndarray of shape (c,)
    score_below : ndarray of shape (2, c)
        The share of groups that score at most each cut.
    is_held_out : bool
        Whether the scores are those of models that had not seen the groups.
    optimism : float
        By how much training may have moved scores that are not held out, as a distance.
    feature_cuts : ndarray of float32 of shape (d, c)
        Empty for models of many features.
    feature_below : ndarray of shape (2, d, c)
        The share of candidates whose feature is at most each cut; every group counts the same.
    """

    score_groups: NDArray[np.int64]
    score_cuts: Vector
    score_below: Vector
    is_held_out: bool
    optimism: float
    feature_groups: NDArray[np.int64]
    feature_cuts: NDArray[np.float32]
    feature_below: Vector

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "score_groups": Array("i", 2, low=0),
        "score_cuts": Array("f", "cuts", finite=False),
        "score_below": Array("f", 2, "cuts", low=0.0, high=1.0),
        "is_held_out": Flag(),
        "optimism": Number(low=0.0, finite=False, nan=False),
        "feature_groups": Array("i", 2, low=0),
        "feature_cuts": Array("f", "compared", "cuts", finite=False),
        "feature_below": Array("f", 2, "compared", "cuts", low=0.0, high=1.0),
    }

    def with_held_out(self, scores: Vector, positive: NDArray[np.bool_]) -> TrainingProfile:
        """Return the profile with the scores of groups that folds left out."""
        cuts = _cuts(scores[:, None])[0]
        return replace(
            self,
            score_groups=_counts(positive),
            score_cuts=cuts,
            score_below=_below_by_class(scores[:, None], cuts[None, :], positive)[:, 0],
            is_held_out=True,
            optimism=0.0,
        )


def measure_training(
    data: TrainingData, scorer: Scorer, n_weights: int | None
) -> TrainingProfile | None:
    """Measure some whole training groups, of a stream those that are in memory anyway.

    Parameters
    ----------
    data : TrainingData
    scorer : Scorer
        Of the model that was trained on them.
    n_weights : int or None
        How many weights it has that are not 0; None where that does not say how closely it fits,
        such as for trees, whose scores are then not compared unless they are held out.

    Returns
    -------
    TrainingProfile or None
        None for more than two classes, and where no whole group of a stream is in memory.
    """
    if len(data.classes) != 2:
        return None
    groups = data.groups or Groups.of_each_row(data.n_rows)
    if data.groups is None:
        chosen = rows_to_measure(data.n_rows, data.n_features, None)
    else:
        chosen = groups_to_measure(data.n_rows, data.n_features, groups)
    if data.rows_in_memory is None:
        chosen = _groups_in_memory(data.X, groups)
    if len(chosen) == 0:
        return None
    chosen = _some(chosen, _MOST_GROUPS)
    n_rows = int(groups.sizes(chosen).sum())
    chosen = chosen[:: max(1, math.ceil(n_rows / _MOST_ROWS))]
    rows = groups.rows_of(chosen)
    X = data.take(rows) if data.rows_in_memory is None else data.rows_in_memory[rows]
    size = groups.sizes(chosen)
    start = np.cumsum(size) - size
    positive = np.logical_or.reduceat(np.asarray(data.y[rows] == data.labels[1]), start)
    scores = np.maximum.reduceat(scorer.of_rows(X)[:, 0], start)
    drawn = draw_candidates(Groups(np.append(start, len(rows)), NO_ORDER), data.n_features)
    of_drawn = positive[np.searchsorted(start, drawn, side="right") - 1]
    values = X[drawn]
    n_compared = data.n_features if data.n_features <= _MOST_FEATURES else 0
    feature_cuts = np.empty((n_compared, len(_LEVELS)), dtype=np.float32)
    feature_below = np.empty((2, *feature_cuts.shape))
    # Some columns at a time: sparse rows are never dense as a whole.
    for columns in column_blocks(n_compared):
        block = dense(values[:, columns])
        feature_cuts[columns] = _cuts(block)
        feature_below[:, columns] = _below_by_class(block, feature_cuts[columns], of_drawn)
    counts, cuts = _counts(positive), _cuts(scores[:, None])[0]
    return TrainingProfile(
        score_groups=counts,
        score_cuts=cuts,
        score_below=_below_by_class(scores[:, None], cuts[None, :], positive)[:, 0],
        is_held_out=False,
        optimism=math.inf if n_weights is None else math.sqrt((1 + n_weights) / len(chosen)),
        feature_groups=counts,
        feature_cuts=feature_cuts,
        feature_below=feature_below,
    )


def profile_of(model: Any) -> TrainingProfile | None:
    """Return the profile of a fitted model, or of the model that it calibrates."""
    while model is not None:
        found = getattr(model, "training_profile_", None)
        if found is not None:
            return found
        model = getattr(model, "estimator_", None)
    return None


def draw_candidates(groups: Groups, n_features: int, unit_ptr: Index | None = None) -> Index:
    """Return rows drawn from groups that count the same: some thousands, always the same ones.

    Parameters
    ----------
    groups : Groups
    n_features : int
        Of many, fewer rows are drawn.
    unit_ptr : ndarray, optional
        Where the units of a file begin; the rows are then drawn from a bounded number of units.
    """
    wanted = min(_DRAWN, max(200, _DRAWN_VALUES // max(1, n_features)))
    chosen = np.flatnonzero(np.diff(groups.ptr))
    if unit_ptr is not None and len(unit_ptr) - 1 > _MOST_UNITS:
        units = _some(np.arange(len(unit_ptr) - 1), _MOST_UNITS)
        unit = np.searchsorted(unit_ptr, groups.ptr[chosen], side="right") - 1
        chosen = chosen[np.isin(unit, units)]
    chosen = np.repeat(_some(chosen, wanted), max(1, wanted // max(1, len(chosen))))
    random = np.random.default_rng(0).random(len(chosen))
    size = groups.sizes(chosen)
    place = groups.ptr[chosen] + np.minimum((random * size).astype(np.int64), size - 1)
    return np.sort(place if groups.is_contiguous else groups.order[place])


def dense(values: Any) -> NDArray[np.float32]:
    """Return float32 rows, so that the same numbers compare the same in either precision."""
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    return np.where(np.isnan(values), np.float32(np.inf), values)


def column_blocks(n_columns: int) -> list[slice]:
    return [slice(lo, min(lo + 64, n_columns)) for lo in range(0, n_columns, 64)]


def shares_below(values: NDArray[np.floating], cuts: NDArray[np.floating]) -> Vector:
    """Return the share of each column that is at most each of its cuts, shape (d, c)."""
    shares = np.empty(cuts.shape)
    for c in range(cuts.shape[1]):
        shares[:, c] = np.mean(values <= cuts[:, c], axis=0)
    return shares


def _below_by_class(
    values: NDArray[np.floating], cuts: NDArray[np.floating], positive: NDArray[np.bool_]
) -> Vector:
    """Return the shares of both classes; of a class that is absent, those of the other."""
    present = [which for which in (~positive, positive) if which.any()]
    found = [shares_below(values[which], cuts) for which in present]
    # Four digits are more than the comparison can distinguish.
    return np.round(np.stack([found[0], found[-1]]), 4)


def _cuts(values: NDArray[np.floating]) -> Vector:
    """Return values that occur at the levels of each column, shape (d, c)."""
    if values.shape[1] == 0:
        return np.empty((0, len(_LEVELS)))
    ordered = np.sort(values, axis=0)
    return ordered[(_LEVELS * (len(ordered) - 1)).astype(np.int64)].T.astype(np.float64)


def _counts(positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    n_positive = int(np.count_nonzero(positive))
    return np.array([len(positive) - n_positive, n_positive])


def _groups_in_memory(stream: SourceReader, groups: Groups) -> Index:
    """Return the groups all of whose rows are in the units of a stream that it keeps."""
    ptr = stream.source.unit_ptr
    is_kept = np.isin(np.arange(len(ptr) - 1), stream.resident_units)
    # A group that crosses units is kept where these follow each other.
    n_kept = np.concatenate([[0], np.cumsum(is_kept)])
    first = np.searchsorted(ptr, groups.ptr[:-1], side="right") - 1
    last = np.searchsorted(ptr, groups.ptr[1:] - 1, side="right") - 1
    return np.flatnonzero(n_kept[last + 1] - n_kept[first] == last + 1 - first)


def _some(values: Index, most: int) -> Index:
    """At most so many, evenly spread."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).astype(np.int64)]
