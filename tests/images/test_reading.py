"""Picture files of all kinds become arrays of one meaning."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groupcm.annotations.pictures import picture_files
from groupcm.errors import InputError, SetAsideWarning
from groupcm.images import listing
from groupcm.images.listing import list_pictures
from groupcm.images.reading import as_rgb, page_count, read_named, read_picture

GREY = np.array([[0, 50, 100], [150, 200, 250]], dtype=np.uint8)
COLOURS = np.stack([GREY, GREY[::-1], GREY[:, ::-1]], axis=2)


def saved(pixels: np.ndarray | Image.Image, path: Path, **options) -> Path:
    picture = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    picture.save(path, **options)
    return path


@pytest.mark.parametrize("ending", ["png", "tif", "bmp", "webp"])
@pytest.mark.parametrize("pixels", [GREY, COLOURS], ids=["grey", "rgb"])
def test_8_bits_come_as_they_are(tmp_path, ending, pixels):
    options = {"lossless": True} if ending == "webp" else {}
    found = read_picture(saved(pixels, tmp_path / f"a.{ending}", **options))
    if ending == "webp" and pixels.ndim == 2:  # has no grey
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, pixels)


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_16_bits_keep_every_value(tmp_path, ending):
    pixels = np.array([[0, 1, 255], [256, 40_000, 65_535]], dtype=np.uint16)
    found = read_picture(saved(pixels, tmp_path / f"a.{ending}"))
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, pixels)
    np.testing.assert_allclose(as_rgb(found)[:, :, 1], pixels / 65_535, rtol=1e-6)


def test_a_palette_becomes_its_colours(tmp_path):
    three = Image.fromarray(np.array([[0, 1, 2]], dtype=np.uint8)).convert("P")
    three.putpalette([255, 0, 0, 0, 255, 0, 9, 8, 7])
    found = read_picture(saved(three, tmp_path / "a.png"))
    assert found.tolist() == [[[255, 0, 0], [0, 255, 0], [9, 8, 7]]]
    found = read_picture(saved(three, tmp_path / "b.png", transparency=2))
    assert found.tolist() == [[[255, 0, 0], [0, 255, 0], [0, 0, 0]]]


def test_black_and_white_are_0_and_255(tmp_path):
    bits = Image.fromarray(GREY > 120).convert("1")
    assert read_picture(saved(bits, tmp_path / "a.png")).tolist() == [[0, 0, 0], [255, 255, 255]]


def test_what_is_transparent_lies_on_black(tmp_path):
    colours = np.array([[[200, 100, 50, 255], [200, 100, 50, 0], [200, 100, 50, 51]]], np.uint8)
    found = read_picture(saved(colours, tmp_path / "a.png"))
    assert found.tolist() == [[[200, 100, 50], [0, 0, 0], [40, 20, 10]]]
    grey = Image.fromarray(colours[:, :, [0, 3]])
    assert grey.mode == "LA"
    assert read_picture(saved(grey, tmp_path / "b.png")).tolist() == [[200, 0, 40]]


def test_other_colour_spaces_become_rgb(tmp_path):
    found = read_picture(saved(Image.new("CMYK", (2, 1), (0, 255, 255, 0)), tmp_path / "a.tif"))
    assert found.tolist() == [[[255, 0, 0]] * 2]


def seen(orientation: int) -> np.ndarray:
    """The picture as EXIF's own words say: where row 0 and column 0 of the file are shown."""
    shown = {
        1: GREY,
        2: np.fliplr(GREY),
        3: np.rot90(GREY, 2),
        4: np.flipud(GREY),
        5: GREY.T,
        6: np.rot90(GREY, -1),
        7: np.rot90(GREY, 2).T,
        8: np.rot90(GREY),
    }
    return shown[orientation]


