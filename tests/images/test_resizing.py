"""Regions keep their place when their picture changes its size."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm.images.regions import Regions
from groupcm.images.view import resized

SIZES = [(1, 1), (1, 9), (9, 1), (5, 6), (7, 11), (14, 22), (21, 33), (40, 13), (3, 70)]


def some_masks(seed: int, height: int = 7, width: int = 11) -> np.ndarray:
    masks = np.random.default_rng(seed).random((6, height, width)) < 0.3
    masks[0] = False
    masks[0, height // 2, width // 3] = True
    masks[1] = True
    masks[2:, 0, 0] = True
    return masks


def covering(old: int, new: int) -> np.ndarray:
    """Which old pixels count for which new ones: the touched ones, or that under the centre."""
    table = np.zeros((new, old), dtype=bool)
    for place in range(new):
        if new < old:
            first, last = place * old / new, (place + 1) * old / new
            for other in range(old):
                table[place, other] = other < last - 1e-9 and other + 1 > first + 1e-9
        else:
            table[place, (2 * place + 1) * old // (2 * new)] = True
    return table


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_a_slow_twin(height, width, seed):
    masks = some_masks(seed)
    down, across = covering(7, height), covering(11, width)
    expected = np.einsum("rh,nhw,cw->nrc", down.astype(int), masks, across.astype(int)) > 0
    found = resized(Regions.from_masks(masks), height, width)
    alike = Regions.from_masks(expected)
    for name in ("edges", "areas", "is_box", "strip_ptr", "column", "top", "bottom"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alike, name), err_msg=name)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_boxes_are_scaled_by_the_factors_and_stay_between_masks(height, width):
    mask, box = Regions.from_masks(some_masks(0)[:1]), Regions.from_boxes([[1, 2, 4.5, 6]], 7, 11)
    found = resized(Regions.joined([mask, box, mask]), height, width)
    across, down = width / 11, height / 7
    assert found.is_box.tolist() == [False, True, False]
    np.testing.assert_allclose(found.edges[1], [across, 2 * down, 4.5 * across, 6 * down])
    np.testing.assert_allclose(found.areas[1], 14 * across * down)
    assert np.diff(found.strip_ptr)[1] == 0
    np.testing.assert_array_equal(found.mask(0), found.mask(2))


def test_enlarged_by_a_whole_factor_and_back_nothing_is_lost():
    regions = Regions.from_masks(some_masks(4))
    back = resized(resized(regions, 21, 44), 7, 11)
    for place in range(len(regions)):
        np.testing.assert_array_equal(back.mask(place), regions.mask(place))


def test_a_thin_slanted_line_stays_in_one_piece_when_it_shrinks():
    line = np.zeros((1, 60, 60), dtype=bool)
    line[0, np.arange(60), np.arange(60)] = True
    assert resized(Regions.from_masks(line), 13, 17).mask(0).any(axis=0).all()


def test_the_same_size_gives_the_same_object_and_none_stay_none():
    regions = Regions.from_masks(some_masks(0))
    assert resized(regions, 7, 11) is regions
    none = resized(Regions.from_boxes([], 7, 11), 3, 4)
    assert (len(none), none.height, none.width) == (0, 3, 4)


def test_a_picture_of_no_pixels_is_refused():
    with pytest.raises(ValueError, match="a picture of 0 × 5 pixels has no regions"):
        resized(Regions.from_masks(some_masks(0)), 5, 0)
