"""Rendering of a frame: the wall of the bowel, polyps in it, light, bubbles and the camera."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groupcm.images.synthetic._scene import (
    Field,
    Patient,
    Polyp,
    Scene,
    blurred,
    grid,
    lines,
    normal_parts,
    smooth_noise,
)
from groupcm.utils.typing import Flags

__all__ = [
    "add_bubbles",
    "colour_tissue",
    "lit",
    "make_wall",
    "place_polyp",
    "seen_by_camera",
    "swell",
]

_DEEP_RED = np.array([0.60, 0.16, 0.12], dtype=np.float32)
_RESIDUE = np.array([0.66, 0.52, 0.18], dtype=np.float32)


def lit(scene: Scene, patient: Patient, rng: np.random.Generator) -> Field:
    """Return the lit scene: light decreases with distance, furrows are dark, wet spots shine."""
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
    # Dim light has passed through more tissue, which absorbs red least.
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
    """Draw a cluster of bubbles in some of the frames."""
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
    """Apply vignetting, the round view, saturation, and the noise of a small sensor."""
    corner = np.clip(scene.x**2 * 0.55 + scene.y**2, 0, 2)
    rgb = rgb * (1 - 0.28 * corner)[:, :, None].clip(0.2)
    rgb = 1 - np.exp(-1.6 * np.clip(rgb, 0, None))
    grain = rng.standard_normal(rgb.shape).astype(np.float32)
    speckle = rng.standard_normal(scene.x.shape).astype(np.float32)
    rgb = rgb + 0.006 * grain + 0.006 * speckle[:, :, None]
    edge = blurred(scene.view.astype(np.float32), 0.006)[:, :, None]
    return np.clip(np.rint(255 * np.clip(rgb, 0, 1) * edge), 0, 255).astype(np.uint8)


def make_wall(patient: Patient, height: int, width: int, rng: np.random.Generator) -> Scene:
    """Return the wall of the bowel with its folds: rings around the lumen, bent and broken."""
    x, y = grid(height, width)
    short = min(height, width)
    round_view = np.abs(x * short / width) ** 3 + np.abs(y * short / height) ** 3

    def noise(scale: float) -> Field:
        return smooth_noise(rng, height, width, scale)

    # In some frames the camera faces along the bowel, in others its wall.
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
    """Colour the wall, with vessels and, in some frames, red patches and residue."""
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
    """Add a soft swelling without an edge, which resembles a polyp and is none."""
    centre_x, centre_y = scene.somewhere(rng)
    radius = rng.uniform(0.12, 0.3)
    away = ((scene.x - centre_x) ** 2 + (scene.y - centre_y) ** 2) / radius**2
    scene.surface += radius * rng.uniform(0.3, 0.6) * np.exp(-1.5 * away)


def place_polyp(scene: Scene, polyp: Polyp, rng: np.random.Generator) -> Flags:
    """Place a polyp at random position, rotation and zoom; return the pixels it covers."""
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
    # A furrow runs around the foot, deeper on one side.
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
