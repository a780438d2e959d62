"""Files that appear whole or not at all, also where runs are killed or write at the same time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from model_kinds import candidates

from groupcm import GroupClassifier, export_onnx, save
from groupcm.cli._main import main
from groupcm.data.tables.formats import write_table
from groupcm.data.tables.sorting import sort_tables
from groupcm.errors import InputError
from groupcm.report import check_report
from groupcm.simulate import capsule, capsule_to_parquet
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.utils import locking
from groupcm.utils.files import remove_abandoned, temporary_name, whole_file, whole_folder

WAIT = """
import sys
def wait(*_):
    print("ready", flush=True)
    sys.stdin.readline()
"""
FILE = (
    WAIT
    + """
from groupcm.utils.files import whole_file
with whole_file(sys.argv[1]) as beside:
    beside.write_text("half")
    wait()
    beside.write_text("by the other run")
"""
)
FOLDER = (
    WAIT
    + """
from groupcm.utils.files import whole_folder
with whole_folder(sys.argv[1]) as beside:
    (beside / "a.txt").write_text("half")
    wait()
"""
)
SIMULATED = (
    WAIT
    + """
from groupcm.simulate import capsule_to_parquet
capsule_to_parquet(sys.argv[1], 4, n_positive=1, group_size=5, n_files=2, on_rows=wait)
"""
)
DRAWN = (
    WAIT
    + """
from groupcm.simulate import capsule, frames
frames.fill_chunk = wait
capsule(4, n_positive=1, group_size=5, out=sys.argv[1])
"""
)
SORTED = (
    WAIT
    + """
from groupcm.data.tables import _external_sort
from groupcm.data.tables.sorting import sort_tables
scatter = _external_sort._scatter
def scatter_and_wait(*arguments):
    scatter(*arguments)
    wait()
_external_sort._scatter = scatter_and_wait
sort_tables([sys.argv[1] + ".apart"], sys.argv[1], group="frame", memory="1kB")
"""
)


@contextmanager
def run_of(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another run that is in the middle of writing ``path``."""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def kill_in_the_middle(program: str, path: Path) -> None:
    with run_of(program, path) as process:
        process.kill()
    assert hidden(path.parent)


def hidden(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.startswith(".")}


def write(path: Path) -> None:
    with whole_file(path) as beside:
        beside.write_text("whole")


def test_the_next_run_removes_the_file_of_a_run_that_was_killed(tmp_path):
    path = tmp_path / "model.json"
    kill_in_the_middle(FILE, path)
    assert not path.exists()
    write(path)
    assert path.read_text() == "whole"
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_run_that_is_alive_keeps_its_file(tmp_path):
    path = tmp_path / "model.json"
    with run_of(FILE, path) as alive:
        theirs = hidden(tmp_path)
        kill_in_the_middle(FILE, path)
        assert len(hidden(tmp_path)) == 2 * len(theirs) == 4
        write(path)
        assert hidden(tmp_path) == theirs
        assert path.read_text() == "whole"
        alive.communicate("go on\n")
        assert alive.returncode == 0
    assert path.read_text() == "by the other run"
    assert os.listdir(tmp_path) == ["model.json"]


def write_folder(path: Path) -> None:
    with whole_folder(path) as beside:
        (beside / "b.txt").write_text("whole")


def simulate(path: Path) -> None:
    capsule_to_parquet(path, 4, n_positive=1, group_size=5, n_files=2)


def draw(path: Path) -> None:
    assert len(capsule(4, n_positive=1, group_size=5, out=path).X) > 0


def sort(path: Path) -> None:
    sort_tables([f"{path}.apart"], path, group="frame", memory="1kB")
    assert pq.read_table(path)["frame"].to_pylist() == sorted([*range(50)] * 20)


@pytest.mark.parametrize(
    ("program", "write"),
    [(FOLDER, write_folder), (SIMULATED, simulate), (DRAWN, draw), (SORTED, sort)],
)
def test_every_writer_clears_up_after_a_run_that_was_killed(tmp_path, program, write):
    path = tmp_path / "output.parquet"
    apart = tmp_path / "output.parquet.apart"
    apart.mkdir()
    pq.write_table(pa.table({"frame": [*range(50)] * 20}), apart / "0.parquet")
    kill_in_the_middle(program, path)
    write(path)
    assert set(os.listdir(tmp_path)) == {"output.parquet", "output.parquet.apart"}
    if path.is_dir():
        assert not hidden(path)


