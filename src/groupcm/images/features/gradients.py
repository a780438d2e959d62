"""Edges of a candidate: along its outline, inside it, and by direction in the cells of its box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Areas, Strips, pixel_edges
from groupcm.images.features.bands import smoothed
from groupcm.images.features.channels import column_by_column
from groupcm.images.features.picture_scale import PictureScale
from groupcm.images.features.squash import log_ratio, signed_and_size
from groupcm.images.features.surroundings import Surroundings
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.features_gradient import oriented_strength
from groupcm.kernels.features_outline import outline_differences, outline_lengths

__all__ = ["Gradients"]

_Doubles = NDArray[np.float64]
_LEAST_SPREAD = 0.002
_LIGHT_AND_COLOUR = ("lightness", "green_red", "blue_yellow")
_OUTLINE = ("picture", "inside", "signed", "size", "agreement")


@dataclass(frozen=True)
class Gradients:
    """Edges."""

    cells: int = 3
    orientations: int = 8
    margin: float = 0.25

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        outline = [f"outline_{kind}_{c}" for kind in _OUTLINE for c in _LIGHT_AND_COLOUR]
        hog = [
            f"cell{row}{column}_direction{i}"
            for i in range(self.orientations)
            for row in range(self.cells)
            for column in range(self.cells)
        ]
        turned = [f"turned_direction{i}" for i in range(self.orientations)]
        more = ["strength_picture", "strength_ring", "coherence", "coherence_ring", "radial", "radial_size"]
        return tuple(f"gradients_{name}" for name in (*outline, *more, *turned, *hog))

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        lab = column_by_column(view.lab) / np.float32(100)
        lab /= PictureScale.of(lab, _LEAST_SPREAD).spread[:, :, None].astype(np.float32)
        for i in range(3):
            lab[i] = smoothed(lab[i], 1.0)
        around = Surroundings(regions, self.margin)
        parts = _outline(lab, around.strips, regions)
        slope = [_slope(lab[0], axis) for axis in (1, 0)]
        parts += _strengths(*slope, around, regions)
        maps = np.zeros((self.orientations, *lab[0].shape), dtype=np.float32)
        oriented_strength(*slope, maps)
        parts += self._cells(maps, regions)
        return np.concatenate(parts).T.astype(np.float32)

    def _cells(self, maps, regions: Regions):
        edges = pixel_edges(regions)
        k = self.cells
        i = np.arange(k)
        side = edges[:, 2:] - edges[:, :2]
        start = edges[:, None, :2] + side[:, None, :] * i[None, :, None] // k   # n,k,2
        end = np.maximum(edges[:, None, :2] + side[:, None, :] * (i[None, :, None] + 1) // k, start + 1)
        n = len(regions)
        boxes = np.empty((k, k, n, 4), dtype=np.int64)
        for r in range(k):
            for c in range(k):
                boxes[r, c, :, 0], boxes[r, c, :, 2] = start[:, c, 0], end[:, c, 0]
                boxes[r, c, :, 1], boxes[r, c, :, 3] = start[:, r, 1], end[:, r, 1]
        areas = Areas(Strips.of_boxes(boxes.reshape(-1, 4), regions.width))
        means = (areas.sums(maps) / areas.pixels).reshape(len(maps), k, k, n)
        usual = maps.mean(dtype=np.float64) * len(maps)
        total = means.sum(axis=(0, 1, 2)) + 0.25 * k * k * usual + 1e-9
        hog = np.sqrt(means / total)
        # turned
        o = self.orientations
        out = np.zeros((o, n))
        for r in range(k):
            for c in range(k):
                dy, dx = r - (k - 1) / 2, c - (k - 1) / 2
                if dy == 0 and dx == 0: continue
                shift = int(round(np.arctan2(dy, dx) / np.pi * o))
                out += np.roll(means[:, r, c], -shift, axis=0)
        return [np.sqrt(out / total), hog.reshape(-1, n)]


def _outline(lab, strips: Strips, regions: Regions):
    n = len(regions)
    length, inner = np.empty(n), np.empty(n)
    ends = strips.ptr, strips.column, strips.top, strips.bottom
    outline_lengths(*ends, regions.width, regions.height, length, inner)
    signed, size = np.empty((2, 3, n))
    outline_differences(*ends, lab, signed, size)
    inner = np.maximum(inner, 1)
    signed, size = signed / inner, size / inner
    steps = np.zeros_like(lab)
    steps[:, :-1] += np.abs(np.diff(lab, axis=1)) / 2
    steps[:, :, :-1] += np.abs(np.diff(lab, axis=2)) / 2
    usual = steps.mean(axis=(1, 2), dtype=np.float64)[:, None]
    areas = Areas(strips)
    inside = areas.sums(steps) / areas.pixels
    return [
        log_ratio(size, np.broadcast_to(usual, size.shape), 1e-2),
        log_ratio(size, inside, 1e-2),
        *signed_and_size(signed * 5),
        np.abs(signed) / (size + 1e-3),
    ]


def _strengths(down, right, around: Surroundings, regions):
    x = (np.arange(regions.width, dtype=np.float32) - regions.width / 2)[:, None]
    y = (np.arange(regions.height, dtype=np.float32) - regions.height / 2)[None]
    maps = np.stack([right * right, down * down, right * down, right, down, right * x + down * y, np.broadcast_to(x, right.shape), np.broadcast_to(y, right.shape)]).astype(np.float32)
    means = around.means(maps)
    usual = maps[:2].mean(axis=(1, 2), dtype=np.float64).sum()
    def coherence(m):
        return np.hypot(m[0] - m[1], 2 * m[2]) / (m[0] + m[1] + 0.05 * usual + 1e-9)
    e_in, e_ring = means.inside[0] + means.inside[1], means.ring[0] + means.ring[1]
    m = means.inside
    radius = np.sqrt(around.pixels / np.pi)
    radial = (m[5] - m[6] * m[3] - m[7] * m[4]) / radius / (np.sqrt(e_in) + 0.1 * np.sqrt(usual) + 1e-9)
    return [
        np.stack([
            log_ratio(e_in, np.full_like(e_in, usual), 1e-4),
            log_ratio(e_in, e_ring, 1e-4),
            coherence(means.inside), coherence(means.inside) - coherence(means.ring), radial, np.abs(radial)])]


def _slope(m, axis):
    return np.gradient(m, axis=axis) if m.shape[axis] > 1 else np.zeros_like(m)
