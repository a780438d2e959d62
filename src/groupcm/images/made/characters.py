"""What stays the same from frame to frame: a patient's tissue, and each of its polyps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Patient", "Polyp", "draw_patient"]

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
