"""Kernels of features, each against its slow twin."""

from __future__ import annotations

import colorsys
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import ConvexHull

from groupcm.images.features._areas import Strips
from groupcm.images.regions import Regions
from groupcm.kernels.images.pixels import (
    fill_channels,
    fill_from_bins,
    local_patterns,
    neighbour_differences,
    value_counts,
    value_deviation,
)
from groupcm.kernels.images.regions import hull_areas, outline_differences, outline_lengths

sizes = st.tuples(st.integers(1, 6), st.integers(1, 6))
seeds = st.integers(0, 2**32 - 1)
some_masks = sizes.flatmap(
    lambda size: st.lists(
        arrays(bool, size, elements=st.booleans()).filter(np.any), min_size=1, max_size=3
    )
)
AROUND = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]


def beyond(grey: np.ndarray, x: int, y: int) -> float:
    """Value at a place that may lie outside."""
    return float(np.pad(grey, 9, mode="edge")[x + 9, y + 9])


def maps_of(size: tuple[int, int], seed: int, n: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 6, (n, *size)).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(sizes, seeds, st.integers(1, 2))
def test_local_patterns(size, seed, distance):
    grey = maps_of(size, seed)[0]
    codes = np.empty(size, dtype=np.uint8)
    local_patterns(grey, distance, np.float32(0.5), codes)
    for x, y in np.ndindex(size):
        bits = [
            beyond(grey, x + distance * dx, y + distance * dy) > grey[x, y] + 0.5
            for dx, dy in AROUND
        ]
        changes = sum(bits[i] != bits[i - 1] for i in range(8))
        assert codes[x, y] == (sum(bits) if changes <= 2 else 9)


@settings(max_examples=40, deadline=None)
@given(sizes, seeds, st.integers(1, 2))
def test_neighbour_differences(size, seed, distance):
    grey = maps_of(size, seed)[0]
    contrast, homogeneity = np.empty((2, *size), dtype=np.float32)
    codes = np.empty(size, dtype=np.uint8)
    levels = np.array([0.1, 0.6, 1.1])
    neighbour_differences(grey, distance, 2.0, contrast, homogeneity, levels, codes)
    for x, y in np.ndindex(size):
        t = np.array(
            [
                (beyond(grey, x + distance * dx, y + distance * dy) - grey[x, y]) / 2
                for dx, dy in AROUND[:4]
            ]
        )
        assert math.isclose(contrast[x, y], np.mean(t**2), rel_tol=1e-6)
        assert math.isclose(homogeneity[x, y], np.mean(1 / (1 + t**2)), rel_tol=1e-6)
        assert codes[x, y] == np.sum(np.mean(np.abs(t)) > levels)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 5))
def test_value_counts(seed, n_bins):
    values = np.random.default_rng(seed).normal(0, 2, 50).astype(np.float32)
    counts = np.zeros(n_bins)
    value_counts(values, -1.0, 1.5, counts)
    for i in range(n_bins):
        bins = [min(max(math.floor((float(v) + 1) * 1.5), 0), n_bins - 1) for v in values]
        assert counts[i] == bins.count(i)


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(1, 5))
def test_fill_from_bins(seed, n_bins):
    rng = np.random.default_rng(seed)
    values = rng.integers(-6, 12, 50).astype(np.float32) / 2
    table = rng.random(n_bins).astype(np.float32)
    result = np.empty_like(values)
    fill_from_bins(values, np.float32(-1), np.float32(1.5), table, result)
    bins = [min(max(math.floor((float(v) + 1) * 1.5), 0), n_bins - 1) for v in values]
    assert result.tolist() == [table[i] for i in bins]


@settings(max_examples=20, deadline=None)
@given(seeds, st.sampled_from([0.0, 1e4]))
def test_value_deviation(seed, shift):
    values = (np.random.default_rng(seed).normal(0, 2, 50) + shift).astype(np.float32)
    mean = math.fsum(map(float, values)) / 50
    expected = math.sqrt(math.fsum((float(v) - mean) ** 2 for v in values) / 50)
    assert math.isclose(value_deviation(values), expected, rel_tol=1e-9)


@settings(max_examples=40, deadline=None)
@given(sizes, seeds)
def test_fill_channels(size, seed):
    rng = np.random.default_rng(seed)
    # Few levels, so that greys and black are among them.
    rgb = (rng.integers(0, 3, (*size, 3)) / 2).astype(np.float32)
    lab = rng.uniform(-100, 100, (*size, 3)).astype(np.float32)
    dark = 0.1
    maps = np.empty((10, size[1], size[0]), dtype=np.float32)
    fill_channels(rgb, lab, dark, maps)
    for y, x in np.ndindex(size):
        red, green, blue = map(float, rgb[y, x])
        hue, _, largest = colorsys.rgb_to_hsv(red, green, blue)
        saturation = (largest - min(red, green, blue)) / (largest + dark)
        total = red + green + blue + 2 * dark
        expected = [
            *(lab[y, x] / 100),
            saturation,
            saturation * math.cos(2 * math.pi * hue),
            saturation * math.sin(2 * math.pi * hue),
            (red + 2 * dark / 3) / total,
            (green + 2 * dark / 3) / total,
            red - green,
            (red + green) / 2 - blue,
        ]
        np.testing.assert_allclose(maps[:, x, y], expected, atol=1e-6)


def strips_of(masks: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    strips = Strips.of(Regions.from_masks(masks))
    return strips.ptr, strips.column, strips.top, strips.bottom


def sides(mask: np.ndarray, border: bool) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of a pixel inside and a place beside it outside; beyond the picture if asked."""
    height, width = mask.shape
    found = []
    for y, x in zip(*np.nonzero(mask), strict=True):
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            v, u = y + dy, x + dx
            within = 0 <= v < height and 0 <= u < width
            if (not within and border) or (within and not mask[v, u]):
                found.append(((y, x), (v, u)))
    return found


@settings(max_examples=60, deadline=None)
@given(some_masks)
def test_outline_lengths(masks):
    height, width = masks[0].shape
    length, inner = np.empty((2, len(masks)))
    outline_lengths(*strips_of(masks), width, height, length, inner)
    assert length.tolist() == [len(sides(mask, border=True)) for mask in masks]
    assert inner.tolist() == [len(sides(mask, border=False)) for mask in masks]


@settings(max_examples=60, deadline=None)
@given(some_masks, seeds)
def test_outline_differences(masks, seed):
    pictures = maps_of(masks[0].shape, seed, n=2)
    maps = np.ascontiguousarray(pictures.transpose(0, 2, 1))
    signed, size = np.empty((2, 2, len(masks)))
    outline_differences(*strips_of(masks), maps, signed, size)
    for k, mask in enumerate(masks):
        for c, picture in enumerate(pictures):
            steps = [picture[out] - picture[within] for within, out in sides(mask, border=False)]
            assert math.isclose(signed[c, k], sum(steps), abs_tol=1e-9)
            assert math.isclose(size[c, k], sum(map(abs, steps)), abs_tol=1e-9)


@settings(max_examples=60, deadline=None)
@given(some_masks)
def test_hull_areas(masks):
    area = np.empty(len(masks))
    hull_areas(*strips_of(masks), area)
    for k, mask in enumerate(masks):
        pixels = np.argwhere(mask)
        corners = np.concatenate([pixels + step for step in ([0, 0], [0, 1], [1, 0], [1, 1])])
        assert math.isclose(area[k], ConvexHull(corners).volume, rel_tol=1e-9)
