"""Pictures by number: which there are, how large, how they look, and that none lies outside."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from annotate_page import app_of, browser, make_pictures
from PIL import Image

from groupcm.errors import InputError
from groupcm.images.reading import read_picture
from groupcm.web.server import library as library_module
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.pictures import (
    PREVIEW_SIDE,
    Renditions,
    encode_picture,
    previews_and_thumbnails,
)


def pixels_of(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)))


def noise(height: int, width: int, *channels: int, dtype=np.uint8) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, np.iinfo(dtype).max, (height, width, *channels), dtype=dtype)


def test_pictures_are_numbered_in_natural_order(tmp_path):
    library = PictureLibrary(make_pictures(tmp_path, "f10.png", "f2.png", "day/f1.png"))
    assert library.names == ["day/f1.png", "f2.png", "f10.png"]
    assert library.number("f10.png") == 2
    assert library.number("no.png") is None
    assert library.numbers(["f2.png", "no.png"]) == {1}


def test_a_folder_without_pictures_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(InputError, match="there is no picture in the folder"):
        PictureLibrary(tmp_path)


def test_sizes_are_read_when_asked_for_and_once(tmp_path, monkeypatch):
    folder = make_pictures(tmp_path)
    asked = []
    real = library_module.picture_size
    monkeypatch.setattr(library_module, "picture_size", lambda p: asked.append(p) or real(p))
    library = PictureLibrary(folder)
    assert asked == []
    assert library.size(1) == library.size(1) == (16, 12)
    assert len(asked) == 1
    Image.new("L", (5, 4)).save(folder / "b.png")
    assert library.size(1) == (5, 4)


def test_a_turned_picture_has_the_size_people_see(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(noise(4, 9, 3)).save(tmp_path / "a.jpg", exif=exif)
    library = PictureLibrary(tmp_path)
    assert library.size(0) == (4, 9)
    served = encode_picture(library, 0)
    assert served.media_type == "image/png"
    np.testing.assert_array_equal(pixels_of(served.content), library.read(0))
    with Image.open(io.BytesIO(Renditions(library)(0))) as small:
        assert small.size == (4, 9)


def test_pages_of_a_stack_are_pictures(tmp_path):
    pages = [Image.new("L", (6, 5), 10), Image.new("L", (3, 2), 20)]
    pages[0].save(tmp_path / "s.tif", save_all=True, append_images=pages[1:])
    library = PictureLibrary(tmp_path)
    assert library.names == ["s.tif#1", "s.tif#2"]
    assert [library.size(0), library.size(1)] == [(6, 5), (3, 2)]
    assert library.path(0) == library.path(1)
    assert library.read(1).max() == 20
    np.testing.assert_array_equal(pixels_of(encode_picture(library, 1).content), library.read(1))


def test_a_sign_of_pages_in_a_files_own_name(tmp_path):
    library = PictureLibrary(make_pictures(tmp_path, "a#2.png"))
    assert library.page(0) is None
    assert library.size(0) == (16, 12)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp"])
def test_plain_files_are_served_as_they_are(tmp_path, name):
    Image.fromarray(noise(8, 9, 3)).save(tmp_path / name)
    library = PictureLibrary(tmp_path)
    assert encode_picture(library, 0).content == (tmp_path / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("clear.png", Image.fromarray(noise(8, 9, 4))),
        ("map.bmp", Image.fromarray(noise(8, 9, 3))),
        ("print.jpg", Image.fromarray(noise(8, 9, 3)).convert("CMYK")),
    ],
)
def test_other_files_are_served_as_the_pixels_we_read(tmp_path, name, picture):
    picture.save(tmp_path / name)
    library = PictureLibrary(tmp_path)
    served = encode_picture(library, 0)
    assert served.media_type == "image/png"
    np.testing.assert_array_equal(pixels_of(served.content), read_picture(tmp_path / name))


def deep_pictures(folder: Path) -> dict[str, np.ndarray]:
    """One scene, dim and bright, in the low values of 16 bits and of floating-point numbers."""
    scene = np.full((60, 80), 100, np.uint16)
    scene[20:40, 20:40] = 300
    scene[0, :3] = 60_000
    Image.fromarray(scene).save(folder / "a.png")
    Image.fromarray(scene).save(
        folder / "b.tif", save_all=True, append_images=[Image.new("I;16", (9, 9))]
    )
    Image.fromarray((scene / 65_535).astype(np.float32)).save(folder / "c.tif")
    return {"a.png": scene, "b.tif#1": scene, "c.tif": scene / 65_535}


def test_pictures_of_more_than_8_bits_are_shown_between_their_percentiles(tmp_path):
    scenes = deep_pictures(tmp_path)
    client = browser(app_of(tmp_path))
    names = PictureLibrary(tmp_path).names
    for number, name in enumerate(names):
        depth = client.get(f"/api/pictures/{number}/depth").json()
        if name not in scenes:
            assert (depth["low"], depth["high"]) == (0, 65_535)  # all its values are the same
            continue
        white = 1 if name == "c.tif" else 65_535
        assert [depth["low"] / white, depth["high"] / white] == pytest.approx(
            [100 / 65_535, 300 / 65_535]
        )
        assert (depth["bits"], depth["width"], depth["height"]) == (
            32 if white == 1 else 16,
            80,
            60,
        )
        for part in ("pixels", "preview", "thumbnail"):
            seen = pixels_of(client.get(f"/api/pictures/{number}/{part}").content)
            seen = seen if seen.ndim == 2 else seen[:, :, 0]
            assert abs(int(seen[30, 30]) - 255) <= 9, part
            assert abs(int(seen[50, 60]) - 0) <= 9, part


def test_a_window_shows_other_values_of_any_picture(tmp_path):
    deep_pictures(tmp_path)
    Image.fromarray(np.array([[10, 20], [30, 40]], np.uint8)).save(tmp_path / "d.png")
    client = browser(app_of(tmp_path))
    seen = pixels_of(client.get("/api/pictures/0/pixels?low=0&high=60000").content)
    assert (seen[0, 0], seen[30, 30]) == (255, 1)
    flat = PictureLibrary(tmp_path).names.index("d.png")
    seen = pixels_of(client.get(f"/api/pictures/{flat}/pixels?low=10&high=30").content)
    np.testing.assert_array_equal(seen, [[0, 128], [255, 255]])
    assert client.get(f"/api/pictures/{flat}/depth").json()["bits"] == 8
    for wrong in ("low=1", "high=1", "low=2&high=2", "low=nan&high=1", "low=a&high=1"):
        assert client.get(f"/api/pictures/0/pixels?{wrong}").status_code == 400


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_large_pictures_are_decoded_once_for_all_their_copies(tmp_path, monkeypatch, name):
    Image.fromarray(noise(900, 1800, 3)).save(tmp_path / name)
    library = PictureLibrary(tmp_path)
    read = []
    real = library.read
    monkeypatch.setattr(library, "read", lambda number: read.append(number) or real(number))
    previews, thumbnails = previews_and_thumbnails(library)
    assert Image.open(io.BytesIO(thumbnails(0))).size == (192, 96)
    assert Image.open(io.BytesIO(previews(0))).size == (PREVIEW_SIDE, PREVIEW_SIDE // 2)
    assert read == ([0] if name == "a.png" else [])


def test_thumbnails_are_small_and_forgotten_by_size(tmp_path, monkeypatch):
    for name in ("a.png", "b.jpg", "c.png"):
        Image.fromarray(noise(300, 600, 3)).save(tmp_path / name)
    library = PictureLibrary(tmp_path)
    thumbnails = Renditions(library, most_bytes=1)
    made = []
    real = thumbnails._make
    monkeypatch.setattr(thumbnails, "_make", lambda number: made.append(number) or real(number))
    for number in (0, 0, 1, 0):
        with Image.open(io.BytesIO(thumbnails(number))) as small:
            assert small.size == (192, 96)
            assert small.format == "JPEG"
    assert made == [0, 1, 0]
    roomy = Renditions(library)
    assert roomy(1) is roomy(1)


def test_a_picture_that_cannot_be_read_is_a_sentence(tmp_path):
    make_pictures(tmp_path)
    (tmp_path / "b.png").write_bytes(b"no picture")
    client = browser(app_of(tmp_path))
    for part in ("thumbnail", "preview", "depth", "pixels"):
        answer = client.get(f"/api/pictures/1/{part}")
        assert answer.status_code == 422
        assert "b.png cannot be read" in answer.json()["error"]
        assert answer.headers["cache-control"] == "no-store"
    assert client.get("/api/pictures/0/thumbnail").status_code == 200


def test_pictures_are_kept_by_the_browser_for_one_start_only(tmp_path):
    client = browser(app_of(make_pictures(tmp_path)))
    answer = client.get("/api/pictures/0/pixels")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "Cookie"
    again = {"If-None-Match": answer.headers["etag"]}
    assert client.get("/api/pictures/0/pixels", headers=again).status_code == 304
    Image.new("L", (4, 4)).save(tmp_path / "a.png")
    assert client.get("/api/pictures/0/pixels", headers=again).status_code == 200


def test_links_that_leave_the_folder_are_refused_at_the_start(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    make_pictures(inside)
    make_pictures(outside, "secret.png")
    (inside / "d.png").symlink_to(outside / "secret.png")
    with pytest.raises(InputError, match="leads out of the folder"):
        PictureLibrary(inside)


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("part", ["", "/pixels", "/preview", "/thumbnail", "/depth"])
def test_links_made_after_the_listing_are_not_followed(tmp_path, kind, part):
    inside, outside = make_pictures(tmp_path / "in", "day/a.png"), tmp_path / "out"
    make_pictures(outside, "a.png")
    client = browser(app_of(inside))
    assert client.get("/api/pictures/0" + part).status_code == 200
    (inside / "day/a.png").unlink()
    if kind == "file":
        (inside / "day/a.png").symlink_to(outside / "a.png")
    else:
        (inside / "day").rmdir()
        (inside / "day").symlink_to(outside)
    answer = client.get("/api/pictures/0" + part)
    assert answer.status_code == 422
    assert "leads out of the folder" in answer.json()["error"]


def test_links_within_the_folder_are_followed(tmp_path):
    make_pictures(tmp_path, "a.png")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    library = PictureLibrary(tmp_path)
    assert library.read(1).shape == (12, 16, 3)


def test_a_picture_that_became_something_else_is_told(tmp_path):
    make_pictures(tmp_path)
    library = PictureLibrary(tmp_path)
    (tmp_path / "a.png").unlink()
    with pytest.raises(InputError, match=r"a\.png no longer exists"):
        library.size(0)
    (tmp_path / "a.png").mkdir()
    with pytest.raises(InputError, match=r"a\.png is no longer a file"):
        library.size(0)


@pytest.mark.parametrize("ending", ["jpg", "png"])
def test_a_picture_that_is_cut_off_is_not_half_shown(tmp_path, monkeypatch, ending):
    rng = np.random.default_rng(0)
    path = tmp_path / f"a.{ending}"
    Image.fromarray(rng.integers(0, 256, (80, 90, 3), np.uint8)).save(path)
    client = browser(app_of(tmp_path))
    read = []
    real = library_module.read_picture
    monkeypatch.setattr(
        library_module, "read_picture", lambda *given: read.append(given) or real(*given)
    )
    for _ in range(2):
        assert client.get("/api/pictures/0/pixels").status_code == 200
    assert len(read) == 1
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    answer = client.get("/api/pictures/0/pixels")
    assert answer.status_code == 422
    assert path.name in answer.json()["error"]
    assert client.get("/api/pictures").json()["summaries"][0]["error"] == answer.json()["error"]
