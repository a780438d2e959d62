"""Parts that families of features share, against the plain way to compute them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.images.features._areas import Strips, Surroundings
from groupcm.images.features._maps import PictureScale, quantiles, ranks
from groupcm.images.features.gradients import cell_boxes, distinct_cells, mirrored_shares
from groupcm.images.features.shape import StripMoments
from groupcm.images.regions import Regions

seeds = st.integers(0, 2**32 - 1)


def some_regions(rng: np.random.Generator, height: int, width: int) -> Regions:
    masks = rng.random((3, height, width)) < rng.random((3, 1, 1))
    masks[:, rng.integers(height), rng.integers(width)] = True
    corner = rng.random((2, 2)) * [width, height]
    boxes = np.hstack([corner, corner + 0.1 + rng.random((2, 2)) * 5])
    parts = [Regions.from_masks(masks), Regions.from_boxes(boxes, height, width)]
    return Regions.joined([*parts, Regions.from_boxes([[0, 0, width, height]], height, width)])


def pixels_of(regions: Regions, place: int) -> np.ndarray:
    """Mask of the pixels that stand for a region."""
    strips = Strips.of(regions)
    mask = np.zeros((regions.height, regions.width), dtype=bool)
    for i in range(strips.ptr[place], strips.ptr[place + 1]):
        mask[strips.top[i] : strips.bottom[i], strips.column[i]] = True
    return mask


def ring_of(mask: np.ndarray, margin: float) -> np.ndarray:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    high, wide = np.ptp(rows) + 1, np.ptp(columns) + 1
    step = max(2, math.ceil(margin * math.sqrt(high * wide)))
    ring = np.zeros_like(mask)
    ring[
        max(rows[0] - step, 0) : rows[-1] + 1 + step,
        max(columns[0] - step, 0) : columns[-1] + 1 + step,
    ] = True
    return ring & ~mask


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 12), st.integers(1, 12), st.sampled_from([0.0, 0.25, 1.0]))
def test_means_deviations_and_shares_inside_and_in_the_ring(seed, height, width, margin):
    rng = np.random.default_rng(seed)
    regions = some_regions(rng, height, width)
    pictures = (rng.normal(3, 1, (2, height, width))).astype(np.float32)
    codes = rng.integers(0, 3, (height, width)).astype(np.uint8)
    surroundings = Surroundings(regions, margin)
    maps = np.ascontiguousarray(pictures.transpose(0, 2, 1))
    means = surroundings.means(maps)
    mean, deviation = surroundings.moments(maps)
    shares = surroundings.shares(np.ascontiguousarray(codes.T), 3)
    for place in range(len(regions)):
        mask = pixels_of(regions, place)
        ring = ring_of(mask, margin)
        for chosen, which in ((mask, "inside"), (ring if ring.any() else mask, "ring")):
            values = pictures[:, chosen].astype(np.float64)
            for found in (means, mean):
                column = getattr(found, which)[:, place]
                np.testing.assert_allclose(column, values.mean(axis=1), rtol=1e-5)
            column = getattr(deviation, which)[:, place]
            np.testing.assert_allclose(column, values.std(axis=1), atol=1e-5)
            expected = [np.mean(codes[chosen] == code) for code in range(3)]
            np.testing.assert_allclose(getattr(shares, which)[:, place], expected, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 300))
def test_quantiles_and_spread_are_near_those_of_sorted_values(seed, n):
    values = np.random.default_rng(seed).normal(5, 2, n).astype(np.float32)
    bin_width = float(np.ptp(values)) / 2048 + 1e-6
    for share in (0.01, 0.25, 0.5, 0.99):
        found = quantiles(values, (share,))[0]
        below = np.quantile(values, share, method="inverted_cdf")
        above = np.quantile(values, share, method="higher")
        assert below - bin_width <= found <= above + bin_width
    spread = PictureScale.of(values.reshape(1, 1, n), least=0.5).spread[0, 0]
    assert spread >= 0.5


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 60))
def test_ranks_count_smaller_values_and_half_of_equal_ones(seed, n):
    values = np.random.default_rng(seed).integers(0, 9, n).astype(np.float32)
    expected = [(np.mean(values < v) + np.mean(values <= v)) / 2 for v in values]
    np.testing.assert_allclose(ranks(values), expected, atol=1e-6)


def test_a_few_bright_spots_hardly_move_middle_and_spread():
    rng = np.random.default_rng(0)
    calm = rng.normal(0.5, 0.05, (1, 50, 50)).astype(np.float32)
    spotted = calm.copy()
    spotted[0, :5, :5] = 1
    before, after = PictureScale.of(calm, 0.001), PictureScale.of(spotted, 0.001)
    assert abs(after.median - before.median) < 0.005
    assert before.spread == pytest.approx(0.05, rel=0.05)
    assert after.spread < 1.3 * before.spread
    assert after.spread < 0.9 * spotted.std()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 9), st.integers(1, 9))
def test_moments_are_those_of_fine_points(seed, height, width):
    rng = np.random.default_rng(seed)
    mask = rng.random((height, width)) < 0.5
    mask[rng.integers(height), rng.integers(width)] = True
    found = StripMoments.of(Strips.of(Regions.from_masks(mask[None])))
    fine = 20
    y, x = (np.argwhere(np.kron(mask, np.ones((fine, fine), dtype=bool))) + 0.5).T / fine
    covariance = np.cov(x, y, bias=True)
    shorter, longer = np.linalg.eigvalsh(covariance)
    assert found.area[0] == mask.sum()
    assert (found.middle[0][0], found.middle[1][0]) == pytest.approx((x.mean(), y.mean()))
    # Points on a grid lack the variance within its cells.
    lacking = 1 / (12 * fine**2)
    assert found.longer[0] == pytest.approx(longer + lacking, rel=1e-6)
    assert found.shorter[0] == pytest.approx(shorter + lacking, rel=1e-6)
    both = covariance.trace() + 2 * lacking
    assert found.upright[0] == pytest.approx((covariance[1, 1] - covariance[0, 0]) / both, abs=1e-6)
    assert found.slanted[0] == pytest.approx(2 * covariance[0, 1] / both, abs=1e-6)
    if longer > 1.01 * shorter + 1e-3:
        vector = np.linalg.eigh(covariance)[1][:, 1]
        along = vector @ [x - x.mean(), y - y.mean()]
        expected = abs(np.mean(along**3)) / longer**1.5
        assert found.skewness[0] == pytest.approx(expected, abs=0.02)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4))
def test_cells_cover_the_box_once_where_it_is_large_enough(wide, high, cells):
    regions = Regions.from_boxes([[2, 3, 2 + wide, 3 + high]], height=40, width=40)
    seen = np.zeros((40, 40), dtype=int)
    for left, top, right, bottom in cell_boxes(regions, cells).reshape(-1, 4):
        assert right > left
        assert bottom > top
        seen[top:bottom, left:right] += 1
    assert seen[3 : 3 + high, 2 : 2 + wide].min() >= 1
    assert seen.sum() == seen[3 : 3 + high, 2 : 2 + wide].sum()
    if min(wide, high) >= cells:
        assert seen.max() == 1


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(1, 8), st.integers(1, 4))
def test_cells_that_no_mirror_repeats_tell_all(seed, directions, cells):
    shares = np.random.default_rng(seed).random((directions, cells, cells, 2))
    mirrored = mirrored_shares(shares)
    kept = set(distinct_cells(directions, cells))
    for i, r, c in np.ndindex(directions, cells, cells):
        j, bottom, right = -i % directions, cells - 1 - r, cells - 1 - c
        images = [(i, r, c), (j, r, right), (j, bottom, c), (i, bottom, right)]
        expected = np.mean([shares[place] for place in images], axis=0)
        np.testing.assert_allclose(mirrored[i, r, c], expected)
        assert len(kept & set(images)) == 1
