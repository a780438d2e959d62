"""Work is confirmed when it is on the disk, and never written over someone else's."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from annotate_page import (
    BOX,
    HEIGHT,
    MASK,
    POLYGON,
    WIDTH,
    half_annotated_coco,
    make_pictures,
    marked,
    store_of,
)

from groupcm.annotations import Box, Mask, Picture, Polygons, read
from groupcm.annotations.regions import Region
from groupcm.errors import InputError
from groupcm.web.annotate.annotation_file import Saver
from groupcm.web.annotate.changes import refuse_duplicates
from groupcm.web.annotate.store import AnnotationStore, Conflict
from groupcm.web.server import guarded_file
from groupcm.web.server.annotation_json import object_from_json, picture_from_json, region_to_json
from groupcm.web.server.guarded_file import ChangedOnDisk


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path)


def put(store: AnnotationStore, number: int, *objects: dict, done: bool = True, version=None):
    if version is None:
        version = store.picture(number)["version"]
    return store.put(number, {"version": version, "done": done, "objects": [*objects]})


def on_disk(folder: Path) -> dict:
    return json.loads((folder / "annotations.json").read_text(encoding="utf-8"))


def coco(folder: Path, **changes) -> Path:
    """Write a file with much that the page knows nothing of."""
    content = {
        "info": {"by": "someone", "note": "é"},
        "licenses": [{"id": 1}],
        "images": [
            {"id": 7, "file_name": "a.png", "width": WIDTH, "height": HEIGHT, "camera": "left"},
            {"id": 9, "file_name": "gone.png", "width": 40, "height": 30, "done": False},
        ],
        "categories": [{"id": 3, "name": "polyp", "supercategory": "finding"}],
        "annotations": [
            {
                "id": 50,
                "image_id": 7,
                "category_id": 3,
                "bbox": [1, 2, 3, 4],
                "area": 12,
                "iscrowd": 0,
                "segmentation": [],
                "doctor": "B",
            },
            {"id": 51, "image_id": 9, "category_id": 3, "bbox": [0, 0, 9, 9], "odd": [1]},
        ],
    } | changes
    path = folder / "annotations.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# Records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", [BOX, POLYGON, MASK])
def test_regions_come_back_as_they_were_sent(region):
    assert region_to_json(object_from_json(marked(region)).region) == region


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"region": None}, "'region' is missing"),
        ({"region": BOX | {"width": 0}}, "both must be positive"),
        ({"region": BOX | {"x": "1"}}, "'x' is '1'"),
        ({"region": BOX | {"x": True}}, "'x' is True"),
        ({"region": BOX | {"x": 10**400}}, "must be a finite number"),
        ({"region": BOX | {"x": 100}}, "lies outside its picture"),
        ({"region": POLYGON | {"parts": [[1, 2, 3]]}}, "even number"),
        ({"region": POLYGON | {"parts": [[1, 2, 3, 4]]}}, "needs three or more"),
        ({"region": POLYGON | {"parts": [[1, 2, 3, 4, "5", 6]]}}, "must be a number"),
        ({"region": POLYGON | {"parts": []}}, "no polygon"),
        ({"region": MASK | {"height": 3}}, "a run of 164 pixels"),
        ({"region": MASK | {"height": HEIGHT + 1}}, "they must be the same"),
        ({"region": MASK | {"height": -1, "width": -1}}, "must have some"),
        ({"region": MASK | {"counts": [1, -2]}}, "must have 0 to"),
        ({"region": MASK | {"counts": [1, 2.5]}}, "whole numbers"),
        ({"region": MASK | {"counts": [[1], [2, 3]]}}, "object 1"),
        ({"region": MASK | {"counts": [192]}}, "the mask is empty"),
        ({"id": None}, "'id' is missing"),
        ({"id": [1]}, "a number or a text"),
        ({"category": "  "}, "must have a name"),
        ({"category": "a\nb"}, "not a printable character"),
        ({"score": "high"}, "'score' is 'high'"),
    ],
)
def test_wrong_objects_are_a_sentence_that_names_them(wrong, told):
    sent = {"done": True, "objects": [marked(BOX) | wrong]}
    with pytest.raises(InputError) as error:
        picture_from_json(sent, "a.png", (WIDTH, HEIGHT))
    assert str(error.value).startswith("a.png, object 1: ")
    assert told in str(error.value)


@pytest.mark.parametrize("sent", [{}, {"done": 1, "objects": []}, {"done": True, "objects": {}}])
def test_a_wrong_picture_is_a_sentence(sent):
    with pytest.raises(InputError, match=r"^a\.png: '(done|objects)' is"):
        picture_from_json(sent, "a.png", (WIDTH, HEIGHT))


def test_two_objects_of_one_id_are_refused():
    sent = {"done": True, "objects": [marked(BOX), marked(MASK)]}
    with pytest.raises(InputError, match="two objects have the id 'n1'"):
        picture_from_json(sent, "a.png", (WIDTH, HEIGHT))


# Saving ----------------------------------------------------------------------------------------


class SlowDisk:
    """A disk whose writes end when they are told to."""

    def __init__(self) -> None:
        self.written: list[tuple] = []
        self.begun, self.go_on = threading.Semaphore(0), threading.Semaphore(0)
        self.error: Exception | None = None

    def write(self, state: tuple) -> None:
        self.begun.release()
        assert self.go_on.acquire(timeout=20)
        if self.error is not None:
            raise self.error
        self.written.append(state)


def add(what: str):
    return lambda state: (*state, what)


def test_a_change_is_confirmed_after_its_write_and_waiting_ones_share_one():
    disk = SlowDisk()
    saver = Saver((), disk.write)
    first = saver.change(add("a"))
    assert disk.begun.acquire(timeout=20)
    waiting = [saver.change(add(name)) for name in "bcd"]
    assert not first.done()
    assert saver.saved == ()
    disk.go_on.release()
    assert first.result(20) == ("a",)
    assert disk.begun.acquire(timeout=20)
    assert saver.saved == ("a",)
    assert not any(each.done() for each in waiting)
    disk.go_on.release()
    assert [each.result(20) for each in waiting] == [tuple("abcd")] * 3
    assert disk.written == [("a",), tuple("abcd")]
    saver.close()


def test_a_failed_write_undoes_all_that_waited():
    disk = SlowDisk()
    saver = Saver((), disk.write)
    disk.error = OSError(28, "No space left on device")
    first = saver.change(add("a"))
    assert disk.begun.acquire(timeout=20)
    second = saver.change(add("b"))
    disk.go_on.release()
    for change in (first, second):
        with pytest.raises(OSError, match="No space left"):
            change.result(20)
    assert saver.saved == ()
    disk.error = None
    third = saver.change(add("c"))
    disk.go_on.release()
    assert third.result(20) == ("c",)
    saver.close()


def test_closing_waits_for_the_last_write(monkeypatch):
    disk = SlowDisk()
    saver = Saver((), disk.write)
    change = saver.change(add("a"))
    join = threading.Thread.join

    def go_on_and_join(thread, timeout=None):
        assert not change.done()
        disk.go_on.release()
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", go_on_and_join)
    saver.close()
    assert change.done()
    assert disk.written == [("a",)]
    with pytest.raises(RuntimeError):
        saver.change(add("b"))


def test_what_was_refused_changes_nothing():
    saver = Saver((), lambda state: None)

    def refuse(_state):
        raise Conflict

    with pytest.raises(Conflict):
        saver.change(refuse)
    assert saver.change(add("a")).result(20) == ("a",)
    saver.close()


# The file --------------------------------------------------------------------------------------


def test_work_is_in_a_coco_file(folder):
    store = store_of(folder, categories=["polyp", "bleeding"])
    assert not (folder / "annotations.json").exists()
    put(store, 0, marked(BOX), marked(POLYGON, "n2", "bleeding"), marked(MASK, "n3"))
    put(store, 2)
    found = read(folder / "annotations.json", folder)
    assert [picture.name for picture in found] == ["a.png", "c.png"]
    kinds: list[type[Region]] = [type(each.region) for each in found["a.png"].objects]
    assert kinds == [Box, Polygons, Mask]
    assert [each.category for each in found["a.png"].objects] == ["polyp", "bleeding", "polyp"]
    mask = found["a.png"].objects[2].region
    assert isinstance(mask, Mask)
    assert list(mask.counts) == MASK["counts"]
    assert found["c.png"].done
    assert found.categories == ("polyp", "bleeding")
    ids = [each["id"] for each in on_disk(folder)["annotations"]]
    assert ids == [1, 2, 3]


def test_a_file_of_version_01_stays_done(folder):
    """Its page wrote no state of finished pictures, and one image or annotation per line."""
    image = '{"id": %d, "file_name": "%s.png", "width": 16, "height": 12}'
    images = ",\n".join(image % each for each in ((1, "a"), (2, "b")))
    text = f'{{"images": [\n{images}\n],\n"annotations": [],\n"categories": []}}\n'
    (folder / "annotations.json").write_text(text)
    store = store_of(folder)
    assert [store.picture(number)["done"] for number in (0, 1, 2)] == [True, True, False]
    put(store, 2, done=False)
    again = store_of(folder)
    assert [again.picture(number)["done"] for number in (0, 1, 2)] == [True, True, False]
    assert again.undecided == 0


def test_pictures_that_another_program_lists_stay_to_do_after_a_save(folder):
    half_annotated_coco(folder / "annotations.json", folder)
    store = store_of(folder)
    assert (store.totals().done, store.undecided) == (1, 2)
    put(store, 1, done=True)
    again = store_of(folder)
    assert [again.picture(number)["done"] for number in (0, 1, 2)] == [True, True, False]
    assert [image.get("done") for image in on_disk(folder)["images"]] == [None, True, None]


def test_a_new_start_finds_everything(folder):
    store = store_of(folder)
    put(store, 0, marked(BOX, category="object"), marked(MASK, "n2", "object"))
    put(store, 1, done=True)
    before = store.picture(0)
    again = store_of(folder)
    after = again.picture(0)
    assert [each["region"] for each in after["objects"]] == [BOX, MASK]
    assert again.picture(1)["done"]
    assert not again.picture(2)["done"]
    # A page that was open before the start holds no version of now.
    assert after["version"] != before["version"]
    assert again.totals() == store.totals() == (2, 0, 2)


def test_unknown_fields_and_pictures_that_are_not_there_are_kept(folder):
    before = json.loads(coco(folder).read_text())
    store = store_of(folder)
    assert store.n_elsewhere == 1
    put(store, 1, marked(BOX))
    after = on_disk(folder)
    assert after["images"][:2] == before["images"]
    assert after["annotations"][:2] == before["annotations"]
    assert after["categories"] == before["categories"]
    assert after["info"] == before["info"]
    assert after["licenses"] == before["licenses"]
    assert after["images"][2]["id"] == 10
    assert after["annotations"][2]["id"] == 52
    assert list(after)[-3:] == ["images", "annotations", "categories"]


def test_an_object_keeps_what_the_page_does_not_know(folder):
    coco(folder)
    store = store_of(folder)
    moved = store.picture(0)["objects"][0]
    assert moved["id"] == 50
    moved["region"] = BOX | {"x": 2.0}
    put(store, 0, moved, marked(MASK))
    first, elsewhere, new = sorted(on_disk(folder)["annotations"], key=lambda each: each["id"])
    assert (first["id"], first["doctor"], first["bbox"][0]) == (50, "B", 2.0)
    assert elsewhere["image_id"] == 9
    assert (new["id"], new["image_id"]) == (52, 7)
    assert on_disk(folder)["images"][0]["camera"] == "left"
    # Deleting and undoing that brings all of it back.
    put(store, 0)
    put(store, 0, moved)
    assert on_disk(folder)["annotations"][0]["doctor"] == "B"
    assert on_disk(folder)["annotations"][0]["id"] == 50


def test_an_object_of_the_page_keeps_its_number(folder):
    store = store_of(folder)
    put(store, 0, marked(BOX, "x", "object"))
    put(store, 1, marked(BOX, "x", "object"))
    put(store, 0, marked(MASK, "y", "object"), marked(BOX, "x", "object"))
    assert [(each["id"], each["image_id"]) for each in on_disk(folder)["annotations"]] == [
        (3, 1),
        (1, 1),
        (2, 2),
    ]


def test_objects_without_an_own_id_get_one(folder):
    twins = [
        {"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4]},
        {"id": 4, "image_id": 7, "category_id": 3, "bbox": [2, 2, 3, 4]},
        {"id": 4, "image_id": 7, "category_id": 3, "bbox": [3, 2, 3, 4]},
    ]
    coco(folder, annotations=twins)
    store = store_of(folder)
    keys = [each["id"] for each in store.picture(0)["objects"]]
    assert len(set(keys)) == 3
    assert None not in keys


def test_names_are_found_in_either_way_to_write_them(tmp_path):
    folder = make_pictures(tmp_path, "e\u0301.png", "b\\c.png")
    images = [
        {"id": 1, "file_name": "\u00e9.png", "width": WIDTH, "height": HEIGHT, "done": True},
        {"id": 2, "file_name": "b\\c.png", "width": WIDTH, "height": HEIGHT, "done": True},
    ]
    coco(folder, images=images, annotations=[])
    store = store_of(folder)
    assert store.n_elsewhere == 0
    assert [store.picture(number)["done"] for number in (0, 1)] == [True, True]


def test_a_size_that_does_not_fit_is_told(folder):
    path = coco(folder)
    path.write_text(path.read_text().replace(f'"width": {WIDTH}', '"width": 99'))
    store = store_of(folder)
    with pytest.raises(InputError, match=r"16 × 12 pixels, and annotations\.json states 99 × 12"):
        store.picture(0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"images": [',
        b"\xff\xfe",
        b'{"images": 3}',
        b'{"images": [{"id": 1}]}',
        b'{"images": [], "annotations": [{"image_id": 1}]}',
        b'{"images": [], "info": NaN}',
        b"[" * 100_000,
        b'{"images": [], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]}',
        b'{"images": [], "categories": [{"id": 1, "name": "Polyp"}, {"id": 2, "name": "polyp "}]}',
    ],
)
def test_a_damaged_file_is_told_and_kept(folder, content):
    path = folder / "annotations.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"annotations\.json"):
        store_of(folder)
    assert path.read_bytes() == content


def test_another_format_is_told_with_the_way_to_take_it_over(folder):
    (folder / "boxes.csv").write_text("image,x,y,width,height,category\n")
    with pytest.raises(InputError, match=r"import_from=.*boxes\.csv"):
        store_of(folder, "boxes.csv")
    (folder / "tasks.json").write_text('[{"data": {"image": "a.png"}}]')
    with pytest.raises(InputError, match=r"Label Studio, not of COCO.* import_from=.*tasks\.json"):
        store_of(folder, "tasks.json")


def test_where_nothing_can_be_written_is_told_at_the_start(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder)
    with pytest.raises(InputError, match="no permission to write in the folder"):
        store_of(folder)
    coco(folder)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) == folder)
    with pytest.raises(InputError, match="no permission to write this file"):
        store_of(folder)


def test_what_someone_else_wrote_is_never_overwritten(folder):
    one, other = store_of(folder), store_of(folder)
    put(one, 0, marked(BOX, category="object"))
    kept = (folder / "annotations.json").read_bytes()
    for _ in range(2):
        with pytest.raises(ChangedOnDisk, match="was written by another program"):
            put(other, 1, marked(BOX, category="object"))
    assert (folder / "annotations.json").read_bytes() == kept
    assert not other.picture(1)["done"]
    put(one, 2)
    assert store_of(folder).totals() == (2, 0, 1)


@pytest.mark.parametrize("happens", ["same size", "removed", "during the write"])
def test_changes_on_the_disk_are_seen(folder, monkeypatch, happens):
    path = coco(folder)
    store = store_of(folder)
    put(store, 1)
    content = path.read_bytes()
    if happens == "same size":
        path.write_bytes(content.replace(b"someone", b"anotser"))
        os.utime(path, ns=(1, 1))
    elif happens == "removed":
        path.unlink()
    else:

        def late(*_paths):
            path.write_bytes(b"theirs")

        monkeypatch.setattr(guarded_file.shutil, "copymode", late)
    with pytest.raises(ChangedOnDisk, match="nothing is overwritten"):
        put(store, 0)
    assert path.exists() == (happens != "removed")
    if happens == "during the write":
        assert path.read_bytes() == b"theirs"
    assert [each.name for each in folder.iterdir() if each.name.endswith(".part")] == []


def test_a_full_disk_loses_nothing_that_was_confirmed(folder, monkeypatch):
    store = store_of(folder)
    put(store, 0, marked(BOX, category="object"))
    version = store.picture(0)["version"]

    def full(_handle):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            put(store, 0, done=False)
    assert len(store_of(folder).picture(0)["objects"]) == 1
    assert store.picture(0)["version"] == version
    # The page sends the same once more, and it is taken.
    put(store, 0, done=False, version=version)
    assert store_of(folder).picture(0)["objects"] == []


def test_the_files_permissions_stay(folder):
    path = coco(folder)
    path.chmod(0o640)
    put(store_of(folder), 0)
    assert path.stat().st_mode & 0o777 == 0o640


# Changes by several ----------------------------------------------------------------------------


def test_the_second_of_two_from_one_version_is_refused(folder):
    store = store_of(folder)
    version = store.picture(0)["version"]
    saved = put(store, 0, marked(BOX, category="object"), version=version)
    with pytest.raises(Conflict):
        put(store, 0, marked(MASK, category="object"), version=version)
    assert [each["region"] for each in store.picture(0)["objects"]] == [BOX]
    assert store.picture(0)["version"] == saved.version
    put(store, 0, marked(MASK, category="object"), version=saved.version)


def test_the_same_once_more_is_no_conflict(folder):
    # The answer to the first may have been lost on the way.
    store = store_of(folder)
    version = store.picture(0)["version"]
    first = put(store, 0, marked(BOX, category="object"), version=version)
    again = put(store, 0, marked(BOX, category="object"), version=version)
    assert again == first


def test_many_at_once_lose_nothing(tmp_path):
    names = [f"{number}.png" for number in range(24)]
    folder = make_pictures(tmp_path, *names)
    store = store_of(folder)
    version = store.picture(0)["version"]

    def work(number: int) -> int:
        try:
            put(store, number % 24, marked(BOX, f"n{number}", "object"), version=version)
        except Conflict:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        taken = sum(pool.map(work, range(24)))
    assert taken == 24
    found = on_disk(folder)
    assert len(found["annotations"]) == len({each["id"] for each in found["annotations"]}) == 24
    assert len({each["id"] for each in found["images"]}) == 24


def test_changes_since_a_revision(folder):
    store = store_of(folder)
    start = store.revision
    assert store.changed_since(start) == []
    put(store, 1)
    middle = store.revision
    put(store, 2)
    assert store.changed_since(start) == [1, 2]
    assert store.changed_since(middle) == [2]
    assert store.changed_since(store.revision) == []
    for elsewhere in (0, start - 1, store.revision + 1):
        assert store.changed_since(elsewhere) == [0, 1, 2]


# Categories ------------------------------------------------------------------------------------


def test_categories_of_the_file_and_of_the_start(folder):
    assert store_of(folder).categories == ["object"]
    coco(folder)
    store = store_of(folder, categories=["bleeding", " POLYP"])
    assert store.categories == ["polyp", "bleeding"]
    put(store, 1, marked(BOX, category="bleeding"))
    assert [(each["id"], each["name"]) for each in on_disk(folder)["categories"]] == [
        (3, "polyp"),
        (4, "bleeding"),
    ]


def test_a_longer_name_of_a_file_is_kept(folder):
    long = "x" * 500
    coco(folder)
    store = store_of(folder)
    polyp = object_from_json(marked(BOX, 1, long))
    assert store.merge([Picture("b.png", WIDTH, HEIGHT, (polyp,))], [long]).objects == 1
    store.close()
    assert store_of(folder).categories == ["polyp", long]


def test_two_of_one_name_are_refused():
    with pytest.raises(InputError, match="categories: two categories have one name"):
        refuse_duplicates(["polyp", "ulcer", " Polyp"], "categories")


def test_renaming_reaches_every_object(folder):
    coco(folder)
    store = store_of(folder)
    before = store.picture(0)
    store.rename_category(0, " Adenoma ")
    assert store.categories == ["Adenoma"]
    assert store.picture(0)["objects"][0]["category"] == "Adenoma"
    found = read(folder / "annotations.json")
    assert {each.category for each in found.objects()} == {"Adenoma"}
    assert on_disk(folder)["categories"][0]["supercategory"] == "finding"
    assert on_disk(folder)["annotations"][0]["doctor"] == "B"
    # A page that has not heard of it may not bring the old name back.
    with pytest.raises(Conflict):
        put(store, 0, version=before["version"])
    assert store.changed_since(before["version"]) == [0]
    store.rename_category(0, "adenoma")
    assert store.categories == ["adenoma"]


def test_categories_are_added_and_removed(folder):
    coco(folder)
    store = store_of(folder)
    store.add_category("ulcer")
    for taken in ("polyp", " ULCER "):
        with pytest.raises(InputError, match="there is a category"):
            store.add_category(taken)
    with pytest.raises(InputError, match="there is a category 'polyp'"):
        store.rename_category(1, "Polyp")
    with pytest.raises(InputError, match=r"'polyp' has objects, the first in a\.png"):
        store.remove_category(0)
    store.remove_category(1)
    assert store.categories == [each["name"] for each in on_disk(folder)["categories"]]
    assert store.categories == ["polyp"]
    for wrong in ("", None, 3, "a\nb"):
        with pytest.raises(InputError):
            store.add_category(wrong)
    with pytest.raises(InputError, match="no category 5"):
        store.remove_category(5)


def test_the_last_category_stays(folder):
    with pytest.raises(InputError, match="last category"):
        store_of(folder).remove_category(0)


def test_objects_of_no_category_are_refused(folder):
    store = store_of(folder)
    with pytest.raises(InputError, match="there is no category 'polyp'; there is 'object'"):
        put(store, 0, marked(BOX))
    assert not (folder / "annotations.json").exists()


# Merging ---------------------------------------------------------------------------------------


def test_merging_adds_only_where_there_is_no_work(folder):
    store = store_of(folder, categories=["polyp"])
    put(store, 0, marked(BOX))
    put(store, 1, done=True)
    polyp = object_from_json(marked(MASK, 1, "POLYP"))
    ulcer = object_from_json(marked(BOX, 1, "ulcer"))
    pictures = [
        Picture("a.png", WIDTH, HEIGHT, (polyp,)),
        Picture("b.png", WIDTH, HEIGHT, (polyp,)),
        Picture("c.png", WIDTH, HEIGHT, (polyp, ulcer), False, {"id": 1, "patient": "p7"}),
    ]
    merged = store.merge(pictures, ["POLYP", "ulcer"])
    assert merged == (1, 2, ("a.png", "b.png"), (0, 0, 1), 1)
    assert [each["category"] for each in store.picture(2)["objects"]] == ["polyp", "ulcer"]
    assert not store.picture(2)["done"]
    assert store.categories == ["polyp", "ulcer"]
    ids = [each["id"] for each in on_disk(folder)["annotations"]]
    assert len(set(ids)) == 3
    assert [each["id"] for each in on_disk(folder)["images"]] == [1, 2, 3]
    assert on_disk(folder)["images"][2]["patient"] == "p7"
    assert store.merge(pictures, []).pictures == 0
