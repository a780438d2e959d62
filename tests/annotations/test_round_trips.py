"""What is written is read again: same pixels, boxes, names and marks, as far as a format goes."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from annotation_examples import annotations, marked_set, write_pictures
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO

from groupcm.annotations import (
    FORMATS,
    AnnotatedObject,
    Annotations,
    AnnotationWarning,
    Box,
    Mask,
    Picture,
    Polygons,
    find_pictures,
    read,
    with_folder,
    write,
)
from groupcm.errors import InputError
from groupcm.web.annotate.exchange import export, import_bytes, import_file
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.server.library import PictureLibrary

# pycocotools has not followed NumPy 2 in how it hands out its arrays.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
BOXES_ALONE = {"voc", "csv"}
TELLS_TO_DO = {"coco", "label_studio", "masks"}
some = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def round_trip(marked: Annotations, format: str, **options) -> Annotations:
    """Write and read; sizes come from the set itself where the format has none."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        path = Path(folder) / ("folder" if FORMATS[format].folder else f"file{SUFFIX[format]}")
        write(marked, path, format, **options)
        return read(path, marked if format == "yolo" else None, format)


SUFFIX = {"coco": ".json", "label_studio": ".json", "cvat": ".xml", "csv": ".csv"}


def pixels(picture: Picture, marked: AnnotatedObject) -> np.ndarray:
    return marked.region.mask(picture.height, picture.width)


def becomes_a_box(format: str, region) -> bool:
    one_part = isinstance(region, Polygons) and len(region.parts) == 1
    return format in BOXES_ALONE or (format == "yolo" and not one_part)


def assert_same_object(format: str, picture: Picture, old: AnnotatedObject, new: AnnotatedObject):
    assert new.category == old.category
    if isinstance(old.region, Box) and format != "masks":
        close = [getattr(old.region, name) for name in ("x", "y", "width", "height")]
        found = [getattr(new.region, name) for name in ("x", "y", "width", "height")]
        np.testing.assert_allclose(found, close, rtol=0, atol=2e-9)
    if becomes_a_box(format, old.region):
        box = old.region.box
        found = new.region.box
        np.testing.assert_allclose([found.x, found.y], [box.x, box.y], rtol=0, atol=2e-9)
        np.testing.assert_allclose(
            [found.right, found.bottom], [box.right, box.bottom], rtol=0, atol=2e-9
        )
    else:
        np.testing.assert_array_equal(pixels(picture, new), pixels(picture, old))
    if isinstance(old.region, Mask) and not becomes_a_box(format, old.region):
        assert new.region == old.region


def coarse(marked: Annotations) -> Annotations:
    """Only objects with a pixel: the others cannot become masks."""
    kept = [
        Picture(
            each.name,
            each.width,
            each.height,
            tuple(thing for thing in each.objects if pixels(each, thing).any()),
            each.done,
        )
        for each in marked
    ]
    return Annotations(tuple(kept), marked.categories)


@pytest.mark.parametrize("format", list(FORMATS))
@some
@given(drawn=annotations())
def test_round_trip_keeps_what_the_format_carries(format, drawn):
    drawn = coarse(drawn)
    if format in TELLS_TO_DO:
        expected = list(drawn)
    else:
        expected = [each for each in drawn if each.done or each.objects]
    if not expected:
        return
    found = round_trip(drawn, format)
    assert {each.name for each in found} == {each.name for each in expected}
    for old in expected:
        new = found[old.name]
        assert (new.width, new.height) == (old.width, old.height)
        assert new.state == old.state
        assert len(new.objects) == len(old.objects)
        for one, other in zip(old.objects, new.objects, strict=True):
            assert_same_object(format, old, one, other)
    if format in {"coco", "cvat", "masks", "yolo"}:
        assert found.categories == drawn.categories


TWINS = ("g.png", "h.png", "sub/g.png", "sub/h.png", "sub/sub/g.png", "pat 1/g.png", "été/h.png")


@st.composite
def twins(draw: st.DrawFn) -> tuple[Annotations, list[str]]:
    """Pictures of the same base names in several folders, of which some are annotated."""
    there = draw(st.lists(st.sampled_from(TWINS), unique=True, min_size=1))
    marked = draw(st.lists(st.sampled_from(there), unique=True, min_size=1))
    pictures = []
    for name in there:
        box = Box(TWINS.index(name), 1, 5, 6)
        objects = (AnnotatedObject("polyp", box),) if name in marked else ()
        done = draw(st.booleans()) if objects else False
        pictures.append(Picture(name, 20, 10, objects, done))
    return Annotations(tuple(pictures), ("polyp",)), marked


