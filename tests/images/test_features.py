"""Features of candidates: always numbers, of a candidate alone, steady where they should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.annotations import Box, Mask
from groupcm.images.features import DEFAULT_FAMILIES, FAMILIES
from groupcm.images.features.colour import Colour, Contrast, Sides
from groupcm.images.features.gradients import Gradients
from groupcm.images.features.lines import Lines
from groupcm.images.features.shape import Place, Shape
from groupcm.images.features.texture import Texture
from groupcm.images.regions import Regions
from groupcm.images.synthetic import make_frames
from groupcm.images.view import View

OWN = [*DEFAULT_FAMILIES, Place()]


def called(family) -> str:
    return type(family).__name__


def measured(family, view: View, regions: Regions) -> dict[str, np.ndarray]:
    """Features by name, without the family's own."""
    values = family.measure(view, regions)
    prefix = f"{called(family).lower()}_"
    assert all(name.startswith(prefix) for name in family.names)
    return dict(zip((n.removeprefix(prefix) for n in family.names), values.T, strict=True))


def blob(height: int, width: int, seed: int) -> np.ndarray:
    """A rough round region somewhere in the picture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    centre, radius = rng.uniform(0.3, 0.7, 2), rng.uniform(0.1, 0.25)
    away = np.hypot((y + 0.5) / height - centre[0], (x + 0.5) / width - centre[1])
    return away + rng.normal(0, 0.02, away.shape) < radius


@pytest.fixture(scope="module")
def view() -> View:
    return View.of(next(make_frames(1, share_with_polyps=1, height=60, width=80, seed=3)).pixels)


@pytest.fixture(scope="module")
def regions(view) -> Regions:
    masks = [Mask.from_array(blob(view.height, view.width, seed)) for seed in range(4)]
    boxes = [Box(3, 4, 20, 11), Box(30.3, 20.6, 9.9, 25.2), Box(0, 0, 80, 60), Box(79, 59, 1, 1)]
    return Regions.of([*masks, *boxes], view.height, view.width)


def test_the_registry_has_all_families_and_the_default_tells_no_size():
    assert {"shape", "colour", "contrast", "texture", "gradients", "place"} <= set(FAMILIES)
    assert [FAMILIES[called(family).lower()] for family in OWN] == [type(f) for f in OWN]
    assert not any(isinstance(family, Place) for family in DEFAULT_FAMILIES)
    names = [name for family in OWN for name in family.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("family", OWN, ids=called)
def test_values_have_a_row_a_region_and_a_column_a_name(family, view, regions):
    values = family.measure(view, regions)
    assert values.shape == (len(regions), len(family.names))
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    none = family.measure(view, regions.take([]))
    assert none.shape == (0, len(family.names))
    # Few of them are the same for all candidates, and none is huge.
    assert (np.ptp(values, axis=0) > 0).mean() > 0.7
    assert np.abs(values).max() < 20


@pytest.mark.parametrize("family", OWN, ids=called)
def test_a_region_is_measured_alone(family, view, regions):
    values = family.measure(view, regions)
    order = np.random.default_rng(0).permutation(len(regions))
    np.testing.assert_allclose(family.measure(view, regions.take(order)), values[order], atol=1e-6)
    for place in range(len(regions)):
        alone = family.measure(view, regions.take([place]))
        np.testing.assert_allclose(alone[0], values[place], atol=1e-6)


@pytest.mark.parametrize("family", OWN, ids=called)
def test_a_box_and_its_pixels_are_the_same(family, view):
    box = Box(10, 12, 17, 9)
    both = Regions.of([box, Mask.from_array(box.mask(60, 80))], 60, 80)
    first, second = family.measure(view, both)
    np.testing.assert_allclose(first, second, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 7),
    st.integers(1, 7),
    st.sampled_from(["noise", "constant", "black", "two"]),
    st.integers(0, 2**32 - 1),
)
def test_small_and_empty_pictures_give_numbers(height, width, kind, seed):
    rng = np.random.default_rng(seed)
    rgb = rng.uniform(0, 1, (height, width, 3)).astype(np.float32)
    if kind == "two":
        rgb = (rgb > 0.5).astype(np.float32)
    elif kind != "noise":
        rgb[:] = rgb[0, 0] * (kind == "constant")
    masks = rng.uniform(0, 1, (3, height, width)) < [[[0.2]], [[0.5]], [[0.9]]]
    masks[:, rng.integers(height), rng.integers(width)] = True
    regions = Regions.joined(
        [
            Regions.from_masks(masks),
            Regions.from_boxes([[0, 0, width, height], [0.2, 0.2, 0.3, 0.3]], height, width),
        ]
    )
    for family in OWN:
        values = family.measure(View(rgb), regions)
        assert np.isfinite(values).all(), family
        assert np.abs(values).max() < 30, family


def test_the_whole_picture_has_no_contrast(view):
    whole = Regions.of([Box(0, 0, 80, 60), Mask.from_array(np.ones((60, 80)))], 60, 80)
    for name, values in measured(Contrast(), view, whole).items():
        if not name.startswith("picture"):
            np.testing.assert_allclose(values, 0, atol=1e-6, err_msg=name)
    for name, values in measured(Texture(), view, whole).items():
        if name.endswith("_ring"):
            np.testing.assert_allclose(values, 0, atol=1e-6, err_msg=name)


def test_a_picture_of_one_colour_has_no_contrast_and_exact_colours():
    view = View(np.full((12, 14, 3), (0.8, 0.4, 0.2), dtype=np.float32))
    regions = Regions.of([Box(2, 3, 5, 6), Mask.from_array(blob(12, 14, 0))], 12, 14)
    values = Contrast().measure(view, regions)
    np.testing.assert_allclose(values, 0, atol=1e-4)
    colours = measured(Colour(), view, regions)
    np.testing.assert_allclose(colours["lightness"], view.lab[0, 0, 0] / 100, rtol=1e-6)
    np.testing.assert_allclose(colours["red_minus_green"], 0.4, rtol=1e-6)
    for name in colours:
        if name.startswith("spread"):
            np.testing.assert_allclose(colours[name], 0, atol=1e-6)
    edges = measured(Gradients(), view, regions)
    assert max(np.abs(v).max() for n, v in edges.items() if n.startswith(("cell", "turned"))) == 0


def test_colour_is_the_mean_of_its_pixels(view, regions):
    colours = measured(Colour(), view, regions)
    for place in range(len(regions) - 3):
        pixels = view.lab[regions.mask(place)].astype(np.float64) / 100
        for i, name in enumerate(("lightness", "green_red", "blue_yellow")):
            assert colours[name][place] == pytest.approx(pixels[:, i].mean(), rel=1e-5)
            assert colours[f"spread_{name}"][place] == pytest.approx(pixels[:, i].std(), rel=1e-4)


def test_contrast_has_the_sign_of_the_difference():
    rgb = np.full((40, 40, 3), 0.5, dtype=np.float32)
    rgb += np.random.default_rng(0).normal(0, 0.02, (40, 40, 1)).astype(np.float32)
    rgb[5:10, 5:10] += 0.3
    rgb[25:30, 25:30] -= 0.3
    regions = Regions.from_boxes([[5, 5, 10, 10], [25, 25, 30, 30]], 40, 40)
    values = measured(Contrast(), View(rgb), regions)
    for kind in ("ring", "picture", "distinct"):
        bright, dark = values[f"{kind}_lightness"]
        assert bright > 1
        assert dark < -1
        np.testing.assert_allclose(values[f"{kind}_size_lightness"], [bright, -dark])
    edges = measured(Gradients(), View(rgb), regions)
    assert edges["outline_signed_lightness"][0] < -0.3
    assert edges["outline_signed_lightness"][1] > 0.3
    assert edges["outline_agreement_lightness"].min() > 0.9
    assert edges["outline_inside_lightness"].min() > 0.5


def of_lightness(grey: np.ndarray) -> View:
    """A grey picture of just this lightness; its red, green and blue are not what they would be."""
    view = View(np.repeat(grey[:, :, None], 3, axis=2).astype(np.float32))
    lab = np.zeros_like(view.rgb)
    lab[:, :, 0] = 100 * grey
    vars(view)["lab"] = lab
    return view


def test_a_place_like_its_surroundings_may_differ_from_the_picture():
    grey = np.full((30, 60), 0.3)
    grey[:, 40:] = 0.8
    regions = Regions.from_boxes([[48, 10, 54, 20], [10, 10, 16, 20]], 30, 60)
    values = measured(Contrast(), of_lightness(grey), regions)
    np.testing.assert_allclose(values["ring_lightness"], 0, atol=1e-6)
    assert values["picture_lightness"][0] > 1
    assert values["picture_lightness"][1] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("family", [Contrast(), Texture(), Gradients()], ids=called)
@pytest.mark.parametrize(("factor", "shift"), [(0.5, 0.0), (1.0, 0.2), (0.5, 0.25)])
def test_light_hardly_changes_what_is_relative_to_the_picture(family, factor, shift, view, regions):
    first = measured(family, of_lightness(view.grey), regions)
    second = measured(family, of_lightness(factor * view.grey + shift), regions)
    for name in first:
        if "saturation" not in name and "share" not in name:
            np.testing.assert_allclose(second[name], first[name], atol=0.05, err_msg=name)


def repeated(mask: np.ndarray) -> np.ndarray:
    return mask.repeat(2, axis=0).repeat(2, axis=1)


@pytest.mark.parametrize("family", [Shape(), Place(), Colour(), Contrast()], ids=called)
def test_a_picture_twice_as_large_has_the_same_features(family, view):
    masks = np.array([blob(60, 80, seed) for seed in range(6)])
    small = family.measure(view, Regions.from_masks(masks))
    larger = Regions.from_masks(np.array([repeated(mask) for mask in masks]))
    large = family.measure(View(view.rgb.repeat(2, axis=0).repeat(2, axis=1)), larger)
    # The ring is as wide as whole pixels allow.
    np.testing.assert_allclose(large, small, atol=0.1 if isinstance(family, Contrast) else 1e-4)


def test_a_mirrored_picture_mirrors_the_place(view):
    masks = np.array([blob(60, 80, seed) for seed in range(4)])
    there = measured(Place(), view, Regions.from_masks(masks))
    mirror = View(np.ascontiguousarray(view.rgb[:, ::-1]))
    here = measured(Place(), mirror, Regions.from_masks(masks[:, :, ::-1]))
    np.testing.assert_allclose(here.pop("x"), -there.pop("x"), atol=1e-6)
    for name in there:
        np.testing.assert_allclose(here[name], there[name], atol=1e-6, err_msg=name)


@pytest.mark.parametrize("family", [Colour(), Contrast()], ids=called)
def test_a_mirrored_picture_has_the_same_colours(family, view):
    masks = np.array([blob(60, 80, seed) for seed in range(4)])
    there = family.measure(view, Regions.from_masks(masks))
    mirror = View(np.ascontiguousarray(view.rgb[::-1]))
    here = family.measure(mirror, Regions.from_masks(masks[:, ::-1]))
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_shapes_are_told_apart():
    height, width = 80, 80
    y, x = np.mgrid[:height, :width] - 39.5
    shapes = {
        "disc": np.hypot(x, y) < 30,
        "square": (np.abs(x) < 20) & (np.abs(y) < 20),
        "line": (np.abs(x) < 35) & (np.abs(y) < 2),
        "slant": np.abs(x - y) < 3,
        "corner": (np.abs(x) < 30) & (np.abs(y) < 30) & ((x < -20) | (y > 20)),
        "wedge": (np.abs(y) < (x + 30) / 3) & (x < 30),
    }
    view = View(np.zeros((height, width, 3), dtype=np.float32))
    values = measured(Shape(), view, Regions.from_masks(np.array(list(shapes.values()))))
    by_name = {
        name: dict(zip(shapes, column.tolist(), strict=True)) for name, column in values.items()
    }
    assert by_name["extent"]["disc"] == pytest.approx(np.pi / 4, abs=0.01)
    assert by_name["fullness"]["disc"] == pytest.approx(1, abs=0.01)
    assert by_name["compactness"]["square"] == pytest.approx(1)
    assert by_name["elongation"]["line"] == pytest.approx(np.log(70 / 4), abs=1e-3)
    assert by_name["aspect"]["line"] == pytest.approx(np.log(70 / 4), abs=1e-3)
    assert by_name["upright"]["line"] == pytest.approx(-1, abs=0.01)
    assert by_name["slanted"]["slant"] == pytest.approx(1, abs=0.01)
    assert by_name["solidity"]["disc"] > 0.97
    assert by_name["solidity"]["corner"] < 0.6
    assert by_name["lopsided"]["wedge"] > 0.4
    assert by_name["lopsided"]["disc"] == pytest.approx(0, abs=1e-5)


def test_texture_tells_noise_from_stripes():
    rng = np.random.default_rng(0)
    grey = np.full((60, 90), 0.5)
    grey[:, :30] += rng.normal(0, 0.1, (60, 30))
    grey[:, 30:60] += 0.1 * np.sign(np.sin(np.arange(60)[:, None] * np.pi / 5))
    regions = Regions.from_boxes([[5, 5, 25, 55], [35, 5, 55, 55], [65, 5, 85, 55]], 60, 90)
    values = measured(Texture(), of_lightness(grey), regions)
    noise, stripes, flat = values["pairs1_contrast"]
    assert noise > stripes > flat
    noise, stripes, flat = values["pairs1_correlation"]
    assert stripes > noise + 0.2
    noise, stripes, flat = values["pattern1_brighter0"]
    assert flat == pytest.approx(1)
    assert noise < 0.5
    noise, stripes, flat = measured(Gradients(), of_lightness(grey), regions)["inside_parallel"]
    assert stripes > 0.8
    assert noise < 0.3


def test_cells_tell_where_edges_are_and_turned_ones_do_not():
    grey = np.zeros((60, 60))
    grey[20:40, 25:45] = 1
    one = Regions.from_boxes([[15, 15, 45, 45]], 60, 60)
    turned = Regions.from_boxes([[15, 15, 45, 45]], 60, 60)
    here = measured(Gradients(), of_lightness(grey), one)
    there = measured(Gradients(), of_lightness(np.rot90(grey)), turned)
    cells = [name for name in here if name.startswith("cell")]
    rings = [name for name in here if name.startswith("turned")]
    assert len(cells) == 23
    assert len(rings) == 5
    assert max(abs(here[name][0] - there[name][0]) for name in cells) > 0.1
    for name in rings:
        np.testing.assert_allclose(here[name], there[name], atol=1e-4, err_msg=name)
    beside = {name: here[name][0] for name in cells if name.startswith("cell_1_0_")}
    assert max(beside, key=lambda name: beside[name]) == "cell_1_0_0"


@pytest.mark.parametrize("flip", [np.fliplr, np.flipud])
def test_mirrored_pictures_have_the_same_edges_sides_and_lines(flip):
    grey = np.random.default_rng(0).random((30, 30)) * 0.2
    grey[8:12, 4:20] += 0.7
    middle = Regions.from_boxes([[3, 6, 27, 24]], 30, 30)
    for family in (Gradients(), Sides(), Lines()):
        here = measured(family, of_lightness(grey), middle)
        there = measured(family, of_lightness(flip(grey)), middle)
        for name, value in here.items():
            if not name.startswith("outline"):  # counted by pixels on one side of it
                np.testing.assert_allclose(value, there[name], atol=2e-4, err_msg=name)


def test_sides_tell_a_line_from_a_blob():
    line, blob = np.ones((20, 20)), np.ones((20, 20))
    line[8:12] = 0
    blob[8:12, 8:12] = 0
    box = Regions.from_boxes([[8, 8, 12, 12]], 20, 20)
    on_line = measured(Sides(), of_lightness(line), box)
    on_blob = measured(Sides(), of_lightness(blob), box)
    for found in (on_line, on_blob):
        assert found["below_opposite_lightness"][0] > 1
        assert found["above_opposite_lightness"][0] == 0
    assert on_line["below_all_lightness"][0] == 0
    assert on_blob["below_all_lightness"][0] > 1


def test_lines_tell_dark_from_bright_and_line_from_blob():
    blob = np.full((30, 30), 0.5)
    blob[14:16, 14:16] = 0
    bright_line = np.full((30, 30), 0.5)
    bright_line[:, 14:16] = 1
    box = Regions.from_boxes([[11, 11, 19, 19]], 30, 30)
    dark = measured(Lines(), of_lightness(blob), box)
    bright = measured(Lines(), of_lightness(bright_line), box)
    assert dark["dark_blob_thin_picture"][0] > 1
    assert dark["dark_blob_thin_picture"][0] > dark["bright_blob_thin_picture"][0]
    assert bright["bright_line_thin_picture"][0] > 1
    assert bright["bright_line_thin_picture"][0] > bright["dark_line_thin_picture"][0]
    assert bright["bright_blob_thin_picture"][0] < 0.5


def test_settings_of_gradients_change_their_number():
    family = Gradients(cells=2, orientations=6)
    n_cells, n_turned = 6, 4  # two rows and columns of cells are one cell and its mirror images
    assert len(family.names) == len(Gradients().names) - (23 + 5) + n_cells + n_turned
    with pytest.raises(ValueError, match="cells is 0; it must be a whole number, 1 or more"):
        Gradients(cells=0)
