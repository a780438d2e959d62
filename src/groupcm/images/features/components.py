"""Principal components of embeddings: a few uncorrelated features in place of a thousand.

    z = (e − m) P,    P = V diag(1 / √v)

m is the mean of the embeddings e of training pictures, V are the directions of the largest
variances v of these embeddings. No label is used. The numbers of m and P are part of a recipe, so
that pictures to be scored get the same features as those of the training.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from groupcm.utils.typing import Float32, Matrix

__all__ = ["Components"]

# Relative to the largest: a direction of smaller variance is rounding noise.
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of embeddings.

    Attributes
    ----------
    mean
        m, shape (d,).
    projection
        P, shape (d, k).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> embeddings = np.float32(rng.normal(size=(500, 3)) * [5, 2, 0.1])
    >>> components = Components.of(embeddings, 2)
    >>> components(embeddings).std(axis=0).round(2)
    array([1., 1.], dtype=float32)
    >>> again = Components.from_text(components.to_text(), n_features=3)
    >>> bool((again.projection == components.projection).all())
    True
    """

    mean: Float32
    projection: Float32

    @classmethod
    def of(cls, embeddings: Float32, n_components: int) -> Components:
        """Return the components of largest variance, fewer where the rows have no more of them."""
        if len(embeddings) < 2:
            raise ValueError(
                f"principal components need the embeddings of 2 candidates or more, not of "
                f"{len(embeddings)}"
            )
        centred = np.asarray(embeddings, dtype=np.float64)
        mean = centred.mean(axis=0)
        centred = centred - mean
        n, d = centred.shape
        first = max(d - min(n_components, n - 1), 0)
        variances, directions = eigh(
            centred.T @ centred / n, subset_by_index=(first, d - 1), driver="evr"
        )
        variances, directions = variances[::-1], directions[:, ::-1]
        if not variances[0] > 0:
            raise ValueError("the embeddings of all candidates are equal; check the network")
        kept = variances > _LEAST_VARIANCE * variances[0]
        variances, directions = variances[kept], directions[:, kept]
        # The sign of a direction is arbitrary: the largest of its numbers is positive.
        largest = np.abs(directions).argmax(axis=0)
        directions = directions * np.sign(directions[largest, np.arange(len(largest))])
        return cls(mean.astype(np.float32), (directions / np.sqrt(variances)).astype(np.float32))

    @property
    def n_components(self) -> int:
        """k."""
        return self.projection.shape[1]

    def __call__(self, embeddings: Float32) -> Float32:
        """Return the components of embeddings of shape (n, d), shape (n, k)."""
        return np.asarray((embeddings - self.mean) @ self.projection, dtype=np.float32)

    def to_text(self) -> str:
        """Return m and P as text: float32 numbers, little endian, in base64."""
        numbers = np.vstack([self.mean, self.projection.T]).astype("<f4")
        return base64.b64encode(numbers.tobytes()).decode("ascii")

    @classmethod
    def from_text(cls, text: str, n_features: int) -> Components:
        """Return the components of the text of `to_text`, for embeddings of ``n_features``."""
        try:
            numbers: Matrix = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise ValueError("the principal components of a network are not in base64") from error
        rows = numbers.size // n_features
        if rows < 2 or numbers.size % n_features or not np.isfinite(numbers).all():
            raise ValueError(
                f"the principal components of a network are damaged: {numbers.size} numbers for "
                f"embeddings of {n_features}"
            )
        found = numbers.reshape(rows, n_features).astype(np.float32)
        return cls(found[0], np.ascontiguousarray(found[1:].T))
