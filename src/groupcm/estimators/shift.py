"""Distribution shift: whether new groups differ from those that a model was trained on.

New groups are compared with mixtures of the negative and positive training groups, so that a
smaller share of positive groups than in training is not a shift::

    D = min_{0 <= π <= π_train} max_c | F_new(c) − (1−π) F_neg(c) − π F_pos(c) |

A score or a feature has shifted where

    D > 0.1 + √(ln(2k/α) / 2) · √( (1−π)²/n_neg + π²/n_pos + 1/n_new ) + optimism

for any of the ``k`` comparisons (the features and the score); ``n`` counts groups and ``α`` is
0.001. The second term bounds the effect of chance on groups drawn independently (Massart's constant
of the Kolmogorov-Smirnov distance). The first covers differences that are too small to matter, and
what the groups of one patient have in common. ``optimism`` is for the scores of the very groups
that a model was trained on.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame
from groupcm.data.groups import index_groups, no_groups
from groupcm.errors import ShiftWarning
from groupcm.estimators.training.input import source_of_columns
from groupcm.estimators.training.profile import (
    TrainingProfile,
    column_blocks,
    dense,
    draw_candidates,
    profile_of,
    shares_below,
)
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups
from groupcm.sources.base import Source
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.typing import Vector

__all__ = [
    "Moved",
    "Shift",
    "compare_with_profile",
    "drawn_values",
    "shift_from_training",
    "warn_of_shift",
]

# Smaller differences do not matter; and the probability that chance alone looks like a shift.
_TOLERANCE = 0.1
_ALPHA = 1e-3
_SHARES = np.linspace(0.0, 1.0, 51)
_MOST_NAMES = 3


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
                shares_below(dense(values[:, columns]), profile.feature_cuts[columns])
                for columns in column_blocks(n_compared)
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
            shares_below(scores[:, None], profile.score_cuts[None, :])[0],
            profile.score_below,
            profile.score_groups,
            len(scores),
            1 + n_compared,
            profile.optimism,
        )
    features.sort(key=lambda each: each.limit - each.distance)
    return Shift(score, features, n_compared, n_groups)


def drawn_values(X: Any, groups: ArrayLike | None) -> Matrix:
    """Return the features of candidates drawn from the groups of a matrix, frame or source."""
    if isinstance(X, Source):
        found = X.index().groups or Groups.of_each_row(X.n_rows)
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
            "with those of the training: no difference could be distinguished from chance."
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
            "these groups are distributed differently from the training groups, so the threshold "
            f"may not hold: {'; '.join(parts)}."
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
