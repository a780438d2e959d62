"""The command: what it says, what it refuses, and that nothing confirmed is lost in a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from annotate_page import (
    BOX,
    HEIGHT,
    MASK,
    POLYGON,
    WIDTH,
    browser,
    half_annotated_coco,
    make_pictures,
    marked,
)
from annotate_page import put as put_in_page
from picture_model import fitted, saved_model, some_frames
from PIL import Image

import groupcm
from groupcm.annotations import (
    AnnotatedObject,
    Annotations,
    AnnotationWarning,
    Box,
    Picture,
    read,
    write,
)
from groupcm.cli import main
from groupcm.cli.options.images import add_annotate
from groupcm.utils.extras import WEB
from groupcm.web.annotate.project import PROJECT_HEADER
from groupcm.web.review.session import results_as_csv
from groupcm.web.server import serve as serving

COMMAND = "import sys; from groupcm.cli import main; sys.exit(main())"
QUIETLY = ("--port", "0", "--no-browser", "--no-suggestions")
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})\n")


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames")


@pytest.fixture
def served(monkeypatch):
    """What would be served; the work of the page is done by `served.work`."""

    class Served:
        work = staticmethod(lambda page: None)

        @contextmanager
        def listening(self, port):
            self.port = port
            yield

        def __call__(self, _door, make_app, *, open_browser, say):
            self.open_browser = open_browser
            self.app = make_app("right-token", 8765)
            with browser(self.app) as self.page:
                self.work(self.page)

    served = Served()
    monkeypatch.setattr("groupcm.web.annotate.page.serve_at", served)
    monkeypatch.setattr("groupcm.web.annotate.page.listening", served.listening)
    return served


def refused(capsys, *arguments: object) -> str:
    """Run a command that must end in one sentence."""
    assert main(["annotate", *map(str, arguments)]) == 2
    told = capsys.readouterr()
    assert "http://" not in told.out
    lines = told.err.splitlines()
    assert len(lines) == 1
    return lines[0]


def files_in(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@pytest.mark.parametrize("kind", ["missing", "empty", "file"])
def test_a_folder_without_pictures(capsys, tmp_path, kind):
    path = tmp_path / "here"
    if kind == "empty":
        path.mkdir()
    elif kind == "file":
        path.write_text("x")
    told = refused(capsys, path)
    expected = {"missing": "does not exist", "empty": "no picture", "file": "is not a folder"}
    assert expected[kind] in told
    assert str(path) in told


def test_a_folder_that_cannot_be_written(capsys, folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    told = refused(capsys, folder)
    assert "no permission to write in the folder" in told
    assert "--annotations" in told
    assert str(folder) in told


@pytest.mark.parametrize("content", [b'{"images": [{"id"', b"", b"\xff", b'{"images": 4}'])
def test_a_damaged_file_is_kept_byte_for_byte(capsys, folder, content):
    path = folder / "annotations.json"
    path.write_bytes(content)
    before = files_in(folder)
    told = refused(capsys, folder)
    assert str(path) in told
    assert "kept as it is" in told
    assert files_in(folder) == before


def test_another_format(capsys, folder):
    (folder / "boxes.csv").write_text("image,x,y,width,height,category\n")
    told = refused(capsys, folder, "--annotations", folder / "boxes.csv")
    assert "not a COCO file" in told
    assert f"--import {folder / 'boxes.csv'}" in told


def test_categories_of_one_name_or_too_long_a_name(capsys, folder):
    told = refused(capsys, folder, "--categories", "polyp,ulcer,POLYP")
    assert "two categories have one name, 'polyp' and 'POLYP'" in told
    told = refused(capsys, folder, "--categories", "x" * 101)
    assert "the name of a category has 101 characters; a new name may have 100" in told
    categories = [{"id": 1, "name": "Polyp"}, {"id": 2, "name": " polyp"}]
    path = folder / "annotations.json"
    path.write_text(json.dumps({"images": [], "categories": categories}))
    before = path.read_bytes()
    assert "two categories have one name, 'Polyp' and 'polyp'" in refused(capsys, folder)
    assert path.read_bytes() == before


def test_a_port_in_use(capsys, folder):
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        port = door.getsockname()[1]
        assert main(["annotate", str(folder), "--port", str(port), "--no-suggestions"]) == 2
    told = capsys.readouterr()
    other = port + 1 if port < 65_535 else port - 1
    assert told.err == (
        f"groupcm: port {port} is in use by another program; choose another, such as --port "
        f"{other}, or let the computer choose with --port 0\n"
    )
    assert "token" not in told.out


@pytest.mark.parametrize("port", ["65536", "-1", "x"])
def test_no_such_port(capsys, folder, port):
    with pytest.raises(SystemExit) as ended:
        main(["annotate", str(folder), "--port", port])
    assert ended.value.code == 2
    assert "--port" in capsys.readouterr().err


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(ValueError, match=r'pip install "groupcm\[web\]"'):
        WEB.require()


def test_what_is_there_and_what_was_saved_is_told(capsys, folder, served):
    served.work = lambda page: put_in_page(page, 0, marked(BOX, category="polyp"))
    assert main(["annotate", str(folder), "--categories", "polyp", "--no-browser"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    file = folder / "annotations.json"
    assert first == f"0 of 3 pictures done, 0 objects; saved at every change in {file}"
    assert last == f"saved in {file}: 1 of 3 pictures done, 1 object"
    assert (served.port, served.open_browser) == (8765, False)
    served.work = lambda page: None
    assert main(["annotate", str(folder), "--port", "0"]) == 0
    assert capsys.readouterr().out.startswith("1 of 3 pictures done, 1 object;")
    assert (served.port, served.open_browser) == (0, True)


def test_without_a_change_no_file_is_made(capsys, folder, served):
    assert main(["annotate", str(folder)]) == 0
    assert "nothing was marked" in capsys.readouterr().out
    assert not (folder / "annotations.json").exists()
    assert served.page.get("/api/project").json()["suggestions"] is True


def test_work_elsewhere_is_counted_and_kept(capsys, folder, served, tmp_path):
    image = {"id": 1, "file_name": "gone.png", "width": 9, "height": 9, "camera": "left"}
    path = tmp_path / "work.json"
    path.write_text(json.dumps({"images": [image], "annotations": [], "categories": []}))
    served.work = lambda page: put_in_page(page, 0)
    arguments = ["--annotations", str(path), "--no-suggestions"]
    assert main(["annotate", str(folder), *arguments]) == 0
    told = capsys.readouterr().out
    assert f"of {path}, not in {folder}: 1 picture; what is marked there is kept\n" in told
    assert json.loads(path.read_text())["images"][0] == image
    assert served.page.get("/api/project").json()["suggestions"] is False


@pytest.mark.parametrize("way", ["--annotations", "--import"])
@pytest.mark.parametrize(("unannotated", "done"), [((), 1), (("--unannotated", "negative"), 6)])
def test_pictures_that_a_file_only_lists_are_to_do_unless_asked(
    capsys, served, tmp_path, way, unannotated, done
):
    folder = make_pictures(tmp_path / "six", *(f"{n}.png" for n in range(6)))
    path = half_annotated_coco(tmp_path / "listed.json", folder)
    assert main(["annotate", str(folder), way, str(path), "--no-suggestions", *unannotated]) == 0
    told = capsys.readouterr().out
    states = [each["done"] for each in served.page.get("/api/pictures").json()["summaries"]]
    assert states == [number < done for number in range(6)]
    if way == "--import":
        assert f"(1 annotated, {done - 1} verified empty, {6 - done} to do)" in told
    else:
        hint = "listed without an annotation: 5 pictures, still to do; --unannotated negative"
        assert (hint in told) == (done == 1)
        recorded = "5 pictures, now recorded as verified empty because of --unannotated negative"
        assert (recorded in told) == (done == 6)
        # What was asked for is kept, so that the next start need not be asked again.
        assert read(path).state_counts() == (1, done - 1, 6 - done)


def test_listed_pictures_can_be_taken_as_negative_after_the_first_change(capsys, served, tmp_path):
    folder = make_pictures(tmp_path / "six", *(f"{n}.png" for n in range(6)))
    path = half_annotated_coco(tmp_path / "listed.json", folder)
    start = ["annotate", str(folder), "--annotations", str(path), "--no-suggestions"]

    def work(page):
        assert put_in_page(page, 1).status_code == 200  # verified empty
        assert put_in_page(page, 2, done=False).status_code == 200  # to do, by decision

    served.work = work
    assert main(start) == 0
    assert read(path).state_counts() == (1, 1, 4)
    served.work = lambda page: None
    capsys.readouterr()
    assert main([*start, "--unannotated", "negative"]) == 0
    told = capsys.readouterr().out
    assert "3 pictures, now recorded as verified empty" in told
    assert "already recorded as to do: 1 picture, which --unannotated negative does not" in told
    assert read(path).state_counts() == (1, 4, 1)


def test_import_and_first(capsys, folder, served, tmp_path):
    lines = [
        "image,x,y,width,height,category,image_width,image_height",
        f"b.png,1,2,3,4,polyp,{WIDTH},{HEIGHT}",
        "z.png,1,2,3,4,polyp,40,30",
    ]
    boxes, review = tmp_path / "boxes.csv", tmp_path / "review.csv"
    boxes.write_text("\n".join(lines))
    review.write_text("image,score,truth,outcome,note\nc.png,,,,\nq.png,,,,\n")
    listed = []
    served.work = lambda page: listed.extend(page.get("/api/pictures").json()["summaries"])
    arguments = ["--import", str(boxes), "--first", str(review), "--no-suggestions"]
    assert main(["annotate", str(folder), *arguments]) == 0
    told = capsys.readouterr().out
    assert f"from {boxes}: 1 object in 1 picture" in told
    assert "not in the folder (the first: z.png)" in told
    assert f"of {review}, not in {folder}: 1 picture\n" in told
    assert [each["first"] for each in listed] == [False, False, True]
    assert [each["objects"] for each in listed] == [0, 1, 0]
    assert (
        "polyp" in json.loads((folder / "annotations.json").read_text())["categories"][-1]["name"]
    )


def test_a_model_scores_in_the_background(capsys, served, tmp_path):
    folder, model = tmp_path / "made", tmp_path / "model.json"
    folder.mkdir()
    Image.fromarray(some_frames()[0].pixels).save(folder / "a.png")
    groupcm.save(fitted(), model, notes=saved_model().notes)
    told = {}

    def work(page):
        told.update(page.get("/api/project").json())
        told["best"] = page.get("/api/pictures/0/candidates").json()["candidates"][0]
        told["order"] = page.get("/api/order").json()["order"]

    served.work = work
    assert main(["annotate", str(folder), "--model", str(model)]) == 0
    assert told["model"] is True
    assert isinstance(told["best"]["score"], float)
    assert [each["picture"] for each in told["order"]] == [0]
    assert "no such" in refused(capsys, folder, "--model", tmp_path / "no.json")


def test_a_zip_that_the_page_exported_is_imported(capsys, folder, served, tmp_path):
    packed, other = tmp_path / "yolo.zip", make_pictures(tmp_path / "other")

    def work(page):
        put_in_page(page, 1, marked(BOX, category="object"))
        packed.write_bytes(page.get("/api/export?format=yolo").content)

    served.work = work
    assert main(["annotate", str(folder), "--no-suggestions"]) == 0
    served.work = lambda page: None
    assert main(["annotate", str(other), "--import", str(packed), "--no-suggestions"]) == 0
    assert f"from {packed}: 1 object in 1 picture" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["notes.txt", "notes.json"])
def test_an_import_of_no_format_advises_nothing_that_cannot_be_done(
    capsys, folder, served, tmp_path, name
):
    (tmp_path / name).write_text('{"a": 1}')
    told = refused(capsys, folder, "--import", tmp_path / name)
    assert str(tmp_path / name) in told
    assert "format=" not in told
    assert "COCO" in told


def test_a_change_by_another_program_is_told_at_the_end(capsys, folder, served):
    def work(page):
        assert put_in_page(page, 0, marked(BOX, category="object")).status_code == 200
        (folder / "annotations.json").write_text("theirs")
        assert put_in_page(page, 1).status_code == 409

    served.work = work
    assert main(["annotate", str(folder), "--no-suggestions"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{folder / 'annotations.json'} was changed by another program")
    assert "done" not in last
    assert (folder / "annotations.json").read_text() == "theirs"


def test_a_list_of_something_else_is_refused_in_a_sentence(capsys, folder, tmp_path):
    listed = tmp_path / "annotations.json"
    listed.write_text(json.dumps({"images": [{"id": n} for n in range(2_000)]}))
    told = refused(capsys, folder, "--first", listed, "--port", 0)
    assert str(listed) in told
    assert "review.csv" in told
    assert len(told) < 200 + len(str(listed))


def test_first_takes_the_marks_of_a_review_and_not_a_list_that_its_page_exports(
    capsys, folder, served, tmp_path
):
    listed = tmp_path / "review-list.csv"
    listed.write_text(results_as_csv([("a.png", None)], 0.5))
    told = refused(capsys, folder, "--first", listed, "--port", 0)
    assert "--first takes the review.csv that groupcm review wrote, not a list" in told
    for column in ("image", "picture"):  # the second is that of older files
        (tmp_path / "review.csv").write_text(f"{column},score,truth,outcome,note\nb.png,,,,\n")
        first = ["--first", str(tmp_path / "review.csv")]
        assert main(["annotate", str(folder), *first, "--no-suggestions"]) == 0


def test_pictures_in_progress_and_unreadable_ones_are_named_so(capsys, folder, served, tmp_path):
    (folder / "broken.png").write_bytes(b"no picture")
    box = AnnotatedObject("polyp", Box(1, 1, 3, 3))
    pictures = [
        Picture("a.png", WIDTH, HEIGHT, (box,), done=False),
        Picture("b.png", WIDTH, HEIGHT, (box,)),
    ]
    path = tmp_path / "voc"
    with pytest.warns(AnnotationWarning, match="pictures in progress were written with a mark"):
        write(Annotations(pictures), path, "voc")
    served.work = lambda page: page.get("/api/pictures/2")
    assert main(["annotate", str(folder), "--import", str(path), "--no-suggestions"]) == 0
    told = capsys.readouterr().out
    assert "2 objects in 2 pictures (1 annotated, 0 verified empty, 1 in progress, 0 to do)" in told
    assert told.endswith("1 of 3 pictures done, 1 in progress, 2 objects, 1 unreadable\n")


def test_a_port_in_use_is_told_before_anything_is_imported(capsys, folder, tmp_path):
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(
        "image,x,y,width,height,category,image_width,image_height\n"
        f"b.png,1,2,3,4,polyp,{WIDTH},{HEIGHT}\n"
    )
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        port = door.getsockname()[1]
        assert f"port {port} is in use" in refused(
            capsys, folder, "--import", boxes, "--port", port
        )
    assert not (folder / "annotations.json").exists()


def test_a_damaged_import_starts_nothing(capsys, folder, tmp_path):
    (tmp_path / "boxes.json").write_text("{")
    before = files_in(folder)
    assert main(["annotate", str(folder), "--import", str(tmp_path / "boxes.json")]) == 2
    assert "boxes.json" in capsys.readouterr().err
    assert files_in(folder) == before


def test_the_browser_is_opened_by_request(monkeypatch):
    opened = []
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    serving._open("http://127.0.0.1:1/")
    assert opened == ["http://127.0.0.1:1/"]


def test_the_options_need_nothing_installed():
    import argparse

    parser = argparse.ArgumentParser()
    add_annotate(parser)
    given = parser.parse_args(["in", "--categories", "a, b", "--import", "x"])
    assert (given.categories, given.import_from, given.port) == (["a", "b"], "x", 8765)


# A real server ---------------------------------------------------------------------------------


@contextmanager
def running(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Page]]:
    """Start the command, and speak to it once it has said where it is."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "annotate", str(folder), *QUIETLY, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := ADDRESS.fullmatch(line):
                break
        else:
            raise AssertionError(process.communicate()[1])
        with Page(found[0].strip(), int(found[1])) as page:
            yield process, page
    finally:
        process.kill()
        process.communicate()


