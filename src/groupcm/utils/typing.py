"""Types of arrays that many modules share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Float32", "Index", "Matrix", "Raw", "Vector"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Float32 = NDArray[np.float32]
Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Raw = NDArray[np.floating]
