"""Small files that ask for much: read from their runs, or refused, and never obeyed."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from groupcm.annotations import (
    AnnotatedObject,
    Annotations,
    AnnotationWarning,
    Box,
    Mask,
    Picture,
    Polygons,
    limits,
    picture_size,
    read,
    write,
)
from groupcm.errors import InputError


def png(width: int, height: int, value: int = 0, n_rows: int | None = None) -> bytes:
    """A picture of one bit a pixel, whose bytes all have one value; some rows may be missing."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    row = b"\0" + bytes([value]) * -(-width // 8)
    rows = zlib.compress(row * (height if n_rows is None else n_rows), 9)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")]
    )


def saved(pixels: np.ndarray) -> bytes:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def cvat(shapes: str, width: int = 65_000, height: int = 65_000) -> str:
    return (
        f'<annotations><image name="a" width="{width}" height="{height}">{shapes}'
        "</image></annotations>"
    )


def cvat_mask(width: int, height: int, rle: str) -> str:
    return f'<mask label="x" left="0" top="0" width="{width}" height="{height}" rle="{rle}"/>'


def coco(*marks: dict, width: int = 65_000, height: int = 65_000, name: str = "a") -> str:
    image = {"id": 1, "file_name": name, "width": width, "height": height}
    records = [{"image_id": 1, "category_id": 1, **mark} for mark in marks]
    return json.dumps(
        {"images": [image], "categories": [{"id": 1, "name": "x"}], "annotations": records}
    )


def labelme(*shapes: dict) -> str:
    return json.dumps(
        {"imagePath": "a.png", "imageWidth": 65_000, "imageHeight": 65_000, "shapes": shapes}
    )


def labelme_mask(side: int, content: bytes) -> dict:
    points = [[0, 0], [side - 1, side - 1]]
    mask = base64.b64encode(content).decode()
    return {"label": "x", "shape_type": "mask", "points": points, "mask": mask}


