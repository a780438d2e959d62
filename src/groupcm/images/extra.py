"""The extra that pictures need, and the sentence for those who do not have it."""

from __future__ import annotations

from typing import Any

from groupcm.extras import required

__all__ = ["skimage"]


def skimage(part: str) -> Any:
    """Import a part of scikit-image, and say how to install it where it is missing.

    Examples
    --------
    >>> skimage("color").__name__
    'skimage.color'
    """
    why = "candidates of pictures are found with scikit-image"
    return required(f"skimage.{part}", "images", why)