class Page:
    """What a browser does with the address."""

    def __init__(self, address: str, port: int) -> None:
        import httpx2

        home = f"http://127.0.0.1:{port}"
        self.client = httpx2.Client(base_url=home, headers={"Origin": home}, trust_env=False)
        self.opened = self.client.get(address, headers={"Origin": home}, follow_redirects=True)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def put(self, number: int, *objects: dict) -> int:
        address = f"/api/pictures/{number}"
        seen = self.client.get(address).json()
        body = {"name": seen["name"], "version": seen["version"], "done": True}
        headers = {PROJECT_HEADER: seen["project"]}
        return self.client.put(
            address, json=body | {"objects": [*objects]}, headers=headers
        ).status_code


def test_nothing_confirmed_is_lost_in_a_kill(folder):
    box, mask = marked(BOX, "n1", "object"), marked(MASK, "n2", "object")
    with running(folder) as (process, page):
        assert page.opened.status_code == 200
        assert "server" not in page.opened.headers
        assert page.put(0, box) == 200
        assert page.put(1, box, mask) == 200
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    with running(folder) as (_, page):
        assert page.put(2, marked(POLYGON, "n3", "object")) == 200
        found = [page.client.get(f"/api/pictures/{number}").json() for number in range(3)]
    regions = [[each["region"] for each in picture["objects"]] for picture in found]
    assert regions == [[BOX], [BOX, MASK], [POLYGON]]
    assert [each["done"] for each in found] == [True] * 3
    assert sorted(files_in(folder)) == ["a.png", "annotations.json", "b.png", "c.png"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_well_when_asked_to(folder, sign):
    with running(folder) as (process, page):
        assert page.put(0, marked(BOX, "n1", "object")) == 200
        process.send_signal(sign)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out == f"saved in {folder / 'annotations.json'}: 1 of 3 pictures done, 1 object\n"
    assert err == ""
