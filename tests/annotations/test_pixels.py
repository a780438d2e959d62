"""Pixels of boxes, polygons and runs are those of pycocotools."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as oracle
from scipy import ndimage

from groupcm.annotations import Box, Mask, Polygons
from groupcm.annotations.formats._mask_values import _pieces
from groupcm.annotations.limits import Budget
from groupcm.annotations.runs import (
    canonical,
    compress,
    cut_at_columns,
    decompress,
    from_edges,
    from_mask,
    from_part,
    from_rows,
    objects_of,
    to_mask,
    to_rows,
    union,
)

# pycocotools has not followed NumPy 2 in how it hands out its arrays.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def oracle_runs(parts, height, width):
    """COCO's runs of the union of polygons, each a list of points."""
    flat = [[float(value) for point in part for value in point] for part in parts]
    return oracle.merge(oracle.frPyObjects(flat, height, width))


def random_polygon(rng: np.random.Generator) -> list[list[float]]:
    """Corners inside and outside, on whole and odd places, repeated, in line."""
    corners = rng.integers(3, 12)
    grid = rng.choice([1, 0.5, 0.1, 0.2, 1e-3, 1e-9])
    points = np.round(rng.uniform(-20, 80, (corners, 2)) / grid) * grid
    if rng.random() < 0.3:
        points[1] = points[0]
    if rng.random() < 0.3:
        points[2, 0] = points[0, 0]
    if rng.random() < 0.3:
        points[2, 1] = points[1, 1]
    return points.tolist() if np.ptp(points, axis=0).all() else random_polygon(rng)


@pytest.mark.parametrize("seed", range(4))
def test_polygons_have_the_pixels_of_pycocotools(seed):
    rng = np.random.default_rng(seed)
    for _ in range(700):
        height, width = (int(side) for side in rng.integers(1, 60, 2))
        parts = [random_polygon(rng) for _ in range(rng.integers(1, 4))]
        expected = oracle_runs(parts, height, width)
        region = Polygons(parts)
        np.testing.assert_array_equal(region.mask(height, width), oracle.decode(expected))
        assert compress(region.runs(height, width)) == expected["counts"].decode()


def test_long_edges_and_far_corners_have_the_pixels_of_pycocotools():
    rng = np.random.default_rng(5)
    for _ in range(100):
        part = rng.uniform(-30_000, 30_000, (4, 2)).tolist()
        expected = oracle.decode(oracle_runs([part], 200, 150))
        np.testing.assert_array_equal(Polygons([part]).mask(200, 150), expected)


def test_thin_steep_edges_have_the_pixels_of_pycocotools():
    """Edges that pass a column's middle exactly on a grid point."""
    for lean in range(-12, 13):
        for height in (1, 7, 12, 61):
            part = [
                (10, 1),
                (20, 1),
                (20 + lean / 5, 1 + height / 5),
                (10 + lean / 5, 1 + height / 5),
            ]
            expected = oracle.decode(oracle_runs([part], 20, 40))
            np.testing.assert_array_equal(Polygons([part]).mask(20, 40), expected)


def test_boxes_have_the_pixels_of_pycocotools():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        height, width = (int(side) for side in rng.integers(1, 40, 2))
        numbers = np.round(rng.uniform([-10, -10, 0.1, 0.1], [40, 40, 30, 30]), rng.integers(0, 4))
        numbers[2:] = np.maximum(numbers[2:], 0.1)
        expected = oracle.decode(oracle.frPyObjects(numbers[None], height, width))[:, :, 0]
        np.testing.assert_array_equal(Box(*numbers).mask(height, width), expected)


def test_boxes_on_whole_pixels_cover_exactly_those():
    mask = Box(3, 2, 4, 5).mask(10, 12)
    expected = np.zeros((10, 12), dtype=bool)
    expected[2:7, 3:7] = True
    np.testing.assert_array_equal(mask, expected)


@given(st.integers(1, 30), st.integers(1, 30), st.data())
def test_runs_areas_and_boxes_of_masks_are_those_of_pycocotools(height, width, data):
    bits = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    pixels = np.array(bits).reshape(height, width)
    expected = oracle.encode(np.asfortranarray(pixels.astype(np.uint8)))
    text = expected["counts"].decode()
    runs = from_mask(pixels)
    assert compress(runs) == text
    np.testing.assert_array_equal(decompress(text), runs)
    np.testing.assert_array_equal(to_mask(runs, height, width), pixels)
    if pixels.any():
        mask = Mask.from_array(pixels)
        assert mask.area == oracle.area(expected)
        box = mask.box
        assert [box.x, box.y, box.width, box.height] == oracle.toBbox(expected).tolist()
        np.testing.assert_array_equal(mask.mask(height, width), pixels)
        part, left, top = mask.part()
        assert Mask.from_part(part, left, top, height, width) == mask


def test_compressed_strings_of_large_runs_are_those_of_pycocotools():
    rng = np.random.default_rng(2)
    for _ in range(200):
        ends = np.sort(rng.choice(3000 * 4000, size=rng.integers(1, 40), replace=False))
        runs = np.diff(ends, prepend=0, append=3000 * 4000)
        expected = oracle.frPyObjects({"size": [3000, 4000], "counts": runs.tolist()}, 3000, 4000)
        assert compress(runs) == expected["counts"].decode()
        np.testing.assert_array_equal(decompress(compress(runs)), runs)


def test_areas_of_polygons_are_those_of_pycocotools():
    rng = np.random.default_rng(3)
    for _ in range(500):
        parts = [rng.uniform(0, 50, (5, 2)).tolist() for _ in range(2)]
        assert Polygons(parts).area == oracle.area(oracle_runs(parts, 60, 60))


