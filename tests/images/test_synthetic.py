"""Made frames: the same for the same seed, with polyps exactly where the masks say."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from scipy.interpolate import BSpline
from sklearn.metrics import roc_auc_score

from groupcm.annotations import Mask, read
from groupcm.errors import InputError
from groupcm.images.listing import list_pictures
from groupcm.images.overlap import overlap
from groupcm.images.reading import read_named
from groupcm.images.synthetic import make_frames, write_frames
from groupcm.images.synthetic._rendering import make_wall, place_polyp
from groupcm.images.synthetic._scene import draw_patient, smooth_noise

SMALL = {"height": 72, "width": 96}


def masks_of(frame) -> list[np.ndarray]:
    size = frame.picture.height, frame.picture.width
    return [marked.region.mask(*size) for marked in frame.picture.objects]


@pytest.fixture(scope="module")
def twins():
    """The same frames with a polyp each and without."""
    with_polyps = make_frames(24, share_with_polyps=1, n_patients=12, seed=4, **SMALL)
    without = make_frames(24, share_with_polyps=0, n_patients=12, seed=4, **SMALL)
    return list(with_polyps), list(without)


def test_the_same_seed_makes_the_same_frames():
    first, again, other = (list(make_frames(3, seed=seed, **SMALL)) for seed in (7, 7, 8))
    for one, two, three in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one.pixels, two.pixels)
        assert one.picture == two.picture
        assert np.mean(one.pixels != three.pixels) > 0.5
    assert np.mean(first[0].pixels != first[1].pixels) > 0.5


def test_noise_is_a_cubic_spline_of_random_knots():
    height, width, scale = 40, 60, 0.35
    step = scale * height / 2
    knots = np.random.default_rng(3).standard_normal((10, 13)).astype(np.float32)
    found = smooth_noise(np.random.default_rng(3), height, width, scale)
    expected = knots.astype(float)
    for axis, side in enumerate((height, width)):
        n = knots.shape[axis]
        at = 1.5 + np.arange(side) / step
        spline = BSpline(np.arange(-2, n + 2), expected, 3, axis=axis)
        expected = spline(at)
    np.testing.assert_allclose(found, 1.5 * expected, atol=1e-5)


def test_as_many_frames_show_a_polyp_as_asked():
    for share, count in ((0, 0), (0.3, 3), (1, 10)):
        frames = list(make_frames(10, share_with_polyps=share, height=32, width=32))
        assert sum(frame.picture.is_positive for frame in frames) == count


def test_a_polyp_changes_its_pixels_and_hardly_those_far_from_it(twins):
    inside, far = [], []
    for marked, plain in zip(*twins, strict=True):
        (mask,) = masks_of(marked)
        changed = np.abs(marked.pixels.astype(int) - plain.pixels).mean(axis=2)
        inside.append(changed[mask].mean())
        far.append(changed[~ndimage.binary_dilation(mask, iterations=25)].mean())
    assert np.median(inside) > 10
    assert max(far) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_a_mask_holds_just_the_pixels_that_the_polyp_raises(seed):
    rng = np.random.default_rng(seed)
    patient = draw_patient(rng)
    scene = make_wall(patient, 72, 96, rng)
    scene.surface = np.zeros_like(scene.surface)
    mask = place_polyp(scene, patient.polyps[0], rng)
    assert mask.any()
    np.testing.assert_array_equal(mask, (scene.surface > 0) & scene.view)


def test_where_a_polyp_ends_the_surface_bends(twins):
    """Contrast between with and without rises at the mask's edge, not elsewhere."""
    step = []
    for marked, plain in zip(*twins, strict=True):
        (mask,) = masks_of(marked)
        changed = np.abs(marked.pixels.astype(int) - plain.pixels).mean(axis=2)
        seen = plain.pixels.max(axis=2) > 20
        within = mask & seen
        around = ndimage.binary_dilation(mask, iterations=12) & seen
        around &= ~ndimage.binary_dilation(mask, iterations=6)
        step.append(changed[within].mean() > changed[around].mean())
    assert np.mean(step) >= 0.9


