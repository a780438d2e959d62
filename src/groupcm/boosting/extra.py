"""The extra that trees need, and the sentence for those who do not have it."""

from __future__ import annotations

from typing import Any

from groupcm.extras import required

__all__ = ["require_lightgbm"]


def require_lightgbm() -> Any:
    """Import LightGBM, and say how to install it where it is missing.

    Examples
    --------
    >>> require_lightgbm().__name__
    'lightgbm'
    """
    return required("lightgbm", "boosting", "trees are grown with LightGBM")
