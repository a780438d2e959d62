"""What the annotate page asks for, and what it gets."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from urllib.parse import unquote

import pytest
from annotate_page import (
    BOX,
    HEIGHT,
    MASK,
    POLYGON,
    WIDTH,
    app_of,
    browser,
    half_annotated_coco,
    make_pictures,
    make_static,
    marked,
    put,
    store_of,
)
from PIL import Image

from groupcm import __version__
from groupcm.annotations import FORMATS, read
from groupcm.annotations.pictures import PictureFiles
from groupcm.errors import InputError, SetAsideWarning
from groupcm.web.annotate.project import PROJECT_HEADER, list_id, project_id
from groupcm.web.server import library as library_module
from groupcm.web.server.security import IMPORT_LIMIT


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames")


@pytest.fixture
def client(folder):
    return browser(app_of(folder, categories=["polyp", "bleeding"]))


class SomeScores:
    """Scores that become known when a test says so."""

    threshold = 0.5
    running = True

    def __init__(self) -> None:
        self.known: list[tuple[int, float]] = []
        self.calls: list[str] = []

    @property
    def n_scored(self) -> int:
        return len(self.known)

    def score(self, number):
        return dict(self.known).get(number)

    def changed_since(self, revision):
        return len(self.known), dict(self.known[revision:])

    def start(self):
        self.calls.append("start")

    def stop(self):
        self.calls.append("stop")


class SomeSuggestions:
    def of(self, number):
        if number == 1:
            raise InputError("the picture b.png cannot be read")
        return [{"box": [1, 2, 3, 4], "counts": None, "score": 0.5}]


def test_the_page_is_served(folder, tmp_path):
    client = browser(app_of(folder, static=make_static(tmp_path / "static")))
    assert "<title>page" in client.get("/").text
    assert client.get("/static/annotate.js").text == "let a = 1;"
    assert client.get("/static/no.js").status_code == 404
    absent = browser(app_of(folder, static=tmp_path / "nothing"))
    assert "not built" in absent.get("/").json()["error"]


def test_the_project(client, folder):
    project = client.get("/api/project").json()
    formats = project.pop("formats")
    assert {each["name"]: each["folder"] for each in formats} == {
        name: each.folder for name, each in FORMATS.items()
    }
    assert project == {
        "page": "annotate",
        "project": project_id(folder / "annotations.json", folder),
        "list": list_id(["a.png", "b.png", "c.png"]),
        "folder": "frames",
        "file": "annotations.json",
        "categories": ["polyp", "bleeding"],
        "suggestions": False,
        "model": False,
        "threshold": None,
        "set_aside": None,
        "import_limit": IMPORT_LIMIT,
        "category_limit": 100,
        "version": __version__,
    }


def test_the_project_names_the_masks_that_were_set_aside(folder):
    Image.new("L", (WIDTH, HEIGHT)).save(folder / "a_mask.png")
    with pytest.warns(SetAsideWarning, match="1 mask is stored"):
        client = browser(app_of(folder))
    told = client.get("/api/project").json()["set_aside"]
    assert told.startswith("1 mask is stored with the pictures and set aside, such as a_mask.png;")


def test_the_list_of_pictures_reads_none_of_them(folder, monkeypatch):
    client = browser(app_of(folder, first={1: "a second polyp"}))
    put(client, 2, marked(BOX), done=False)
    with monkeypatch.context() as patch:
        patch.setattr(library_module, "picture_size", None)
        patch.setattr(library_module, "read_picture", None)
        listed = client.get("/api/pictures").json()
    assert listed["names"] == ["a.png", "b.png", "c.png"]
    versions = [each.pop("version") for each in listed["summaries"]]
    unknown = {"score": None, "error": None}
    assert versions[0] == versions[1] < versions[2]
    assert listed["summaries"] == [
        {"done": False, "objects": 0, "first": False, "note": ""} | unknown,
        {"done": False, "objects": 0, "first": True, "note": "a second polyp"} | unknown,
        {"done": False, "objects": 1, "first": False, "note": ""} | unknown,
    ]


def test_what_is_put_is_found(client, folder):
    empty = client.get("/api/pictures/0").json()
    assert empty == {
        "project": client.get("/api/project").json()["project"],
        "name": "a.png",
        "width": WIDTH,
        "height": HEIGHT,
        "version": empty["version"],
        "done": False,
        "objects": [],
    }
    objects = [marked(BOX), marked(POLYGON, "n2"), marked(MASK, 3, "bleeding") | {"score": 0.25}]
    answer = put(client, 0, *objects)
    assert answer.status_code == 200
    found = client.get("/api/pictures/0").json()
    assert found["objects"] == objects
    assert found["done"]
    assert found["version"] == answer.json()["version"]
    # It is on the disk before the answer.
    regions = [each["region"] for each in store_of(folder).picture(0)["objects"]]
    assert regions == [BOX, POLYGON, MASK]


def test_a_conflict_brings_the_current_picture(client):
    version = client.get("/api/pictures/0").json()["version"]
    put(client, 0, marked(BOX))
    answer = put(client, 0, marked(MASK), version=version)
    assert answer.status_code == 409
    assert answer.json()["picture"] == client.get("/api/pictures/0").json()
    assert "another window" in answer.json()["error"]
    assert answer.json()["picture"]["objects"] == [marked(BOX)]


def test_a_file_changed_elsewhere_is_a_conflict_without_a_picture(client, folder):
    put(client, 0)
    (folder / "annotations.json").write_text("theirs")
    for answer in (put(client, 1), client.post("/api/categories", json={"name": "ulcer"})):
        assert answer.status_code == 409
        assert set(answer.json()) == {"error"}
        assert "another program" in answer.json()["error"]
    assert (folder / "annotations.json").read_text() == "theirs"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": NaN}',
        b'{"done": true, "objects": []}',
        b'{"version": "1", "done": true, "objects": []}',
        b"[" * 100_000,
        b"\xff",
        b'{"version": ' + b"1" * 5000 + b"}",
    ],
)
def test_bad_bodies_are_told(client, folder, body):
    answer = client.put("/api/pictures/0", content=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert not (folder / "annotations.json").exists()


def test_a_bad_object_is_told_by_its_place(client, folder):
    answer = put(client, 0, marked(BOX), marked(BOX | {"width": -1}, "n2"))
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("a.png, object 2: the box is -1 wide")
    assert not (folder / "annotations.json").exists()


def test_a_full_disk_is_told(client, monkeypatch):
    from groupcm.web.annotate import annotation_file

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(annotation_file.os, "fsync", full)
    answer = put(client, 0)
    assert answer.status_code == 500
    assert "annotations.json: no space left on device" in answer.json()["error"]


def test_what_changes_is_told_to_whoever_asks(client):
    seen = client.get("/api/pictures").json()["revision"]
    nothing = client.get(f"/api/changes?since={seen}").json()
    assert nothing == {
        "project": client.get("/api/project").json()["project"],
        "list": client.get("/api/project").json()["list"],
        "revision": seen,
        "summaries": {},
        "categories": ["polyp", "bleeding"],
        "scored": 0,
        "scoring": False,
    }
    put(client, 1, marked(BOX))
    told = client.get(f"/api/changes?since={seen}").json()
    assert list(told["summaries"]) == ["1"]
    assert told["summaries"]["1"]["objects"] == 1
    assert client.get(f"/api/changes?since={told['revision']}").json()["summaries"] == {}
    assert client.get(f"/api/changes?since={seen}").json()["summaries"] == told["summaries"]
    # One that an earlier server gave out says nothing of this one.
    assert len(client.get("/api/changes?since=17").json()["summaries"]) == 3
    for wrong in ("", "?since=", "?since=-1", "?since=x", "?since=" + "9" * 99):
        assert client.get("/api/changes" + wrong).status_code == 400


def test_scores_arrive_beside_changes(folder):
    scores = SomeScores()
    with browser(app_of(folder, scores=scores)) as client:
        assert scores.calls == ["start"]
        project = client.get("/api/project").json()
        assert (project["model"], project["threshold"]) == (True, 0.5)
        start = client.get("/api/pictures").json()["revision"]
        scores.known.append((2, 0.75))
        first = client.get(f"/api/changes?since={start}").json()
        assert {key: each["score"] for key, each in first["summaries"].items()} == {"2": 0.75}
        assert (first["scored"], first["scoring"]) == (1, True)
        put(client, 0)
        scores.known.append((1, -1.0))
        second = client.get(f"/api/changes?since={first['revision']}").json()
        assert list(second["summaries"]) == ["0", "1"]
        assert list(client.get(f"/api/changes?since={start}").json()["summaries"]) == list("012")
    assert scores.calls == ["start", "stop"]


def test_the_model_says_what_to_annotate_next(folder):
    scores = SomeScores()
    scores.known = [(0, -3.0), (1, 0.6), (2, 0.1)]
    client = browser(app_of(folder, scores=scores))
    put(client, 2)
    order = client.get("/api/order").json()["order"]
    assert [each["picture"] for each in order] == [1, 0]
    assert browser(app_of(folder)).get("/api/order").status_code == 404


def test_candidates_come_from_the_suggestions(folder):
    client = browser(app_of(folder, suggestions=SomeSuggestions()))
    assert client.get("/api/project").json()["suggestions"]
    expected = {"candidates": [{"box": [1, 2, 3, 4], "counts": None, "score": 0.5}]}
    assert client.get("/api/pictures/0/candidates").json() == expected
    answer = client.get("/api/pictures/1/candidates")
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "the picture b.png cannot be read"},
    )
    without = browser(app_of(folder))
    assert without.get("/api/pictures/0/candidates").json() == {"candidates": []}


def test_categories(client):
    put(client, 0, marked(BOX))
    added = client.post("/api/categories", json={"name": " ulcer "})
    assert added.json() == {"categories": ["polyp", "bleeding", "ulcer"]}
    assert client.post("/api/categories", json={"name": "ULCER"}).status_code == 400
    assert client.post("/api/categories", json={}).status_code == 400
    assert client.delete("/api/categories/0").status_code == 400
    assert client.delete("/api/categories/1").json() == {"categories": ["polyp", "ulcer"]}
    renamed = client.put("/api/categories/0", json={"name": "adenoma"})
    assert renamed.json() == {"categories": ["adenoma", "ulcer"]}
    assert client.get("/api/pictures/0").json()["objects"][0]["category"] == "adenoma"
    assert client.delete("/api/categories/9").status_code == 400
    longest = client.get("/api/project").json()["category_limit"]
    assert client.post("/api/categories", json={"name": "x" * longest}).status_code == 200
    for ask, path in ((client.post, "/api/categories"), (client.put, "/api/categories/0")):
        refused = ask(path, json={"name": "x" * (longest + 1)})
        assert refused.status_code == 400
        assert refused.json()["error"].startswith("the name of a category has 101 characters")


def unpacked(content: bytes, folder):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_exported_and_imported(client, folder, tmp_path, name):
    put(client, 0, marked(BOX))
    put(client, 1, marked(BOX | {"x": 7.0}, "n2"))
    put(client, 2)
    answer = client.get(f"/api/export?format={name}")
    assert answer.status_code == 200
    ending = "zip" if FORMATS[name].folder else {"cvat": "xml", "csv": "csv"}.get(name, "json")
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="frames-{name}.{ending}"'
    )
    if FORMATS[name].folder:
        path = unpacked(answer.content, tmp_path / "out")
    else:
        path = tmp_path / f"out.{ending}"
        path.write_bytes(answer.content)
    assert len(read(path, folder, name)["a.png"].objects) == 1

    elsewhere = browser(app_of(make_pictures(tmp_path / "other"), categories=["polyp"]))
    for format in ("auto", name):
        brought = elsewhere.post(f"/api/import?format={format}", content=answer.content)
        assert brought.status_code == 200, brought.text
        if format == "auto":
            assert brought.json()["objects"] == 2
            boxes = [each["region"] for each in elsewhere.get("/api/pictures/0").json()["objects"]]
            if name == "masks":
                assert boxes[0]["type"] == "mask"
            else:
                assert boxes == [BOX]
        else:
            assert brought.json()["objects"] == 0
            assert "kept as they were (the first: a.png)" in brought.json()["skipped"][0]


def test_an_export_tells_what_is_lost(client):
    put(client, 0, marked(MASK))
    answer = client.get("/api/export?format=voc")
    told = json.loads(unquote(answer.headers["x-warnings"]))
    assert "became boxes" in told[0]
    assert "/" not in told[0]
    assert client.get("/api/export?format=nothing").status_code == 400


def test_an_import_skips_pictures_that_are_not_here(client, folder, tmp_path):
    lines = [
        "image,x,y,width,height,category,image_width,image_height",
        f"a.png,1,2,3,4,POLYP,{WIDTH},{HEIGHT}",
        f"b.png,1,2,3,4,polyp,{WIDTH + 1},{HEIGHT}",
        "z.png,1,2,3,4,other,40,30",
    ]
    answer = client.post("/api/import", content="\n".join(lines).encode())
    assert answer.json()["pictures"] == answer.json()["objects"] == 1
    skipped = " ".join(answer.json()["skipped"])
    assert "not in the folder (the first: z.png)" in skipped
    assert "of another size there (the first: b.png)" in skipped
    assert client.get("/api/pictures/0").json()["objects"][0]["category"] == "polyp"

    labels = io.BytesIO()
    with zipfile.ZipFile(labels, "w") as archive:
        archive.writestr("set/classes.txt", "polyp\n")
        archive.writestr("set/c.txt", "0 0.5 0.5 0.25 0.25\n")
        archive.writestr("set/z.txt", "0 0.5 0.5 0.25 0.25\n")
        archive.writestr("__MACOSX/set/._c.txt", "\0")
    answer = client.post("/api/import", content=labels.getvalue()).json()
    assert (answer["pictures"], answer["objects"]) == (1, 1)
    assert "not in the folder (the first: z)" in answer["skipped"][0]


def zipped(
    *names: str,
    content: bytes = b"0 0.5 0.5 0.1 0.1\n",
    compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name in names:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "format", "told"),
    [
        (b"", "auto", "the file is empty"),
        (b"{", "auto", "the file, line 1"),
        (b'{"images": [{"id": 1}]}', "coco", "the file, image 1: 'file_name' is missing"),
        (b"image,x\na.png,1\n", "auto", "the file"),
        (b"PK\x03\x04 no zip", "auto", "damaged"),
        (zipped("../evil.txt"), "yolo", "leads out"),
        (zipped("/etc/evil.txt"), "yolo", "leads out"),
        (zipped("a\n.txt"), "yolo", r"'a\n.txt', which leads out of it or is not a file name"),
        (zipped("a" * 300), "yolo", "cannot be written: File name too long"),
        (zipped("a", "a/b"), "yolo", "cannot be written"),
        (zipped("a.txt", compression=zipfile.ZIP_LZMA), "yolo", "a compression that is not read"),
        (zipped("a.txt")[5:], "yolo", "pack it as a ZIP file"),
        (zipped("a.txt")[:9] + zipped("a.txt")[20:], "yolo", "the ZIP file is damaged"),
        (zipped("a.txt", "classes.txt", content=b"x y\n"), "yolo", "a.txt, line 1: "),
        (b"0 0.5 0.5 0.1 0.1", "yolo", "pack it as a ZIP file"),
        (zipped("a.txt"), "coco", "is a folder"),
        (b"{}", "nothing", "there is no format 'nothing'"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><annotations>&b;</annotations>', "auto", "the file"),
    ],
)
def test_a_damaged_import_changes_nothing(client, folder, content, format, told):
    put(client, 0, marked(BOX))
    before = (folder / "annotations.json").read_bytes()
    answer = client.post(f"/api/import?format={format}", content=content)
    assert answer.status_code == 400
    assert told in answer.json()["error"]
    assert "groupcm-" not in answer.json()["error"]
    assert (folder / "annotations.json").read_bytes() == before


@pytest.mark.parametrize(
    ("query", "counts"),
    [("", (1, 0, 5)), ("&unannotated=todo", (1, 0, 5)), ("&unannotated=negative", (1, 5, 0))],
)
def test_an_import_says_how_many_pictures_are_in_each_state(tmp_path, query, counts):
    folder = make_pictures(tmp_path / "six", *(f"{n}.png" for n in range(6)))
    content = half_annotated_coco(tmp_path / "listed.json", folder).read_bytes()
    client = browser(app_of(folder))
    answer = client.post(f"/api/import?format=auto{query}", content=content).json()
    assert (answer["annotated"], answer["verified_empty"], answer["todo"]) == counts
    done = [each["done"] for each in client.get("/api/pictures").json()["summaries"]]
    assert done == [number < 6 - counts[2] for number in range(6)]
    refused = client.post("/api/import?format=auto&unannotated=no", content=content)
    assert refused.status_code == 400
    assert "unannotated is 'no'" in refused.json()["error"]


@pytest.mark.parametrize("format", list(FORMATS))
def test_an_export_of_all_three_states_is_imported_with_them(client, tmp_path, format):
    put(client, 0, marked(BOX))
    put(client, 1)
    content = client.get(f"/api/export?format={format}").content
    elsewhere = browser(app_of(make_pictures(tmp_path / "other"), categories=["polyp"]))
    answer = elsewhere.post(f"/api/import?format={format}", content=content)
    assert (answer.json()["annotated"], answer.json()["verified_empty"]) == (1, 1)
    assert answer.json()["in_progress"] == 0
    summaries = elsewhere.get("/api/pictures").json()["summaries"]
    assert [(each["done"], each["objects"]) for each in summaries] == [
        (True, 1),
        (True, 0),
        (False, 0),
    ]


def test_a_zip_that_grows_beyond_measure_is_refused(client, monkeypatch):
    from groupcm.web.annotate import exchange as unpacking

    monkeypatch.setattr(unpacking, "_MOST_UNPACKED", 2**20)
    bomb = zipped("a.txt", content=b"0" * (2**21))
    assert len(bomb) < 2**14
    answer = client.post("/api/import?format=yolo", content=bomb)
    assert answer.status_code == 400
    assert "more than 1 MB" in answer.json()["error"]


def test_ten_thousand_pictures_are_listed_without_a_look_at_them(tmp_path, monkeypatch):
    folder = make_pictures(tmp_path, "9999.png")
    names = [f"{number}.png" for number in range(10_000)]
    monkeypatch.setattr(
        library_module, "list_picture_files", lambda folder: PictureFiles(names, [])
    )
    client = browser(app_of(folder))
    put(client, 9_999, marked(BOX))
    asked = []
    monkeypatch.setattr(library_module, "picture_size", asked.append)
    listed = client.get("/api/pictures").json()
    assert len(listed["names"]) == len(listed["summaries"]) == 10_000
    assert listed["names"][9_999] == "9999.png"
    assert asked == []
    # Pictures without work are not in the file.
    assert len(json.loads((folder / "annotations.json").read_text())["images"]) == 1


# A page left open, and pictures that cannot be read ----------------------------------------------


def test_a_page_of_another_folder_changes_nothing(folder, tmp_path):
    old = browser(app_of(folder, categories=["polyp", "bleeding"]))
    seen = old.get("/api/pictures/0").json()
    other = make_pictures(tmp_path / "other")
    new = browser(app_of(other, categories=["polyp", "bleeding"]))
    assert new.headers[PROJECT_HEADER] != old.headers[PROJECT_HEADER]
    body = {"name": "a.png", "version": seen["version"], "done": True, "objects": []}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", "/api/pictures/0", {"json": body}),
        ("POST", "/api/categories", {"json": {"name": "ulcer"}}),
        ("PUT", "/api/categories/0", {"json": {"name": "ulcer"}}),
        ("DELETE", "/api/categories/1", {}),
        ("POST", "/api/import", {"content": b"image,x\n"}),
    ]
    for headers in ({PROJECT_HEADER: seen["project"]}, {PROJECT_HEADER: ""}):
        for method, path, options in requests:
            answer = new.request(method, path, headers=headers, **options)
            assert answer.status_code == 412
            assert "the folder other" in answer.json()["error"]
    assert not (other / "annotations.json").exists()
    assert new.get("/api/project").json()["categories"] == ["polyp", "bleeding"]


def test_a_number_that_means_another_picture_by_now_is_refused(folder):
    before = browser(app_of(folder)).get("/api/project").json()
    make_pictures(folder, "0.png")
    client = browser(app_of(folder))
    about = client.get("/api/project").json()
    assert about["project"] == before["project"]
    assert about["list"] != before["list"]
    body = {"name": "a.png", "done": True, "objects": []}
    body["version"] = client.get("/api/pictures/0").json()["version"]
    answer = client.put("/api/pictures/0", json=body)
    assert answer.status_code == 412
    assert "picture 0 is now 0.png, not a.png" in answer.json()["error"]
    assert not (folder / "annotations.json").exists()
    body["version"] = client.get("/api/pictures/1").json()["version"]
    assert client.put("/api/pictures/1", json=body).status_code == 200


def test_a_picture_that_was_saved_is_no_longer_to_correct(folder):
    put(browser(app_of(folder)), 0, marked(BOX))
    client = browser(app_of(folder, first={0, 1}))
    seen = client.get("/api/pictures").json()["revision"]
    put(client, 1, marked(BOX))
    put(client, 2)
    assert client.put("/api/categories/0", json={"name": "lesion"}).status_code == 200
    told = client.get(f"/api/changes?since={seen}").json()["summaries"]
    assert told["1"]["first"] is False
    listed = client.get("/api/pictures").json()["summaries"]
    assert [each["first"] for each in listed] == [True, False, False]


def test_what_cannot_be_read_is_told_once_it_is_known(folder):
    client = browser(app_of(folder))
    seen = client.get("/api/pictures").json()["revision"]
    kept = (folder / "b.png").read_bytes()
    (folder / "b.png").unlink()
    assert client.get("/api/pictures/1").status_code == 422
    told = client.get(f"/api/changes?since={seen}").json()
    assert list(told["summaries"]) == ["1"]
    assert "b.png no longer exists" in told["summaries"]["1"]["error"]
    (folder / "b.png").write_bytes(kept)
    assert client.get("/api/pictures/1/pixels").status_code == 200
    told = client.get(f"/api/changes?since={told['revision']}").json()["summaries"]
    assert told["1"]["error"] is None


@pytest.mark.parametrize("path", ["", "/pixels", "/thumbnail", "/candidates"])
def test_a_number_of_thousands_of_digits_is_no_picture(client, path):
    assert client.get(f"/api/pictures/{'9' * 5000}{path}").status_code == 404
    assert client.put(f"/api/categories/{'9' * 5000}", json={"name": "a"}).status_code == 404
