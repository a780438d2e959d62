"""Polyps in the wall: domes with an outline, a furrow around them, and exact pixels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groupcm.images.made.characters import Polyp
from groupcm.images.made.fields import blurred
from groupcm.images.made.scene import Scene

__all__ = ["place_polyp"]


def place_polyp(scene: Scene, polyp: Polyp, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Put a polyp somewhere, seen from some side; return the pixels it covers."""
    centre_x, centre_y = scene.somewhere(rng)
    turn, zoom = rng.uniform(0, 2 * np.pi), rng.uniform(0.75, 1.25)
    radius = polyp.radius * zoom
    dx, dy = scene.x - centre_x, scene.y - centre_y
    u = (math.cos(turn) * dx + math.sin(turn) * dy) / (radius * math.sqrt(polyp.longer))
    v = (math.cos(turn) * dy - math.sin(turn) * dx) / (radius / math.sqrt(polyp.longer))
    angle = np.arctan2(v, u)
    outline = 1 + sum(
        amplitude * np.cos(wave * angle + phase)
        for wave, (amplitude, phase) in enumerate(polyp.lobes, start=2)
    )
    rho = np.hypot(u, v) / outline
    inside = rho < 1
    dome = np.clip(1 - rho**2, 0, 1) ** 0.85
    bumps = polyp.rough * (0.05 * scene.noise(rng, 0.06) + 0.02 * scene.noise(rng, 0.025))
    body = radius * (polyp.height * dome + bumps * dome)
    # Tissue is drawn up to the foot, and a furrow runs around it, deeper on one side.
    foot = np.exp(-(((rho - 1.12) / 0.2) ** 2)) * (0.5 + 0.5 * np.cos(angle + rng.uniform(0, 6)))
    level = float(np.mean(scene.surface[inside])) if inside.any() else 0.0
    under = blurred(scene.surface, 0.06)
    within = np.clip(2 * (1 - rho), 0, 1)
    lifted = scene.surface + within * (0.5 * (under + level) - scene.surface) + body
    scene.surface = np.where(inside, lifted, scene.surface - 0.08 * radius * foot)
    soft = blurred(inside.astype(np.float32), 0.012)
    tint = np.array([0.3, -1.0, -0.9], np.float32) * polyp.redder
    mottled = 1 + 0.4 * polyp.rough * scene.noise(rng, 0.08)
    scene.colour += (soft * mottled)[:, :, None] * tint
    rim = np.exp(-(((rho - 1.03) / 0.09) ** 2))
    scene.colour *= (1 - 0.12 * rim * (0.3 + 0.7 * foot))[:, :, None]
    scene.distance = np.where(inside, scene.distance * 0.6, scene.distance)
    return inside & scene.view