@pytest.mark.parametrize("ending", ["png", "tif", "16.png"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_turned_as_exif_asks(tmp_path, orientation, ending):
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = GREY.astype(np.uint16) * 257 if ending == "16.png" else GREY
    found = read_picture(saved(pixels, tmp_path / f"a.{ending}", exif=exif))
    assert found.flags.c_contiguous
    assert found.dtype == pixels.dtype
    np.testing.assert_array_equal(
        found, seen(orientation).astype(pixels.dtype) * (pixels.max() // 250)
    )


def test_an_orientation_that_means_nothing_is_passed_over(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 77
    np.testing.assert_array_equal(read_picture(saved(GREY, tmp_path / "a.png", exif=exif)), GREY)


def stack(path: Path, n: int) -> Path:
    pages = [Image.fromarray(np.full((2, 3), 10 * k, np.uint8)) for k in range(1, n + 1)]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


def test_pages_of_a_stack_are_pictures_of_their_own(tmp_path):
    stack(tmp_path / "été 1.tif", 12)
    saved(GREY, tmp_path / "one.tif")
    names = list_pictures(tmp_path)
    assert names == [f"été 1.tif#{page}" for page in range(1, 13)] + ["one.tif"]
    assert [int(read_named(tmp_path, name)[0, 0]) for name in names[:12]] == list(
        range(10, 130, 10)
    )
    assert read_named(tmp_path, "one.tif").shape == (2, 3)
    assert page_count(tmp_path / "été 1.tif") == 12
    assert list_pictures(tmp_path, pages=False) == ["été 1.tif", "one.tif"]


@pytest.mark.parametrize(
    ("files", "masks"),
    [
        (("a.jpg", "a_mask.png", "b.png", "b_label.png"), ("a_mask.png", "b_label.png")),
        (("a.tif", "a-gt.tif", "A_Segmentation.PNG"), ("A_Segmentation.PNG", "a-gt.tif")),
        (
            ("x (1).png", "x (1)_mask.png", "x (1)_mask_1.png"),
            ("x (1)_mask.png", "x (1)_mask_1.png"),
        ),
        (("day/a.jpg", "day/masks/a.png"), ("day/masks/a.png",)),
        (("images/p1/a.jpg", "labels/p1/a.png"), ("labels/p1/a.png",)),
        (("a.jpg", "out/masks.json", "out/a.png", "out/a.2.png"), ("out/a.2.png", "out/a.png")),
        # A name alone makes no mask: what would be masked has to be there.
        (
            ("face_mask.jpg", "masks/1.jpg", "bottles/1.jpg", "_mask.png", "day/a.jpg", "a_gt.png"),
            (),
        ),
    ],
)
def test_a_mask_is_never_taken_for_a_picture(tmp_path, files, masks):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    pictures = {name for name in files if not name.endswith(".json")} - set(masks)
    assert picture_files(tmp_path) == (sorted(pictures), list(masks))
    if masks:
        count = "1 mask is" if len(masks) == 1 else f"{len(masks)} masks are"
        with pytest.warns(
            SetAsideWarning, match=f"{count} stored .* such as {re.escape(masks[0])}"
        ):
            assert set(list_pictures(tmp_path, pages=False)) == pictures
    else:
        assert set(list_pictures(tmp_path, pages=False)) == pictures


def test_a_stack_of_too_many_pages_is_refused(tmp_path, monkeypatch):
    path = stack(tmp_path / "stack.tif", 4)
    monkeypatch.setattr("groupcm.images.reading.MOST_PAGES", 3)
    with pytest.raises(InputError, match=r"stack\.tif cannot be read: it has more than 3 pages"):
        read_picture(path, 2)


def test_a_page_of_another_size_and_depth(tmp_path):
    first = Image.fromarray(GREY)
    second = Image.fromarray(np.full((5, 4), 999, dtype=np.uint16))
    first.save(tmp_path / "a.tif", save_all=True, append_images=[second])
    found = read_named(tmp_path, "a.tif#2")
    assert (found.dtype, found.shape, found[0, 0]) == (np.uint16, (5, 4), 999)
    with pytest.raises(InputError, match=r"a\.tif has no page 3; it has 1 to 2$"):
        read_named(tmp_path, "a.tif#3")
    with pytest.raises(InputError, match=r"a\.tif has no page 0"):
        read_named(tmp_path, "a.tif#0")


def test_smaller_copies_in_a_pyramid_are_no_pages(tmp_path):
    from tifffile import TiffWriter

    with TiffWriter(tmp_path / "a.tif") as file:
        file.write(np.full((8, 8), 7, np.uint8))
        file.write(np.full((4, 4), 7, np.uint8), subfiletype=1)
    assert list_pictures(tmp_path) == ["a.tif"]


def test_a_name_may_hold_the_sign_of_pages(tmp_path):
    saved(GREY, tmp_path / "a.png#3.png")
    saved(COLOURS, tmp_path / "b#2.png")
    for name, pixels in zip(list_pictures(tmp_path), (GREY, COLOURS), strict=True):
        np.testing.assert_array_equal(read_named(tmp_path, name), pixels)


def test_one_pixel_and_one_colour_are_pictures(tmp_path):
    assert read_picture(saved(GREY[:1, 1:2], tmp_path / "a.png")).tolist() == [[50]]
    assert not read_picture(saved(np.zeros((4, 4, 3), np.uint8), tmp_path / "b.jpg")).any()


def damaged(folder: Path, kind: str) -> Path:
    path = folder / f"é {kind}.jpg"
    if kind == "truncated":
        noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
        saved(noise, path)
        path.write_bytes(path.read_bytes()[:1500])
    elif kind == "empty":
        path.touch()
    elif kind == "text":
        path.write_text("no picture")
    elif kind == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        ("truncated", "truncated"),
        ("empty", "the file is empty"),
        ("text", "not a picture"),
        ("missing", "does not exist"),
        ("folder", "cannot be read"),
    ],
)
def test_damaged_files_are_told_in_one_sentence(tmp_path, kind, clause):
    path = damaged(tmp_path, kind)
    with pytest.raises(InputError) as caught:
        read_picture(path)
    sentence = str(caught.value)
    assert clause in sentence
    assert str(path) in sentence
    assert "\n" not in sentence


def test_damaged_stacks_are_listed_and_told_when_read(tmp_path):
    (tmp_path / "a.tif").write_bytes(b"II*\0 and no more")
    assert list_pictures(tmp_path) == ["a.tif"]
    with pytest.raises(InputError, match=r"a\.tif cannot be read"):
        read_named(tmp_path, "a.tif")


def test_too_many_pixels_are_refused_before_they_are_read(tmp_path):
    path = saved(Image.new("1", (10_000, 10_000)), tmp_path / "large.png")
    with pytest.raises(InputError) as caught:
        read_picture(path)
    assert "large.png has 10000 × 10000 pixels, 100.0 million; at most 50.0" in str(caught.value)
    small = saved(GREY, tmp_path / "small.png")
    with pytest.raises(InputError, match="most_pixels"):
        read_picture(small, most_pixels=5)
    assert read_picture(small, most_pixels=6).shape == (2, 3)


@pytest.mark.parametrize(
    ("pixels", "clause"),
    [
        (np.array([[0, 2.5]], dtype=np.float32), "pixels from 0 to 2.5; pictures of floating"),
        (np.array([[0, np.nan]], dtype=np.float32), "not numbers"),
        (np.array([[0, 70_000]], dtype=np.int32), "pixels from 0 to 70000; pictures of whole"),
    ],
)
def test_values_of_unknown_meaning_are_refused(tmp_path, pixels, clause):
    with pytest.raises(InputError, match=re.escape(clause)):
        read_picture(saved(pixels, tmp_path / "a.tif"))


def test_floats_from_0_to_1_are_kept(tmp_path):
    pixels = np.array([[0, 0.25, 1]], dtype=np.float32)
    found = read_picture(saved(pixels, tmp_path / "a.tif"))
    np.testing.assert_array_equal(found, pixels)
    np.testing.assert_array_equal(as_rgb(found)[:, :, 2], pixels)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8)])
