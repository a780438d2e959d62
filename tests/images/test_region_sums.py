"""Sums of maps over regions, against pixels added one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groupcm.annotations import Box, Mask
from groupcm.images.features._areas import Areas, Strips
from groupcm.images.regions import Regions
from groupcm.kernels.images.sums import (
    band_sums,
    line_sums,
    oriented_sums,
    slope_sums,
    step_sums,
)

HEIGHT, WIDTH = 6, 8

masks = arrays(bool, (HEIGHT, WIDTH), elements=st.booleans()).filter(np.any).map(Mask.from_array)
boxes = st.tuples(
    st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.integers(1, WIDTH), st.integers(1, 6)
).map(lambda b: Box(*b))
some_regions = st.lists(st.one_of(masks, boxes), max_size=5)


def slow_sums(regions: Regions, maps: np.ndarray) -> np.ndarray:
    """Specification of `region_sums`: every pixel of every region, one after another."""
    sums = np.zeros((len(maps), len(regions)))
    for k in range(len(regions)):
        mask = regions.mask(k)
        for c in range(len(maps)):
            for y, x in zip(*np.nonzero(mask), strict=True):
                sums[c, k] += float(maps[c, x, y])
    return sums


def areas_of(regions: Regions) -> Areas:
    return Areas(Strips.of(regions))


@settings(max_examples=60, deadline=None)
@given(some_regions, st.integers(0, 2**32 - 1))
def test_sums_squares_and_counts_are_what_adding_pixels_gives(listed, seed):
    rng = np.random.default_rng(seed)
    regions = Regions.of(listed, HEIGHT, WIDTH)
    n_maps = rng.integers(1, 10)  # more than the eight that are summed at a time
    maps = rng.normal(0, 10.0 ** rng.integers(-3, 4), (n_maps, WIDTH, HEIGHT)).astype(np.float32)
    maps += rng.normal(0, 100, (n_maps, 1, 1)).astype(np.float32)
    areas = areas_of(regions)
    expected = slow_sums(regions, maps)
    largest = np.abs(maps).max()
    np.testing.assert_allclose(areas.sums(maps), expected, rtol=0, atol=1e-10 * largest)
    sums, squares = areas.moments(maps)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-10 * largest)
    expected = slow_sums(regions, maps.astype(np.float64) ** 2)
    np.testing.assert_allclose(squares, expected, rtol=0, atol=1e-10 * largest**2)
    codes = rng.integers(0, 4, (WIDTH, HEIGHT)).astype(np.uint8)
    indicators = np.stack([codes == code for code in range(4)])
    np.testing.assert_array_equal(areas.counts(codes, 4), slow_sums(regions, indicators))
    np.testing.assert_array_equal(areas.pixels, areas.counts(codes, 4).sum(axis=0))


def test_a_large_picture_is_summed_to_five_digits_and_better():
    rng = np.random.default_rng(1)
    maps = rng.uniform(0, 1, (2, 300, 400)).astype(np.float32)
    edges = np.column_stack([rng.integers(0, 150, (40, 2)), rng.integers(151, 300, (40, 2))])
    regions = Regions.from_boxes(np.vstack([edges, [[7, 399, 8, 400]]]), height=400, width=300)
    expected = [
        [maps[c, left:right, top:bottom].sum(dtype=np.float64) for c in range(2)]
        for left, top, right, bottom in regions.edges.astype(int)
    ]
    np.testing.assert_allclose(areas_of(regions).sums(maps), np.transpose(expected), rtol=1e-11)


@pytest.mark.parametrize("width", [5, 70_000])
def test_strips_are_put_by_their_column_in_narrow_and_wide_pictures(width):
    regions = Regions.from_boxes([[width - 2, 0, width, 1], [0, 0, 1, 2]], height=2, width=width)
    maps = np.arange(2 * width, dtype=np.float32).reshape(1, width, 2)
    assert areas_of(regions).sums(maps).tolist() == [[4.0 * width - 6, 1.0]]


def test_no_regions_have_no_sums():
    areas = areas_of(Regions.from_boxes([], height=2, width=3))
    assert areas.sums(np.ones((4, 3, 2), dtype=np.float32)).shape == (4, 0)


def test_areas_may_follow_one_another():
    regions = Regions.of([Mask.from_array([[1, 0], [1, 1]]), Box(0, 0, 1, 1)], 2, 2)
    strips = Strips.of(regions)
    both = Areas(strips.followed_by(Strips.of_boxes(np.array([[0, 0, 2, 2]]), 2)))
    assert both.pixels.tolist() == [3, 1, 4]
    maps = np.array([[[1, 2], [3, 4]]], dtype=np.float32)
    assert both.sums(maps).tolist() == [[7, 1, 10]]


def check_sums(kernel, arguments: tuple, maps: list[np.ndarray], seed: int) -> None:
    """Compare the sums of a kernel with those of the maps that it should compute."""
    masks = np.random.default_rng(seed).random((3, HEIGHT, WIDTH)) < 0.6
    masks[:, 2, 3] = True
    regions = Regions.joined(
        [Regions.from_masks(masks), Regions.from_boxes([[1, 0, 7, 5]], HEIGHT, WIDTH)]
    )
    sums, whole = areas_of(regions).sums_by(kernel, *arguments)
    expected = np.zeros((8, len(regions)))
    expected[: len(maps)] = slow_sums(regions, np.array(maps))
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-5)
    totals = np.zeros(8)
    totals[: len(maps)] = np.array(maps).sum(axis=(1, 2))
    np.testing.assert_allclose(whole, totals, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_bands_lines_slopes_and_steps(seed):
    rng = np.random.default_rng(seed)
    one, two, three, four = rng.normal(0, 2, (4, WIDTH, HEIGHT)).astype(np.float32)
    band = one - two
    square = band**2
    expected = [square, square**2, square * (band > 0), band > 1.5, band < -1.5]
    check_sums(band_sums, (one, two, -1.5, 1.5), expected, seed)
    larger, smaller = np.maximum([one, two], [three, four]), np.minimum([one, two], [three, four])
    expected = [
        np.maximum(each, 0) for a, b in zip(larger, smaller, strict=True) for each in (a, b, -b, -a)
    ]
    check_sums(line_sums, (larger, smaller), expected, seed)
    u, v = np.mgrid[:WIDTH, :HEIGHT] - np.array([WIDTH - 1, HEIGHT - 1])[:, None, None] / 2
    expected = [two**2, one**2, one * two, two, one, two * u + one * v, u, v]
    check_sums(slope_sums, (one, two), expected, seed)
    maps = np.array([one, two, three])
    right = np.abs(np.diff(maps, axis=1, append=maps[:, -1:]))
    down = np.abs(np.diff(maps, axis=2, append=maps[:, :, -1:]))
    check_sums(step_sums, (maps,), list((right + down) / 2), seed)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
def test_sums_of_directions(n):
    # Small whole numbers: many gradients along an axis or a diagonal, and some that vanish.
    down, right = np.random.default_rng(n).integers(-2, 3, (2, WIDTH, HEIGHT)).astype(np.float32)
    expected = np.zeros((n, WIDTH, HEIGHT))
    for x, y in np.ndindex(WIDTH, HEIGHT):
        angle = math.degrees(math.atan2(down[x, y], right[x, y])) % 180
        for i in range(n + 1):
            distance = abs(angle - i * 180 / n) / (180 / n)
            expected[i % n, x, y] += max(1 - distance, 0) * math.hypot(down[x, y], right[x, y])
    for start in range(0, n, 8):
        maps = list(expected[start : start + 8])
        check_sums(oriented_sums, (down, right, n, start), maps, seed=n)