def test_polyps_are_whole_of_fair_size_and_within_the_view(twins):
    for frame in twins[0]:
        (mask,) = masks_of(frame)
        assert ndimage.label(mask)[1] == 1
        assert 0.003 < mask.mean() < 0.35
        assert frame.pixels[mask].max(axis=1).mean() > 25
    assert not twins[1][0].picture.objects


def test_colour_alone_does_not_tell_polyps(twins):
    areas = []
    for frame in twins[0]:
        (mask,) = masks_of(frame)
        rgb = frame.pixels.astype(float) + 1
        seen = frame.pixels.max(axis=2) > 40
        redness = rgb[:, :, 0] / rgb.sum(axis=2)
        areas.append(roc_auc_score(mask[seen], redness[seen]))
    assert 0.2 < np.mean(areas) < 0.75
    assert np.min(areas) < 0.5 < np.max(areas)
    means = [np.mean([frame.pixels.mean(axis=(0, 1)) for frame in some], axis=0) for some in twins]
    assert np.abs(means[0] - means[1]).max() < 5


def test_frames_of_one_patient_are_alike_in_colour():
    frames = list(make_frames(24, share_with_polyps=0, n_patients=4, seed=2, **SMALL))
    hue = {}
    for frame in frames:
        total = frame.pixels.sum(axis=(0, 1), dtype=float)
        hue.setdefault(frame.patient, []).append(total[2] / total[0])
    assert list(hue) == ["patient1", "patient2", "patient3", "patient4"]
    within = np.mean([np.std(values) for values in hue.values()])
    between = np.std([np.mean(values) for values in hue.values()])
    assert within < between


def test_corners_are_black_and_the_middle_is_lit(twins):
    for frame in twins[1]:
        assert frame.pixels[[0, 0, -1, -1], [0, -1, 0, -1]].max() <= 5
    assert np.mean([frame.pixels[20:50, 30:60].mean() for frame in twins[1]]) > 50


@pytest.mark.parametrize(("height", "width"), [(16, 16), (17, 90), (90, 17)])
def test_any_size(height, width):
    for frame in make_frames(3, share_with_polyps=1, height=height, width=width):
        assert frame.pixels.shape == (height, width, 3)
        assert len(frame.picture.objects) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_frames": 0}, "n_frames must be a whole number at least 1; got 0"),
        ({"height": 15}, "height must be a whole number at least 16; got 15"),
        ({"seed": -1}, "seed must be a whole number at least 0"),
        ({"n_patients": 1.5}, "n_patients must be a whole number"),
        ({"share_with_polyps": 1.1}, "share_with_polyps must be from 0 to 1"),
    ],
)
def test_what_cannot_be_is_told_at_once(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_frames(**options)


def test_a_written_folder_reads_back_pixel_for_pixel(tmp_path):
    folder = tmp_path / "synthetic frames"
    options = {"share_with_polyps": 0.5, "n_patients": 2, "seed": 5}
    marked = write_frames(folder, 4, **options, **SMALL)
    assert sorted(path.name for path in folder.iterdir()) == ["annotations.json", "frames"]
    found = read(folder / "annotations.json", images=folder / "frames")
    assert list_pictures(folder / "frames") == [picture.name for picture in marked]
    for frame in make_frames(4, **options, **SMALL):
        name = frame.picture.name
        np.testing.assert_array_equal(read_named(folder / "frames", name), frame.pixels)
        written = [each.region for each in found[name].objects]
        assert all(isinstance(region, Mask) for region in written)
        assert written == [each.region for each in frame.picture.objects]
        assert found[name].extra["patient"] == frame.patient
        assert np.all(overlap(written, written, **SMALL) == 1)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        write_frames(tmp_path, 1, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nothing_is_left_when_writing_fails(tmp_path, monkeypatch):
    def no_space(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_frames(tmp_path / "synthetic", 1, **SMALL)
    assert not list(tmp_path.iterdir())
