"""Files written by hand as each format's own documentation describes them."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from groupcm.annotations import AnnotationWarning, Box, Mask, Polygons, picture_size, read
from groupcm.annotations.formats.label_studio import decode


def save_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def only_object(marked):
    (found,) = marked.objects()
    return found


def save_pictures(folder, **sizes):
    folder.mkdir(exist_ok=True)
    for name, size in sizes.items():
        Image.new("RGB", size).save(folder / f"{name}.jpg")
    return folder


def test_coco(tmp_path):
    path = save_json(
        tmp_path / "instances.json",
        {
            "images": [
                {"id": 1, "file_name": "a.jpg", "width": 6, "height": 4},
                {"id": 2, "file_name": "without.jpg", "width": 6, "height": 4},
                {"id": 3, "file_name": "later.jpg", "width": 6, "height": 4, "done": False},
            ],
            "categories": [{"id": 3, "name": "polyp"}, {"id": 18, "name": "bleeding"}],
            "annotations": [
                {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 1, 2, 2]},
                {
                    "id": 2,
                    "image_id": 1,
                    "category_id": 18,
                    "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2], [4, 2, 6, 2, 6, 4, 4, 4]],
                },
                {
                    "id": 3,
                    "image_id": 1,
                    "category_id": 3,
                    "segmentation": {"size": [4, 6], "counts": [4, 2, 2, 2, 14]},
                },
                {
                    "id": 4,
                    "image_id": 1,
                    "category_id": 3,
                    "segmentation": {"size": [4, 6], "counts": "4220<"},
                },
            ],
        },
    )
    marked = read(path)
    assert marked.categories == ("polyp", "bleeding")
    box, polygons, runs, string = marked["a.jpg"].objects
    assert box.region == Box(1, 1, 2, 2)
    assert polygons.category == "bleeding"
    assert polygons.region.mask(4, 6).astype(int).tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1, 1],
    ]
    assert runs.region == string.region == Mask(4, 6, (4, 2, 2, 2, 14))
    assert [(each.done, len(each.objects)) for each in marked] == [(True, 4), (True, 0), (False, 0)]


VOC = """<?xml version="1.0"?>
<annotation>
  <folder>VOC2012</folder>
  <filename>{name}</filename>
  <size><width>50</width><height>40</height><depth>3</depth></size>
  <segmented>0</segmented>
  <object>
    <name>polyp</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
    <bndbox><xmin>1</xmin><ymin>11</ymin><xmax>50</xmax><ymax>11</ymax></bndbox>
    <part><name>head</name>
      <bndbox><xmin>5</xmin><ymin>11</ymin><xmax>6</xmax><ymax>11</ymax></bndbox></part>
  </object>
