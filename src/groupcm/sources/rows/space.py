"""Provides `Space`: how a row as it is stored becomes the vector that the weights multiply.

::

    x̃ = (φ(x) − mean) / scale,   s = w · x̃ + b

where ``φ`` is the feature map, if there is one. A map is applied to a few
rows at a time and its output is never kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from groupcm.features import Polynomial
from groupcm.sources.rows.chunk import Features
from groupcm.utils.typing import Raw, Vector

__all__ = ["FeatureMap", "LinearSpace", "MappedSpace", "Space", "make_space"]


# Values of the map's output that exist at once.
_BLOCK_VALUES = 1 << 18
# Outputs of a map whose mean is more deviations from zero than this are centred before they are
# weighed: the sum of what is weighed as it is would lose too many digits.
_FAR_FROM_ZERO = 1e6


class FeatureMap(Protocol):
    """What a fitted map of `groupcm.features` offers."""

    n_features_in_: int

    @property
    def n_features_out_(self) -> int: ...

    def transform(self, X: Raw) -> Vector: ...
    def dot(self, X: Raw, weights: Vector) -> Vector: ...


class Space(Protocol):
    """Standardised vectors and their scores."""

    @property
    def mean(self) -> Vector: ...
    @property
    def scale(self) -> Vector: ...
    @property
    def n_features(self) -> int: ...

    def vectors(self, raw: Raw) -> Vector:
        """``(x̃, 1)`` of each row."""
        ...

    def scores(self, features: Features, thetas: Vector) -> Vector:
        """``w · x̃ + b`` of each row, one row per point ``(w, b)``."""
        ...

    def scores_and_norms(self, features: Features, thetas: Vector) -> tuple[Vector, Vector]:
        """`scores`, and ``‖x̃‖`` of each row."""
        ...


@dataclass(frozen=True)
class LinearSpace:
    """Features as they are, on one scale."""

    mean: Vector
    scale: Vector

    @property
    def n_features(self) -> int:
        return len(self.mean)

    def vectors(self, raw: Raw) -> Vector:
        return _standardise(raw, self.mean, self.scale)

    def scores(self, features: Features, thetas: Vector) -> Vector:
        return features.scores(self.mean, thetas[:, :-1] / self.scale, thetas[:, -1])

    def scores_and_norms(self, features: Features, thetas: Vector) -> tuple[Vector, Vector]:
        weights = thetas[:, :-1] / self.scale
        return features.scores_and_norms(self.mean, self.scale, weights, thetas[:, -1])


@dataclass(frozen=True)
class MappedSpace:
    """Features of a map, on one scale."""

    map: FeatureMap
    mean: Vector
    scale: Vector

    @property
    def n_features(self) -> int:
        return len(self.mean)

    def vectors(self, raw: Raw) -> Vector:
        return _standardise(self.map.transform(raw), self.mean, self.scale)

    def scores(self, features: Features, thetas: Vector) -> Vector:
        raw = features.matrix()
        return np.stack([self.score(raw, theta) for theta in thetas])

    @cached_property
    def _is_far_from_zero(self) -> bool:
        return bool(np.max(np.abs(self.mean / self.scale), initial=0.0) > _FAR_FROM_ZERO)

    def score(self, raw: Raw, theta: Vector) -> Vector:
        """``w · x̃ + b`` of each row."""
        if self._is_far_from_zero:
            size = max(1, _BLOCK_VALUES // self.n_features)
            blocks = [raw[lo : lo + size] for lo in range(0, len(raw), size)]
            return np.concatenate([np.empty(0), *(self.vectors(block) @ theta for block in blocks)])
        weights = theta[:-1] / self.scale
        return self.map.dot(raw, weights) + (theta[-1] - weights @ self.mean)

    def scores_and_norms(self, features: Features, thetas: Vector) -> tuple[Vector, Vector]:
        raw = features.matrix()
        if isinstance(self.map, Polynomial):
            return np.stack([self.score(raw, theta) for theta in thetas]), self._norms(raw)
        scores, norms = np.empty((len(thetas), len(raw))), np.empty(len(raw))
        size = max(1, _BLOCK_VALUES // self.n_features)
        for lo in range(0, len(raw), size):
            block = slice(lo, lo + size)
            vectors = self.vectors(raw[block])
            np.matmul(thetas, vectors.T, out=scores[:, block])
            norms[block] = np.linalg.norm(vectors[:, :-1], axis=1)
        return scores, norms

    def _norms(self, raw: Raw) -> Vector:
        """Norms of monomials, which square as their factors do: ``Σ_m (x^m − mean_m)² / scale_m²``.

        The sum is taken apart, and what rounding may have lost is added.
        """
        x = raw.astype(np.float64)
        squares = self.map.dot(x * x, self.scale**-2.0)
        crossed = self.map.dot(x, self.mean * self.scale**-2.0)
        constant = float(np.sum((self.mean / self.scale) ** 2))
        rounding = 1e-12 * self.n_features * (squares + constant)
        return np.sqrt(np.maximum(squares - 2.0 * crossed + constant, 0.0) + rounding)


def make_space(feature_map: FeatureMap | None, mean: Vector, scale: Vector) -> Space:
    """Return the space of a map, or of the features themselves."""
    if feature_map is None:
        return LinearSpace(mean, scale)
    return MappedSpace(feature_map, mean, scale)


def _standardise(x: Raw, mean: Vector, scale: Vector) -> Vector:
    out = np.empty((len(x), len(mean) + 1))
    np.subtract(x, mean, out=out[:, :-1])
    out[:, :-1] /= scale
    out[:, -1] = 1.0
    return out
