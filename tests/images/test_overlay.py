"""Overlays: what is drawn where, in which colour, and which files they go to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from groupcm.errors import InputError
from groupcm.images.drawing import Canvas
from groupcm.images.overlay import (
    check_overlay_folder,
    draw_overlay,
    is_overlay,
    overlay_names,
    write_overlay,
)
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore

AMBER, GREY, BLUE = (255, 194, 10), (224, 224, 228), (86, 196, 255)
HEIGHT, WIDTH = 360, 480


def close_to(picture: np.ndarray, colour: tuple[int, int, int], by: int = 40) -> np.ndarray:
    """Which pixels have nearly this colour."""
    return np.asarray((np.abs(picture.astype(int) - np.array(colour)) <= by).all(axis=2))


def disc(x: int, y: int, radius: int, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    rows, columns = np.mgrid[:height, :width]
    return (columns - x) ** 2 + (rows - y) ** 2 <= radius**2


def found_in(regions: Regions, scores, **more) -> PictureScore:
    best = int(np.argmax(scores))
    return PictureScore("a.png", regions, np.array(scores, float), best, best, **more)


def flat(value: int = 90, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    return np.full((height, width, 3), value, dtype=np.uint8)


def test_the_outline_follows_the_border_of_the_mask():
    regions = Regions.from_masks([disc(240, 200, 80)])
    canvas = Canvas(flat())
    canvas.outline(regions, 0, AMBER)
    drawn = close_to(canvas.pixels(), AMBER, 80)
    rows, columns = np.nonzero(drawn)
    radius = np.hypot(columns + 0.5 - 240.5, rows + 0.5 - 200.5)
    assert radius.min() > 77
    assert radius.max() < 84
    # All around: in each of 60 directions there is some of it.
    turn = np.arctan2(rows - 200.0, columns - 240.0)
    assert np.unique(np.floor((turn + np.pi) / (2 * np.pi) * 60).clip(0, 59)).size == 60


def test_masks_with_holes_and_parts_have_every_border():
    mask = disc(120, 180, 70) & ~disc(120, 180, 40) | disc(360, 180, 50)
    canvas = Canvas(flat())
    canvas.outline(Regions.from_masks([mask]), 0, AMBER)
    drawn = close_to(canvas.pixels(), AMBER, 80)
    line = drawn[180]
    for x in (120 - 70, 120 - 40, 120 + 40, 120 + 70, 360 - 50, 360 + 50):
        assert line[x - 3 : x + 5].any(), x
    assert not line[100:140].any()


def test_specks_and_pinholes_are_not_drawn():
    whole = disc(240, 180, 90)
    speckled = whole.copy()
    speckled[150:220:7, 200:280:7] = False
    speckled[20:60:6, 20:60:6] = True
    drawn = []
    for mask in (whole, speckled):
        canvas = Canvas(flat())
        canvas.outline(Regions.from_masks([mask]), 0, AMBER)
        drawn.append(canvas.pixels())
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("background", [0, 90, 255])
def test_lines_stand_out_on_any_background(background):
    canvas = Canvas(flat(background))
    canvas.outline(Regions.from_boxes([[100, 100, 300, 250]], HEIGHT, WIDTH), 0, AMBER)
    across = canvas.pixels()[180, 90:112].astype(int)
    contrast = np.abs(across - np.array(AMBER)).sum(axis=1)
    assert contrast.min() < 60  # the line
    around = across[contrast.argmin() - 4 : contrast.argmin() + 5].sum(axis=1)
    assert around[:4].min() < max(2 * background, 60)  # its dark halo, on both sides
    assert around[5:].min() < max(2 * background, 60)


def test_regions_at_the_border_of_the_picture_are_drawn_whole():
    canvas = Canvas(flat())
    canvas.outline(Regions.from_boxes([[0, 0, WIDTH, HEIGHT]], HEIGHT, WIDTH), 0, AMBER)
    drawn = close_to(canvas.pixels(), AMBER, 80)
    for edge in (drawn[:4].any(0), drawn[-4:].any(0), drawn[:, :4].any(1), drawn[:, -4:].any(1)):
        assert edge.mean() > 0.98


def test_the_winner_is_thick_others_thin_and_truth_blue_with_gaps():
    boxes = [[40, 60, 160, 200], [300, 60, 420, 200], [200, 280, 260, 340]]
    regions = Regions.from_boxes(boxes, HEIGHT, WIDTH)
    truth = Regions.from_boxes([[30, 220, 150, 340]], HEIGHT, WIDTH)
    drawn = draw_overlay(flat(), found_in(regions, [1.5, 0.7, -2.0], threshold=0.5), truth=truth)
    amber = close_to(drawn, AMBER, 80)
    redness = np.maximum(drawn[130, :, 0].astype(float) - drawn[130, :, 2], 0) / 245
    thick, thin = redness[30:50].sum(), redness[290:310].sum()
    assert 2.5 < thick < 4
    assert 1 < thin < 1.8
    assert amber[130, 290:310].any()
    assert not amber[310, 190:210].any()  # below the threshold
    blue = close_to(drawn, BLUE)
    top = blue[217:224, 40:140].any(axis=0)
    assert 0.3 < top.mean() < 0.9
    assert not blue[:200].any()


def test_without_an_alarm_nothing_is_amber():
    regions = Regions.from_boxes([[100, 100, 200, 200]], HEIGHT, WIDTH)
    drawn = draw_overlay(flat(), found_in(regions, [0.4], threshold=0.5))
    assert not close_to(drawn, AMBER).any()
    assert close_to(drawn, GREY)[100:200, 95:105].any()
    assert close_to(draw_overlay(flat(), found_in(regions, [0.4])), AMBER).any()


def test_where_the_vote_differs_its_candidate_is_the_thick_one():
    regions = Regions.from_boxes([[40, 60, 160, 200], [300, 60, 420, 200]], HEIGHT, WIDTH)
    found = PictureScore("a", regions, np.array([1.0, 0.9]), winner=0, located=1)
    amber = close_to(draw_overlay(flat(), found), AMBER, 80)
    assert amber[130, 290:310].any()
    assert not amber[130, 30:50].any()


@pytest.mark.parametrize(
    "box",
    [
        [0, 0, 60, 40],
        [420, 0, 480, 40],
        [0, 320, 60, 360],
        [420, 320, 480, 360],
        [0, 0, 480, 360],
        [470, 100, 480, 300],
        [0, 0, 480, 10],
    ],
)
def test_the_tag_stays_inside(box):
    canvas = Canvas(flat(255))
    before = canvas.pixels()
    canvas.tag("+12.34", np.array(box, float), AMBER)
    rows, columns = np.nonzero((canvas.pixels() != before).any(axis=2))
    # Nothing of it is cut: it is as large as in the middle of the picture.
    middle = Canvas(flat(255))
    middle.tag("+12.34", np.array([200.0, 200, 210, 210]), AMBER)
    there = np.nonzero((middle.pixels() != before).any(axis=2))
    for axis, lines in enumerate((rows, columns)):
        assert np.ptp(lines) == np.ptp(there[axis])


def test_the_tag_does_not_cover_a_region_with_room_around_it():
    canvas = Canvas(flat(255))
    canvas.tag("+1.00", np.array([100.0, 100, 200, 200]), AMBER)
    assert (canvas.pixels()[100:200, 100:200] == 255).all()


def test_small_pictures_are_enlarged_and_large_ones_kept():
    assert Canvas(flat(9, 48, 64)).pixels().shape == (360, 480, 3)
    assert Canvas(flat(9, 700, 900)).pixels().shape == (700, 900, 3)
    assert Canvas(flat(9, 1, 1)).pixels().shape == (480, 480, 3)
    # A column of pixels does not become a tower.
    assert max(Canvas(flat(9, 400, 1)).pixels().shape) <= 1600
    assert Canvas(flat(9, 3000, 2)).pixels().shape == (3000, 2, 3)


@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (1, 700), (700, 1), (3, 3)])
def test_overlays_of_tiny_pictures(size):
    masks = np.zeros((2, *size), dtype=bool)
    masks[0], masks[1, 0, 0] = True, True
    found = found_in(Regions.from_masks(masks), [0.2, 1.2], threshold=0.0, probability=0.5)
    drawn = draw_overlay(flat(60, *size), found, truth=Regions.from_masks(masks[:1]))
    assert drawn.dtype == np.uint8


def test_lines_grow_with_the_picture():
    lines = [Canvas(flat(9, side, side)).line for side in (64, 480, 1000, 4000)]
    assert lines[0] == lines[1]
    assert all(first < second for first, second in pairwise(lines[1:]))


def test_coordinates_of_enlarged_pictures():
    small, large = flat(90, 36, 48), flat(90)
    for_small = Regions.from_boxes([[10, 10, 20, 20]], 36, 48)
    for_large = Regions.from_boxes([[100, 100, 200, 200]], HEIGHT, WIDTH)
    one = draw_overlay(small, found_in(for_small, [1.0]))
    two = draw_overlay(large, found_in(for_large, [1.0]))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "pixels",
    [
        np.tile(np.arange(WIDTH) % 200, (HEIGHT, 1)).astype(np.uint8),
        np.tile(np.arange(WIDTH) % 200 * 4, (HEIGHT, 1)).astype(np.uint16),
        (np.tile(np.arange(WIDTH) % 200, (HEIGHT, 1)) / 1000).astype(np.float32),
    ],
)
def test_grey_and_16_bit_and_floating_point(pixels):
    if pixels.dtype != np.uint8:
        pixels[-1, -1] = 65_535 if pixels.dtype == np.uint16 else 1  # a single hot pixel
    regions = Regions.from_boxes([[100, 100, 150, 150]], HEIGHT, WIDTH)
    drawn = draw_overlay(pixels, found_in(regions, [1.0]))
    corner = drawn[:20, :200]
    assert (corner[..., 0] == corner[..., 2]).all()
    assert np.ptp(corner) > 150  # dim pictures of many bits are made bright enough to look at


def test_the_same_picture_is_drawn_alike_each_time():
    regions = Regions.from_masks([disc(200, 150, 60)])
    found = found_in(regions, [1.0], threshold=0.0)
    np.testing.assert_array_equal(draw_overlay(flat(), found), draw_overlay(flat(), found))


def test_pixels_given_are_not_drawn_on():
    pixels = flat()
    draw_overlay(pixels, found_in(Regions.from_boxes([[5, 5, 99, 99]], HEIGHT, WIDTH), [1.0]))
    assert (pixels == 90).all()


def test_names_of_files():
    names = [
        "a.png",
        "A.tif",
        "a.tif#1",
        "a_1.png",
        "x/y z.JPEG",
        "été.bmp",
        "ete\u0301.png",
        "v 1",
    ]
    made = overlay_names(names)
    assert made["a.png"] == "a.png"
    assert made["A.tif"] == "A_tif.png"
    assert made["a.tif#1"] == "a_1.png"
    assert made["a_1.png"] == "a_1_png.png"
    assert made["x/y z.JPEG"] == "x/y z.JPEG"
    assert made["v 1"] == "v 1.jpg"
    alike = [name.casefold().replace("e\u0301", "é") for name in made.values()]
    assert len(set(alike)) == len(names)
    assert list(made) == names


def test_files_that_would_get_one_name_thrice():
    made = overlay_names(["a.tif", "a.bmp", "a_bmp.png", "a.png", "a_png.png"])
    assert len(set(made.values())) == 5


@pytest.mark.parametrize("ending", [".png", ".jpg", ".JPEG"])
def test_an_overlay_knows_itself(tmp_path, ending):
    path = tmp_path / "sub folder" / f"été{ending}"
    write_overlay(flat(200, 30, 40), path)
    with Image.open(path) as read:
        assert read.format == ("PNG" if ending == ".png" else "JPEG")
        assert np.abs(np.asarray(read).astype(int) - 200).max() <= 3
    assert is_overlay(path)
    write_overlay(flat(0, 30, 40), path)  # an overlay may be replaced
    Image.new("RGB", (3, 3)).save(path)
    assert not is_overlay(path)
    with pytest.raises(InputError, match="did not make"):
        write_overlay(flat(0, 30, 40), path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_folders_that_overlays_may_not_go_to(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for folder in (pictures, pictures / "inner", tmp_path):
        with pytest.raises(InputError, match="mix them with the pictures"):
            check_overlay_folder(folder, pictures, ["a.png"])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="it is a file"):
        check_overlay_folder(tmp_path / "file", pictures, ["a.png"])
    other = tmp_path / "other"
    check_overlay_folder(other, pictures, ["a.png"])
    write_overlay(flat(1, 5, 5), other / "a.png")
    check_overlay_folder(other, pictures, ["a.png"])
    Image.new("RGB", (3, 3)).save(other / "b.png")
    check_overlay_folder(other, pictures, ["a.png"])
    with pytest.raises(InputError, match=r"b\.png: a file that groupcm did not make is there"):
        check_overlay_folder(other, pictures, ["a.png", "b.png"])
