"""The scene of a frame: random patients with their polyps, and smooth random surfaces."""

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
Field = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Polyp:
    """A polyp: outline, size, height and colour."""

    lobes: tuple[tuple[float, float], ...]  # amplitude and phase of 2, 3, … waves of the outline
    radius: float  # in half short sides of the frame
    height: float  # in radii
    longer: float  # ratio of its axes
    redder: float
    rough: float


@dataclass(frozen=True)
class Patient:
    """A patient: colour, folds, vessels and wetness of the tissue, and the polyps."""

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
    """Return a random patient."""
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
        # Half of the polyps have the colour of their surroundings; some are paler.
        redder=float(rng.choice([0.0, np.clip(rng.normal(0.03, 0.03), -0.03, 0.07)])),
        rough=float(rng.uniform(0.0, 1.0)),
    )


def grid(height: int, width: int) -> tuple[Field, Field]:
    """Return the coordinates x and y of the centres of pixels; the shorter side is -1 to 1.

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
    """Return a random field of spread about 0.7 that varies over ``scale`` half short sides.

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
    """Interpolate rows of knots by cubic B-splines.

    Sums of four rows instead of a matrix product, which would start threads and round differently
    on different machines.
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
    """Apply a Gaussian blur, with the radius in half short sides."""
    sigma = radius * min(field.shape) / 2
    return ndimage.gaussian_filter(field, sigma, mode="nearest", truncate=2.5)


def normal_parts(surface: Field) -> tuple[Field, Field, Field]:
    """Return the unit normals of a surface whose height is in half short sides."""
    half = min(surface.shape) / 2
    down = np.gradient(surface, axis=0) * half if surface.shape[0] > 1 else 0 * surface
    across = np.gradient(surface, axis=1) * half if surface.shape[1] > 1 else 0 * surface
    length = np.sqrt(1 + down**2 + across**2)
    return -across / length, -down / length, 1 / length


def lines(field: Field, width: float) -> Field:
    """Return curves, from 0 to 1, along the zeros of a field, ``width`` half short sides wide."""
    half = min(field.shape) / 2
    slope = 0.3 + np.hypot(*(np.gradient(field, axis=a) * half for a in (0, 1)))
    return np.exp(-((field / (slope * width)) ** 2))


@dataclass
class Scene:
    """The state of a frame while it is drawn."""

    x: Field
    y: Field
    view: Flags
    surface: Field  # height towards the camera
    near_wall: NDArray[np.intp]  # pixels at which objects may be placed
    distance: Field  # distance of the wall, from 0 (near) to 1 (far)
    colour: Field  # (height, width, 3)

    def noise(self, rng: np.random.Generator, scale: float) -> Field:
        """Return smooth noise of the frame's size."""
        height, width = self.x.shape
        return smooth_noise(rng, height, width, scale)

    def somewhere(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return a random position on the near wall, not at the border of the view."""
        chosen = self.near_wall[int(rng.integers(self.near_wall.size))]
        return float(self.x.flat[chosen]), float(self.y.flat[chosen])

    def mix(self, colour: Field, share: Field) -> None:
        """Blend the tissue with a colour, by the share at each pixel."""
        self.colour += share[:, :, None] * (colour - self.colour)
