"""Light on the scene, bubbles in front of it, and the camera."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.made.characters import Patient
from groupcm.images.made.fields import Field, blurred, normal_parts
from groupcm.images.made.scene import Scene

__all__ = ["add_bubbles", "lit", "seen_by_camera"]


def lit(scene: Scene, patient: Patient, rng: np.random.Generator) -> Field:
    """Light from beside the lens falls off with distance; furrows are dark, wet spots shine."""
    surface = blurred(scene.surface, 0.016)
    across, down, up = normal_parts(surface)
    lamp_x, lamp_y = rng.normal(0, 0.25, 2).tolist()
    to_x, to_y = lamp_x - 0.5 * scene.x, lamp_y - 0.5 * scene.y
    length = np.sqrt(to_x**2 + to_y**2 + 1)
    facing = np.clip((across * to_x + down * to_y + up) / length, 0, 1)
    furrow = np.clip(1 + 5.5 * (surface - blurred(surface, 0.09)), 0.25, 1.15)
    near = 1 / (1 + 0.22 * (scene.x**2 + scene.y**2)) * (1 - 0.97 * scene.distance)
    light = rng.uniform(0.95, 1.2) * (0.12 + 0.95 * facing**1.3) * furrow * near
    light = light * (1 + 0.5 * np.clip(surface, -0.3, 0.4))
    # Where it is dim the light has gone through more tissue, and red is left.
    absorbed = np.array([0.75, 1.15, 1.4], dtype=np.float32)
    dim = np.clip(light, 0.004, 2)[:, :, None] ** absorbed
    rgb = np.clip(scene.colour, 0.02, 1.2) * dim
    ripples = surface + 0.016 * scene.noise(rng, 0.09)
    across, down, up = normal_parts(ripples)
    half_x, half_y = 0.5 * to_x, 0.5 * to_y
    mirror = (across * half_x + down * half_y + up) / np.sqrt(half_x**2 + half_y**2 + 1)
    patches = np.clip(scene.noise(rng, 0.2) + 1.2 * patient.wet - 1.4, 0, 1)
    mirror = np.clip(mirror, 0, 1)
    shine = 2.2 * patches * mirror**400 + 0.10 * patient.wet * mirror**30
    return rgb + (shine * np.clip(near, 0, 1))[:, :, None] * np.array([1, 0.98, 0.93], np.float32)


def add_bubbles(scene: Scene, rgb: Field, patient: Patient, rng: np.random.Generator) -> None:
    if rng.uniform() > 0.2 + 0.5 * patient.bubbles:
        return
    centre_x, centre_y = scene.somewhere(rng)
    for _ in range(int(rng.integers(2, 14))):
        at_x, at_y = centre_x + rng.normal(0, 0.16), centre_y + rng.normal(0, 0.10)
        radius = float(np.exp(rng.normal(-3.3, 0.5)))
        _bubble(scene, rgb, at_x, at_y, radius)


def _bubble(scene: Scene, rgb: Field, at_x: float, at_y: float, radius: float) -> None:
    window = tuple(
        slice(*np.searchsorted(line, [at - 2 * radius, at + 2 * radius]))
        for line, at in ((scene.y[:, 0], at_y), (scene.x[0], at_x))
    )
    dx, dy = (scene.x[window] - at_x) / radius, (scene.y[window] - at_y) / radius
    away = np.hypot(dx, dy)
    lit_side = 0.6 - 0.4 * (dx + dy) / (away + 0.3)
    ring = np.exp(-(((away - 0.92) / 0.14) ** 2)) * lit_side
    shadow = np.exp(-(((away - 1.12) / 0.12) ** 2))
    spot = np.exp(-((dx + 0.4) ** 2 + (dy + 0.4) ** 2) / 0.04)
    rgb[window] *= (1 - 0.25 * shadow - 0.12 * (away < 0.9))[:, :, None]
    rgb[window] += (0.28 * ring + 0.7 * spot)[:, :, None] * np.array([1, 0.97, 0.88], np.float32)


def seen_by_camera(scene: Scene, rgb: Field, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Vignetting, the round view, saturation, and the noise of a small sensor."""
    corner = np.clip(scene.x**2 * 0.55 + scene.y**2, 0, 2)
    rgb = rgb * (1 - 0.28 * corner)[:, :, None].clip(0.2)
    rgb = 1 - np.exp(-1.6 * np.clip(rgb, 0, None))
    grain = rng.standard_normal(rgb.shape).astype(np.float32)
    speckle = rng.standard_normal(scene.x.shape).astype(np.float32)
    rgb = rgb + 0.006 * grain + 0.006 * speckle[:, :, None]
    edge = blurred(scene.view.astype(np.float32), 0.006)[:, :, None]
    return np.clip(np.rint(255 * np.clip(rgb, 0, 1) * edge), 0, 255).astype(np.uint8)
