"""Changed copies of training pictures, as another lamp, camera or compression would take them.

A copy differs from its picture in brightness, colour temperature, sharpness, JPEG quality and
scale, by amounts that follow from its name and number alone. Its candidates are the regions of the
picture, measured again on the changed pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from zlib import crc32

import numpy as np

from groupcm.annotations.pictures import pillow
from groupcm.images.reading import Pixels, as_rgb

__all__ = ["PictureChange", "copy_name", "draw_change"]

_GAIN, _GAMMA, _WARMTH, _BLUR = 1.5, 1.3, 0.15, 1.5
_QUALITY, _SCALE = (35, 95), (0.6, 1.0)


@dataclass(frozen=True)
class PictureChange:
    """A change of the pixels of a picture.

    Parameters
    ----------
    gain, gamma
        A value v from 0 to 1 becomes ``gain · v ** gamma``, at most 1.
    warmth
        Red is multiplied by ``1 + warmth``, and blue by ``1 - warmth``; grey pictures stay grey.
    blur
        The standard deviation of a Gaussian blur in pixels; 0 for none.
    quality
        The quality of a JPEG compression; None for none.
    scale
        The factor of the height and the width.

    Examples
    --------
    >>> grey = np.full((8, 10), 100, dtype=np.uint8)
    >>> PictureChange(gain=1.5)(grey)[0, 0].tolist(), PictureChange(scale=0.5)(grey).shape
    ([150, 150, 150], (4, 5, 3))
    """

    gain: float = 1.0
    gamma: float = 1.0
    warmth: float = 0.0
    blur: float = 0.0
    quality: int | None = None
    scale: float = 1.0

    def __call__(self, pixels: Pixels) -> Pixels:
        """Return the changed picture: red, green and blue of 8 bits."""
        rgb = self.gain * as_rgb(pixels) ** np.float32(self.gamma)
        if pixels.ndim == 3:
            rgb = rgb * np.array([1 + self.warmth, 1, 1 - self.warmth], dtype=np.float32)
        image = pillow()
        changed = image.fromarray(np.round(255 * np.clip(rgb, 0, 1)).astype(np.uint8))
        if self.blur > 0:
            from PIL import ImageFilter

            changed = changed.filter(ImageFilter.GaussianBlur(self.blur))
        if self.scale != 1:
            size = [max(1, round(self.scale * side)) for side in changed.size]
            changed = changed.resize(size, image.Resampling.BOX)
        if self.quality is not None:
            file = BytesIO()
            changed.save(file, "JPEG", quality=self.quality)
            changed = image.open(file)
        return np.asarray(changed)


def draw_change(name: str, number: int) -> PictureChange:
    """Return the change of one copy of a picture, which is the same in every run.

    Half of the copies are blurred, half are compressed and half are reduced.

    Parameters
    ----------
    name
        The name of the picture.
    number
        The number of the copy, from 1.

    Examples
    --------
    >>> draw_change("a.png", 1) == draw_change("a.png", 1) != draw_change("a.png", 2)
    True
    """
    rng = np.random.default_rng([crc32(name.encode()), number])
    gain, gamma = (float(top ** rng.uniform(-1, 1)) for top in (_GAIN, _GAMMA))
    warmth = float(rng.uniform(-_WARMTH, _WARMTH))
    is_blurred, is_compressed, is_reduced = rng.random(3) < 0.5
    blur, quality = float(rng.uniform(0.3, _BLUR)), int(rng.integers(*_QUALITY))
    scale = float(rng.uniform(*_SCALE))
    return PictureChange(
        gain,
        gamma,
        warmth,
        blur if is_blurred else 0.0,
        quality if is_compressed else None,
        scale if is_reduced else 1.0,
    )


def copy_name(name: str, number: int) -> str:
    """Return the name of a copy in a table of candidates.

    Examples
    --------
    >>> copy_name("a.png", 2)
    'a.png (copy 2)'
    """
    return f"{name} (copy {number})"