</annotation>
"""


def test_voc_counts_from_one_and_its_corners_belong_to_the_box(tmp_path):
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "2012_1.xml").write_text(VOC.format(name="2012_1.jpg"))
    found = only_object(read(tmp_path))
    assert found.region == Box(0, 10, 50, 1)
    assert found.attributes == {"pose": "Left", "truncated": "1", "difficult": "0"}
    assert [each.name for each in read(tmp_path / "Annotations" / "2012_1.xml")] == ["2012_1.jpg"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("classes.txt", "bleeding\nvascular lesion\n"),
        ("obj.names", "bleeding\nvascular lesion\n\n"),
        ("data.yaml", "train: ../train\nnc: 2\nnames: ['bleeding', 'vascular lesion']\n"),
        ("data.yaml", 'names:\n  - bleeding  # red\n  - "vascular lesion"\nnc: 2\n'),
        ("data.yaml", "path: x\nnames:\n  0: bleeding\n  1: vascular lesion\n"),
        ("data.yaml", "names: {0: bleeding, 1: 'vascular lesion'}\n"),
        ("data.yaml", "names: [bleeding,\n  vascular lesion]\nnc: 2\n"),
    ],
)
def test_yolo(tmp_path, file, text):
    save_pictures(tmp_path / "images", one=(200, 100), two=(50, 50))
    (tmp_path / file).write_text(text)
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "one.txt").write_text(
        "1 0.5 0.5 0.25 0.5\n0 0.1 0.1 0.2 0.1 0.2 0.3\n0 .5 .5 1 1 .75\n"
    )
    (labels / "two.txt").write_text("")
    marked = read(tmp_path)
    box, polygon, scored = marked["one.jpg"].objects
    assert (box.category, box.region) == ("vascular lesion", Box(75, 25, 50, 50))
    assert polygon.region == Polygons([[(20, 10), (40, 10), (40, 30)]])
    assert (scored.region, scored.score) == (Box(0, 0, 200, 100), 0.75)
    assert marked["two.jpg"].done
    assert marked["two.jpg"].objects == ()


def png_text(pixels):
    content = io.BytesIO()
    Image.fromarray(np.array(pixels, dtype=np.uint8)).save(content, format="PNG")
    return base64.b64encode(content.getvalue()).decode()


def labelme(**fields):
    return {
        "version": "5.4.1",
        "flags": {},
        "imagePath": "a.jpg",
        "imageData": None,
        "imageHeight": 20,
        "imageWidth": 30,
        **fields,
    }


def test_labelme(tmp_path):
    shapes = [
        {"label": "polyp", "points": [[1, 1], [5, 1], [5, 4]], "shape_type": "polygon"},
        {"label": "polyp", "points": [[9, 8], [3, 2]], "shape_type": "rectangle", "group_id": None},
        {"label": "polyp", "points": [[15, 10], [15, 14]], "shape_type": "circle"},
        {
            "label": "bleeding",
            "points": [[2, 3], [4, 4]],
            "shape_type": "mask",
            "mask": png_text([[1, 0, 1], [1, 1, 1]]),
        },
        {"label": "parts", "points": [[0, 0], [2, 0], [2, 2]], "group_id": 1},
        {"label": "parts", "points": [[9, 9], [12, 9], [12, 12]], "group_id": 1},
        {"label": "mixed", "points": [[0, 0], [2, 2]], "shape_type": "rectangle", "group_id": 2},
        {"label": "mixed", "points": [[4, 0], [6, 2]], "shape_type": "rectangle", "group_id": 2},
    ]
    path = save_json(tmp_path / "a.json", labelme(shapes=shapes))
    polygon, box, circle, mask, parts, mixed = read(path)["a.jpg"].objects
    assert polygon.region == Polygons([[(1, 1), (5, 1), (5, 4)]])
    assert box.region == Box(3, 2, 6, 6)
    assert circle.region.box == Box(11, 6, 8, 8)
    assert circle.region.area == pytest.approx(np.pi * 16, abs=3)
    assert mask.region == Mask.from_part([[1, 0, 1], [1, 1, 1]], left=2, top=3, height=20, width=30)
    assert len(parts.region.parts) == 2
    assert mixed.region.area == 8


def test_labelme_in_a_folder_beside_the_pictures(tmp_path):
    images = save_pictures(tmp_path / "images", a=(30, 20))
    (tmp_path / "labels").mkdir()
    save_json(tmp_path / "labels" / "a.json", labelme(shapes=[], imagePath="..\\images\\a.jpg"))
    assert [each.name for each in read(tmp_path / "labels", images)] == ["a.jpg"]


def test_labelme_marks_that_are_no_regions_make_their_picture_to_do(tmp_path):
    line = {"label": "polyp", "points": [[1, 1], [5, 1]], "shape_type": "line"}
    path = save_json(tmp_path / "a.json", labelme(shapes=[line]))
    with pytest.warns(
        AnnotationWarning, match=r"'line' cannot be used and were left out: 1, at shape 1"
    ):
        marked = read(path)
    assert not marked["a.jpg"].done


def result(kind, value, **fields):
    return {
        "type": kind,
        "from_name": "tag",
        "to_name": "img",
        "original_width": 200,
        "original_height": 100,
        "image_rotation": 0,
        "value": value,
        **fields,
    }


def test_label_studio(tmp_path):
    box = {"x": 10, "y": 20, "width": 5, "height": 30, "rotation": 0, "rectanglelabels": ["Car"]}
    turned = {
        "x": 50,
        "y": 50,
        "width": 10,
        "height": 10,
        "rotation": 90,
        "rectanglelabels": ["Car"],
    }
    polygon = {"points": [[0, 0], [50, 0], [50, 50]], "polygonlabels": ["Road"]}
    bare = {"x": 1, "y": 1, "width": 5, "height": 5, "rotation": 0}
    tasks = [
        {
            "id": 1,
            "data": {"image": "/data/upload/3/0a1b2c3d-day_1.jpg"},
            "annotations": [
                {
                    "id": 1001,
                    "was_cancelled": False,
                    "result": [
                        result("rectanglelabels", box, id="Dx_aB91ISN"),
                        result("rectanglelabels", turned),
                        result("polygonlabels", polygon),
                        result("rectangle", bare, id="two"),
                        result("labels", bare | {"labels": ["Bike"]}, id="two"),
                        {"type": "choices", "value": {"choices": ["good"]}},
                    ],
                }
            ],
            "predictions": [],
        },
        {
            "id": 2,
            "data": {"img": "https://example.com/x/été%202.jpg", "width": 8, "height": 9},
            "annotations": [{"result": []}],
        },
        {
            "id": 3,
            "data": {"image": "/data/local-files/?d=day%202/c.jpg"},
            "annotations": [{"result": [], "was_cancelled": True}],
            "predictions": [{"result": [result("rectanglelabels", box, score=0.5)]}],
        },
    ]
    marked = read(save_json(tmp_path / "export.json", tasks))
    assert [each.name for each in marked] == ["day_1.jpg", "été 2.jpg", "day 2/c.jpg"]
    assert [each.done for each in marked] == [True, True, False]
    car, turned_car, road, bike = marked["day_1.jpg"].objects
    assert (car.category, car.id, car.region) == ("Car", "Dx_aB91ISN", Box(20, 20, 10, 30))
    # Label Studio turns clockwise around the upper left corner.
    assert turned_car.region.box == Box(90, 50, 10, 20)
    assert road.region == Polygons([[(0, 0), (100, 0), (100, 50)]])
    assert bike.category == "Bike"
    assert marked["day 2/c.jpg"].objects[0].score == 0.5


def test_label_studio_brush_with_every_kind_of_block(tmp_path):
    """The code of a picture 3 wide and 2 high, put together bit by bit."""
    bits = (
        format(24, "032b")
        + format(7, "05b")
        + "".join(format(size - 1, "04b") for size in (3, 4, 8, 16))
    )
    bits += (
        "1" + "00" + format(4 - 1, "03b") + format(0, "08b")
    )  # one pixel of background, repeated
    bits += "0" + "01" + format(4 - 1, "04b")  # one pixel, value by value, half opaque
    bits += "".join(format(value, "08b") for value in (1, 2, 3, 128))
    bits += "1" + "11" + format(12 - 1, "016b") + format(255, "08b")  # three pixels
    bits += "1" + "10" + format(4 - 1, "08b") + format(127, "08b")  # less than half opaque
    bits += "0" * (-len(bits) % 8)
    code = [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]
    assert decode(code, 2, 3).tolist() == [1, 4, 1]
    value = {"format": "rle", "rle": code, "brushlabels": ["Car"]}
    mark = result("brushlabels", value) | {"original_width": 3, "original_height": 2}
    task = {"id": 1, "data": {"image": "a.png"}, "annotations": [{"result": [mark]}]}
    found = only_object(read(save_json(tmp_path / "brush.json", [task])))
    assert found.region == Mask.from_array([[0, 1, 1], [1, 1, 0]])


CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><id>4</id><name>frames</name><labels>
    <label><name>polyp</name><attributes></attributes></label>
    <label><name>bleeding</name><attributes></attributes></label>
  </labels></task></meta>
  <image id="0" name="day 1/a &amp; b.jpg" width="30" height="20">
    <box label="polyp" occluded="0" xtl="1.50" ytl="2.00" xbr="11.50" ybr="6.00" z_order="0">
      <attribute name="size">small</attribute>
    </box>
    <box label="polyp" occluded="0" xtl="10" ytl="10" xbr="14" ybr="12" rotation="90.0"/>
    <polygon label="bleeding" source="manual" occluded="0" points="1.0,1.0;5.0,1.0;5.0,4.0"/>
    <mask label="polyp" rle="1, 2, 1, 2" left="3" top="4" width="3" height="2" z_order="0"/>
    <tag label="bleeding" source="manual"></tag>
  </image>
  <image id="1" name="c.jpg" width="30" height="20"></image>
</annotations>
"""


