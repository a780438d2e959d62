"""What a frame is drawn from.

What stays the same from frame to frame: a patient's tissue, and each of its polyps.

Smooth random surfaces, and what light makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from groupcm.utils.typing import Flags, Matrix

__all__ = [
    "Field",
    "Patient",
    "Polyp",
    "Scene",
    "blurred",
    "draw_patient",
    "grid",
    "lines",
    "normal_parts",
    "smooth_noise",
]

_YELLOWISH = np.array([0.90, 0.56, 0.30])
_PINKISH = np.array([0.92, 0.50, 0.38])


@dataclass(frozen=True)
class Polyp:
    """A polyp: its outline, how high and how large it is, and how its colour differs."""

    lobes: tuple[tuple[float, float], ...]  # amplitude and phase of 2, 3, … waves around it
    radius: float  # in half short sides of the frame
    height: float  # in radii
    longer: float  # ratio of its axes
    redder: float
    rough: float


@dataclass(frozen=True)
class Patient:
    """Tissue of a patient: colour, folds, vessels, how wet it is; and the polyps in it."""

    colour: tuple[float, float, float]
    fold_density: float
    fold_depth: float
    fold_sharpness: float
    winding: float
    vessels: float
    wet: float
    bubbles: float
    polyps: tuple[Polyp, ...]


def draw_patient(rng: np.random.Generator) -> Patient:
    """Draw a patient at random."""
    mix = rng.uniform()
    colour = (1 - mix) * _YELLOWISH + mix * _PINKISH + rng.normal(0, 0.025, 3)
    red, green, blue = (float(part) for part in colour)
    return Patient(
        colour=(red, green, blue),
        fold_density=float(rng.uniform(1.4, 2.8)),
        fold_depth=float(rng.uniform(0.10, 0.20)),
        fold_sharpness=float(rng.uniform(1.0, 3.0)),
        winding=float(rng.uniform(0.5, 1.3)),
        vessels=float(rng.uniform(0.1, 0.6)),
        wet=float(rng.uniform(0.3, 1.0)),
        bubbles=float(rng.uniform(0.0, 1.0)),
        polyps=tuple(_draw_polyp(rng) for _ in range(int(rng.integers(1, 4)))),
    )


def _draw_polyp(rng: np.random.Generator) -> Polyp:
    waves = range(2, 6)
    return Polyp(
        lobes=tuple(
            (float(rng.normal(0, 0.12 / wave)), float(rng.uniform(0, 2 * np.pi))) for wave in waves
        ),
        radius=float(rng.uniform(0.16, 0.38)),
        height=float(rng.uniform(0.4, 0.85)),
        longer=float(rng.uniform(1.0, 1.6)),
        # As often as not it has the colour of what is around it, and may even be paler.
        redder=float(rng.choice([0.0, np.clip(rng.normal(0.03, 0.03), -0.03, 0.07)])),
        rough=float(rng.uniform(0.0, 1.0)),
    )


Field = NDArray[np.floating[Any]]


def grid(height: int, width: int) -> tuple[Field, Field]:
    """Coordinates x and y of pixels' centres; the shorter side goes from -1 to 1.

    Examples
    --------
    >>> x, y = grid(2, 4)
    >>> x[0], y[:, 0]
    (array([-1.5, -0.5,  0.5,  1.5], dtype=float32), array([-0.5,  0.5], dtype=float32))
    """
    half = min(height, width) / 2
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / half
    y = (np.arange(height, dtype=np.float32) + 0.5 - height / 2) / half
    x, y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
    return x, y


def smooth_noise(rng: np.random.Generator, height: int, width: int, scale: float) -> Field:
    """Random field of spread about 0.7 that changes over ``scale`` half short sides.

    Examples
    --------
    >>> smooth_noise(np.random.default_rng(0), 30, 40, 0.5).shape
    (30, 40)
    """
    half = min(height, width) / 2
    step = max(scale * half, 1.0)
    rows, columns = (int(np.ceil(side / step)) + 4 for side in (height, width))
    coarse = rng.standard_normal((rows, columns)).astype(np.float32)
    tall = _stretched(coarse, 1.5 + np.arange(height) / step)
    wide = _stretched(tall.T, 1.5 + np.arange(width) / step).T
    return np.ascontiguousarray(1.5 * wide)


def _stretched(knots: Field, at: Matrix) -> Field:
    """Cubic B-splines through rows of knots, at places between them.

    Sums of four rows, not a matrix product: that would start threads for so little, and round
    differently from one machine to the next.
    """
    row = np.floor(at).astype(np.intp)
    t = (at - row).astype(np.float32)[:, None]
    return (
        (1 - t) ** 3 / 6 * knots[row - 1]
        + (2 / 3 - t**2 * (1 - t / 2)) * knots[row]
        + (2 / 3 - (1 - t) ** 2 * (1 + t) / 2) * knots[row + 1]
        + t**3 / 6 * knots[row + 2]
    )


def blurred(field: Field, radius: float) -> Field:
    """Gaussian blur; ``radius`` in half short sides."""
    sigma = radius * min(field.shape) / 2
    return ndimage.gaussian_filter(field, sigma, mode="nearest", truncate=2.5)


def normal_parts(surface: Field) -> tuple[Field, Field, Field]:
    """Unit normals of a surface whose height is in half short sides."""
    half = min(surface.shape) / 2
    down = np.gradient(surface, axis=0) * half if surface.shape[0] > 1 else 0 * surface
    across = np.gradient(surface, axis=1) * half if surface.shape[1] > 1 else 0 * surface
    length = np.sqrt(1 + down**2 + across**2)
    return -across / length, -down / length, 1 / length


def lines(field: Field, width: float) -> Field:
    """Curves where a field is 0, from 0 to 1, about ``width`` half short sides wide."""
    half = min(field.shape) / 2
    slope = 0.3 + np.hypot(*(np.gradient(field, axis=a) * half for a in (0, 1)))
    return np.exp(-((field / (slope * width)) ** 2))


@dataclass
class Scene:
    """What a frame is drawn from, gathered step by step."""

    x: Field
    y: Field
    view: Flags
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
