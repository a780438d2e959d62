"""Frames, patients and polyps, placed before any candidate is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_FEATURES", "Plan", "make_plan", "require_whole"]

N_FEATURES = 13
_PATIENT_SPREAD = np.float32(0.3)
_POLYP_SPREAD = np.float32(0.6)
_SHARE_OF_PATIENTS_WITH_POLYPS = 0.3
# Small enough for a core's cache, large enough that the interpreter does not matter.
_CHUNK_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that is known of the frames before their candidates are drawn."""

    row_ptr: NDArray[np.int64]  # (m + 1,), row at which every frame begins
    patient: NDArray[np.int32]  # (m,)
    polyp: NDArray[np.int32]  # (m,), -1 where there is none
    patient_effects: NDArray[np.float32]  # (n_patients, 13), P of the formula
    polyp_effects: NDArray[np.float32]  # (n_polyps, 13), V of the formula
    chunk_seeds: list[np.random.SeedSequence]
    frames_a_chunk: int

    @property
    def n_rows(self) -> int:
        return int(self.row_ptr[-1])

    @property
    def n_chunks(self) -> int:
        return len(self.chunk_seeds)

    def frames(self, chunk: int) -> slice:
        first = chunk * self.frames_a_chunk
        return slice(first, min(first + self.frames_a_chunk, len(self.patient)))

    def rows(self, chunk: int) -> slice:
        frames = self.frames(chunk)
        return slice(int(self.row_ptr[frames.start]), int(self.row_ptr[frames.stop]))


def make_plan(
    n_negative: int,
    n_positive: int,
    n_polyps: int | None,
    n_patients: int | None,
    group_size: int,
    seed: int,
) -> Plan:
    """Check the arguments; place polyps in patients and frames in time."""
    require_whole("n_negative", n_negative, 0)
    require_whole("n_positive", n_positive, 0)
    require_whole("group_size", group_size, 1)
    require_whole("seed", seed, 0)
    m = n_negative + n_positive
    if m == 0:
        raise ValueError("n_negative and n_positive are both 0; at least one frame is needed.")
    if n_polyps is None:
        n_polyps = min(n_positive, max(1, round(n_positive * 100 / 293)))
    require_whole("n_polyps", n_polyps, min(1, n_positive), n_positive, "n_positive")
    if n_patients is None:
        n_patients = min(1000, max(1, n_negative // 25))
    require_whole("n_patients", n_patients, 1, max(1, n_negative), "n_negative")

    plan_seed, rows_seed = np.random.SeedSequence(seed).spawn(2)
    rng = np.random.default_rng(plan_seed)
    patient_effects = _PATIENT_SPREAD * rng.standard_normal(
        (n_patients, N_FEATURES), dtype=np.float32
    )
    polyp_effects = _POLYP_SPREAD * rng.standard_normal((n_polyps, N_FEATURES), dtype=np.float32)

    # Every patient chosen to have polyps gets one before any gets a second.
    n_ill = min(n_polyps, max(1, int(_SHARE_OF_PATIENTS_WITH_POLYPS * n_patients)))
    ill = rng.choice(n_patients, n_ill, replace=False)
    patient_of_polyp = np.concatenate([ill, ill[rng.integers(0, n_ill, n_polyps - n_ill)]])
    again = rng.integers(0, n_polyps, n_positive - n_polyps)
    polyp_of_positive = np.concatenate([np.arange(n_polyps), again])

    # The order of a video: patient by patient, the frames of a polyp one after another.
    polyp = np.concatenate([np.full(n_negative, -1), polyp_of_positive])
    patient = np.concatenate(
        [np.arange(n_negative) % n_patients, patient_of_polyp[polyp_of_positive]]
    )
    time = np.concatenate([rng.random(n_negative), rng.random(n_polyps)[polyp_of_positive]])
    order = np.lexsort((time, patient))

    sizes = 1 + rng.poisson((group_size - 1) * rng.standard_gamma(9, m) / 9)
    frames_a_chunk = max(1, _CHUNK_ROWS // group_size)
    return Plan(
        row_ptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        patient=patient[order].astype(np.int32),
        polyp=polyp[order].astype(np.int32),
        patient_effects=patient_effects,
        polyp_effects=polyp_effects,
        chunk_seeds=rows_seed.spawn(-(-m // frames_a_chunk)),
        frames_a_chunk=frames_a_chunk,
    )


def require_whole(
    name: str, value: Any, least: int, most: int | None = None, most_name: str = ""
) -> None:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        limit = f"at least {least}" if most is None else f"from {least} to {most_name} = {most}"
        raise ValueError(f"{name} must be a whole number {limit}; got {value!r}.")