def test_arrays_that_are_no_pictures(wrong):
    with pytest.raises(ValueError, match="they must be"):
        as_rgb(wrong)


def test_without_pillow_the_sentence_says_how_to_install_it(tmp_path, monkeypatch):
    path = saved(GREY, tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(InputError, match=re.escape('pip install "groupcm[images]"')):
        read_picture(path)


def test_folders_are_listed_with_those_inside_in_natural_order(tmp_path):
    names = ["10.png", "9.png", "a b/frame2.jpg", "a b/frame10.jpg", "Été/1.PNG", "z.tif"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.png").touch()
    (tmp_path / "notes.txt").touch()
    expected = ["9.png", "10.png", "a b/frame2.jpg", "a b/frame10.jpg", "Été/1.PNG", "z.tif"]
    assert list_pictures(tmp_path) == expected


@pytest.mark.skipif(os.name != "posix", reason="needs links")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_links_may_not_leave_the_folder(tmp_path, kind):
    home, outside = tmp_path / "home", tmp_path / "home of others"
    home.mkdir()
    outside.mkdir()
    saved(GREY, outside / "secret.png")
    saved(GREY, home / "a.png")
    (home / "inside.png").symlink_to(home / "a.png")
    assert list_pictures(home) == ["a.png", "inside.png"]
    target = outside if kind == "folder" else outside / "secret.png"
    (home / "link.png").symlink_to(target)
    with pytest.raises(InputError, match=r"link\.png is a link that leads out of the folder"):
        list_pictures(home)


def test_a_link_to_the_folder_itself_is_no_endless_way(tmp_path):
    saved(GREY, tmp_path / "a.png")
    (tmp_path / "again").symlink_to(tmp_path)
    assert list_pictures(tmp_path) == ["a.png"]


def test_only_links_are_resolved(tmp_path, monkeypatch):
    resolved = []
    original = os.path.realpath
    for number in range(20):
        (tmp_path / f"{number}.png").touch()
    (tmp_path / "link.png").symlink_to(tmp_path / "0.png")
    monkeypatch.setattr(
        listing.os.path,
        "realpath",
        lambda path, **options: resolved.append(Path(path).name) or original(path, **options),
    )
    assert len(list_pictures(tmp_path)) == 21
    assert [name for name in resolved if name.endswith(".png")] == ["link.png"]


def test_a_folder_that_is_not_there():
    with pytest.raises(InputError, match="does not exist"):
        list_pictures("no such folder")


def test_a_file_comes_before_a_page_of_the_same_name(tmp_path):
    saved(COLOURS, tmp_path / "a.png#3", format="PNG")
    np.testing.assert_array_equal(read_named(tmp_path, "a.png#3"), COLOURS)