def test_cvat(tmp_path):
    path = tmp_path / "annotations.xml"
    path.write_text(CVAT)
    marked = read(path)
    assert marked.categories == ("polyp", "bleeding")
    box, turned, polygon, mask = marked["day 1/a & b.jpg"].objects
    assert (box.region, box.attributes) == (Box(1.5, 2, 10, 4), {"size": "small"})
    assert turned.region.box == Box(11, 9, 2, 4)  # CVAT turns around the centre
    assert polygon.region == Polygons([[(1, 1), (5, 1), (5, 4)]])
    assert mask.region == Mask.from_part([[0, 1, 1], [0, 1, 1]], left=3, top=4, height=20, width=30)
    assert marked["c.jpg"].state == "to do"
    assert read(path, unannotated="negative")["c.jpg"].state == "verified empty"


@pytest.mark.parametrize(
    "text",
    [
        "image,x,y,width,height,category\na,1,2,3,4,polyp\nb.jpg,,,,,\n",
        "Filename;X;Y;W;H;Label\na.jpg;1;2;3;4;polyp\nb;;;;;\n",
        "image\txmin\tymin\txmax\tymax\tclass\na\t1\t2\t4\t6\tpolyp\nb\t\t\t\t\t\n",
        "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,30,20,polyp,1,2,4,6\nb.jpg,30,20,,,,,\n",
        "image,x0,y0,x1,y1,area,category\na,1,2,4,6,12,polyp\nb,,,,,,\n",
        'image,x1,y1,x2,y2,label\n"a.jpg",1,2,4,6,polyp\n\n"b.jpg",,,,,\n',
        "\ufeffimage_path,bbox_x,bbox_y,bbox_w,bbox_h,class_name\r\na.jpg,1,2,3,4,polyp\r\nb.jpg,,,,,\r\n",
    ],
)
def test_csv_with_columns_of_many_names(tmp_path, text):
    images = save_pictures(tmp_path / "images", a=(30, 20), b=(30, 20))
    path = tmp_path / "boxes.csv"
    path.write_bytes(text.encode())
    marked = read(path, images)
    found = only_object(marked)
    assert (found.category, found.region) == ("polyp", Box(1, 2, 3, 4))
    assert [(each.name, each.width, each.height) for each in marked] == [
        ("a.jpg", 30, 20),
        ("b.jpg", 30, 20),
    ]


