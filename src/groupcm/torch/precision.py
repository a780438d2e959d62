"""In which precision sums are taken."""

from __future__ import annotations

import torch

__all__ = ["wide_dtype"]


def wide_dtype(device: torch.device) -> torch.dtype:
    """float64, where the device knows it.

    Examples
    --------
    >>> wide_dtype(torch.device("cpu")), wide_dtype(torch.device("mps"))
    (torch.float64, torch.float32)
    """
    return torch.float32 if device.type == "mps" else torch.float64