def brush(width: int, height: int, *, full: bool) -> str:
    """Label Studio's code of a mask of all pixels, or nothing but its size."""
    size = width * height * 4
    bits = format(size, "032b") + format(7, "05b") + "1111" * 4
    if full:
        whole, rest = divmod(size, 65_536)
        block = "100{:016b}11111111".format
        bits += block(65_535) * whole + (block(rest - 1) if rest else "")
    bits += "0" * (-len(bits) % 8)
    code = list(int(bits, 2).to_bytes(len(bits) // 8, "big"))
    value = {"format": "rle", "rle": code, "brushlabels": ["x"]}
    result = {"type": "brushlabels", "value": value}
    result |= {"original_width": width, "original_height": height}
    return json.dumps([{"data": {"image": "a.png"}, "annotations": [{"result": [result]}]}])


STRIPES = ",".join(["65000"] * 2_000)
FULL = cvat_mask(64_000, 64_000, "0,4096000000")
RECTANGLE = {"label": "x", "shape_type": "rectangle", "points": [[0, 0], [65_000, 60_000]]}
YOLO = {"labels/a.txt": "0 .5 .5 .1 .1", "labels/a.png": png(40, 30)}
DOTS = np.zeros((700, 700), np.uint8)
DOTS[::2, ::2] = 255
COLOURS = np.arange(90_000, dtype=np.uint32).reshape(300, 300)

# Of each: the files, and words of the sentence or the number of objects.
CASES: dict[str, tuple[str | dict[str, str | bytes], str | int]] = {
    "one.xml": (cvat(cvat_mask(65_000, 65_000, "1,1")), 1),
    "full.xml": (cvat(cvat_mask(65_000, 65_000, "0,4225000000")), 1),
    "stripes.xml": (cvat(cvat_mask(65_000, 65_000, STRIPES)), "130,000,000 runs"),
    "wide.xml": (cvat(cvat_mask(2**32 - 1, 1, f"0,{2**32 - 1}"), 2**32 - 1, 1), "runs of pixels"),
    "many.xml": (cvat(FULL * 1_000), "17,433,856 runs of pixels together"),
    "far.xml": (cvat('<polygon label="x" points="0,0;1e8,0;0,1e8"/>'), "2e+08 columns"),
    "polygons.xml": (
        cvat('<polygon label="x" points="0,0;65000,1;0,65000"/>' * 1_000),
        "columns of pixels together",
    ),
    "full.json": (coco({"segmentation": {"size": [65_000] * 2, "counts": [0, 65_000**2]}}), 1),
    "size.json": (coco({"segmentation": {"size": [10**400, 1], "counts": [0, 1]}}), "pixels"),
    "overflow.json": (
        coco({"segmentation": {"size": [9] * 2, "counts": [2**62] * 4}}, width=9, height=9),
        "a run of 4611686018427387904",
    ),
    "huge.json": (coco({"bbox": [10**400, 1, 1, 1]}), "the box's x is too large"),
    "width.json": (coco(width=10**400), "'width' is 1000"),
    "deep.json": (coco()[:-1] + ',"z":' + "[" * 200_000 + "]" * 200_000 + "}", "too deeply"),
    "name.json": (coco({"bbox": [1] * 4}, name="x" * 10_000), "10,000 characters"),
    "bomb.json": (
        labelme(labelme_mask(20_000, png(20_000, 20_000, n_rows=9))),
        "20000 × 20000 pixels",
    ),
    "fits.json": (labelme(labelme_mask(3_000, png(3_000, 3_000, 255))), 1),
    "group.json": (labelme(*[RECTANGLE | {"group_id": 1}] * 1_000), "runs of pixels together"),
    "giant.json": (brush(32_767, 32_767, full=False), "ends too early"),
    "brush.json": (brush(30_000, 30_000, full=True), 1),
    "bomb masks": ({"a.png": png(25_000, 25_000, n_rows=9)}, "decompression bomb"),
    "large masks": (
        {"a.png": png(9_000, 9_000, n_rows=9)},
        "9000 × 9000 pixels, more than 50,000,000",
    ),
    "fitting masks": ({"a.png": png(3_000, 3_000, 255)}, 1),
    "noisy masks": ({"a.png": saved(DOTS)}, "122,500 pieces"),
    "colourful masks": (
        {"a.png": saved(np.stack([COLOURS >> 16, COLOURS >> 8, COLOURS], -1).astype(np.uint8))},
        "values; at most 50,000",
    ),
    "spaces": ({"data.yaml": " " * 400_000 + "#\nnames: [a]\n", **YOLO}, 1),
    "more spaces": ({"data.yaml": "names: [" + " " * 400_000 + "a]\n", **YOLO}, 1),
    "quotes": ({"data.yaml": "names: [" + "b'" * 200_000 + "]\n", **YOLO}, "400,000 characters"),
    "digits": ({"classes.txt": "a", **YOLO, "labels/a.txt": "1" * 9_000 + " 1 1 1 1"}, "category"),
    "categories.csv": (
        "image,x,y,width,height,category,image_width,image_height\n"
        + "".join(f"a,1,1,1,1,c{number},40,30\n" for number in range(10_000)),
        10_000,
    ),
    "columns.csv": (",".join(f"c{number}" for number in range(100_000)) + "\n", "no column holds"),
}

READER = """
import json, resource, sys, warnings
from pathlib import Path
from groupcm.annotations import read
from groupcm.errors import InputError

warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for path in map(Path, sys.argv[1:]):
    try:
        found = read(path, format="masks" if "masks" in path.name else None)
        said = sum(marked.region.area > 0 for marked in found.objects())
    except InputError as error:
        said = str(error)
    print(json.dumps([path.name, said]), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_small_files_cannot_ask_for_much(tmp_path):
    """All in one process with 2 GB of addresses; one that asks for more ends it."""
    for name, (content, _) in CASES.items():
        files = content if isinstance(content, dict) else {"": content}
        for inner, part in files.items():
            path = tmp_path / name / inner if inner else tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(part if isinstance(part, bytes) else part.encode())
    arguments = [sys.executable, "-c", READER, *(str(tmp_path / name) for name in CASES)]
    # One thread: each would reserve addresses for itself.
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(arguments, capture_output=True, text=True, env=alone)
    said = dict(map(json.loads, run.stdout.splitlines()))
    assert list(said) == list(CASES), run.stderr
    for name, (_, expected) in CASES.items():
        if isinstance(expected, int):
            assert said[name] == expected, name
        else:
            assert expected in str(said[name]), name
            assert name in said[name]
            assert len(said[name]) < 2_100


def test_a_large_mask_survives_the_formats_that_keep_runs(tmp_path):
    size = 60_000, 50_000
    mask = Mask(*size, [7, 100, 59_893 + 60_000, 60_000])
    large = Annotations((Picture("a.png", 50_000, 60_000, (AnnotatedObject("x", mask),)),))
    for format in ("coco", "cvat"):
        write(large, tmp_path / format, format)
        assert read(tmp_path / format, format=format)["a.png"].objects[0].region == mask
    for format in ("masks", "label_studio"):
        with pytest.raises(InputError, match=r"cannot write .*50000 × 60000 pixels"):
            write(large, tmp_path / format, format)
        assert not (tmp_path / format).exists()


def test_the_limit_of_pixels_can_be_raised_and_lowered(tmp_path, monkeypatch):
    (tmp_path / "masks").mkdir()
    (tmp_path / "masks" / "a.png").write_bytes(png(100, 100, 255))
    monkeypatch.setenv("GROUPCM_MOST_PIXELS", "9_999")
    with pytest.raises(InputError, match="100 × 100 pixels, more than 9,999; set GROUPCM_MOST"):
        read(tmp_path / "masks", format="masks")
    monkeypatch.setenv("GROUPCM_MOST_PIXELS", "10000")
    assert len(list(read(tmp_path / "masks", format="masks").objects())) == 1
    for wrong in ("many", "-5", "1e9", "0", "²"):
        monkeypatch.setenv("GROUPCM_MOST_PIXELS", wrong)
        with pytest.raises(InputError, match=r"GROUPCM_MOST_PIXELS is .* must be a whole number"):
            limits.most_pixels()


def test_a_raised_limit_of_pixels_holds_for_pillow_too(tmp_path, monkeypatch):
    """Without it, Pillow does not even tell the size of such a picture."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1_000)
    monkeypatch.setenv("GROUPCM_MOST_PIXELS", "1000")
    (tmp_path / "a.png").write_bytes(png(100, 100))
    with pytest.raises(InputError, match="decompression bomb"):
        picture_size(tmp_path / "a.png")
    monkeypatch.setenv("GROUPCM_MOST_PIXELS", "10000")
    assert picture_size(tmp_path / "a.png") == (100, 100)


def test_the_limit_of_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPCM_MOST_BYTES", "20")
    for name in ("a.json", "a.xml", "a.csv"):
        (tmp_path / name).write_text(" " * 21)
        with pytest.raises(InputError, match=rf"{name} has 21 bytes; at most 20 are read"):
            read(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_plain_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"a\.json cannot be read: it is not a plain file"):
        read(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"a\.png cannot be read: it is not a plain file"):
        picture_size(tmp_path / "a.png")


def test_pictures_of_other_kinds_are_not_tried(tmp_path):
    """Pillow would give PostScript to another program."""
    path = tmp_path / "a.png"
    path.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    with pytest.raises(InputError, match="not a picture of a known kind"):
        picture_size(path)


def test_an_attribute_that_json_cannot_hold_is_one_sentence(tmp_path):
    marked = AnnotatedObject("x", Box(1, 1, 2, 2), attributes={"weight": float("nan")})
    with pytest.raises(
        InputError, match=r"cannot write .*marked\.json: an attribute is not a finite"
    ):
        write(Annotations((Picture("a.png", 9, 9, (marked,)),)), tmp_path / "marked.json", "coco")


def test_too_many_overlapping_objects_need_too_many_masks(tmp_path):
    boxes = tuple(AnnotatedObject("x", Box(0, 0, 2, 2)) for _ in range(1_001))
    with pytest.raises(InputError, match="needs more than 1,000 mask pictures"):
        write(Annotations((Picture("a.png", 2, 2, boxes),)), tmp_path / "masks", "masks")


def test_kinds_of_marks_that_are_left_out_are_told_in_few_warnings(tmp_path):
    shapes = [{"label": "x", "shape_type": f"kind {n}", "points": []} for n in range(100)]
    (tmp_path / "a.json").write_text(labelme(*shapes))
    with pytest.warns(AnnotationWarning) as caught:
        read(tmp_path / "a.json")
    assert len(caught) == 11
    assert "and 90 more kinds" in str(caught[-1].message)


def test_names_from_a_file_are_escaped_in_warnings(tmp_path):
    shapes = [{"label": "x", "shape_type": "\x1b[31m\u202e\n", "points": []}]
    (tmp_path / "a.json").write_text(labelme(*shapes))
    with pytest.warns(AnnotationWarning) as caught:
        read(tmp_path / "a.json")
    assert r"\x1b[31m\u202e\n" in str(caught[0].message)
    assert str(caught[0].message).isprintable()


def test_a_polygon_far_beyond_its_picture_has_a_bound():
    with pytest.raises(ValueError, match="columns of pixels"):
        Polygons([[(0, 0), (9e7, 1), (0, 2)]])
    assert Polygons([[(0, 0), (2e6, 1), (0, 9e7)]]).box.height == 9e7


def test_a_mask_does_not_change_and_can_be_a_key():
    mask = Mask(2, 3, (2, 2, 2))
    with pytest.raises(AttributeError, match="is immutable"):
        mask.height = 3  # type: ignore[misc]
    assert {mask: 1}[Mask(2, 3, [2, 2, 2])] == 1
    assert mask != Mask(3, 2, (2, 2, 2))
    assert repr(mask) == "Mask(height=2, width=3, counts=(2, 2, 2))"
    assert pickle.loads(pickle.dumps(mask)) == mask
