"""Small pictures of pixels in bytes, with Pillow."""

from __future__ import annotations

import base64
import binascii
import io

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow

__all__ = ["mask_from_text", "text_from_mask"]


def text_from_mask(mask: NDArray[np.bool_]) -> str:
    """Write a mask as a PNG in base64."""
    content = io.BytesIO()
    pillow().fromarray(mask.astype(np.uint8) * 255).convert("1").save(content, format="PNG")
    return base64.b64encode(content.getvalue()).decode("ascii")


def mask_from_text(text: str, height: int, width: int) -> NDArray[np.bool_]:
    """Read a mask from a PNG in base64, of a size known before."""
    image = pillow()
    try:
        with image.open(io.BytesIO(base64.b64decode(text, validate=True))) as picture:
            if picture.size != (width, height):
                found = " × ".join(map(str, picture.size))
                raise ValueError(f"the mask is {found} pixels and its box {width} × {height}")
            return np.asarray(picture.convert("L")) > 0
    except (OSError, SyntaxError, binascii.Error) as error:
        raise ValueError("the mask is not a PNG picture in base64") from error
