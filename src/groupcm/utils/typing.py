"""Types of arrays that many modules share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Index", "Matrix", "Raw", "Vector"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]
Raw = NDArray[np.floating]
