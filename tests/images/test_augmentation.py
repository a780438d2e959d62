"""Changed copies of pictures, and highlights that are filled in."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from groupcm.errors import InputError, ParameterError
from groupcm.images.augmentation import PictureChange, copy_name, draw_change
from groupcm.images.highlights import fill_highlights, find_highlights
from groupcm.images.recipe import Recipe
from groupcm.images.recipe_options import recipe_named
from groupcm.images.synthetic import make_frames, write_frames
from groupcm.images.tables.propose import propose_folder

QUICK = recipe_named(["windows"], ["shape", "colour"], at_most=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("augmented")
    write_frames(home, 4, share_with_polyps=0.5, n_patients=2, height=48, width=64)
    return home


def table(folder, name, **options):
    output = folder / f"{name}.parquet"
    propose_folder(
        folder / "frames",
        output,
        annotations=folder / "annotations.json",
        workers=1,
        **{"recipe": QUICK, **options},
    )
    return pq.read_table(output).to_pandas()


def test_each_change_does_what_it_says():
    pixels = next(make_frames(1, height=48, width=64)).pixels
    as_float = pixels.astype(float)

    def changed(**change):
        return PictureChange(**change)(pixels).astype(float)

    assert np.array_equal(changed(), as_float)
    assert changed(gain=0.5).mean() == pytest.approx(as_float.mean() / 2, abs=1)
    assert changed(gamma=1.3).mean() < as_float.mean() < changed(gamma=0.8).mean()
    warm = changed(warmth=0.2) - as_float
    assert warm[..., 0].mean() > 5
    assert warm[..., 2].mean() < -2
    assert not warm[..., 1].any()
    blurred = changed(blur=2.0)
    assert np.abs(np.diff(blurred, axis=1)).mean() < np.abs(np.diff(as_float, axis=1)).mean()
    assert 0 < np.abs(changed(quality=30) - as_float).mean() < 20
    assert changed(scale=0.5).shape == (24, 32, 3)


def test_grey_and_16_bit_pictures_are_changed_and_stay_grey():
    pixels = np.linspace(0, 65535, 12 * 16).reshape(12, 16).astype(np.uint16)
    changed = PictureChange(gain=0.5, warmth=0.2)(pixels)
    assert changed.dtype == np.uint8
    assert changed.shape == (12, 16, 3)
    assert np.ptp(changed, axis=2).max() == 0
    assert changed.max() == 128


def test_changes_depend_on_the_name_and_the_number_alone_and_differ():
    drawn = [draw_change(name, number) for name in ("a", "b") for number in range(1, 20)]
    assert len(set(drawn)) == len(drawn)
    assert drawn == [draw_change(name, number) for name in ("a", "b") for number in range(1, 20)]
    assert {each.quality is None for each in drawn} == {True, False}


def test_copies_have_the_regions_labels_and_patients_of_their_picture(folder):
    plain, copies = table(folder, "plain"), table(folder, "copies", augment=2)
    assert len(copies) == 3 * len(plain)
    first = plain["picture"].iloc[0]
    same = ["candidate", "label", "overlap", "left", "bottom", "mask", "height", "patient"]
    original = copies[copies["picture"] == first].reset_index(drop=True)
    changed = copies[copies["picture"] == copy_name(first, 2)].reset_index(drop=True)
    assert original[same].equals(changed[same])
    assert original.equals(plain[plain["picture"] == first].reset_index(drop=True))
    features = list(QUICK.feature_names)
    shape = [name for name in features if name.startswith("shape")]
    colour = [name for name in features if name.startswith("colour")]
    assert np.abs(original[colour] - changed[colour]).to_numpy().mean() > 0.01
    assert np.allclose(original[shape], changed[shape], atol=0.3)


def test_without_patients_the_picture_holds_its_copies_together(folder, tmp_path):
    frames = list((folder / "frames").iterdir())
    (tmp_path / "some").mkdir()
    for frame in frames[:2]:
        (tmp_path / "some" / frame.name).write_bytes(frame.read_bytes())
    output = tmp_path / "t.parquet"
    propose_folder(tmp_path / "some", output, recipe=QUICK, augment=1, workers=1)
    found = pq.read_table(output).to_pandas()
    owners = found.groupby("patient")["picture"].nunique()
    assert sorted(owners.index) == sorted(frame.name for frame in frames[:2])
    assert owners.tolist() == [2, 2]


@pytest.mark.parametrize("number", [-1, 51])
def test_a_wrong_number_of_copies_is_refused(folder, tmp_path, number):
    with pytest.raises(InputError, match=r"augment is .* the number of copies"):
        propose_folder(folder / "frames", tmp_path / "t.parquet", recipe=QUICK, augment=number)


def slow_fill(rgb, missing):
    """The mean of known pixels in the smallest window that has one, pixel by pixel."""
    filled = rgb.copy()
    height, width = missing.shape
    for r, c in np.argwhere(missing).tolist():
        for reach in (3, 10):
            window = np.s_[max(0, r - reach) : r + reach + 1, max(0, c - reach) : c + reach + 1]
            if not missing[window].all():
                filled[r, c] = rgb[window][~missing[window]].mean(axis=0)
                break
    assert height > 30
    assert width > 30
    return filled


def test_highlights_are_filled_with_the_mean_around_them():
    rng = np.random.default_rng(0)
    rgb = rng.uniform(0.3, 0.5, (80, 90, 3)).astype(np.float32)
    rgb[30:40, 40:50] = 0.97
    rgb[60, 20] = 1.0
    missing = find_highlights(rgb)
    assert missing[30:40, 40:50].all()
    assert missing[60, 20]
    assert missing.sum() < 300
    assert fill_highlights(rgb) == pytest.approx(slow_fill(rgb, missing), abs=1e-5)


def test_large_white_areas_and_coloured_light_are_no_highlights():
    rgb = np.full((60, 80, 3), 0.4, dtype=np.float32)
    rgb[10:50, 10:60] = 0.95
    rgb[5, 70] = [1.0, 0.3, 0.3]
    assert not find_highlights(rgb).any()
    assert fill_highlights(rgb) is rgb


def test_a_recipe_fills_highlights_and_stores_that_it_does(folder):
    pixels = np.full((48, 64, 3), 90, dtype=np.uint8)
    pixels[20:23, 30:33] = 255
    recipes = [recipe_named(["windows"], ["colour"], highlights=each) for each in ("keep", "fill")]
    kept, filled = (recipe.candidates(pixels).values for recipe in recipes)
    assert np.ptp(filled[:, 0]) < 0.01 < np.ptp(kept[:, 0])
    assert Recipe.from_json(recipes[1].to_json()) == recipes[1]
    assert recipes[0].to_json()["version"] == 1
    assert "highlights" not in recipes[0].to_json()
    with pytest.raises(ParameterError, match="highlights is 'blur'; it must be 'keep' or 'fill'"):
        recipe_named(highlights="blur")