def test_csv_without_categories(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text("image,x,y,width,height,image_width,image_height\na.jpg,1,2,3,4,9,9\n")
    assert read(path).categories == ("object",)


SPOTS = np.array([[9, 0, 0, 0], [0, 9, 0, 4], [0, 0, 0, 4]], dtype=np.uint8)


def save_mask(folder, name, pixels, mode=None):
    folder.mkdir(exist_ok=True)
    image = Image.fromarray(pixels)
    (image if mode is None else image.convert(mode)).save(folder / name)


@pytest.mark.parametrize("mode", ["L", "1", "RGB", "RGBA", "LA"])
def test_masks_of_one_value_are_objects_that_do_not_touch(tmp_path, mode):
    save_mask(tmp_path / "masks", "a.png", (SPOTS > 0).astype(np.uint8) * 255, mode)
    save_mask(tmp_path / "masks", "b_mask.png", np.zeros((3, 4), dtype=np.uint8), mode)
    images = save_pictures(tmp_path / "images", a=(4, 3), b=(4, 3))
    marked = read(tmp_path / "masks", images)
    assert [thing.region for thing in marked["a.jpg"].objects] == [
        Mask.from_array(SPOTS == 9),
        Mask.from_array(SPOTS == 4),
    ]
    assert marked["b.jpg"].done
    assert marked["b.jpg"].objects == ()
    together = only_object(read(tmp_path / "masks", images, separate=False))
    assert together.region == Mask.from_array(SPOTS > 0)


def test_bright_values_that_touch_are_one_object(tmp_path):
    pixels = np.zeros((9, 12), np.uint8)
    pixels[2:4, 3:5], pixels[4:6, 3:5], pixels[2:6, 5], pixels[7, 9] = 200, 255, 180, 60
    save_mask(tmp_path, "a.png", pixels)
    region = only_object(read(tmp_path, format="masks", values="binary")).region
    np.testing.assert_array_equal(region.mask(9, 12), pixels > 127)


def test_masks_of_many_values_ask_what_they_mean(tmp_path):
    folder = tmp_path / "masks"
    save_mask(folder, "a.png", SPOTS)
    with pytest.raises(ValueError, match=r"hold 2 values \(4, 9\); say whether"):
        read(folder)
    objects = read(folder, values="object")
    assert [thing.region.area for thing in objects.objects()] == [2, 2]
    named = read(folder, values="category", categories={9: "polyp", 4: None})
    assert only_object(named).category == "polyp"
    assert only_object(read(folder, values="binary")).region == Mask.from_array(SPOTS == 9)
    with pytest.raises(ValueError, match="the value 4 has no category"):
        read(folder, values="category", categories={9: "polyp"})


def test_masks_in_colours(tmp_path):
    colours = np.zeros((3, 4, 3), dtype=np.uint8)
    colours[0, :2] = (255, 0, 0)
    colours[2, 3] = (0, 128, 255)
    save_mask(tmp_path, "a.png", colours)
    marked = read(tmp_path, values="category", categories={"#FF0000": "polyp", "#0080ff": "blood"})
    assert {thing.category: thing.region.area for thing in marked.objects()} == {
        "polyp": 2,
        "blood": 1,
    }


def test_masks_with_a_palette_keep_its_numbers(tmp_path):
    image = Image.fromarray(SPOTS).convert("P")
    image.putdata(SPOTS.ravel().tolist())
    image.putpalette([7] * 768)
    image.save(tmp_path / "a.png")
    assert {thing.category for thing in read(tmp_path, values="category").objects()} == {"4", "9"}


def test_specks_of_masks_can_be_left_out(tmp_path):
    pixels = np.zeros((9, 9), dtype=np.uint8)
    pixels[1:5, 1:5] = pixels[7, 7] = 1
    save_mask(tmp_path, "a.png", pixels)
    assert [thing.region.area for thing in read(tmp_path, min_pixels=4).objects()] == [16]
    assert [thing.region.area for thing in read(tmp_path, min_pixels=100).objects()] == [16]


@pytest.mark.parametrize("ending", ["jpg", "png", "tif"])
@pytest.mark.parametrize(("orientation", "size"), [(1, (30, 20)), (3, (30, 20)), (6, (20, 30))])
def test_sizes_are_those_of_the_picture_as_it_is_looked_at(tmp_path, ending, orientation, size):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"turned.{ending}"
    Image.new("RGB", (30, 20)).save(path, exif=exif)
    assert picture_size(path) == size


def test_names_are_found_however_their_accents_are_written(tmp_path):
    save_pictures(tmp_path / "images", **{"e\u0301te\u0301 1": (9, 9)})
    path = tmp_path / "boxes.csv"
    path.write_text("image,x,y,width,height\n\u00e9t\u00e9 1.jpg,1,1,2,2\n", encoding="utf-8")
    assert [each.name for each in read(path, tmp_path / "images")] == ["e\u0301te\u0301 1.jpg"]


def test_masks_stored_with_their_pictures_are_read_alone(tmp_path):
    spots = np.array([[9, 0, 0, 0], [0, 9, 0, 0], [0, 0, 0, 0]], dtype=np.uint8)
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    files = {"a.png": pixels, "b.png": pixels, "c.png": pixels}
    files |= {"a_mask.png": spots, "a_mask_1.png": spots[::-1], "b_mask.png": 0 * spots}
    for name, values in files.items():
        Image.fromarray(values).save(tmp_path / name)
    marked = read(tmp_path, tmp_path, "masks")
    assert [(each.name, each.state) for each in marked] == [
        ("a.png", "annotated"),
        ("b.png", "verified empty"),
    ]
    assert len(marked["a.png"].objects) == 2