def test_overlaps_from_our_runs_are_those_of_pycocotools():
    """The same strings give pycocotools the same intersection over union as its own."""
    rng = np.random.default_rng(4)
    regions = [Polygons([rng.uniform(0, 50, (6, 2)).tolist()]) for _ in range(12)]
    masks = [region.mask(50, 50) for region in regions]
    runs = [
        {"size": [50, 50], "counts": compress(region.runs(50, 50)).encode()} for region in regions
    ]
    found = oracle.iou(runs, runs, [0] * len(runs))
    for i, one in enumerate(masks):
        for j, other in enumerate(masks):
            assert found[i, j] == pytest.approx((one & other).sum() / max((one | other).sum(), 1))


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=5))
def test_union_is_the_or_of_masks(rows):
    found = union([from_mask(np.array([row])) for row in rows], size=12)
    np.testing.assert_array_equal(found, from_mask(np.any(rows, axis=0)[None]))


@given(arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7))), st.data())
def test_runs_of_the_other_order_and_of_parts_are_those_of_pixels(part, data):
    rows = from_mask(part, order="C")
    np.testing.assert_array_equal(from_rows(rows, part.shape), from_mask(part))
    np.testing.assert_array_equal(to_rows(from_mask(part), *part.shape), rows)
    top, left, below, beside = (data.draw(st.integers(0, 3)) for _ in range(4))
    whole = np.pad(part, ((top, below), (left, beside)))
    for found in (
        from_rows(rows, part.shape, (top, left), whole.shape),
        from_part(part, (top, left), whole.shape),
    ):
        np.testing.assert_array_equal(found, from_mask(whole))
    if not part.any():
        return
    mask = Mask.from_array(whole)
    pixels, left, top = mask.part()
    again = np.zeros_like(whole)
    again[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
    np.testing.assert_array_equal(again, whole)
    assert all(edge.any() for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    np.testing.assert_array_equal(mask.part_runs()[0], from_mask(pixels))
    run, column, top, bottom = cut_at_columns(*objects_of(from_mask(whole)), whole.shape[0])
    drawn = np.zeros_like(whole)
    for place in range(run.size):
        assert not drawn[top[place] : bottom[place], column[place]].any()
        drawn[top[place] : bottom[place], column[place]] = True
    np.testing.assert_array_equal(drawn, whole)


@given(arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9))), st.integers(1, 4))
def test_pieces_of_a_mask_are_those_of_scipy(pixels, min_pixels):
    labels, n_pieces = ndimage.label(pixels, structure=np.ones((3, 3)))
    slow = [labels == number for number in range(1, n_pieces + 1)]
    most = max((piece.sum() for piece in slow), default=0)
    slow = [piece for piece in slow if piece.sum() >= min(min_pixels, most)]
    runs = from_mask(pixels)
    found = list(_pieces(runs, *pixels.shape, min_pixels, Budget(0))) if pixels.any() else []
    assert [piece.tolist() for piece in found] == [from_mask(piece).tolist() for piece in slow]


@given(st.lists(st.integers(0, 12), max_size=9))
def test_edges_at_one_place_cancel(edges):
    inside = np.array([sum(edge <= place for edge in edges) % 2 == 1 for place in range(10)])
    np.testing.assert_array_equal(from_edges(edges, 10), from_mask(inside[None]))


def test_runs_are_brought_to_one_form():
    assert Mask(2, 3, (1, 0, 1, 2)).counts == (2, 2, 2)
    assert Mask(2, 3, (0, 0, 2, 2, 0, 1, 1)) == Mask(2, 3, (2, 3, 1))
    np.testing.assert_array_equal(canonical([0, 6], 6), [0, 6])
    # Runs may end early: the rest is background, also after a run of background.
    assert Mask(2, 3, (1, 2)) == Mask(2, 3, (1, 2, 1)) == Mask(2, 3, (1, 2, 3))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((1, -1, 6), "run of -1"),
        ((1, 9), "run of 9"),
        ((4, 3), "cover 7 pixels"),
        ((6,), "empty"),
        ((4,), "empty"),
        ((), "empty"),
        ((1.5, 2), "whole numbers"),
        (("a",), "whole numbers"),
    ],
)
def test_wrong_runs_are_refused(counts, words):
    with pytest.raises(ValueError, match=words):
        Mask(2, 3, counts)


@pytest.mark.parametrize("text", ["é", " ", "1o", "o" * 40 + "0"])
def test_wrong_strings_are_refused(text):
    with pytest.raises(ValueError, match="compressed mask"):
        decompress(text)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e12, "3", None, True])
def test_coordinates_that_are_no_places_are_refused(value):
    with pytest.raises(ValueError, match="must be a number"):
        Box(value, 0, 1, 1)
    with pytest.raises(ValueError, match="must be a number"):
        Polygons([[(0, 0), (1, value), (1, 1)]])


def test_regions_without_extent_are_refused():
    for box in ((0, 0, 0, 1), (0, 0, 1, -1)):
        with pytest.raises(ValueError, match="both must be positive"):
            Box(*box)
    with pytest.raises(ValueError, match="three or more"):
        Polygons([[(0, 0), (1, 1)]])
    with pytest.raises(ValueError, match="0 wide"):
        Polygons([[(1, 0), (1, 1), (1, 2)]])
    with pytest.raises(ValueError, match="one or more"):
        Polygons([])


def test_a_mask_knows_the_size_of_its_picture():
    with pytest.raises(ValueError, match="3 × 2 pixels and the picture 2 × 3"):
        Mask(2, 3, (2, 2, 2)).mask(3, 2)
