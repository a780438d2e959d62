"""The extra that ONNX files are written with."""

from __future__ import annotations

from typing import Any

from groupcm.extras import required

__all__ = ["onnx_part"]


def onnx_part(name: str) -> Any:
    """Import a part of onnx, and say how to install it where it is missing.

    Examples
    --------
    >>> onnx_part("helper").__name__
    'onnx.helper'
    """
    return required(f"onnx.{name}", "onnx", "ONNX files are written with onnx")
