"""Folders of pictures as users store them: layouts, unannotated pictures, patients, mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, write
from groupcm.errors import InputError, ParameterError
from groupcm.images import picture_set
from groupcm.images.picture_set import read_picture_set

NAMES = ["p1_a.png", "p1_b.png", "p2_a.png", "p2_b.png"]
WIDTH, HEIGHT = 12, 9


def draw(folder: Path, names=NAMES) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (WIDTH, HEIGHT), (90, 80, 70)).save(path)
    return folder


def mask(path: Path, value: int = 255) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    pixels[2:5, 3:7] = value
    Image.fromarray(pixels).save(path)


def marked(positive=("p1_a.png",), names=NAMES) -> Annotations:
    polyp = [AnnotatedObject("polyp", Box(2, 2, 4, 3))]
    return Annotations(
        [Picture(n, WIDTH, HEIGHT, polyp if n in positive else []) for n in names], ("polyp",)
    )


def masks_beside(folder: Path) -> None:
    draw(folder)
    mask(folder / "p1_a_mask.png")


def masks_in_a_folder(folder: Path) -> None:
    draw(folder)
    mask(folder / "masks/p1_a.png")


def images_and_masks(folder: Path) -> None:
    draw(folder / "images")
    mask(folder / "masks/p1_a.png")


def ground_truth(folder: Path) -> None:
    draw(folder / "images")
    mask(folder / "ground_truth/p1_a.png")


def plates_and_their_masks(folder: Path) -> None:
    draw(folder / "plates")
    mask(folder / "plates_gt/p1_a.png")


def coco(folder: Path) -> None:
    write(marked(), draw(folder) / "annotations.json", "coco")


def coco_in_a_folder(folder: Path) -> None:
    draw(folder / "frames")
    (folder / "annotations").mkdir()
    write(marked(), folder / "annotations/instances.json", "coco")


def csv_of_boxes(folder: Path) -> None:
    write(marked(), draw(folder / "images").parent / "boxes.csv", "csv")


def labelme_beside(folder: Path) -> None:
    write(marked(), folder, "labelme")
    draw(folder)


def yolo_labels(folder: Path) -> None:
    draw(folder / "images")
    write(marked(), folder / "labels", "yolo")


def voc_annotations(folder: Path) -> None:
    draw(folder / "JPEGImages")
    write(marked(), folder / "Annotations", "voc")


@pytest.mark.parametrize(
    "layout",
    [
        masks_beside,
        masks_in_a_folder,
        images_and_masks,
        ground_truth,
        plates_and_their_masks,
        coco,
        coco_in_a_folder,
        csv_of_boxes,
        labelme_beside,
        yolo_labels,
        voc_annotations,
    ],
    ids=lambda layout: layout.__name__,
)
def test_the_usual_layouts_are_recognised(tmp_path, layout):
    layout(tmp_path / "set")
    found = read_picture_set(tmp_path / "set")
    assert found.names == NAMES
    assert [name for name in found.names if found.is_positive(name)] == ["p1_a.png"]
    assert not found.left_out


def test_each_patient_may_have_folders_of_pictures_and_of_masks(tmp_path):
    names = [f"p{number}/photos/{name}.png" for number in (1, 2) for name in "ab"]
    draw(tmp_path, names)
    for name in names[1:3]:
        mask(tmp_path / name.replace("photos", "masks").replace(".png", "_mask.png"))
    found = read_picture_set(tmp_path, patients="folders")
    assert found.names == names
    assert [name for name in found.names if found.is_positive(name)] == names[1:3]
    assert set(found.patients.values()) == {"p1", "p2"}


def test_unannotated_pictures_are_negative_only_where_no_other_is(tmp_path):
    folder = draw(tmp_path)
    mask(folder / "masks/p1_a.png")
    found = read_picture_set(folder)
    assert sum(map(found.is_positive, found.names)) == 1
    assert "3 pictures without annotations count as negative" in " ".join(found.findings)
    mask(folder / "masks/p1_b.png", value=0)  # verified empty
    found = read_picture_set(folder)
    assert found.names == ["p1_a.png", "p1_b.png"]
    assert found.left_out == ("p2_a.png", "p2_b.png")
    assert "2 pictures without annotations are left out" in " ".join(found.findings)
    found = read_picture_set(folder, unannotated="negative")
    assert found.names == NAMES
    with pytest.raises(ParameterError, match="unannotated"):
        read_picture_set(folder, unannotated="maybe")


def test_folders_of_normal_pictures_are_negative(tmp_path):
    folder = draw(tmp_path, ["defect/a.png", "defect/b.png", "good/c.png"])
    mask(folder / "defect/a_mask.png")
    found = read_picture_set(folder)
    assert found.names == ["defect/a.png", "good/c.png"]
    assert found.left_out == ("defect/b.png",)
    assert "1 picture in folders such as good" in " ".join(found.findings)


def test_pictures_in_progress_are_left_out(tmp_path):
    folder = draw(tmp_path)
    open_picture = Picture(
        "p2_a.png", WIDTH, HEIGHT, [AnnotatedObject("polyp", Box(1, 1, 3, 3))], done=False
    )
    pictures = [each for each in marked() if each.name != "p2_a.png"]
    write(Annotations([*pictures, open_picture]), folder / "marks.json", "coco")
    found = read_picture_set(folder)
    assert "p2_a.png" not in found.names
    assert found.left_out == ("p2_a.png",)


def test_only_the_wanted_categories_are_objects(tmp_path):
    folder = draw(tmp_path)
    other = AnnotatedObject("bubble", Box(1, 1, 3, 3))
    pictures = [Picture("p1_b.png", WIDTH, HEIGHT, [other]), *marked(names=["p1_a.png"])]
    annotations = Annotations(pictures)
    found = read_picture_set(
        folder, annotations=annotations, category="polyp", unannotated="negative"
    )
    assert [name for name in found.names if found.is_positive(name)] == ["p1_a.png"]
    with pytest.raises(InputError, match="no category 'ulcer'; there are 'bubble', 'polyp'"):
        read_picture_set(folder, annotations=annotations, category="ulcer")


@pytest.mark.parametrize("patients", [r"^(p\d)_", "{}/list.csv", "{}/list.csv:person", None])
def test_patients_come_from_names_files_or_the_folder(tmp_path, patients):
    folder = draw(tmp_path / "set")
    write(marked(), folder / "annotations.json", "coco")
    rows = [f"{name},{name[:2]},{name[:2]},{'test' if 'b' in name else 'train'}" for name in NAMES]
    place = folder / "patients.csv" if patients is None else tmp_path / "list.csv"
    place.write_text("\n".join(["image,patient,person,split", *rows]))
    given = None if patients is None else patients.format(tmp_path)
    found = read_picture_set(folder, patients=given)
    assert found.patients == {name: name[:2] for name in NAMES}
    assert set(found.splits.values()) == (set() if given and "^" in given else {"train", "test"})


def test_what_may_be_the_patient_in_a_name_is_suggested(tmp_path):
    masks_beside(tmp_path)
    told = read_picture_set(tmp_path).findings[-1]
    assert told.endswith("If p1 is the patient of p1_a.png, set patients to '^(.+)[_-]'.")
    found = read_picture_set(tmp_path, patients="^(.+)[_-]")
    assert set(found.patients.values()) == {"p1", "p2"}


def test_folders_may_be_patients(tmp_path):
    folder = draw(tmp_path, ["a/1.png", "b/1.png"])
    mask(folder / "a/1_mask.png")
    assert read_picture_set(folder, patients="folders").patients == {"a/1.png": "a", "b/1.png": "b"}
    draw(folder, ["alone.png"])
    with pytest.raises(InputError, match=r"'alone\.png' is in no folder"):
        read_picture_set(folder, patients="folders", unannotated="negative")


@pytest.mark.parametrize(
    ("patients", "sentence"),
    [
        ("(p", "neither|regular expression"),
        ("p.*", "no group"),
        (r"^(q\d)", r"no patient in the name of the picture 'p1_a\.png'"),
        ("none.csv", "there is no file"),
    ],
)
def test_patients_that_cannot_be_read_are_refused(tmp_path, patients, sentence):
    folder = draw(tmp_path)
    mask(folder / "p1_a_mask.png")
    with pytest.raises(InputError, match=sentence):
        read_picture_set(folder, patients=patients)


def test_a_column_of_patients_must_exist(tmp_path):
    folder = draw(tmp_path)
    mask(folder / "p1_a_mask.png")
    (tmp_path / "list.csv").write_text("image,patient\np1_a,1\n")
    with pytest.raises(InputError, match="no column 'scene'; its columns are image, patient"):
        read_picture_set(folder, patients=f"{tmp_path}/list.csv:scene")


def test_several_annotations_and_none_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no picture"):
        read_picture_set(tmp_path)
    folder = draw(tmp_path)
    with pytest.raises(InputError, match="there are no annotations in "):
        read_picture_set(folder)
    for name in ("a.json", "b.json"):
        write(marked(), folder / name, "coco")
    with pytest.raises(InputError, match=r"holds several annotations \(a\.json, b\.json\)"):
        read_picture_set(folder)
    assert len(read_picture_set(folder, annotations=folder / "a.json").names) == 4


def test_masks_of_several_values_need_their_meaning(tmp_path):
    folder = draw(tmp_path)
    mask(folder / "masks/p1_a.png", value=1)
    mask(folder / "masks/p1_b.png", value=2)
    with pytest.raises(InputError, match="say whether each is an object"):
        read_picture_set(folder)
    found = read_picture_set(folder, mask_values="object")
    assert sum(map(found.is_positive, found.names)) == 2


def test_two_masks_of_one_picture_are_joined_or_refused(tmp_path):
    pictures, masks = tmp_path / "images", tmp_path / "masks"
    for folder in (pictures, masks):
        folder.mkdir()
    parts = [np.zeros((20, 30), dtype=np.uint8) for _ in range(2)]
    parts[0][2:8, 3:9] = parts[1][10:16, 20:26] = 255
    Image.fromarray(np.zeros((20, 30), dtype=np.uint8)).save(pictures / "a.png")
    for part, name in zip(parts, ("a_mask_1.png", "a_mask_2.png"), strict=True):
        Image.fromarray(part).save(masks / name)
    [both] = read_picture_set(tmp_path).annotations
    assert sorted(each.region.box.x for each in both.objects) == [3, 20]
    for old, new in (("a_mask_1.png", "a.png"), ("a_mask_2.png", "a.bmp")):
        Image.open(masks / old).save(masks / new)
        (masks / old).unlink()
    with pytest.raises(InputError, match=r"a\.png: the picture 'a\.png' has another mask") as told:
        read_picture_set(tmp_path)
    assert "_mask_1 and _mask_2" in str(told.value)


def test_each_name_is_looked_up_a_few_times_however_many_there_are(tmp_path):
    class Counted(str):
        n_hashes = 0

        def __hash__(self):
            Counted.n_hashes += 1
            return super().__hash__()

    names = [Counted(f"{number}.png") for number in range(300)]
    boxes = (AnnotatedObject("x", Box(1, 1, 2, 2)),)
    marked = Annotations([Picture(name, 9, 9, objects=boxes, done=True) for name in names])
    used, left_out, _ = picture_set._with_unannotated(marked, names, tmp_path, "auto")
    assert (len(used), left_out) == (300, [])
    assert Counted.n_hashes < 20 * len(names)
