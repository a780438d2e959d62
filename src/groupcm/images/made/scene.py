"""What a frame is drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.made.fields import Field, smooth_noise

__all__ = ["Scene"]


@dataclass
class Scene:
    """What a frame is drawn from, gathered step by step."""

    x: Field
    y: Field
    view: NDArray[np.bool_]
    surface: Field  # height towards the camera
    near_wall: NDArray[np.intp]  # pixels at which something may be put
    distance: Field  # how far away the wall is, 0 near to 1 far
    colour: Field  # (height, width, 3)

    def noise(self, rng: np.random.Generator, scale: float) -> Field:
        """Return smooth noise of the frame's size."""
        height, width = self.x.shape
        return smooth_noise(rng, height, width, scale)

    def somewhere(self, rng: np.random.Generator) -> tuple[float, float]:
        """Choose a place on the near wall, not at the border of the view."""
        chosen = self.near_wall[int(rng.integers(self.near_wall.size))]
        return float(self.x.flat[chosen]), float(self.y.flat[chosen])

    def mix(self, colour: Field, share: Field) -> None:
        """Colour the tissue, as far as ``share`` says at each pixel."""
        self.colour += share[:, :, None] * (colour - self.colour)