@pytest.mark.parametrize("way", ["read", "own names", "page", "command"])
@pytest.mark.parametrize("format", list(FORMATS))
@settings(some, max_examples=8)
@given(drawn=twins())
def test_no_object_moves_to_a_picture_of_the_same_name_in_another_folder(format, way, drawn):
    wanted, marked = drawn
    expected = {name: (TWINS.index(name), wanted[name].done) for name in marked}
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        pictures = Path(home) / "pictures"
        write_pictures(pictures, wanted)
        library = PictureLibrary(pictures)
        with closing(AnnotationStore(library, Path(home) / "first.json")) as store:
            store.merge(list(wanted), wanted.categories)
            content = export(store, format, pictures).content
        if way in ("page", "command"):
            file = Path(home) / f"packed{SUFFIX.get(format, '.zip')}"
            file.write_bytes(content)
            with closing(AnnotationStore(library, Path(home) / "second.json")) as store:
                if way == "page":
                    import_bytes(store, library, content)
                else:
                    import_file(store, library, file)
                found = store.annotations()
        else:
            path = Path(home) / f"file{SUFFIX.get(format, '')}"
            if FORMATS[format].folder:
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    archive.extractall(path)
            else:
                path.write_bytes(content)
            found = read(path, pictures if way == "read" else wanted)
    marked = [each for each in found if each.objects]
    got = {each.name: (round(each.objects[0].region.box.x, 6), each.done) for each in marked}
    assert got == expected


def labelme_file(path: Path, image: str, **fields) -> Path:
    shape = {"label": "polyp", "points": [[1, 1], [5, 6]], "shape_type": "rectangle"}
    size = {"imageHeight": 10, "imageWidth": 20}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"shapes": [shape], "imagePath": image, **size, **fields}))
    return path


def voc_file(path: Path, image: str, folder: str = "VOC2007") -> Path:
    edges = "".join(f"<{edge}>{2}</{edge}>" for edge in ("xmin", "ymin", "xmax", "ymax"))
    size = "<size><width>20</width><height>10</height></size>"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"<annotation><folder>{folder}</folder><filename>{image}</filename>{size}"
        f"<object><name>polyp</name><bndbox>{edges}</bndbox></object></annotation>"
    )
    return path


def test_annotations_next_to_their_pictures_belong_to_those(tmp_path):
    write_pictures(tmp_path, Annotations([Picture(name, 20, 10) for name in TWINS]))
    labelme = labelme_file(tmp_path / "sub" / "g.json", "g.png")
    for path in (tmp_path, labelme.parent, labelme):
        assert [each.name for each in read(path, tmp_path, "labelme")] == ["sub/g.png"]
    labelme.unlink()
    voc = voc_file(tmp_path / "sub" / "g.xml", "g.png")
    for path in (tmp_path, voc.parent, voc):
        assert [each.name for each in read(path, tmp_path, "voc")] == ["sub/g.png"]


def test_a_file_that_may_mean_two_pictures_is_refused(tmp_path):
    known = Annotations([Picture("g.png", 20, 10), Picture("sub/g.png", 20, 10)])
    alone = labelme_file(tmp_path / "one" / "g.json", "g.png")
    flat = voc_file(tmp_path / "voc" / "g.xml", "g.png", "sub")
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([{"data": {"image": "https://a.b/other/g.png"}}]))
    for path in (alone, flat, tasks):
        with pytest.raises(InputError, match=r"may be 'g\.png' or 'sub/g\.png'; write the folder"):
            read(path, known)
    grouped = labelme_file(tmp_path / "two" / "g.json", "g.png", imageFolder=".")
    assert read(grouped, known).pictures[0].name == "g.png"
    task = {"width": 20, "height": 10, "image": "https://a.b/bucket/sub/g.png"}
    tasks.write_text(json.dumps([{"data": task}]))
    assert read(tasks, known).pictures[0].name == "sub/g.png"


@some
@given(drawn=annotations())
def test_coco_gives_everything_back_exactly(drawn):
    found = round_trip(drawn, "coco")
    assert [
        (each.name, each.width, each.height, each.done, [thing.region for thing in each.objects])
        for each in found
    ] == [
        (each.name, each.width, each.height, each.done, [thing.region for thing in each.objects])
        for each in drawn
    ]


