"""Small pictures of pixels in bytes, with Pillow."""

from __future__ import annotations

import base64
import io
import struct
import warnings

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.limits import Budget
from groupcm.annotations.pictures import pillow

__all__ = ["mask_from_text", "text_from_mask"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def text_from_mask(mask: NDArray[np.bool_]) -> str:
    """Write a mask as a PNG in base64."""
    content = io.BytesIO()
    pillow().fromarray(mask.astype(np.uint8) * 255).convert("1").save(content, format="PNG")
    return base64.b64encode(content.getvalue()).decode("ascii")


def mask_from_text(text: str, height: int, width: int, budget: Budget) -> NDArray[np.bool_]:
    """Read a mask from a PNG in base64, of a size known before."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("the mask is not a PNG picture in base64") from error
    # From the header, before anything is decoded: Pillow itself would refuse some sizes first.
    if content[:8] != _SIGNATURE or content[12:16] != b"IHDR" or len(content) < 24:
        raise ValueError("the mask is not a PNG picture in base64")
    found = struct.unpack(">II", content[16:24])
    if found != (width, height):
        raise ValueError(
            f"the mask is {found[0]} × {found[1]} pixels and its box {width} × {height}"
        )
    budget.spend_pixels(width, height)
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            pillow().open(io.BytesIO(content), formats=("PNG",)) as picture,
        ):
            return np.asarray(picture if picture.mode == "1" else picture.convert("L")) > 0
    except Exception as error:  # Pillow raises many kinds for damaged files
        raise ValueError(f"the mask is a damaged PNG picture ({error})") from error
