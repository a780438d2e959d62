"""``groupcm review``: it serves, it ends with all its processes, and mistakes are sentences."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from dataclasses import replace
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from picture_model import FRAMES, fitted, saved_model

import groupcm
from groupcm.annotations import read, write
from groupcm.cli._main import main
from groupcm.images.features import FAMILIES
from groupcm.images.proposals import PROPOSERS, Proposals
from groupcm.images.recipe import Recipe
from groupcm.images.synthetic import write_frames


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("review ü")
    write_frames(home, 6, seed=1, **FRAMES)
    groupcm.save(fitted(), home / "model.json", notes=saved_model().notes)
    groupcm.save(fitted(), home / "tables.json")
    given = Recipe(
        Proposals((PROPOSERS["given"](),)), (FAMILIES["colour"](), FAMILIES["contrast"]())
    )
    groupcm.save(fitted(), home / "given.json", notes={"recipe": given.to_json()})
    return home


def told(capsys, *arguments) -> str:
    assert main(["review", *map(str, arguments), "--no-browser", "--port", "0"]) == 2
    heard = capsys.readouterr()
    lines = heard.err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_mistakes(home, tmp_path, capsys):
    frames, model = home / "frames", home / "model.json"
    assert "tables.json was trained on a table without pictures" in told(
        capsys, home / "tables.json", frames
    )
    assert "needs a model that finds its own candidates" in told(
        capsys, home / "given.json", frames
    )
    assert "not a model that groupcm saved" in told(capsys, home / "annotations.json", frames)
    assert f"there is no picture in the folder {tmp_path}" in told(capsys, model, tmp_path)
    assert "--workers is 0" in told(capsys, model, frames, "--workers", "0")
    assert "--category needs --annotations" in told(capsys, model, frames, "--category", "polyp")
    assert "there is no category 'ulcer'; there is 'polyp'" in told(
        capsys, model, frames, "--annotations", home / "annotations.json", "--category", "ulcer"
    )
    assert "--unmarked negative is given and no --annotations" in told(
        capsys, model, frames, "--unmarked", "negative"
    )
    damaged = tmp_path / "damaged.json"
    damaged.write_text('{"images": [')
    assert "damaged.json" in told(capsys, model, frames, "--annotations", damaged)
    marks = tmp_path / "marks.csv"
    marks.write_text("a,b\n")
    assert "marks.csv is not a file of marks" in told(capsys, model, frames, "--marks", marks)
    assert marks.read_text() == "a,b\n"
    sentence = told(capsys, model, frames, "--marks", damaged / "m.csv")
    assert "damaged.json is not a folder" in sentence
    assert "--marks names the file" in sentence
    assert "model.json is read and cannot hold marks" in told(
        capsys, model, frames, "--marks", model
    )
    assert not list(frames.glob("*.csv"))
    assert not list(frames.glob(".*"))


def test_a_port_in_use(home, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        arguments = ["review", str(home / "model.json"), str(home / "frames"), "--no-browser"]
        assert main([*arguments, "--port", str(port), "--marks", str(home / "p.csv")]) == 2
    heard = capsys.readouterr()
    assert f"port {port} is in use" in heard.err
    assert heard.out == ""
    assert not (home / "p.csv").exists()
    assert not (home / ".p-cache").exists()


@pytest.mark.parametrize("threshold", ["nan", "inf", "-inf", "high"])
def test_a_threshold_that_is_no_number(home, capsys, threshold):
    arguments = ["review", str(home / "model.json"), str(home / "frames")]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, f"--threshold={threshold}"])
    assert ended.value.code == 2
    assert f"'{threshold}' is not a number" in capsys.readouterr().err


class Running:
    """The command in a process of its own, and a browser that opened its page.

    Whoever it started holds its output open: reading that to the end waits for all of them.
    """

    def __init__(self, home: Path, *options: object) -> None:
        start = "import sys; from groupcm.cli._main import main; sys.exit(main())"
        arguments = ["review", home / "model.json", home / "frames", "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", start, *map(str, [*arguments, *options])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if line.startswith("http://"):
                break
        address = self.said[-1].strip()
        self.home = address.partition("/?")[0]
        handler = urllib.request.HTTPCookieProcessor(CookieJar())
        self._browser = urllib.request.build_opener(handler)
        self._browser.addheaders = [("Sec-Fetch-Site", "same-origin")]
        self.get("/api/project", first=address)

    def get(self, path: str, first: str | None = None):
        if first is not None:
            request = urllib.request.Request(first, headers={"Sec-Fetch-Site": "none"})
            try:
                self._browser.open(request, timeout=60).close()
            except urllib.error.HTTPError as error:  # without a built page there is a cookie too
                error.close()
        with self._browser.open(self.home + path, timeout=60) as answer:
            return json.load(answer)

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_serves_until_ctrl_c_and_leaves_no_process(home, tmp_path):
    marks = tmp_path / "marks.csv"
    options = ("--annotations", home / "annotations.json", "--marks", marks, "--workers", "2")
    running = Running(home, *options)
    assert "reviewing 6 pictures" in "".join(running.said)
    project = running.get("/api/project")
    assert (project["model"], project["truth"]) == ("model.json", True)
    assert len(running.get("/api/pictures")["names"]) == 6
    details = running.get("/api/pictures/0")
    assert details["candidates"][0]["score"] == details["score"]
    status, rest = running.end(signal.SIGINT)
    assert status == 0
    assert "Traceback" not in rest
    assert not marks.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_annotations_of_a_larger_set(home, tmp_path):
    marked = read(home / "annotations.json")
    more = [replace(marked.pictures[0], name=f"elsewhere/{n}.png") for n in range(2)]
    write(replace(marked, pictures=(*marked, *more)), tmp_path / "all.json", "coco")
    marks = tmp_path / "marks.csv"
    running = Running(home, "--annotations", tmp_path / "all.json", "--marks", marks)
    said = "".join(running.said)
    assert f"of {tmp_path / 'all.json'}, not in {home / 'frames'}: 2 pictures; left out" in said
    project = running.get("/api/project")
    assert project["truth"] is True
    assert project["annotate"] == [
        *("groupcm", "annotate", str(home / "frames")),
        *("--annotations", str(tmp_path / "all.json"), "--first", str(marks)),
    ]
    assert running.end(signal.SIGINT)[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_killed_it_leaves_no_process(home, tmp_path):
    running = Running(home, "--marks", tmp_path / "marks.csv", "--workers", "2")
    status, _ = running.end(signal.SIGKILL)
    assert status == -signal.SIGKILL