@pytest.mark.parametrize("compressed", [True, False])
def test_pycocotools_reads_our_coco_and_finds_the_same_pixels(tmp_path, compressed):
    marked = marked_set()
    write(marked, tmp_path / "marked.json", "coco", compressed=compressed)
    coco = COCO(tmp_path / "marked.json")
    assert [each["name"] for each in coco.loadCats(coco.getCatIds())] == ["lesion", "polyp"]
    for key in coco.getImgIds():
        (image,) = coco.loadImgs(key)
        picture = marked[image["file_name"]]
        records = coco.loadAnns(coco.getAnnIds(imgIds=key))
        assert len(records) == len(picture.objects)
        for record, thing in zip(records, picture.objects, strict=True):
            assert record["area"] == thing.region.area
            if not isinstance(thing.region, Box):
                np.testing.assert_array_equal(coco.annToMask(record), pixels(picture, thing))


def test_coco_keeps_what_it_does_not_know(tmp_path):
    content = {
        "info": {"year": 2024},
        "licenses": [{"id": 1, "name": "mine"}],
        "images": [
            {
                "id": 31,
                "file_name": "a.jpg",
                "width": 20,
                "height": 10,
                "license": 1,
                "patient": "p7",
            }
        ],
        "categories": [{"id": 9, "name": "polyp", "supercategory": "lesion"}],
        "annotations": [
            {
                "id": 77,
                "image_id": 31,
                "category_id": 9,
                "bbox": [1, 2, 3, 4],
                "area": 12.0,
                "iscrowd": 1,
                "segmentation": [],
                "score": 0.25,
                "reader": "Dr B",
            }
        ],
    }
    (tmp_path / "old.json").write_text(json.dumps(content))
    write(read(tmp_path / "old.json"), tmp_path / "new.json", "coco")
    content["images"][0]["done"] = True  # the state is written out
    content |= {"groupcm": {"states": "done"}}  # and that it is
    assert json.loads((tmp_path / "new.json").read_text()) == content


def test_label_studio_finds_its_pictures_behind_a_prefix(tmp_path):
    marked = marked_set()
    write(marked, tmp_path / "tasks.json", "label_studio", prefix="/data/local-files/?d=")
    assert '"/data/local-files/?d=day%20one/b.png"' in (tmp_path / "tasks.json").read_text()
    assert {each.name for each in read(tmp_path / "tasks.json")} == {each.name for each in marked}


def test_regions_that_become_boxes_are_counted(tmp_path):
    for format in ("voc", "csv", "yolo"):
        with pytest.warns(
            AnnotationWarning, match=r"became boxes, because .* cannot carry them: 2, "
        ):
            write(marked_set(), tmp_path / format, format)


def test_pictures_to_do_that_hold_objects_are_counted(tmp_path):
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2))
    begun = Annotations(
        (Picture("a.jpg", 9, 9, (box,), done=False), Picture("b.jpg", 9, 9, done=False))
    )
    for format in ("voc", "csv", "yolo", "cvat"):
        with pytest.warns(AnnotationWarning, match=r"to other programs .* done: 1, at a\.jpg"):
            write(begun, tmp_path / format, format)
    for format in FORMATS:
        found = round_trip(begun, format)["a.jpg"]
        assert (found.state, len(found.objects)) == ("to do", 1)


def half_annotated() -> Annotations:
    """Six pictures: one annotated, two verified as empty, three to do."""
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2))
    done = Picture("0.jpg", 9, 9, (box,)), Picture("1.jpg", 9, 9), Picture("2.jpg", 9, 9)
    return Annotations((*done, *(Picture(f"{n}.jpg", 9, 9, done=False) for n in (3, 4, 5))))


@pytest.mark.parametrize("format", list(FORMATS))
@pytest.mark.parametrize("known", [True, False], ids=["folder", "no folder"])
def test_all_three_states_survive_every_format(tmp_path, format, known):
    marked = half_annotated()
    write_pictures(tmp_path / "images", marked)
    path = tmp_path / f"marked{SUFFIX.get(format, '')}"
    write(marked, path, format)
    found = read(path, tmp_path / "images" if known or format == "yolo" else None)
    # A picture that the format leaves out has not been looked at either.
    states = {
        each.name: found[each.name].state if each.name in found else "to do" for each in marked
    }
    assert states == {each.name: each.state for each in marked}
    assert with_folder(found, tmp_path / "images").state_counts() == (1, 2, 3)


@pytest.mark.parametrize("part", ["", "labels", "labels/sub"])
def test_yolo_labels_know_the_pictures_to_do_wherever_reading_begins(tmp_path, part):
    box = AnnotatedObject("polyp", Box(1, 1, 4, 4))
    to_do = Picture("sub/a.png", 20, 10, (box,), done=False)
    with pytest.warns(AnnotationWarning, match="with a mark that groupcm reads"):
        write(Annotations([to_do, Picture("sub/b.png", 20, 10, (box,))]), tmp_path / "out", "yolo")
    names = ["a.png", "b.png"] if part == "labels/sub" else ["sub/a.png", "sub/b.png"]
    found = read(tmp_path / "out" / part, Annotations([Picture(name, 20, 10) for name in names]))
    assert [(each.name, each.state) for each in found] == list(
        zip(names, ["to do", "annotated"], strict=True)
    )


