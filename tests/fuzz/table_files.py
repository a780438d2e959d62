"""Target: damaged tables, Parquet, CSV, Arrow and NumPy, through the readers and the commands."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.damage import byte_edits, damage_bytes, damage_text, text_edits
from fuzz.forking import Sandbox
from fuzz.outcomes import Failed, Verdict, judge_refusal
from fuzz.shell import run_command
from groupcm import GroupClassifier, sources
from groupcm.data.tables.candidates import read_tables

__all__ = ["MEGABYTES", "cases", "run", "warm_up"]

Case = dict[str, Any]

MEGABYTES = 2000
FILE_SECONDS = 8
FILE_MEGABYTES = 300
KINDS = ("parquet", "lists.parquet", "text.parquet", "csv", "arrow", "npy")
_files: dict[str, bytes] = {}
_X = np.random.default_rng(0).random((60, 3)) * 97
_GROUPS = np.repeat(np.arange(20), 3)
_Y = ((_GROUPS % 2 == 0) & (np.arange(60) % 3 == 0)).astype(int)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a kind of table, what is wrong with it, and how it is read."""
    kind = draw(st.sampled_from(KINDS))
    hows = ["bytes"]
    if kind in ("parquet", "lists.parquet"):
        hows = ["bytes", "bytes", "values"]
    elif kind == "csv":
        hows = ["bytes", "text", "text"]
    vias = ["fit command", "score command", "sort command", "tables"]
    if kind.endswith("parquet"):
        vias += ["source", "source", "path"]
    how = draw(st.sampled_from(hows))
    case: Case = {
        "kind": kind,
        "how": how,
        "via": "npy" if kind == "npy" else draw(st.sampled_from(vias)),
        "edits": draw(text_edits() if how == "text" else byte_edits()),
    }
    if how == "values":
        case["at"] = [draw(st.integers(0, 2)), draw(st.integers(0, 59)), draw(st.integers(0, 63))]
        del case["edits"]
    return case


def warm_up() -> None:
    """Write a small table of every kind, without a thread."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet as pq

    import groupcm.cli.commands.fit
    import groupcm.cli.commands.score
    import groupcm.cli.commands.sort  # noqa: F401
    from groupcm import save

    table = pa.table({"frame": _GROUPS, "label": _Y} | {f"f{j}": _X[:, j] for j in range(3)})
    rows = pa.FixedSizeListArray.from_arrays(pa.array(_X.ravel()), 3)
    lists = pa.table({"frame": _GROUPS, "label": _Y, "x": rows})
    names = np.array([f"frame {group}" for group in _GROUPS])
    text = pa.table(table.to_pydict() | {"frame": names, "label": np.where(_Y, "polyp", "clear")})
    # Values as they are in memory, so that a place among them is known, with checksums.
    plain = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    plain["write_statistics"] = False  # they would hold some of the values again
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(table, folder / "parquet", row_group_size=25, **plain)
        pq.write_table(lists, folder / "lists.parquet", row_group_size=25, **plain)
        pq.write_table(
            text, folder / "text.parquet", use_dictionary=["frame"], write_page_checksum=True
        )
        pa.csv.write_csv(table, folder / "csv")
        with pa.ipc.new_file(str(folder / "arrow"), text.schema) as file:
            file.write_table(text, max_chunksize=25)
        np.save(folder / "npy.npy", _X)
        (folder / "npy.npy").rename(folder / "npy")
        for kind in KINDS:
            _files[kind] = (folder / kind).read_bytes()
        model = GroupClassifier().fit(table.select(["f0", "f1", "f2"]), _Y, groups=_GROUPS)
        save(model, folder / "model.json", notes={"columns": {"group": "frame"}})
        _files["model"] = (folder / "model.json").read_bytes()


def run(case: Case, sandbox: Sandbox) -> Verdict:
    """Read a damaged table: it is refused in one sentence, or read as far as anybody can know."""
    kind, how = case["kind"], case["how"]
    content = _files[kind]
    if how == "text":
        content = damage_text(content.decode(), case["edits"]).encode()
    elif how == "bytes":
        content = damage_bytes(content, case["edits"])
    else:
        content = _with_value_changed(content, case)
    suffix = kind.split(".")[-1]
    path = sandbox.folder / f"table.{suffix}"
    path.write_bytes(content)
    with sandbox.budget(f"reading a table ({suffix}, {case['via']})", FILE_SECONDS):
        verdict = _read(case["via"], path, kind, sandbox)
    if how == "values" and verdict.outcome == "ok":
        raise Failed("wrong_model", "a changed value passes its checksum", case["via"])
    sandbox.require_memory(FILE_MEGABYTES)
    return verdict


def _with_value_changed(content: bytes, case: Case) -> bytes:
    """The file with one bit of one number changed; its page has a checksum."""
    column, row, bit = case["at"]
    at = content.index(_X[row, column].tobytes())
    data = bytearray(content)
    data[at + bit // 8] ^= 1 << bit % 8
    return bytes(data)


def _read(via: str, path: Path, kind: str, sandbox: Sandbox) -> Verdict:
    output = sandbox.folder / "out" / "made.csv"
    output.parent.mkdir()
    if via == "fit command":
        output = output.with_name("made.json")
        return run_command(
            ["fit", path, "--group", "frame", "--label", "label", "-o", output], output
        )
    if via == "sort command":
        output = output.with_name("made.parquet")
        return run_command(["sort", path, "--group", "frame", "-o", output], output)
    if via == "score command":
        model = sandbox.folder / "model.json"
        model.write_bytes(_files["model"])
        return run_command(["score", model, path, "-o", output], output)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            _read_in_python(via, path)
    except ValueError as error:
        return judge_refusal(error)
    return Verdict("ok")


def _read_in_python(via: str, path: Path) -> None:
    model = GroupClassifier(max_passes=5)
    if via == "tables":
        read_tables([path], group="frame", label="label")
    elif via == "npy":
        model.fit(sources.from_npy(path, group=_GROUPS, label=_Y))
    elif via == "path":
        model.fit(str(path), "label", "frame")
    else:
        source = sources.from_parquet(path, group="frame", label="label", memory=1000)
        model.fit(source).group_scores(source)
