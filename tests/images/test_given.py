"""Candidates of a user's own detector keep their own pixels."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm.annotations import Mask
from groupcm.images.features.colour import Colour
from groupcm.images.proposals import Given, Merging, Proposals, Windows
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.images.view import resized


def crack(size: int) -> np.ndarray:
    mask = np.zeros((size, size), dtype=bool)
    mask[np.arange(4, size - 4), size // 2] = True
    return mask


def test_a_thin_crack_of_a_detector_survives_the_shrinking_of_its_picture():
    mask = crack(200)
    recipe = Recipe(Proposals((Windows(), Given())), (Colour(),), longest_side=50)
    found = recipe.candidates(np.zeros((200, 200), dtype=np.uint8), [Mask.from_array(mask)])
    assert len(found.values) == len(found.regions)
    masks = [found.regions.mask(k) for k in np.flatnonzero(~found.regions.is_box)]
    assert len(masks) == 1
    np.testing.assert_array_equal(masks[0], mask)


def test_shrinking_keeps_a_line_in_one_piece():
    small = resized(Regions.from_masks(crack(200)[None]), 50, 50)
    assert small.edges.tolist() == [[25.0, 1.0, 26.0, 49.0]]
    assert small.areas.tolist() == [48.0]


@pytest.mark.parametrize(("height", "width"), [(7, 5), (20, 31), (3, 40), (1, 1)])
def test_every_region_stays_and_its_strips_do_not_overlap(height, width):
    labels = np.random.default_rng(0).integers(1, 6, size=(20, 30))
    regions = Regions.from_labels(labels)
    scaled = resized(regions, height, width)
    assert len(scaled) == len(regions)
    for place in range(len(scaled)):
        mask = scaled.mask(place)
        assert mask.any()
        assert mask.sum() == scaled.areas[place]
        rows, columns = np.nonzero(mask)
        box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert scaled.edges[place].tolist() == box


@pytest.mark.parametrize("wrong", [{"smallest": 0}, {"each": 2.5}, {"smooth": -1.0}, {"scale": 0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*; it must be"):
        Merging(**wrong)


def test_a_given_candidate_is_always_there():
    view_pixels = np.random.default_rng(0).integers(0, 255, size=(60, 80, 3)).astype(np.uint8)
    recipe = Recipe(Proposals((*Proposals.default().parts, Given()), at_most=20), (Colour(),))
    found = recipe.candidates(view_pixels, [Mask.from_array(crack(60)[:, :80] @ np.eye(60, 80))])
    assert len(found.regions) == 20
    np.testing.assert_array_equal(found.regions.mask(0)[:, :60], crack(60))