def listed(format: str, folder: Path) -> Path:
    """Six pictures as other programs list them, one of them with an object."""
    path = folder / f"listed{SUFFIX[format]}"
    names = [f"{n}.jpg" for n in range(6)]
    box = {"id": 1, "image_id": 0, "category_id": 1, "bbox": [1, 1, 2, 2]}
    region = {"x": 10, "y": 10, "width": 20, "height": 20, "rectanglelabels": ["polyp"]}
    if format == "coco":
        images = [
            {"id": n, "file_name": name, "width": 9, "height": 9} for n, name in enumerate(names)
        ]
        content = {"images": images, "annotations": [box]}
        path.write_text(json.dumps(content | {"categories": [{"id": 1, "name": "polyp"}]}))
    elif format == "label_studio":
        result = [{"type": "rectanglelabels", "value": region}]
        tasks = [
            {"id": n, "data": {"image": name, "width": 9, "height": 9}, "annotations": []}
            for n, name in enumerate(names)
        ]
        tasks[0]["annotations"] = [{"result": result}]
        path.write_text(json.dumps(tasks))
    elif format == "cvat":
        shape = '<box label="polyp" xtl="1" ytl="1" xbr="3" ybr="3"/>'
        images = "".join(
            f'<image id="{n}" name="{name}" width="9" height="9">{"" if n else shape}</image>'
            for n, name in enumerate(names)
        )
        path.write_text(f"<annotations><version>1.1</version>{images}</annotations>")
    else:
        rows = [f"{name},{',,,' if n else '1,1,2,2'},9,9\n" for n, name in enumerate(names)]
        path.write_text("image,x,y,width,height,image_width,image_height\n" + "".join(rows))
    return path


@pytest.mark.parametrize("format", list(SUFFIX))
def test_pictures_listed_without_annotation_are_to_do_unless_they_are_taken_as_negative(
    tmp_path, format
):
    path = listed(format, tmp_path)
    assert read(path).state_counts() == (1, 0, 5)
    assert read(path, unannotated="negative").state_counts() == (1, 5, 0)
    with pytest.raises(InputError, match="unannotated is 'no'; it must be 'todo' or 'negative'"):
        read(path, unannotated="no")


def test_files_of_version_01_keep_their_meaning(tmp_path):
    """As version 0.1 wrote them: a picture without a mark of ours was finished."""
    images = [
        {"id": n, "file_name": f"{n}.jpg", "width": 9, "height": 9, "done": False}
        for n in (1, 2, 3)
    ]
    for image in images[:2]:
        del image["done"]
    mark = '{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}'
    rest = f'],\n"annotations": [\n{mark}\n],\n"categories": [\n{{"id": 1, "name": "polyp"}}\n]}}\n'
    page = tmp_path / "annotations.json"
    for pictures, counts in ((images, (1, 1, 1)), (images[:2], (1, 1, 0))):
        lines = ",\n".join(map(json.dumps, pictures))
        page.write_text(f'{{"images": [\n{lines}\n{rest}')
        assert read(page).state_counts() == counts
        exported = tmp_path / "exported.json"
        exported.write_text(json.dumps(json.loads(page.read_text())) + "\n")
        others = (1, 0, 1) if len(pictures) < 3 else counts  # nothing shows who wrote it
        assert read(exported).state_counts() == others
    csv = tmp_path / "boxes.csv"
    csv.write_text(
        "image,x,y,width,height,category,image_width,image_height\n"
        "1.jpg,1,1,2,2,polyp,9,9\n2.jpg,,,,,,9,9\n"
    )
    cvat = tmp_path / "cvat.xml"
    cvat.write_text(
        "<annotations><version>1.1</version><meta><task><labels><label><name>polyp</name>"
        "<attributes/></label></labels></task></meta>"
        '<image id="0" name="1.jpg" width="9" height="9">'
        '<box label="polyp" xtl="1" ytl="1" xbr="3" ybr="3"/></image>'
        '<image id="1" name="2.jpg" width="9" height="9"/></annotations>'
    )
    for path in (csv, cvat):
        assert read(path).state_counts() == (1, 1, 0)


