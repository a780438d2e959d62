"""The extra that pictures need, and the sentence for those who do not have it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groupcm.errors import InputError

__all__ = ["skimage"]


def skimage(part: str) -> Any:
    """Import a part of scikit-image, and say how to install it where it is missing.

    Examples
    --------
    >>> skimage("color").__name__
    'skimage.color'
    """
    try:
        return import_module(f"skimage.{part}")
    except ImportError as error:
        raise InputError(
            "candidates of pictures are found with scikit-image; "
            "install it with: pip install 'groupcm[images]'"
        ) from error
