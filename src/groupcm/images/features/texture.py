"""Texture of a candidate: local patterns, pairs of pixels, and energy at several scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.bands import BANDS, band_maps, smoothed
from groupcm.images.features.channels import column_by_column
from groupcm.images.features.picture_scale import PictureScale
from groupcm.images.features.squash import log_ratio, signed_and_size
from groupcm.images.features.surroundings import InAndAround, Surroundings
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.features_neighbours import (
    N_PATTERNS,
    local_patterns,
    neighbour_differences,
)

__all__ = ["Texture"]

_LEAST_SPREAD = 0.002
_DISTANCES = (1, 2)
# Pairs of pixels are compared in units of this share of the picture's spread.
_PAIR_UNIT = 0.2
_LEVELS = 2.0 ** np.arange(-3, 4)
_PAIR_NUMBERS = ("contrast", "homogeneity", "correlation", "entropy")
_BAND_NUMBERS = ("picture", "ring", "peaks", "polarity", "polarity_size")


@dataclass(frozen=True)
class Texture:
    """Texture inside, and inside minus ring (``_ring``)."""

    margin: float = 0.25

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        patterns = [f"texture_pattern{d}_{i}" for d in _DISTANCES for i in range(N_PATTERNS)]
        pairs = [f"texture_pairs{d}_{what}" for d in _DISTANCES for what in _PAIR_NUMBERS]
        bands = [f"texture_{band}_{what}" for what in _BAND_NUMBERS for band in BANDS]
        return (
            *patterns,
            *(f"{name}_ring" for name in patterns),
            *pairs,
            *(f"{name}_ring" for name in pairs),
            *bands,
        )

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        grey = column_by_column(view.grey)
        spread = float(PictureScale.of(grey[None], _LEAST_SPREAD).spread[0, 0])
        grey = grey / np.float32(spread)
        around = Surroundings(regions, self.margin)
        parts: list[NDArray[np.float64]] = []
        patterns = [_patterns(grey, distance, around) for distance in _DISTANCES]
        parts += [each.inside for each in patterns] + [each.difference for each in patterns]
        pairs = [_pairs(grey, distance, around) for distance in _DISTANCES]
        parts += [each.inside for each in pairs] + [each.difference for each in pairs]
        parts += _bands(grey, around)
        return np.concatenate(parts).T.astype(np.float32)


def _patterns(grey: NDArray[np.float32], distance: int, around: Surroundings) -> InAndAround:
    codes = np.empty(grey.shape, dtype=np.uint8)
    seen = smoothed(grey, 0.5 * distance) if distance > 1 else grey
    local_patterns(seen, distance, np.float32(0.02), codes)
    shares = around.shares(codes, N_PATTERNS)
    return InAndAround(np.sqrt(shares.inside), np.sqrt(shares.ring))


def _pairs(grey: NDArray[np.float32], distance: int, around: Surroundings) -> InAndAround:
    maps = np.empty((2, *grey.shape), dtype=np.float32)
    codes = np.empty(grey.shape, dtype=np.uint8)
    neighbour_differences(grey, distance, _PAIR_UNIT, maps[0], maps[1], _LEVELS, codes)
    means = around.means(maps)
    deviation = around.moments(grey[None])[1]
    shares = around.shares(codes, len(_LEVELS) + 1)

    def numbers(mean, deviation, share):
        square = mean[0] * _PAIR_UNIT**2
        alike = 1 - square / (2 * deviation[0] ** 2 + square + 1e-4)
        entropy = -np.sum(share * np.log(np.maximum(share, 1e-12)), axis=0) / np.log(len(share))
        return np.stack([np.log(mean[0] + 0.01), mean[1], alike, entropy])

    return InAndAround(
        numbers(means.inside, deviation.inside, shares.inside),
        numbers(means.ring, deviation.ring, shares.ring),
    )


def _bands(grey: NDArray[np.float32], around: Surroundings) -> list[NDArray[np.float64]]:
    bands = band_maps(grey)
    squares = bands**2
    energy = around.means(squares)
    usual = squares.mean(axis=(1, 2), dtype=np.float64)[:, None]
    fourth = around.means(squares**2).inside
    bright = around.means(np.where(bands > 0, squares, 0)).inside
    least = 1e-4
    polarity = (2 * bright - energy.inside) / (energy.inside + least)
    return [
        log_ratio(energy.inside, np.broadcast_to(usual, energy.inside.shape), least),
        log_ratio(energy.inside, energy.ring, least),
        log_ratio(np.sqrt(fourth), energy.inside, least),
        polarity,
        np.abs(polarity),
    ]
