"""Bad annotation files: one sentence that names the file and the place, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from groupcm.annotations import (
    FORMATS,
    AnnotatedObject,
    Annotations,
    AnnotationWarning,
    Box,
    Picture,
    picture_size,
    read,
    write,
)
from groupcm.errors import InputError


def refused(path, words, images=None, format=None, **options):
    """Reading fails with one sentence that names the file and holds the words."""
    with pytest.raises(InputError, match=words) as caught:
        read(path, images, format, **options)
    message = str(caught.value)
    assert Path(path).name in message
    assert "\n" not in message
    return message


def coco(path, **changes):
    """A good COCO file with parts of it replaced."""
    content = {
        "images": [{"id": 1, "file_name": "a b.jpg", "width": 40, "height": 30}],
        "categories": [{"id": 1, "name": "polyp"}],
        "annotations": [{"id": 7, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    }
    path.write_text(json.dumps(content | changes), encoding="utf-8")
    return path


def mark(**changes):
    return [{"id": 7, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]} | changes]


def image(**changes):
    return [{"id": 1, "file_name": "a b.jpg", "width": 40, "height": 30} | changes]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"annotations": mark(bbox=[1, 2, 0, 4])},
            r"id 7 \(a b.jpg\): the box is 0 wide and 4 high",
        ),
        ({"annotations": mark(bbox=[1, 2, -3, 4])}, "the box is -3 wide"),
        ({"annotations": mark(bbox=[1, 2, 3])}, "'bbox' has 3 numbers"),
        ({"annotations": mark(bbox=[1, 2, 3, None])}, "the box's height is None"),
        ({"annotations": mark(bbox=[float("nan"), 2, 3, 4])}, "the box's x is nan"),
        ({"annotations": mark(bbox=[1, 2, float("inf"), 4])}, "the box's width is inf"),
        (
            {"annotations": mark(bbox=[50, 2, 3, 4])},
            r"lies outside its picture 'a b.jpg' of 40 × 30",
        ),
        ({"annotations": mark(bbox=None)}, "'bbox' is missing"),
        ({"annotations": mark(image_id=2)}, "id 7: there is no image with the id 2"),
        ({"annotations": mark(category_id=5)}, "there is no category with the id 5"),
        ({"annotations": mark(segmentation=[[1, 2, 3]])}, "an even number of coordinates"),
        ({"annotations": mark(segmentation=[[1, 2, 3, 4]])}, "has 2 corners"),
        (
            {"annotations": mark(segmentation={"size": [30, 40], "counts": [1200]})},
            "the mask is empty",
        ),
        (
            {"annotations": mark(segmentation={"size": [3, 4], "counts": [3, 4]})},
            "mask is 4 × 3 pixels",
        ),
        ({"annotations": mark(segmentation={"size": [30, 40], "counts": "!"})}, "compressed mask"),
        ({"annotations": mark(segmentation={"size": [30], "counts": [1]})}, "mask's size"),
        ({"annotations": mark(segmentation={"size": [30, 40]})}, "'counts' is missing"),
        ({"annotations": mark(segmentation="x")}, "'segmentation' is 'x'"),
        ({"annotations": [3]}, "annotation 1: found 3 where an object with fields must be"),
        ({"annotations": mark(score="high")}, "'score' is 'high'; it must be a number"),
        ({"images": image(width=0)}, "image 1: the picture's width is 0"),
        ({"images": image(height=-3)}, "the picture's height is -3"),
        ({"images": image(width=1.5)}, "'width' is 1.5; it must be a whole number"),
        ({"images": image(width=10**6, height=10**6)}, "more than any picture"),
        ({"images": image(width=None)}, r"size of the picture 'a b.jpg' is not written here"),
        ({"images": image() + image(id=2)}, "image 2: the picture 'a b.jpg' is listed twice"),
        ({"images": image() + image(file_name="c.jpg")}, "image 2: the id 1 is taken"),
        ({"images": image(file_name="../../etc/passwd")}, "lies outside the folder of pictures"),
        ({"images": image(file_name="..\\..\\secret.png")}, "lies outside the folder of pictures"),
        ({"images": image(file_name="/etc/passwd")}, "lies outside the folder of pictures"),
        ({"images": image(file_name="C:\\x.jpg")}, "lies outside the folder of pictures"),
        ({"images": image(file_name="a\u0000.jpg")}, "not a printable character"),
        ({"images": image(file_name="  ")}, "must be a file name"),
        ({"images": image(file_name=".")}, "must be a file name"),
        (
            {"categories": [{"id": 1, "name": "x"}, {"id": 2, "name": "x "}]},
            "two categories have the name 'x'",
        ),
        (
            {"categories": [{"id": 1, "name": "x"}, {"id": 1, "name": "y"}]},
            "two categories have the id 1",
        ),
        ({"categories": [{"id": 1, "name": " "}]}, "it must have a name"),
        ({"images": {}}, "'images' is {}; it must be a list"),
    ],
)
def test_coco_mistakes(tmp_path, changes, words):
    refused(coco(tmp_path / "marked.json", **changes), words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b'{"images": [', "line 1, column 13: this is not JSON"),
        (b'{"images": []', "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"images": ' + b"1" * 10_000 + b"}", "too long"),
        (b'{"images": "\xff"}', "byte 13 is not UTF-8"),
        (b'{"hello": 1}', "no known annotation format"),
        (b"[]", "no known annotation format"),
        (b"3", "no known annotation format"),
    ],
)
def test_damaged_json(tmp_path, content, words):
    path = tmp_path / "marked.json"
    path.write_bytes(content)
    refused(path, words)
    assert path.read_bytes() == content


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE annotation [
 <!ENTITY a "ha">{more}
]>
<annotation><filename>&{last};</filename></annotation>"""
BOMB = LAUGHS.format(
    more="".join(
        f'<!ENTITY a{i} "{"&a" + (str(i - 1) if i else "") + ";" * 1}">' for i in range(30)
    ),
    last="a29",
)
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE annotation [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<annotation><filename>&x;</filename></annotation>"""


@pytest.mark.parametrize(
    "content", [BOMB, EXTERNAL, "<!DOCTYPE annotations SYSTEM 'x.dtd'><annotations/>"]
)
@pytest.mark.parametrize("format", ["voc", "cvat", None])
def test_xml_that_declares_anything_is_refused(tmp_path, content, format):
    path = tmp_path / "bomb.xml"
    path.write_text(content)
    refused(path, r"line \d: the XML declares a document type or entities", format=format)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("<annotation><filename>", "line 1, column 23: this is not XML"),
        ("<a/><b/>", "not XML"),
        ("<annotation>&x;</annotation>", "undefined entity"),
        ("<x/>", "no known annotation format"),
        ("<annotation>" * 500, "nested too deeply"),
        ('<?xml version="1.0" encoding="martian"?><annotation/>', "not XML|cannot be decoded"),
        ("<annotations><track/></annotations>", "XML for video"),
    ],
)
def test_damaged_xml(tmp_path, content, words):
    path = tmp_path / "marked.xml"
    path.write_text(content)
    refused(path, words)


def voc(**changes):
    values = {
        "xmin": 2,
        "ymin": 2,
        "xmax": 9,
        "ymax": 9,
        "name": "polyp",
        "file": "a.jpg",
        "width": 20,
    }
    values |= changes
    return (
        "<annotation>\n<filename>{file}</filename>\n"
        "<size><width>{width}</width><height>20</height></size>\n<object><name>{name}</name>"
        "<bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin><xmax>{xmax}</xmax><ymax>{ymax}</ymax></bndbox>"
        "</object></annotation>"
    ).format(**values)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"xmin": "nan"}, r"a\.xml, line 4, object 1: 'xmin' is 'nan'; it must be a number"),
        ({"xmin": ""}, "'xmin' is missing"),
        ({"xmax": 1}, "the box is 0 wide"),
        ({"name": ""}, "it must have a name"),
        ({"xmin": 30, "xmax": 40}, "lies outside its picture"),
        ({"file": "../a.jpg"}, "lies outside the folder"),
        ({"width": ""}, "the size of the picture 'a.jpg' is not written here"),
    ],
)
def test_voc_mistakes(tmp_path, changes, words):
    (tmp_path / "voc").mkdir()
    (tmp_path / "voc" / "a.xml").write_text(voc(**changes))
    refused(tmp_path / "voc", words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 0.5 0.5 0.5", "the line has 4 numbers"),
        ("0 0.5 0.5 0.1 0.1 0.2 0.2 0.3", "the line has 8 numbers"),
        ("4 0.5 0.5 0.1 0.1", "there is no category 4; the last is 0"),
        ("polyp 0.5 0.5 0.1 0.1", "the category is 'polyp'"),
        ("0 0.5 0.5 nan 0.1", "'number 4' is 'nan'"),
        ("0 0.5 0.5 0 0.1", "the box is 0 wide"),
        ("0 3 0.5 0.1 0.1", "lies outside its picture"),
    ],
)
def test_yolo_mistakes(tmp_path, line, words):
    Image.new("L", (20, 10)).save(tmp_path / "a.png")
    (tmp_path / "classes.txt").write_text("polyp\n")
    (tmp_path / "a.txt").write_text(f"0 0.5 0.5 0.1 0.1\n{line}\n")
    assert "a.txt, line 2" in refused(tmp_path, words)


def test_yolo_without_what_it_needs(tmp_path):
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    refused(tmp_path, "has no classes.txt or data.yaml")
    (tmp_path / "classes.txt").write_text("polyp\n")
    refused(
        tmp_path, "size of the picture 'a' is not written here; give the folder of the pictures"
    )
    (tmp_path / "classes.txt").write_text("polyp\npolyp\n")
    with pytest.raises(InputError, match=r"classes\.txt: two categories have the name 'polyp'"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image,x,y,width,height\na.jpg,1,2,3\n", "line 2: 4 cells, and the header has 5 columns"),
        ("image,x,y,width\na.jpg,1,2,3\n", "no column holds the box"),
        ("x,y,width,height\n1,2,3,4\n", "no column holds the name of the picture"),
        ("image,x,y,width,height\na.jpg,1,2,,4\n", "line 2: 'width' is missing"),
        ("image,x,y,width,height\na.jpg,1,2,NaN,4\n", "line 2: 'width' is 'NaN'"),
        ("image,x,y,width,height\na.jpg,1,2,3,-4\n", "line 2: the box is 3 wide and -4 high"),
        (
            "image,x,y,width,height\n../a.jpg,1,2,3,4\n",
            "line 2: the picture '../a.jpg' lies outside",
        ),
        ("image,x,y,width,height\nc.jpg,1,2,3,4\n", "line 2: the picture 'c.jpg' is not there"),
        ('image,x,y,width,height\n"a.jpg,1,2,3,4\n', "this is not CSV"),
        ("", "is empty"),
    ],
)
def test_csv_mistakes(tmp_path, text, words):
    images = tmp_path / "images"
    images.mkdir()
    Image.new("L", (20, 10)).save(images / "a.jpg")
    path = tmp_path / "boxes.csv"
    path.write_text(text)
    refused(path, words, images)


def test_sizes_must_come_from_somewhere(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text("image,x,y,width,height\na.jpg,1,2,3,4\n")
    refused(path, r"give the folder of the pictures too \(images=\.\.\.\)")
    path.write_text(
        "image,x,y,width,height,image_width,image_height\na.jpg,1,2,3,4,9,9\na.jpg,1,2,3,4,8,9\n"
    )
    refused(path, "line 3: the picture 'a.jpg' is 8 × 9 pixels here and 9 × 9 above")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({"points": [[1, 1], [2, 2]]}, "a polygon has 2 corners"),
        ({"points": [[1, 1], [2]]}, "list of pairs"),
        ({"points": [[1, 1], [2, "x"], [3, 3]]}, "a corner's y is 'x'"),
        ({"points": [[1, 1]], "shape_type": "rectangle"}, "a rectangle has 1 points; it needs 2"),
        ({"points": [[1, 1], [None, 2]], "shape_type": "circle"}, "a corner's x is None"),
        ({"points": [[1, 1], [2, 2]], "shape_type": "mask"}, "'mask' is missing"),
        (
            {"points": [[1, 1], [2, 2]], "shape_type": "mask", "mask": "zz"},
            "not a PNG picture in base64",
        ),
        ({"points": [[1, 1], [2, 2], [1, 2]], "label": ""}, "it must have a name"),
        ({"points": [[1, 1], [2, 2], [1, 2]], "label": None}, "'label' is missing"),
    ],
)
def test_labelme_mistakes(tmp_path, shape, words):
    content = {"imagePath": "a.jpg", "imageWidth": 9, "imageHeight": 9}
    content["shapes"] = [{"label": "polyp"} | shape]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    assert "shape 1: " in refused(path, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": {"x": 1, "y": 1, "width": 5, "rectanglelabels": ["a"]}}, "'height' is missing"),
        ({"value": {"rectanglelabels": []}}, r"the labels \[\]; it must have one"),
        ({"type": "brushlabels", "value": {"rle": [1, 2], "brushlabels": ["a"]}}, "ends too early"),
        ({"type": "brushlabels", "value": {"rle": [0] * 9, "brushlabels": ["a"]}}, "has 0 pixels"),
        ({"type": "brushlabels", "value": {"rle": [300], "brushlabels": ["a"]}}, "from 0 to 255"),
        (
            {"type": "polygonlabels", "value": {"points": [3], "polygonlabels": ["a"]}},
            "'x' is missing",
        ),
        ({"image_rotation": 90}, "annotate it unturned"),
    ],
)
def test_label_studio_mistakes(tmp_path, change, words):
    value = {"x": 1, "y": 1, "width": 5, "height": 5, "rotation": 0, "rectanglelabels": ["a"]}
    good = {"type": "rectanglelabels", "original_width": 8, "original_height": 8, "value": value}
    task = {"id": 5, "data": {"image": "a.jpg"}, "annotations": [{"result": [good, good | change]}]}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]))
    assert "task 5, result 2 (a.jpg): " in refused(path, words)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ('<box label="a" xtl="1" ytl="1" xbr="1" ybr="5"/>', "the box is 0 wide"),
        ('<box label="a" xtl="1" ytl="1" ybr="5"/>', "'xbr' is missing"),
        ('<polygon label="a" points="1,1;2,2;x,3"/>', "'points' is 'x'"),
        ('<polygon label="a" points="1,1;2,2;3"/>', "a polygon's corner has 1 numbers"),
        (
            '<mask label="a" rle="1,2" left="0" top="0" width="1"/>',
            "needs left, top, width and height",
        ),
        ('<mask label="a" rle="1,20" left="0" top="0" width="2" height="2"/>', "run of 20 pixels"),
        (
            '<mask label="a" rle="1,2" left="8" top="0" width="2" height="2"/>',
            "outside the picture",
        ),
        (
            '<mask label="a" rle="1,2" left="0" top="0" width="99999999" height="99999999"/>',
            "larger than",
        ),
        ('<mask label="a" rle="4" left="0" top="0" width="2" height="2"/>', "the mask is empty"),
        ('<box xtl="1" ytl="1" xbr="3" ybr="5"/>', "it must have a name"),
    ],
)
def test_cvat_mistakes(tmp_path, shape, words):
    path = tmp_path / "marked.xml"
    path.write_text(
        f'<annotations>\n<image name="a.jpg" width="9" height="9">\n{shape}</image></annotations>'
    )
    assert "line 3 (a.jpg): " in refused(path, words)


def test_masks_mistakes(tmp_path):
    masks, images = tmp_path / "masks", tmp_path / "images"
    masks.mkdir()
    images.mkdir()
    refused(masks, "no known annotation format")
    Image.new("L", (5, 4), 255).save(masks / "a.png")
    Image.new("L", (9, 9)).save(images / "a.jpg")
    refused(masks, "a.png: the mask is 5 × 4 pixels and the picture 9 × 9", images)
    (masks / "b.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"b\.png cannot be read: the file is empty"):
        read(masks)


def test_boxes_that_reach_beyond_are_cut_and_counted(tmp_path):
    marks = mark(bbox=[-5, -5, 10, 10]) + mark(id=8, bbox=[35, 25, 10, 10]) + mark(id=9)
    path = coco(tmp_path / "marked.json", annotations=marks)
    with pytest.warns(
        AnnotationWarning, match=r"beyond their picture and were cut: 2, the first at .*id 7"
    ):
        marked = read(path)
    assert [thing.region for thing in marked.objects()] == [
        Box(0, 0, 5, 5),
        Box(35, 25, 5, 5),
        Box(1, 2, 3, 4),
    ]


def test_a_hair_beyond_is_cut_without_words(tmp_path):
    path = coco(tmp_path / "marked.json", annotations=mark(bbox=[0, 0, 40.004, 30]))
    assert [thing.region for thing in read(path).objects()] == [Box(0, 0, 40, 30)]


def test_damaged_objects_are_left_out_by_request_and_their_picture_is_to_do(tmp_path):
    images = image() + image(id=2, file_name="c.jpg") + image(id=3, file_name="../d.jpg")
    marks = (
        mark() + mark(id=8, bbox=[0, 0, 0, 0]) + mark(id=9, image_id=2) + mark(id=10, image_id=3)
    )
    path = coco(tmp_path / "marked.json", images=images, annotations=marks)
    with pytest.warns(
        AnnotationWarning, match="left out what could not be read: 3, the first at image 3"
    ):
        marked = read(path, skip_damaged=True)
    assert [(each.name, each.done, len(each.objects)) for each in marked] == [
        ("a b.jpg", False, 1),
        ("c.jpg", True, 1),
    ]


def test_a_damaged_file_of_many_is_left_out_by_request(tmp_path):
    (tmp_path / "a.xml").write_text(voc())
    (tmp_path / "b.xml").write_text("<annotation>")
    refused(tmp_path / "b.xml", "not XML", format="voc")
    with pytest.warns(AnnotationWarning, match=r"1, at b\.xml"):
        marked = read(tmp_path, skip_damaged=True)
    assert [each.name for each in marked] == ["a.jpg"]


def test_pictures_that_are_not_there_are_named(tmp_path):
    path = coco(tmp_path / "marked.json")
    images = tmp_path / "images"
    with pytest.raises(InputError, match=r"folder of pictures .*images does not exist"):
        read(path, images)
    images.mkdir()
    with pytest.raises(InputError, match=r"no picture in the folder"):
        read(path, images)
    Image.new("L", (40, 30)).save(images / "other.jpg")
    refused(path, "image 1: the picture 'a b.jpg' is not there in", images)


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n\0\0"])
def test_damaged_pictures_are_named(tmp_path, content):
    (tmp_path / "a b.png").write_bytes(content)
    with pytest.raises(InputError, match=r"a b\.png cannot be read: "):
        picture_size(tmp_path / "a b.png")


def test_names_without_an_ending_must_mean_one_picture(tmp_path):
    for name in ("a.jpg", "a.png"):
        Image.new("L", (9, 9)).save(tmp_path / name)
    path = tmp_path / "boxes.csv"
    path.write_text("image,x,y,width,height\na,1,2,3,4\n")
    refused(path, "may be 'a.jpg' or 'a.png'; write the ending", tmp_path)


def two_of_a_stem():
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2))
    return Annotations((Picture("a.jpg", 9, 9, (box,)), Picture("a.png", 9, 9, (box,))))


@pytest.mark.parametrize("format", [name for name, known in FORMATS.items() if known.folder])
def test_pictures_that_a_format_cannot_tell_apart_are_refused(tmp_path, format):
    with pytest.raises(
        InputError, match=r"cannot distinguish the pictures 'a\.jpg' and 'a\.png', as"
    ):
        write(two_of_a_stem(), tmp_path / "out", format)
    assert list(tmp_path.iterdir()) == []


def test_folders_with_something_in_them_are_not_written_to(tmp_path):
    (tmp_path / "old.txt").write_text("mine")
    one = Annotations((Picture("a.jpg", 9, 9),))
    with pytest.raises(InputError, match="the folder is not empty; empty it or choose another"):
        write(one, tmp_path, "voc")
    with pytest.raises(InputError, match=r"old\.txt: it is a file; give the name of a folder"):
        write(one, tmp_path / "old.txt", "voc")
    with pytest.raises(InputError, match=r"old\.txt is not a folder"):
        write(one, tmp_path / "old.txt" / "out", "voc")
    assert [file.name for file in tmp_path.iterdir()] == ["old.txt"]
    write(one, tmp_path / "new" / "out", "voc")
    assert (tmp_path / "new" / "out").is_dir()


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    write(Annotations((Picture("a.jpg", 9, 9),)), tmp_path / "out", "voc")
    assert os.listdir(tmp_path / "out") == ["a.xml"]


def test_formats_and_files_that_do_not_exist(tmp_path):
    with pytest.raises(InputError, match="there is no format 'csvv'; choose from coco, voc"):
        read(tmp_path, format="csvv")
    with pytest.raises(InputError, match="there is no format 'x'"):
        write(Annotations(()), tmp_path / "x", "x")
    refused(tmp_path / "nothing.json", "there is no file or folder")
    refused(tmp_path / "nothing.json", "there is no file or folder", format="coco")
    refused(tmp_path, "is a folder; annotations of COCO are one file", format="coco")
    for suffix, text in ((".xml", voc()), (".json", "{}")):
        (tmp_path / f"a{suffix}").write_text(text)
    refused(tmp_path, "files of several formats")


def test_the_dataclasses_refuse_what_makes_no_sense():
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2))
    with pytest.raises(ValueError, match="is listed twice"):
        Annotations((Picture("a.jpg", 9, 9), Picture("a.jpg", 9, 9)))
    with pytest.raises(ValueError, match="two categories have the name 'x'"):
        Annotations((), ("x", " x"))
    with pytest.raises(ValueError, match="category 'polyp', which is not among 'x'"):
        Annotations((Picture("a.jpg", 9, 9, (box,)),), ("x",))
    with pytest.raises(ValueError, match="outside the folder"):
        Picture("day/../../x.jpg", 9, 9)
    with pytest.raises(ValueError, match="not a printable character"):
        AnnotatedObject("a\nb", Box(1, 1, 2, 2))


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_importing_costs_numpy_alone():
    loaded = run_python("import sys, groupcm.annotations; print(*sys.modules)").split()
    heavy = {"PIL", "scipy", "sklearn", "numba", "pandas", "pyarrow", "matplotlib", "skimage"}
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_without_pillow_a_sentence_says_how_to_install_it(tmp_path):
    Image.new("L", (3, 3)).save(tmp_path / "a.png")
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "import groupcm.annotations as a\n"
        f"try: a.picture_size({str(tmp_path / 'a.png')!r})\n"
        "except a.files.InputError as error: print(error)"
    )
    assert re.search(r'Pillow; install it with: pip install "groupcm\[images\]"', run_python(code))


def test_warnings_point_at_the_caller(tmp_path):
    path = coco(tmp_path / "marked.json", annotations=mark(bbox=[-5, -5, 10, 10]))
    with pytest.warns(AnnotationWarning) as caught:
        marked = read(path)
    begun = Annotations((Picture("a.jpg", 9, 9, tuple(marked.objects()), done=False),))
    with pytest.warns(AnnotationWarning) as caught_too:
        write(begun, tmp_path / "boxes.csv", "csv")
    assert {warning.filename for warning in [*caught, *caught_too]} == {__file__}
