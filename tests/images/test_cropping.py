"""Windows of pictures: their pixels, objects, patients, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture
from groupcm.errors import InputError
from groupcm.images.cropping import cut_windows, read_windows
from groupcm.images.picture_set import read_picture_set
from groupcm.images.reading import read_named

HEADER = "image,x0,y0,x1,y1"


@pytest.fixture
def pictures(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (12, 20, 3), dtype=np.uint8)
    (tmp_path / "set").mkdir()
    for name in ("a.png", "b.png"):
        Image.fromarray(pixels).save(tmp_path / "set" / name)
    polyp = AnnotatedObject("polyp", Box(2, 2, 4, 4))
    marked = [
        Picture("a.png", 20, 12, [polyp], extra={"patient": "p"}),
        Picture("b.png", 20, 12, extra={"patient": "q"}),
    ]
    return read_picture_set(tmp_path / "set", annotations=Annotations(marked))


def cut(pictures, tmp_path, *rows):
    (tmp_path / "w.csv").write_text("\n".join([HEADER, *rows]))
    return cut_windows(pictures, tmp_path / "w.csv", tmp_path / "windows")


def test_windows_have_their_pixels_objects_and_patients(pictures, tmp_path):
    found = cut(pictures, tmp_path, "a,0,0,8,8", "a.png,10,0,18,8", "b,1,2,9,10", "a,0,0,8,8")
    assert found.names == ["a_0_0_8_8.png", "a_10_0_18_8.png", "b_1_2_9_10.png"]
    assert [found.is_positive(name) for name in found.names] == [True, False, False]
    assert found.annotations["a_0_0_8_8.png"].objects[0].region.box == Box(2, 2, 4, 4)
    assert list(found.patients.values()) == ["p", "p", "q"]
    whole = read_named(pictures.folder, "b.png")
    assert np.array_equal(read_named(found.folder, "b_1_2_9_10.png"), whole[2:10, 1:9])


def test_objects_are_cut_and_small_parts_leave_the_window_out(pictures, tmp_path):
    found = cut(pictures, tmp_path, "a,3,0,11,8", "a,5,0,13,8")
    assert found.names == ["a_3_0_11_8.png"]
    assert found.annotations["a_3_0_11_8.png"].objects[0].region.box == Box(0, 2, 3, 4)
    assert "1 of the windows listed show less than half" in found.findings[-1]


def test_windows_of_one_picture_stay_on_one_side_without_patients(tmp_path, pictures):
    bare = [Picture(each.name, 20, 12, each.objects) for each in pictures.annotations]
    alone = read_picture_set(pictures.folder, annotations=Annotations(bare))
    found = cut(alone, tmp_path, "a,0,0,8,8", "a,10,0,18,8", "b,0,0,8,8")
    assert list(found.patients.values()) == ["a.png", "a.png", "b.png"]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("c,0,0,4,4", "line 2: there is no picture 'c'"),
        ("a,0,0,x,4", "edges of a window must be numbers"),
        ("a,4,0,4,4", "has no area"),
        ("a,0,0,21,4", "leaves the picture, which has 20 × 12 pixels"),
        ("", "lists no windows"),
    ],
)
def test_wrong_windows_are_refused(pictures, tmp_path, row, sentence):
    with pytest.raises(InputError, match=sentence):
        cut(pictures, tmp_path, row)


def test_the_file_of_windows_is_checked(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_windows(tmp_path / "none.csv", ["a.png"])
    (tmp_path / "w.csv").write_text("image,x0\n")
    with pytest.raises(InputError, match="no column 'y0'"):
        read_windows(tmp_path / "w.csv", ["a.png"])
