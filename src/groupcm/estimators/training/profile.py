"""What training looked like, in a few quantiles, and whether new groups look different.

A model keeps shares of its training groups below a few cuts, for the groups' scores and for the
features of candidates drawn from them. New groups are compared with mixtures of the negative and
positive training groups, so that fewer positives than in training are no difference::

    D = min_{0 <= π <= π_train} max_c | F_new(c) − (1−π) F_neg(c) − π F_pos(c) |

Something moved where

    D > 0.1 + √(ln(2k/α) / 2) · √( (1−π)²/n_neg + π²/n_pos + 1/n_new ) + optimism

for any of the ``k`` comparisons (the features and the score); ``n`` counts groups and ``α`` is
0.001. The second term bounds what chance does to groups drawn independently (Massart's constant of
the Kolmogorov-Smirnov distance); the first is what is too small to matter, and what groups of one
patient have in common. ``optimism`` is for scores of the very groups a model was trained on.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame
from groupcm.data.groups import index_groups, no_groups
from groupcm.errors import ShiftWarning
from groupcm.estimators.scoring import Scorer
from groupcm.estimators.training.data import TrainingData, source_of_columns
from groupcm.features.scaling import rows_to_measure
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import NO_ORDER, Groups, Index
from groupcm.sources.base import Source
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.fitted_state import Array, Expected, Flag, Number
from groupcm.utils.typing import Vector

__all__ = [
    "Moved",
    "Shift",
    "TrainingProfile",
    "compare_with_profile",
    "draw_candidates",
    "drawn_values",
    "measure_training",
    "profile_of",
    "shift_from_training",
    "warn_of_shift",
]


_LEVELS = np.array([0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95])
# What moves less than this does not matter; and how often chance may look like a move.
_TOLERANCE = 0.1
_ALPHA = 1e-3
_SHARES = np.linspace(0.0, 1.0, 51)
# A model of more features than this keeps those of its scores only.
_MOST_FEATURES = 2_000
# Training groups that are measured, and their rows, at most.
_MOST_GROUPS, _MOST_ROWS = 2_000, 200_000
# Candidates that are drawn, and their values, at most.
_DRAWN, _DRAWN_VALUES = 4_000, 20_000_000
# A file is read again in so many places at most.
_MOST_UNITS = 32
_MOST_NAMES = 3


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


@dataclass(frozen=True)
class Moved:
    """A score or a feature that is not distributed as in training.

    Attributes
    ----------
    name : str
    distance, limit : float
        Its distance from training, and the largest that may be chance.
    is_higher : bool
        Whether its values are higher than in training.
    """

    name: str
    distance: float
    limit: float
    is_higher: bool


@dataclass(frozen=True)
class Shift:
    """How groups differ from those of the training.

    Attributes
    ----------
    score : Moved or None
        None where the scores may be those of training.
    features : sequence of Moved
        The features that moved, the one that moved most first.
    n_features : int
        How many features were compared.
    n_groups : int or None
        How many groups there are, where they are too few for any shift to be found.
    """

    score: Moved | None
    features: Sequence[Moved]
    n_features: int
    n_groups: int | None = None

    @property
    def note(self) -> str | None:
        """That there are too few groups to compare, in one sentence; None where there are not."""
        if self.n_groups is None:
            return None
        return (
            f"{self.n_groups:,} group{'s are' if self.n_groups != 1 else ' is'} too few to compare "
            "with those of the training: no difference could be told from chance."
        )

    @property
    def sentence(self) -> str | None:
        """What moved, in one sentence; None where nothing did."""
        parts = []
        if self.score is not None:
            parts.append(f"their scores are {'higher' if self.score.is_higher else 'lower'}")
        if self.features:
            names = ", ".join(
                f"{each.name} ({'higher' if each.is_higher else 'lower'})"
                for each in self.features[:_MOST_NAMES]
            )
            more = len(self.features) - _MOST_NAMES
            names += f" and {more:,} more" if more > 0 else ""
            parts.append(f"of {self.n_features:,} features, {names} moved")
        if not parts:
            return None
        return (
            "these groups are not distributed as those of the training, so that the threshold may "
            f"not hold: {'; '.join(parts)}."
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
    groups = _groups_or_rows(data.groups, data.n_rows)
    chosen = data.groups_of(rows_to_measure(data.n_rows, data.n_features, data.groups))
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
    for columns in _column_blocks(n_compared):
        block = _dense(values[:, columns])
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


def compare_with_profile(
    profile: TrainingProfile,
    scores: ArrayLike,
    values: Matrix | None = None,
    names: Sequence[str] | None = None,
) -> Shift:
    """Compare groups with those of the training.

    Parameters
    ----------
    profile : TrainingProfile
    scores : array-like of shape (n_groups,)
        The score of each group. Those of -inf, of groups without candidates, are not compared.
    values : ndarray or CSR matrix of shape (n, d), optional
        Features of candidates drawn from the groups, such as by `draw_candidates`.
    names : sequence of str, optional
        Of the features.

    Returns
    -------
    Shift
    """
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores[scores > -np.inf]
    if not len(scores):
        return Shift(None, [], 0, 0)
    n_compared = 0 if values is None else len(profile.feature_cuts)
    features: list[Moved] = []
    if n_compared and values is not None:
        below = np.concatenate(
            [
                _below(_dense(values[:, columns]), profile.feature_cuts[columns])
                for columns in _column_blocks(n_compared)
            ]
        )
        n_new = min(len(scores), values.shape[0])
        for j in range(n_compared):
            name = f"feature {j}" if names is None else str(names[j])
            moved = _moved(
                name,
                below[j],
                profile.feature_below[:, j],
                profile.feature_groups,
                n_new,
                1 + n_compared,
            )
            features += [] if moved is None else [moved]
    score, n_groups = None, None
    counts = [profile.feature_groups] * (n_compared > 0)
    if math.isfinite(profile.optimism):
        counts.append(profile.score_groups)
    # No distance is larger than 1.
    if all(_limits(n, len(scores), 1 + n_compared)[1].min() >= 1.0 for n in counts):
        n_groups = len(scores)
    if len(scores) and math.isfinite(profile.optimism):
        score = _moved(
            "score",
            _below(scores[:, None], profile.score_cuts[None, :])[0],
            profile.score_below,
            profile.score_groups,
            len(scores),
            1 + n_compared,
            profile.optimism,
        )
    features.sort(key=lambda each: each.limit - each.distance)
    return Shift(score, features, n_compared, n_groups)


def shift_from_training(model: Any, X: Any, groups: ArrayLike | None = None) -> Shift | None:
    """Compare groups, whose labels need not be known, with those a model was trained on.

    Parameters
    ----------
    model : estimator
        A fitted model of two classes.
    X, groups
        As for ``group_scores``; of a source a bounded number of rows is held in memory.

    Returns
    -------
    Shift or None
        None where the model knows nothing of its training, as those of version 0.1.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.simulate import capsule
    >>> train, new = (capsule(200, n_positive=60, group_size=10, seed=s) for s in (0, 1))
    >>> model = GroupClassifier(0.9).fit(train.X, train.y, train.groups)
    >>> shift_from_training(model, new.X, new.groups).sentence is None
    True
    >>> moved = new.X.copy()
    >>> moved[:, 2] += 3 * moved[:, 2].std()
    >>> shift_from_training(model, moved, new.groups).features[0].name
    'feature 2'
    """
    check_is_fitted(model)
    profile = profile_of(model)
    if profile is None:
        return None
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, str | os.PathLike):
        X = source_of_columns(X, groups, features=None if names is None else list(names))
    scores = model.group_scores(X) if isinstance(X, Source) else model.group_scores(X, groups)
    values = drawn_values(X, groups)
    return compare_with_profile(profile, scores.score, values, names)


def drawn_values(X: Any, groups: ArrayLike | None) -> Matrix:
    """Return the features of candidates drawn from the groups of a matrix, frame or source."""
    if isinstance(X, Source):
        found = _groups_or_rows(X.index().groups, X.n_rows)
        return SourceReader(X).raw(draw_candidates(found, X.n_features, X.unit_ptr))
    X = as_frame(X)
    if is_frame(X):
        X = frame_to_matrix(X)
    elif not sp.issparse(X):
        X = np.asarray(X)
    groups = np.arange(X.shape[0]) if no_groups(groups) else np.asarray(groups)
    index = Groups.from_index(index_groups(groups))
    return X[draw_candidates(index, X.shape[1])]


def warn_of_shift(shift: Shift | None) -> None:
    """Warn, in one sentence, of groups that differ from those of the training."""
    if shift is not None and shift.sentence is not None:
        warnings.warn(shift.sentence, ShiftWarning, stacklevel=2)


def _moved(
    name: str,
    new: Vector,
    trained: Vector,
    n_trained: NDArray[np.int64],
    n_new: int,
    n_compared: int,
    optimism: float = 0.0,
) -> Moved | None:
    shares, limits = _limits(n_trained, n_new, n_compared)
    mixtures = np.outer(1.0 - shares, trained[0]) + np.outer(shares, trained[1])
    distances = np.max(np.abs(new - mixtures), axis=1)
    best = int(np.argmin(distances))
    distance, limit = float(distances[best]), float(limits[best]) + optimism
    if distance <= limit:
        return None
    difference = new - mixtures[best]
    is_higher = bool(difference[np.argmax(np.abs(difference))] < 0.0)
    return Moved(name, distance, limit, is_higher)


def _limits(n_trained: NDArray[np.int64], n_new: int, n_compared: int) -> tuple[Vector, Vector]:
    """Return shares of positive groups, and the largest distance that may be chance for each."""
    n_negative, n_positive = (int(n) for n in n_trained)
    shares = _SHARES * n_positive / max(1, n_negative + n_positive)
    variance = (1.0 - shares) ** 2 / max(1, n_negative) + 1.0 / n_new
    variance += shares**2 / max(1, n_positive)
    chance = np.sqrt(math.log(2.0 * n_compared / _ALPHA) / 2.0 * variance)
    return shares, _TOLERANCE + chance


def _groups_or_rows(groups: Groups | None, n_rows: int) -> Groups:
    return Groups.of_each_row(n_rows) if groups is None else groups


def _groups_in_memory(stream: SourceReader, groups: Groups) -> Index:
    """Return the groups all of whose rows are in the units of a stream that it keeps."""
    ptr = stream.source.unit_ptr
    is_kept = np.isin(np.arange(len(ptr) - 1), stream.resident_units)
    # A group that crosses units is kept where these follow each other.
    n_kept = np.concatenate([[0], np.cumsum(is_kept)])
    first = np.searchsorted(ptr, groups.ptr[:-1], side="right") - 1
    last = np.searchsorted(ptr, groups.ptr[1:] - 1, side="right") - 1
    return np.flatnonzero(n_kept[last + 1] - n_kept[first] == last + 1 - first)


def _column_blocks(n_columns: int) -> list[slice]:
    return [slice(lo, min(lo + 64, n_columns)) for lo in range(0, n_columns, 64)]


def _some(values: Index, most: int) -> Index:
    """At most so many, evenly spread."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).astype(np.int64)]


def _counts(positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    n_positive = int(np.count_nonzero(positive))
    return np.array([len(positive) - n_positive, n_positive])


def _dense(values: Any) -> NDArray[np.float32]:
    """Return float32 rows, so that the same numbers compare the same in either precision."""
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    return np.where(np.isnan(values), np.float32(np.inf), values)


def _cuts(values: NDArray[np.floating]) -> Vector:
    """Return values that occur at the levels of each column, shape (d, c)."""
    if values.shape[1] == 0:
        return np.empty((0, len(_LEVELS)))
    ordered = np.sort(values, axis=0)
    return ordered[(_LEVELS * (len(ordered) - 1)).astype(np.int64)].T.astype(np.float64)


def _below(values: NDArray[np.floating], cuts: NDArray[np.floating]) -> Vector:
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
    found = [_below(values[which], cuts) for which in present]
    # Four digits are more than the comparison can tell apart.
    return np.round(np.stack([found[0], found[-1]]), 4)
