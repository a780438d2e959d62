"""Filters against SciPy and scikit-image, and regions that are read off late."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, uniform_filter1d
from skimage.feature import hessian_matrix, hessian_matrix_eigvals

from groupcm.images.filters import curvatures, gaussian, slopes, three_means
from groupcm.images.proposals import ExtremalRegions, Merging, Proposals, Ridges, Windows
from groupcm.images.proposals.branches import regions_of
from groupcm.images.view import View
from groupcm.kernels.images.merging import graph_pieces, large_pieces, similar_pieces

RNG = np.random.default_rng(0)
SHAPES = [(1, 1), (1, 7), (9, 1), (13, 17), (12, 9, 3), (3, 40, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [0.5, 1.5, 3.0])
def test_a_gaussian_is_that_of_scipy(shape, width):
    plane = RNG.normal(size=shape).astype(np.float32)
    widths = (width, width, 0.0)[: plane.ndim]
    expected = gaussian_filter(plane, widths, mode="nearest", truncate=3.0)
    np.testing.assert_allclose(gaussian(plane, width), expected, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 5, 33])
def test_running_means_are_those_of_scipy(shape, size):
    expected = plane = RNG.normal(size=shape).astype(np.float32)
    for _ in range(3):
        for axis in (0, 1):
            expected = uniform_filter1d(expected, size, axis=axis, mode="nearest")
    np.testing.assert_allclose(three_means(plane, size), expected, atol=2e-6)


@pytest.mark.parametrize("shape", [(2, 2), (13, 17), (2, 9)])
def test_slopes_and_curvatures_are_those_of_numpy_and_scikit_image(shape):
    plane = RNG.normal(size=shape).astype(np.float32)
    for found, expected in zip(slopes(plane), np.gradient(plane), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    smooth = gaussian(plane, 1.0, truncate=4.0)
    options = {"sigma": 1.0, "mode": "nearest", "use_gaussian_derivatives": False}
    expected = hessian_matrix_eigvals(hessian_matrix(plane, **options))
    np.testing.assert_allclose(curvatures(smooth), expected, atol=1e-5)


def test_slopes_of_one_pixel_are_zero():
    assert [each.tolist() for each in slopes(np.ones((1, 1), np.float32))] == [[[0.0]], [[0.0]]]


def test_pieces_of_another_smallest_size_need_no_second_graph():
    planes = RNG.random((20, 30, 3)).astype(np.float32)
    similar = similar_pieces(planes, 0.3)
    for smallest in (1, 5, 40):
        whole, count = graph_pieces(planes, 0.3, smallest)
        labels, n = large_pieces(*similar, smallest)
        assert n == count
        np.testing.assert_array_equal(labels, whole)


def test_regions_read_off_late_are_those_of_the_proposers():
    view = View(RNG.random((30, 40, 3), dtype=np.float32))
    parts = Merging(), ExtremalRegions(), Ridges(), Windows()
    assert len(Ridges(dark=(), bright=()).propose(view)) == 0
    late = [getattr(part, "branches", part.propose)(view) for part in parts]
    whole = [part.propose(view) for part in parts]
    ends = np.cumsum([0, *map(len, whole)])
    rows = RNG.permutation(ends[-1])[:50]
    found = regions_of(late, rows)
    for place, row in enumerate(rows.tolist()):
        part = int(np.searchsorted(ends, row, side="right")) - 1
        expected = whole[part].mask(row - ends[part])
        np.testing.assert_array_equal(found.mask(place), expected)
    every = Proposals(parts, at_most=1000).propose(view)
    assert len(every) > 50
