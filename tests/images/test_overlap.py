"""Overlap of regions, against pixels counted one by one and against COCO's own tools."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coco

from groupcm.annotations import Box, Mask, Polygons, Region
from groupcm.images import overlap as overlaps
from groupcm.images.overlap import OVERLAPS, best_overlap, overlap, shared_area
from groupcm.images.regions import Regions

HEIGHT, WIDTH = 7, 9
KINDS = list(OVERLAPS)


def fine(region: Region) -> np.ndarray:
    """Pixels of a region on a grid four times as fine; boxes here have edges at quarters."""
    if isinstance(region, Box):
        scaled = Box(4 * region.x, 4 * region.y, 4 * region.width, 4 * region.height)
        return scaled.mask(4 * HEIGHT, 4 * WIDTH)
    return np.kron(region.mask(HEIGHT, WIDTH), np.ones((4, 4), dtype=bool))


def around(pixels: np.ndarray) -> np.ndarray:
    """Pixels of the box around a region."""
    rows, columns = np.flatnonzero(pixels.any(axis=1)), np.flatnonzero(pixels.any(axis=0))
    box = np.zeros_like(pixels)
    box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
    return box


def slow(a: Region, b: Region, kind: str) -> float:
    p, q = fine(a), fine(b)
    if kind == "box_iou":
        p, q = around(p), around(q)
    shared = np.sum(p & q)
    under = {
        "iou": np.sum(p | q),
        "box_iou": np.sum(p | q),
        "dice": (p.sum() + q.sum()) / 2,
        "object_coverage": q.sum(),
        "candidate_coverage": p.sum(),
    }
    return float(shared / under[kind])


def quarters(most: int) -> st.SearchStrategy[tuple[float, float]]:
    ends = st.tuples(st.integers(-8, 4 * most + 8), st.integers(-8, 4 * most + 8)).map(sorted)
    inside = ends.filter(lambda e: max(e[0], 0) < min(e[1], 4 * most))
    return inside.map(lambda e: (e[0] / 4, e[1] / 4))


masks = arrays(bool, (HEIGHT, WIDTH), elements=st.booleans()).filter(np.any).map(Mask.from_array)
boxes = st.tuples(quarters(WIDTH), quarters(HEIGHT)).map(
    lambda e: Box.from_corners(e[0][0], e[1][0], e[0][1], e[1][1])
)
some_regions = st.lists(st.one_of(masks, boxes), max_size=4)


def of(regions: list[Region]) -> Regions:
    return Regions.of(regions, HEIGHT, WIDTH)


@settings(max_examples=60, deadline=None)
@given(some_regions, some_regions, st.sampled_from(KINDS), st.sampled_from([1, 2_000_000]))
def test_every_pair_is_what_counting_gives(candidates, objects, kind, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlaps, "_BLOCK", block)
        table = overlap(candidates, objects, kind, height=HEIGHT, width=WIDTH)
    expected = [[slow(c, o, kind) for o in objects] for c in candidates]
    assert table.shape == (len(candidates), len(objects))
    np.testing.assert_allclose(table.ravel(), list(itertools.chain(*expected)), atol=1e-12)
    assert np.all((table >= 0) & (table <= 1))


@settings(max_examples=40, deadline=None)
@given(some_regions, some_regions, st.sampled_from(["iou", "dice", "box_iou"]))
def test_iou_and_dice_are_symmetric_and_1_for_a_region_with_itself(a, b, kind):
    np.testing.assert_array_equal(overlap(of(a), of(b), kind), overlap(of(b), of(a), kind).T)
    np.testing.assert_array_equal(np.diag(overlap(of(a), of(a), kind)), np.ones(len(a)))


@settings(max_examples=40, deadline=None)
@given(masks, masks, st.one_of(masks, boxes))
def test_a_larger_candidate_covers_no_less_of_the_object(part, more, marked):
    both = Mask.from_array(part.mask(HEIGHT, WIDTH) | more.mask(HEIGHT, WIDTH))
    small, large = overlap(of([part, both]), of([marked]), "object_coverage")[:, 0]
    assert small <= large
    assert overlap(of([part]), of([both]), "candidate_coverage") == 1


def rough_blobs(n: int, height: int, width: int, seed: int) -> list[Mask]:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    centres = rng.uniform((0, 0), (height, width), (n, 2))
    radii = rng.uniform(3, width / 3, (n, 2))
    found = [
        ((y - cy) / a) ** 2 + ((x - cx) / b) ** 2 + rng.normal(0, 0.1, y.shape) < 1
        for (cy, cx), (a, b) in zip(centres, radii, strict=True)
    ]
    return [Mask.from_array(mask) for mask in found if mask.any()]


def test_masks_agree_with_pycocotools():
    height, width = 48, 64
    candidates, objects = rough_blobs(40, height, width, 0), rough_blobs(9, height, width, 1)
    encoded = [
        [coco.encode(np.asfortranarray(m.mask(height, width)).astype(np.uint8)) for m in some]
        for some in (candidates, objects)
    ]
    expected = coco.iou(*encoded, [0] * len(objects))
    assert np.max(expected) > 0.5
    assert np.mean(np.asarray(expected) == 0) > 0.05
    found = overlap(candidates, objects, height=height, width=width)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # As a crowd, COCO divides by the candidate alone.
    expected = coco.iou(*encoded, [1] * len(objects))
    found = overlap(candidates, objects, "candidate_coverage", height=height, width=width)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_boxes_agree_with_pycocotools():
    rng = np.random.default_rng(3)
    corner, size = rng.uniform(0, 50, (60, 2)), rng.uniform(0.5, 40, (60, 2))
    written = np.hstack([corner, size])
    edges = np.hstack([corner, corner + size])
    found = overlap(
        Regions.from_boxes(edges[:45], 100, 100), Regions.from_boxes(edges[45:], 100, 100)
    )
    np.testing.assert_allclose(found, coco.iou(written[:45], written[45:], [0] * 15), atol=1e-12)


def test_polygons_count_as_their_pixels():
    triangle = Polygons([[(0, 0), (8, 0), (0, 6)]])
    alike = Mask.from_array(triangle.mask(HEIGHT, WIDTH))
    assert overlap([triangle], [alike], height=HEIGHT, width=WIDTH) == 1


def test_all_ways_to_gather_give_the_same_regions():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, (HEIGHT, WIDTH))
    masks = np.stack([labels == label for label in (1, 2, 3)])
    ways = [
        Regions.from_labels(labels),
        Regions.from_masks(masks),
        of([Mask.from_array(mask) for mask in masks]),
        Regions.joined([Regions.from_masks(masks[:1]), Regions.from_masks(masks[1:])]),
        Regions.from_masks(masks[::-1]).take([2, 1, 0]),
        Regions.from_masks(masks[[0, 1, 0, 2]]).take([True, True, False, True]),
    ]
    for regions in ways:
        np.testing.assert_array_equal([regions.mask(i) for i in range(3)], masks)
        np.testing.assert_array_equal(shared_area(regions, ways[0]), np.diag(masks.sum((1, 2))))
        for place in range(3):
            kept = regions.region(place)
            assert kept == Mask.from_array(masks[place])
            box = kept.box
            assert regions.edges[place].tolist() == [box.x, box.y, box.right, box.bottom]


def test_the_best_object_is_the_first_of_equal_ones_and_none_where_nothing_is_touched():
    left, right = Box(0, 0, 2, 2), Box(4, 0, 2, 2)
    best = best_overlap(
        [right, left, Box(1, 0, 4, 2), Box(0, 5, 1, 1)], [left, right], height=7, width=9
    )
    assert best.object.tolist() == [1, 0, 0, -1]
    np.testing.assert_allclose(best.overlap, [1, 1, 0.2, 0])
    nothing = best_overlap([left, right], [], height=7, width=9)
    assert nothing.object.tolist() == [-1, -1]
    assert nothing.overlap.tolist() == [0, 0]


def test_boxes_are_cut_at_the_border():
    beyond, within = Box(-3, -3, 6, 6), Box(0, 0, 3, 3)
    assert overlap([beyond], [within], height=HEIGHT, width=WIDTH) == 1
    assert of([beyond]).region(0) == within


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: of([Box(0, 0, 1, 1), Box(20, 1, 2, 2)]), "region 1 (20 to 22 across, 1 to 3 down)"
         " covers nothing of the picture of 9 × 7 pixels; a region needs some of it"),
        (lambda: of([Polygons([[(0, 0), (0.1, 0), (0, 0.1)]])]), "region 0 covers nothing"),
        (lambda: of([Mask.from_array([[1]])]), "region 0: the mask is 1 × 1 pixels and the"),
        (lambda: Regions.from_boxes([[3, 3, 3, 5]], 7, 9), "region 0 (3 to 3 across"),
        (lambda: Regions.from_boxes([[5, 3, 3, 5]], 7, 9), "region 0 (5 to 3 across"),
        (lambda: Regions.from_boxes([[0, 0, np.nan, 5]], 7, 9), "region 0 has an edge that is no"),
        (lambda: Regions.from_boxes([1, 2, 3, 4], 7, 9), "boxes have the shape (4,)"),
        (lambda: Regions.from_masks(np.zeros((2, 3, 3))), "region 0 covers nothing"),
        (lambda: Regions.from_masks(np.ones((3, 3))), "masks have 2 dimensions"),
        (lambda: Regions.from_labels([[3, 1]]), "label 2 covers nothing"),
        (lambda: Regions.from_labels([[0.5]]), "labels must be one picture of whole numbers"),
        (lambda: overlap([], [Box(9, 0, 1, 1)], height=7, width=9), "object 0 (9 to 10 across"),
        (lambda: overlap([Box(9, 0, 1, 1)], [], height=7, width=9), "candidate 0 (9 to 10"),
        (lambda: overlap([], [], "giou", height=7, width=9), "the overlap 'giou' is not one of"),
        (lambda: overlap([], []), "the size of the picture is not known"),
        (lambda: overlap(of([]), [], height=8, width=9), "pictures of 9 × 7 and 9 × 8 pixels"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()
