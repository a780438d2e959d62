"""Sums of maps over regions, against pixels added one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groupcm.annotations import Box, Mask
from groupcm.images.features._areas import Areas, Strips
from groupcm.images.regions import Regions

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
    maps = rng.normal(0, 10.0 ** rng.integers(-3, 4), (3, WIDTH, HEIGHT)).astype(np.float32)
    maps += rng.normal(0, 100, (3, 1, 1)).astype(np.float32)
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