def test_a_checkpoint_that_is_removed_takes_the_rest_of_a_killed_fit_with_it(tmp_path):
    path = tmp_path / "fit.json"
    kill_in_the_middle(FILE, path)
    checkpoint = Checkpoint.__new__(Checkpoint)
    checkpoint.path = path
    checkpoint.remove()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "named", ["../mine.part", "mine", ".other.01234567.part", "\0", "é" * 3000]
)
def test_a_lock_that_names_another_file_removes_nothing(tmp_path, named):
    for name in ("mine", ".other.01234567.part"):
        (tmp_path / name).write_text("mine")
    path = tmp_path / "model.json"
    (tmp_path / ".model.json.0.lock").write_text(named)
    write(path)
    assert set(os.listdir(tmp_path)) == {"mine", ".other.01234567.part", "model.json"}


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".model.json.0.lock").symlink_to(tmp_path / "mine")
    write(tmp_path / "model.json")
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "model.json").read_text() == "whole"


def test_a_file_system_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    def refuse(handle: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking, "_lock", refuse)
    write(tmp_path / "model.json")
    assert os.listdir(tmp_path) == ["model.json"]


def test_more_runs_at_once_than_there_are_locks(tmp_path):
    path = tmp_path / "model.json"
    with ExitStack() as runs:
        parts = [runs.enter_context(whole_file(path)) for _ in range(10)]
        assert len(set(parts)) == 10
        write(path)
        assert all(part.exists() for part in parts)
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_folder_that_must_not_be_written_to_is_left_as_it_is(tmp_path):
    with temporary_name(tmp_path / "no" / "such") as beside:
        assert not beside.exists()
    remove_abandoned(tmp_path / "no" / "such")
    assert os.listdir(tmp_path) == []


def test_a_lock_that_is_given_back_while_it_is_waited_for_is_made_anew(tmp_path, monkeypatch):
    lock = tmp_path / ".lock"
    really_lock, removed = locking._lock, []

    def lock_late(handle: int) -> None:
        if not removed:  # its holder gives it back just now
            removed.append(lock)
            lock.unlink()
        really_lock(handle)

    monkeypatch.setattr(locking, "_lock", lock_late)
    handle = locking.acquire(lock)
    assert handle is not None
    assert removed
    assert locking.acquire(lock) is None
    locking.release(lock, handle)
    assert os.listdir(tmp_path) == []


# ---- folders and endings --------------------------------------------------------------------


def test_a_folder_is_made_with_the_file_and_goes_again_if_that_fails(tmp_path):
    with whole_file(tmp_path / "new" / "er" / "note.txt") as beside:
        beside.write_text("done")
    assert (tmp_path / "new" / "er" / "note.txt").read_text() == "done"
    with whole_folder(tmp_path / "other" / "notes") as beside:
        (beside / "first.txt").touch()
    assert (tmp_path / "other" / "notes" / "first.txt").exists()
    with pytest.raises(RuntimeError), whole_file(tmp_path / "failed" / "er" / "note.txt"):
        raise RuntimeError
    with pytest.raises(RuntimeError), whole_file(tmp_path / "new" / "too" / "note.txt"):
        raise RuntimeError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "other"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["er"]


@pytest.mark.parametrize(
    "command",
    [
        "fit t.parquet --group frame --label label -o new/er/m.json --checkpoint cp/c.json",
        "score m.json t.parquet -o new/s.csv",
        "evaluate m.json t.parquet --report new/r.html",
        "describe m.json -o new/card.md",
        "export m.json -o new/m.onnx",
        "sort t.parquet --group frame -o new/sorted.parquet",
        "simulate --negatives 4 --positives 2 --group-size 3 -o new/made.parquet",
        "simulate --negatives 4 --positives 2 --group-size 3 --files 2 -o new/made",
    ],
    ids=lambda command: command.split()[0],
)
def test_every_command_makes_the_folder_of_its_output(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, groups = candidates()
    features = {f"f{j}": X[:, j] for j in range(3)}
    write_table(pa.table({**features, "frame": groups, "label": y}), "t.parquet")
    model = GroupClassifier().fit(pd.DataFrame(features), y, groups)
    save(model, "m.json", notes={"columns": {"group": "frame", "label": "label"}})
    assert main(command.split()) == 0, capsys.readouterr().err
    assert any(path.is_file() for path in (tmp_path / "new").rglob("*"))


@pytest.mark.parametrize(
    ("write", "ending"),
    [
        (lambda model, here: save(model, here / "m.pkl"), ".json"),
        (lambda model, here: export_onnx(model, here / "m.json"), ".onnx"),
        (lambda model, here: check_report(here / "r.pdf"), ".html"),
        (lambda model, here: write_table(pa.table({"a": [1]}), here / "t.xlsx"), ".parquet, .csv"),
    ],
    ids=["save", "export_onnx", "report", "table"],
)
def test_an_ending_that_is_wrong_is_refused_in_python_too(write, ending, tmp_path):
    model = GroupClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match=f"^cannot write .*: end its name in {ending}"):
        write(model, tmp_path)
    assert list(tmp_path.iterdir()) == []
