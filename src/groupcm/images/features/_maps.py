"""Maps of a picture that features average: colour channels, their scale, ranks and quantiles.

`signed_and_size` and `log_ratio` compress heavy tails, so that a few extreme candidates do not
dominate a linear model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from groupcm.images.filters import gaussian
from groupcm.images.view import View
from groupcm.kernels.images.pixels import (
    fill_channels,
    fill_from_bins,
    value_counts,
    value_deviation,
)
from groupcm.utils.typing import Float32, Matrix

__all__ = [
    "CHANNELS",
    "LEAST_SPREAD",
    "PictureScale",
    "colour_channels",
    "lab_maps",
    "lab_scale",
    "lightness",
    "log_ratio",
    "quantiles",
    "ranks",
    "signed_and_size",
    "smooth_lightness",
]

CHANNELS = (
    "lightness",
    "green_red",
    "blue_yellow",
    "saturation",
    "hue_cos",
    "hue_sin",
    "red_share",
    "green_share",
    "red_minus_green",
    "yellow_minus_blue",
)
# Added to denominators: ratios of dark colours are noise.
_DARK = 0.02
# Half a grey level of 8 bits, for a map from 0 to 1: a smaller spread is rounding noise.
LEAST_SPREAD = 0.002
_BINS = 2048
_QUARTILES_TO_DEVIATION = 1.349
Made = TypeVar("Made")


def colour_channels(view: View) -> Float32:
    """Return the maps of `CHANNELS`, shape (channels, width, height).

    Lightness, green to red and blue to yellow are those of CIE Lab, divided by 100. Saturation is
    that of HSV; cosine and sine of the hue are multiplied by it, since a grey has no hue. Shares
    are relative to the sum of red, green and blue.

    Examples
    --------
    >>> red = View(np.full((1, 1, 3), (1, 0, 0), dtype=np.float32))
    >>> for name, value in zip(CHANNELS, colour_channels(red).ravel(), strict=True):
    ...     print(f"{name} {value:.2f}")
    lightness 0.53
    green_red 0.80
    blue_yellow 0.67
    saturation 0.98
    hue_cos 0.98
    hue_sin 0.00
    red_share 0.97
    green_share 0.01
    red_minus_green 1.00
    yellow_minus_blue 0.50
    """

    def make() -> Float32:
        maps = np.empty((len(CHANNELS), view.width, view.height), dtype=np.float32)
        fill_channels(view.rgb, view.lab, _DARK, maps)
        return maps

    return _once(view, "colour_channels", make)


def lab_maps(view: View) -> Float32:
    """Return the first three maps of `colour_channels`, shape (3, width, height)."""
    if "colour_channels" in view.__dict__:
        return colour_channels(view)[:3]
    return _once(view, "lab_maps", lambda: np.ascontiguousarray(view.lab.T) / np.float32(100))


def lab_scale(view: View) -> PictureScale:
    """Return the scale of `lab_maps`, with spreads of at least `LEAST_SPREAD`."""
    return _once(view, "lab_scale", lambda: PictureScale.of(lab_maps(view), LEAST_SPREAD))


def lightness(view: View) -> Float32:
    """Return the lightness in units of its spread in the picture, shape (width, height)."""
    spread = np.float32(lab_scale(view).spread[0, 0])
    return _once(view, "lightness", lambda: lab_maps(view)[0] / spread)


def smooth_lightness(view: View, width: float) -> Float32:
    """Return `lightness` smoothed by a Gaussian of a width in pixels."""
    make = lambda: gaussian(lightness(view), width)  # noqa: E731
    return _once(view, f"lightness smoothed by {width!r}", make)


def _once(view: View, what: str, make: Callable[[], Made]) -> Made:
    """Return a map of a picture that several families need, computed when it is first used."""
    if what not in view.__dict__:
        view.__dict__[what] = make()
    return view.__dict__[what]


@dataclass(frozen=True, eq=False)
class PictureScale:
    """Median and spread of each map over the whole picture.

    Attributes
    ----------
    median
        Shape (maps, 1).
    spread
        Mean of the standard deviation and of its robust estimate from the quartiles, shape
        (maps, 1).

    Examples
    --------
    >>> scale = PictureScale.of(np.arange(9, dtype=np.float32).reshape(1, 3, 3), least=0.1)
    >>> scale.median.round(1), scale.spread.round(1)
    (array([[4.]]), array([[2.8]]))
    """

    median: Matrix
    spread: Matrix

    @classmethod
    def of(cls, maps: Float32 | Sequence[Float32], least: float) -> PictureScale:
        """Return the scale of maps of shape (maps, width, height), with spreads ≥ ``least``."""
        quartiles = np.array([quantiles(each, (0.25, 0.5, 0.75)) for each in maps]).reshape(-1, 3)
        robust = (quartiles[:, 2] - quartiles[:, 0]) / _QUARTILES_TO_DEVIATION
        deviation = np.array([value_deviation(each.ravel()) for each in maps])
        spread = np.maximum((robust + deviation) / 2, least)
        return cls(quartiles[:, 1:2], spread[:, None])

    def followed_by(self, others: PictureScale) -> PictureScale:
        """Return the scale of these maps followed by others."""
        return PictureScale(
            np.concatenate([self.median, others.median]),
            np.concatenate([self.spread, others.spread]),
        )


def ranks(values: Float32) -> Float32:
    """Return the share of values below each value; equal values count half.

    Examples
    --------
    >>> ranks(np.array([[3, 9], [3, 3]], dtype=np.float32)).round(3)
    array([[0.375, 0.875],
           [0.375, 0.375]], dtype=float32)
    """
    low, factor, below = _cumulated(values)
    shares = ((below[:-1] + below[1:]) / (2 * below[-1])).astype(np.float32)
    result = np.empty(values.shape, dtype=np.float32)
    fill_from_bins(values.ravel(), np.float32(low), np.float32(factor), shares, result.ravel())
    return result


def quantiles(values: Float32, shares: tuple[float, ...]) -> Matrix:
    """Return quantiles of the values, with a resolution of 1/2048 of their range.

    Examples
    --------
    >>> quantiles(np.arange(101, dtype=np.float32), (0.1, 0.5)).round(1)
    array([10., 50.])
    """
    low, factor, below = _cumulated(values)
    return low + np.interp(np.array(shares) * below[-1], below, np.arange(_BINS + 1)) / factor


def _cumulated(values: Float32) -> tuple[float, float, Matrix]:
    """Return the begin of the first bin, the bins per unit, and the values below each bin."""
    low, high = float(values.min()), float(values.max())
    factor = _BINS / max(high - low, 1e-9)
    counts = np.zeros(_BINS)
    value_counts(values.ravel(), low, factor, counts)
    return low, factor, np.concatenate([[0.0], np.cumsum(counts)])


def signed_and_size(values: Matrix) -> list[Matrix]:
    """Return ``asinh v`` and ``|asinh v|``: a linear model cannot compute the size itself.

    Examples
    --------
    >>> [each.round(3).tolist() for each in signed_and_size(np.array([-1.0, 100.0]))]
    [[-0.881, 5.298], [0.881, 5.298]]
    """
    squashed = np.arcsinh(values)
    return [squashed, np.abs(squashed)]


def log_ratio(above: Matrix, below: Matrix, least: float) -> Matrix:
    """Return ``log((above + least) / (below + least))`` of nonnegative numbers.

    Examples
    --------
    >>> log_ratio(np.array([0.0, 3.0]), np.array([0.0, 1.0]), least=1.0).round(3)
    array([0.   , 0.693])
    """
    return np.log((above + least) / (below + least))