def test_images_added_to_a_file_of_this_version_are_merely_listed(tmp_path):
    """A script appends images without a state to a file in which all pictures are to do."""
    to_do = Annotations([Picture("a.png", 9, 9, done=False)])
    write(to_do, tmp_path / "written.json", "coco")
    write_pictures(tmp_path / "pictures", to_do)
    library = PictureLibrary(tmp_path / "pictures")
    with closing(AnnotationStore(library, tmp_path / "page.json")) as store:
        store.put(0, {"version": store.picture(0)["version"], "done": False, "objects": []})
    for path in (tmp_path / "written.json", tmp_path / "page.json"):
        content = json.loads(path.read_text())
        content["images"].append({"id": 7, "file_name": "b.png", "width": 9, "height": 9})
        path.write_text(json.dumps(content))
        assert read(path).state_counts() == (0, 0, 2)
        assert read(path, unannotated="negative").state_counts() == (0, 1, 1)


def test_a_state_that_contradicts_a_box_is_refused(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text(
        "image,x,y,width,height,image_width,image_height,state\na.jpg,1,1,2,2,9,9,verified empty\n"
    )
    with pytest.raises(InputError, match=r"line 2: the picture 'a\.jpg' is verified empty and has"):
        read(path)


def test_scores_survive_where_the_format_has_them():
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2), score=0.125)
    scored = Annotations((Picture("a.jpg", 9, 9, (box,)),))
    for format in ("coco", "label_studio", "csv"):
        assert [thing.score for thing in round_trip(scored, format).objects()] == [0.125]


def test_attributes_survive_where_the_format_has_them():
    box = AnnotatedObject("polyp", Box(1, 1, 2, 2), attributes={"difficult": "1"})
    scored = Annotations((Picture("a.jpg", 9, 9, (box,)),))
    for format in ("coco", "labelme", "cvat", "voc"):
        (found,) = round_trip(scored, format).objects()
        assert found.attributes["difficult"] == "1"


def test_masks_of_many_overlapping_objects_keep_every_pixel():
    rng = np.random.default_rng(0)
    many = [AnnotatedObject("spot", Mask.from_array(rng.random((8, 9)) < 0.3)) for _ in range(30)]
    many += [AnnotatedObject("dot", Box(x % 40, x // 40 % 20, 1, 1)) for x in range(300)]
    small = Annotations(
        (Picture("a.jpg", 9, 8, tuple(many[:30])), Picture("b.jpg", 40, 20, tuple(many[30:])))
    )
    found = round_trip(small, "masks")
    for picture in small:
        for old, new in zip(picture.objects, found[picture.name].objects, strict=True):
            np.testing.assert_array_equal(pixels(picture, new), pixels(picture, old))


def test_a_folder_gives_sizes_and_the_pictures_nobody_marked(tmp_path):
    marked = marked_set()
    images = tmp_path / "images"
    write_pictures(images, marked)
    assert find_pictures(images) == ["a.jpg", "c.jpg", "d.jpg", "day one/b.png"]
    with pytest.warns(AnnotationWarning):
        write(marked, tmp_path / "yolo", "yolo")
    found = read(tmp_path / "yolo", images)
    assert {each.name for each in found} == {"a.jpg", "c.jpg", "day one/b.png"}
    assert (found["c.jpg"].width, found["c.jpg"].height) == (17, 11)
    both = with_folder(found, images)
    assert not both["d.jpg"].done
    assert with_folder(found, images, done=True)["d.jpg"].done


def test_names_with_a_backslash_survive_where_the_picture_is_there(tmp_path):
    odd = Annotations((Picture("a\\b.png", 5, 4, (AnnotatedObject("x", Box(1, 1, 2, 2)),)),))
    write_pictures(tmp_path / "images", odd)
    for format in FORMATS:
        path = tmp_path / f"odd.{format}"
        write(odd, path, format)
        if format == "yolo":  # its files are named after the pictures, and theirs cannot be
            continue
        assert [each.name for each in read(path, tmp_path / "images", format)] == ["a\\b.png"]
        if format not in ("labelme",):
            assert [each.name for each in read(path, format=format)] == ["a/b.png"]


def test_nothing_is_left_when_writing_fails(tmp_path):
    point = AnnotatedObject("polyp", Polygons([[(0, 0), (0.1, 0), (0.1, 0.1)]]))
    fine = AnnotatedObject("polyp", Box(1, 1, 2, 2))
    marked = Annotations((Picture("a.jpg", 9, 9, (fine,)), Picture("b.jpg", 9, 9, (point,))))
    with pytest.raises(ValueError, match=r"b\.jpg covers no pixel's centre"):
        write(marked, tmp_path / "masks", "masks")
    assert list(tmp_path.iterdir()) == []
