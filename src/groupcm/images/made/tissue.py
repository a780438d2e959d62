"""The wall of the bowel: folds, colours, vessels, residue, and soft swellings."""

from __future__ import annotations

import math

import numpy as np

from groupcm.images.made.characters import Patient
from groupcm.images.made.fields import Field, grid, lines, smooth_noise
from groupcm.images.made.scene import Scene

__all__ = ["colour_tissue", "make_wall", "swell"]

_DEEP_RED = np.array([0.60, 0.16, 0.12], dtype=np.float32)
_RESIDUE = np.array([0.66, 0.52, 0.18], dtype=np.float32)


def make_wall(patient: Patient, height: int, width: int, rng: np.random.Generator) -> Scene:
    """The bowel's wall with its folds: rings around the lumen, bent and broken."""
    x, y = grid(height, width)
    short = min(height, width)
    round_view = np.abs(x * short / width) ** 3 + np.abs(y * short / height) ** 3

    def noise(scale: float) -> Field:
        return smooth_noise(rng, height, width, scale)

    # In some frames the camera looks along the bowel, in others at its wall.
    off, towards = rng.uniform(0.1, 1.9), rng.uniform(0, 2 * np.pi)
    bent = patient.winding
    from_x = x - off * math.cos(towards) + 0.22 * bent * noise(0.8)
    from_y = y - off * math.sin(towards) + 0.22 * bent * noise(0.8)
    far = np.sqrt(from_x**2 + (rng.uniform(0.8, 1.3) * from_y) ** 2 + 0.01)
    phase = 2 * np.pi * patient.fold_density * np.log(far + 0.45)
    phase = phase + 2.2 * bent * noise(0.5) + 0.4 * noise(0.2)
    ridges = (0.5 + 0.5 * np.cos(phase + rng.uniform(0, 6))) ** patient.fold_sharpness
    broken = 1 / (1 + np.exp(-4 * (noise(0.5) + 0.2)))
    folds = patient.fold_depth * ridges * broken * (0.3 + far)
    distance = np.exp(-((far / rng.uniform(0.3, 0.7)) ** 2))
    middle = x**2 + y**2 < 0.7
    near_wall = np.flatnonzero(middle & (distance < 0.5))
    return Scene(
        x=x,
        y=y,
        view=round_view < 0.97,
        surface=folds + 0.12 * noise(0.7) + 0.022 * noise(0.16),
        distance=distance,
        colour=np.zeros((height, width, 3), dtype=np.float32),
        near_wall=near_wall if near_wall.size else np.flatnonzero(middle),
    )


def colour_tissue(scene: Scene, patient: Patient, rng: np.random.Generator) -> None:
    base = np.array(patient.colour, dtype=np.float32)
    broad, fine = scene.noise(rng, 0.6), scene.noise(rng, 0.03)
    shade = 1 + 0.05 * broad + 0.03 * scene.noise(rng, 0.1) + 0.03 * fine
    hue = 0.035 * scene.noise(rng, 0.4)[:, :, None] * np.array([0.3, -1, -0.6], np.float32)
    scene.colour = base * shade[:, :, None] + hue
    bent = scene.noise(rng, 0.5)
    vessels = np.zeros_like(scene.x)
    for scale, width in ((0.5, 0.014), (0.2, 0.008)):
        here = np.clip(scene.noise(rng, 0.5) + 0.2, 0, 1)
        vessels = np.maximum(vessels, lines(scene.noise(rng, scale) + 0.3 * bent, width) * here)
    scene.mix(_DEEP_RED, patient.vessels * vessels)
    if rng.uniform() < 0.4:
        patch = np.clip(scene.noise(rng, 0.3) - 1.0, 0, 1)
        scene.mix(_DEEP_RED, 0.35 * patch)
    if rng.uniform() < 0.25:
        residue = np.clip(3 * (scene.noise(rng, 0.25) + 0.4 * scene.noise(rng, 0.06) - 1.7), 0, 1)
        scene.mix(_RESIDUE, 0.6 * residue)
        scene.surface += 0.02 * residue


def swell(scene: Scene, rng: np.random.Generator) -> None:
    """A soft swelling without an edge: round like a polyp, and none."""
    centre_x, centre_y = scene.somewhere(rng)
    radius = rng.uniform(0.12, 0.3)
    away = ((scene.x - centre_x) ** 2 + (scene.y - centre_y) ** 2) / radius**2
    scene.surface += radius * rng.uniform(0.3, 0.6) * np.exp(-1.5 * away)
