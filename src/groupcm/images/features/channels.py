"""Colours of a picture in several spaces, as maps to be summed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.view import View
from groupcm.kernels.features_channels import fill_channels

__all__ = ["CHANNELS", "colour_channels", "column_by_column"]

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
# In the dark, ratios of colours are noise: this much light is added below the line.
_DARK = 0.02


def column_by_column(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn (height, width) into a map of shape (width, height), and (…, n) into n such maps.

    Examples
    --------
    >>> column_by_column(np.zeros((2, 3, 5), dtype=np.float32)).shape
    (5, 3, 2)
    """
    return np.ascontiguousarray(picture.T)


def colour_channels(view: View) -> NDArray[np.float32]:
    """Return the maps of `CHANNELS`, shape (channels, width, height).

    Lightness, green to red and blue to yellow are those of CIE Lab, divided by 100. Saturation
    is that of HSV; cosine and sine of the hue count by it, since a grey has no hue. A share is
    that of the sum of red, green and blue.

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
    maps = np.empty((len(CHANNELS), view.width, view.height), dtype=np.float32)
    fill_channels(view.rgb, view.lab, _DARK, maps)
    return maps
