"""Embeddings by a function of the user: crops of the candidates, mapped to numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.pixels import resize_boxes
from groupcm.utils.typing import Float32, Matrix

__all__ = ["Embedding", "check_crops", "crops", "embed", "numbered"]

_CROPS_AT_A_TIME = 32


def crops(
    view: View, regions: Regions, size: int = 64, margin: float = 0.1, square: bool = True
) -> Float32:
    """Return the crop of each candidate's box, resampled to size × size pixels.

        crop = D P A',   D[i, r] ∝ max(0, 1 - |r - r_i| / max(1, s))

    P is one colour of the picture and r_i the centre of row i of the crop, with rows s apart; A
    does for columns what D does for rows. So downscaling averages over all pixels, and upscaling
    interpolates linearly. Beyond the border of the picture its last pixels are repeated.

    Parameters
    ----------
    view, regions
        The picture and its candidates. For a mask, its bounding box is cropped.
    size
        Side of a crop in pixels.
    margin
        Margin added on each side of a box, relative to its height and width.
    square
        Whether the shorter side is extended, which keeps the aspect ratio; otherwise the box is
        stretched to a square.

    Returns
    -------
    ndarray of float32, shape (n, size, size, 3)
        Red, green and blue from 0 to 1, stored colour by colour.

    Examples
    --------
    >>> view = View(np.repeat(np.eye(4, dtype=np.float32)[:, :, None], 3, axis=2))
    >>> corner = Regions.from_boxes([[0, 0, 2, 2]], height=4, width=4)
    >>> crops(view, corner, size=2, margin=0)[0, :, :, 0]
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    result = np.empty((len(regions), 3, size, size), dtype=np.float32)
    resize_boxes(np.ascontiguousarray(view.rgb), _enlarged(regions, margin, square), result)
    return result.transpose(0, 2, 3, 1)


def _enlarged(regions: Regions, margin: float, square: bool) -> Matrix:
    first, last = regions.edges[:, :2], regions.edges[:, 2:]
    sides = (last - first) * (1 + 2 * margin)
    if square:
        sides = np.repeat(sides.max(axis=1, keepdims=True), 2, axis=1)
    centre = (first + last) / 2
    return np.concatenate([centre - sides / 2, centre + sides / 2], axis=1)


@dataclass(frozen=True)
class Embedding:
    """Features by a function of the user.

    A function cannot be stored in a model file. For a model that is shared, save the network as a
    file and use `groupcm.images.features.network_embedding.NetworkEmbedding`.

    Parameters
    ----------
    function
        Maps crops, float32 of shape (n, 3, size, size) with red, green and blue from 0 to 1, at
        most 32 at a time, to n rows of numbers. For work in several processes it must be
        picklable, so no lambda.
    n_features
        Number of features per candidate.
    size, margin, square
        How candidates are cropped; see `groupcm.images.features.embedding.crops`.
    name
        Prefix of the feature names: ``embedding 000``, ``embedding 001``, …

    Examples
    --------
    >>> colours = Embedding(lambda crops: crops.mean(axis=(2, 3)), n_features=3, size=8)
    >>> colours.names
    ('embedding 000', 'embedding 001', 'embedding 002')
    >>> view = View(np.full((20, 30, 3), 0.5, dtype=np.float32))
    >>> colours.measure(view, Regions.from_boxes([[2, 3, 9, 9]], height=20, width=30))
    array([[0.5, 0.5, 0.5]], dtype=float32)
    """

    function: Callable[[Float32], Any]
    n_features: int
    size: int = 64
    margin: float = 0.1
    square: bool = True
    name: str = "embedding"

    cannot_be_written: ClassVar[str] = (
        "an Embedding is a function, which a recipe cannot contain; save the network as an ONNX "
        "file and take NetworkEmbedding.of(FILE)"
    )

    def __post_init__(self) -> None:
        check_crops(self.n_features, self.size, self.margin)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return numbered(self.name, self.n_features)

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, n_features)."""
        return embed(
            self._checked, view, regions, self.n_features, self.size, self.margin, self.square
        )

    def _checked(self, batch: Float32) -> Float32:
        given = np.asarray(self.function(batch), dtype=np.float32)
        wanted = (len(batch), self.n_features)
        if given.shape != wanted:
            raise ValueError(
                f"the function of {self.name!r} gave the shape {given.shape} for {len(batch)} "
                f"crops; it must give {wanted}"
            )
        if not np.isfinite(given).all():
            raise ValueError(
                f"the function of {self.name!r} gave a value that is not a finite number; "
                "features must be finite"
            )
        return given


def embed(
    function: Callable[[Float32], Float32],
    view: View,
    regions: Regions,
    n_features: int,
    size: int,
    margin: float,
    square: bool,
) -> Float32:
    """Apply a function to the crops, a few at a time to limit memory."""
    values = np.empty((len(regions), n_features), dtype=np.float32)
    for start in range(0, len(regions), _CROPS_AT_A_TIME):
        some = np.arange(start, min(start + _CROPS_AT_A_TIME, len(regions)))
        cut = crops(view, regions.take(some), size, margin, square)
        values[some] = function(np.ascontiguousarray(cut.transpose(0, 3, 1, 2)))
    return values


def numbered(name: str, n_features: int) -> tuple[str, ...]:
    """Return names with numbers of equal length, so that sorting keeps their order.

    Examples
    --------
    >>> numbered("net", 1001)[-2:]
    ('net 0999', 'net 1000')
    """
    digits = max(3, len(str(n_features - 1)))
    return tuple(f"{name} {number:0{digits}}" for number in range(n_features))


def check_crops(n_features: int, size: int, margin: float) -> None:
    """Raise `ValueError` for invalid hyperparameters of crops."""
    for what, value in (("n_features", n_features), ("size", size)):
        if value < 1:
            raise ValueError(f"{what} is {value}; it must be 1 or more")
    if not 0 <= margin < float("inf"):
        raise ValueError(f"margin is {margin}; it must be 0 or more")
