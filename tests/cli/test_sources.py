"""The command line on Parquet: streamed, mapped, interrupted, on a full disk, on damaged files."""

from __future__ import annotations

import errno
import gzip
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import ConvergenceWarning

from groupcm import simulate
from groupcm.cli import main
from groupcm.cli.output import Lines
from groupcm.data.tables.formats import write_table
from groupcm.estimators.classifier import GroupClassifier
from groupcm.features import Nystroem, Polynomial, RandomFourier
from groupcm.metrics import group_roc_auc
from groupcm.persistence.model_file import load
from groupcm.sources import tables as reading

COLUMNS = ["--group", "frame", "--label", "polyp", "--overlap", "fit", "--patient", "who"]


@pytest.fixture(scope="module")
def made():
    return simulate.capsule(60, n_positive=15, group_size=12, seed=5)


@pytest.fixture
def table(made) -> pa.Table:
    columns = {"frame": [f"frame {g}" for g in made.groups], "polyp": made.y, "fit": made.overlap}
    columns |= {"who": made.patient}
    columns |= {name: made.X[:, j].copy() for j, name in enumerate(made.feature_names)}
    return pa.table(columns)


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    """The current folder, with ``t.parquet`` in many row groups that cut groups in two."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(table, "t.parquet", row_group_size=100)
    return tmp_path


@pytest.fixture
def never_in_memory(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("read into memory")

    monkeypatch.setattr(reading, "read_tables", refuse)
    monkeypatch.setattr(GroupClassifier, "decision_function", refuse)


def fit(*more: str, table: str = "t.parquet", model: str = "m.json") -> int:
    return main(["fit", table, *COLUMNS, "--random-state", "0", "-o", model, *more])


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def in_memory(made, **options) -> GroupClassifier:
    model = GroupClassifier(random_state=0, **options)
    return model.fit(made.X, made.y, groups=made.groups, overlap=made.overlap)


@pytest.mark.parametrize("memory", ["1GB", "20kB"])
def test_fit_streams_parquet(folder, made, never_in_memory, capsys, memory):
    assert fit("--memory", memory) == 0
    model, same = load("m.json"), in_memory(made)
    assert model.memory == memory
    assert model.gap_ <= model.tol
    assert model.objective_ == pytest.approx(same.objective_, rel=2 * model.tol)
    assert model.feature_names_in_.tolist() == made.feature_names
    shown = capsys.readouterr()
    out = dict(line.strip().split("  ", 1) for line in shown.out.splitlines() if "  " in line)
    out = {name: value.strip() for name, value in out.items()}
    assert out["rows"] == f"{len(made.y):,} × 13 features, float32"
    assert out["groups"] == "75, of them 15 positive"
    assert out["patients"] == f"{len(np.unique(made.patient))}"
    assert out["objective"] == f"{model.objective_:.6g}"
    assert out["lower bound"] == f"{model.lower_bound_:.6g}"
    weights = model.solution_.weights
    first = int(np.argmax(np.abs(weights)))
    assert out["largest weights"].startswith(f"{made.feature_names[first]} {weights[first]:+.3g}, ")
    assert out["largest weights"].endswith("(per standard deviation)")
    assert f"reading the groups and labels of {len(made.y):,} rows\n" in shown.err


def test_weights_without_standardising_are_per_unit(folder, capsys):
    assert fit("--no-standardize", "--tol", "0.1") == 0
    assert "(per unit of the feature)" in capsys.readouterr().out


def test_no_weight_at_all(folder, capsys):
    assert fit("--lam", "0.01", "--penalty", "l1") == 0
    assert "largest weights  none above 1e-06\n" in capsys.readouterr().out


def test_groups_apart_name_the_group_and_the_command(folder, table, made, capsys):
    order = np.argsort(np.arange(len(made.y)) % 12, kind="stable")
    pq.write_table(table.take(pa.array(order)), "t.parquet")
    assert fit() == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("groupcm: the rows of group frame ")
    advice = said.rpartition("groupcm sort ")[2].split()
    assert advice == ["t.parquet", "--group", "frame", "-o", "sorted.parquet"]
    assert left(folder) == {"t.parquet"}
    assert main(["sort", *advice]) == 0
    assert fit(table="sorted.parquet") == 0
    # Other tables may have them in any order.
    write_table(table.take(pa.array(order)), "t.csv")
    assert fit(table="t.csv", model="csv.json") == 0
    objective = load("csv.json").objective_
    assert objective == pytest.approx(load("m.json").objective_, rel=2e-4)


def test_a_folder_of_parquet_is_one_table(folder, table, made, never_in_memory):
    (folder / "t").mkdir()
    half = len(made.y) // 2 + 3  # within a group
    pq.write_table(table.slice(0, half), "t/1.parquet")
    pq.write_table(table.slice(half), "t/2.pq")
    assert fit(table="t") == 0
    written = []
    for tables in (["t"], ["t/1.parquet", "t/2.pq"], ["t.parquet"]):
        assert main(["score", "m.json", *tables, "--label", "polyp", "-o", "s.parquet"]) == 0
        written.append(pq.read_table("s.parquet"))
    assert written[0].num_rows == 75
    assert written[0].equals(written[1])
    assert written[0].equals(written[2])


def test_a_mixed_folder_is_read_into_memory(folder, table, made, capsys):
    (folder / "t").mkdir()
    half = len(made.y) // 2
    write_table(table.slice(0, half), "t/1.csv")
    write_table(table.slice(half), "t/2.parquet")
    assert fit(table="t") == 0
    assert "reading t/1.csv\nreading t/2.parquet\n" in capsys.readouterr().err
    assert load("m.json").objective_ == pytest.approx(in_memory(made).objective_, rel=2e-4)


def test_features_in_one_column_of_lists(folder, table, made, never_in_memory, capsys):
    listed = pa.FixedSizeListArray.from_arrays(pa.array(made.X.ravel()), 13)
    lists = table.select(["frame", "polyp", "fit", "who"]).append_column("x", listed)
    pq.write_table(lists, "lists.parquet", row_group_size=100)
    assert fit(table="lists.parquet") == 0
    assert load("m.json").feature_names_in_.tolist() == [f"x[{j}]" for j in range(13)]
    assert fit(model="wide.json") == 0
    for ask in ([], ["--features", "x"]):
        assert main(["score", "m.json", "lists.parquet", "-o", "s.parquet", *ask]) == 0
        assert main(["score", "wide.json", "t.parquet", "-o", "wide.parquet"]) == 0
        lists, wide = (pq.read_table(f) for f in ("s.parquet", "wide.parquet"))
        assert lists["winner"].equals(wide["winner"])
        np.testing.assert_allclose(lists["score"], wide["score"], rtol=1e-6)
    capsys.readouterr()
    assert main(["score", "m.json", "t.parquet", "-o", "s.parquet"]) == 2
    assert "no column 'x'" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["text", "number"])
def test_score_streams_parquet(folder, table, made, never_in_memory, capsys, group):
    if group == "number":
        numbers = pa.array(made.groups + 7, pa.uint16())
        pq.write_table(table.set_column(0, "frame", numbers), "t.parquet", row_group_size=100)
    assert fit() == 0
    assert main(["score", "m.json", "t.parquet", "--label", "polyp", "-o", "s.parquet"]) == 0
    model = load("m.json")
    scores = pq.read_table("s.parquet")
    s = made.X @ model.coef_[0] + model.intercept_[0]
    for k, name in enumerate(scores["group"].to_pylist()):
        rows = np.flatnonzero(made.groups == k)
        assert name == (f"frame {k}" if group == "text" else k + 7)
        assert scores["winner"][k].as_py() == rows[np.argmax(s[rows])]
        assert scores["score"][k].as_py() == pytest.approx(s[rows].max(), rel=1e-5)
    if group == "number":
        assert scores.schema.field("group").type == pa.uint16()
    auc = group_roc_auc(made.y, s, made.groups)
    assert f"group AUC  {auc:.4f}\n" in capsys.readouterr().out


def test_three_classes(folder, table, made, never_in_memory, capsys):
    names = np.array(["none", "flat", "round"])
    kind = names[np.where(made.y == 1, 1 + made.groups % 2, 0)]
    pq.write_table(table.set_column(1, "polyp", [kind.tolist()]), "t.parquet", row_group_size=100)
    assert fit("--memory", "45kB") == 0
    assert main(["score", "m.json", "t.parquet", "--label", "polyp", "-o", "s.parquet"]) == 0
    out = capsys.readouterr().out
    model = load("m.json")
    flat, round_ = (len(np.unique(made.groups[kind == name])) for name in names[1:])
    assert f"75, of them {flat} with flat, 75 with none, {round_} with round" in out
    assert "for none       none above 1e-06\n" in out
    assert "group AUC of none   not defined: every group holds the class" in out
    s = made.X @ model.coef_[0] + model.intercept_[0]
    assert f"group AUC of flat   {group_roc_auc(kind == 'flat', s, made.groups):.4f}\n" in out
    assert pq.read_table("s.parquet").column_names[:3] == ["group", "score_flat", "winner_flat"]


def test_other_names_for_the_features(folder, table, made, capsys):
    assert fit() == 0
    renamed = table.rename_columns([f"new {name}" for name in table.column_names])
    pq.write_table(renamed, "new.parquet")
    features = ",".join(f"new {name}" for name in made.feature_names)
    ask = ["score", "m.json", "new.parquet", "--group", "new frame", "-o", "s.parquet"]
    assert main([*ask, "--features", features]) == 0
    assert main(ask) == 2
    assert "no column" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--map polynomial", Polynomial(2)),
        ("--map polynomial --degree 3", Polynomial(3)),
        ("--map fourier --components 7", RandomFourier(7)),
        ("--map nystroem --components 9", Nystroem(9)),
    ],
)
def test_feature_maps(folder, made, capsys, options, expected):
    assert fit("--features", ",".join(made.feature_names[:4]), *options.split()) == 0
    model = load("m.json")
    assert repr(model.feature_map) == repr(expected)
    names = model.feature_map_.get_feature_names_out(made.feature_names[:4])
    largest = int(np.argmax(np.abs(model.solution_.weights)))
    out = capsys.readouterr().out
    assert f"{type(expected).__name__}, to {len(names)} features\n" in out
    assert f"largest weights  {names[largest]} " in out
    assert main(["score", "m.json", "t.parquet", "--label", "polyp", "-o", "s.parquet"]) == 0


def test_the_chi2_map_takes_no_negative_values(folder, table, made, capsys):
    assert fit("--map", "chi2") == 2
    assert "Negative values" in capsys.readouterr().err
    name = made.feature_names[0]
    best = np.argmax(made.X[made.y == 1].mean(axis=0) - made.X[made.y == 0].mean(axis=0))
    values = made.X[:, best] - made.X[:, best].min()
    positive = table.append_column("p", pa.array(values))
    pq.write_table(positive.drop_columns([name]), "p.parquet")
    assert fit("--features", "p", "--map", "chi2", table="p.parquet") == 0
    assert "p_cos1" in capsys.readouterr().out


def test_a_checkpoint_goes_to_the_estimator(folder, monkeypatch):
    assert fit("--checkpoint", "c.json", "--memory", "20kB") == 0
    assert load("m.json").checkpoint == "c.json"
    assert left(folder) == {"t.parquet", "m.json"}


# Ctrl-C


def interrupt_at_step(monkeypatch, number: int) -> None:
    """Press Ctrl-C when the solver has announced so many steps."""
    steps = []

    def step(self, step):
        steps.append(step)
        if len(steps) == number:
            raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "step", step)


def test_an_interrupted_fit_saves_what_it_has(folder, capsys, monkeypatch):
    interrupt_at_step(monkeypatch, 1)
    assert fit("--memory", "20kB", "--checkpoint", "c.json", "--tol", "1e-9") == 130
    model = load("m.json")
    assert model.solution_.interrupted
    shown = capsys.readouterr()
    assert "Wrote m.json." in shown.out
    assert "it was interrupted" in shown.err
    assert shown.err.splitlines()[-1] == (
        "groupcm: stopped by Ctrl-C; m.json holds the best model so far, "
        f"at a certified gap of {model.gap_:.2g}"
    )
    assert left(folder) == {"t.parquet", "m.json", "c.json"}
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert fit("--memory", "20kB", "--checkpoint", "c.json") == 0
    assert left(folder) == {"t.parquet", "m.json"}


def test_one_interrupted_class_of_three(folder, table, made, capsys, monkeypatch):
    kind = np.where(made.y == 1, 1 + made.groups % 2, 0)
    pq.write_table(table.set_column(1, "polyp", [kind]), "t.parquet")
    real = GroupClassifier.fit

    def interrupted(self, source):
        real(self, source)
        lower = 0.75 * self.objective_[1]
        self.solution_[1] = replace(self.solution_[1], interrupted=True, lower_bound=lower)
        self.lower_bound_[1], self.gap_[1] = lower, 0.25
        warnings.warn("stopped; it was interrupted.", ConvergenceWarning, stacklevel=2)
        return self

    monkeypatch.setattr(GroupClassifier, "fit", interrupted)
    assert fit() == 130
    assert capsys.readouterr().err.endswith("at a certified gap of 0.25\n")
    assert [solution.interrupted for solution in load("m.json").solution_] == [False, True, False]


def test_an_interrupt_before_any_proof_writes_nothing(folder, capsys, monkeypatch):
    begun: list[str] = []

    def interrupt(self, reading):
        if any(text.startswith("fitting") for text in begun):
            raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "status", lambda self, text: begun.append(text))
    monkeypatch.setattr(Lines, "reading", interrupt)
    assert fit("--memory", "20kB") == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("groupcm: stopped by Ctrl-C; the fit was interrupted before it had")
    assert left(folder) == {"t.parquet"}


# A full disk


def test_a_disk_that_fills_up(folder, capsys, monkeypatch):
    assert fit() == 0
    before = left(folder)

    def half(writer, table):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pa.parquet.ParquetWriter, "write_table", half)
    capsys.readouterr()
    assert main(["score", "m.json", "t.parquet", "-o", "s.parquet"]) == 2
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == "groupcm: s.parquet: no space left on device"
    assert shown.out == ""
    assert left(folder) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
@pytest.mark.parametrize("output", ["s.parquet", "s.csv", "s.arrow", "new.json"])
def test_a_file_larger_than_allowed(folder, capsys, output):
    import resource

    ask = f"score m.json t.parquet -o {output}".split()
    assert fit() == 0
    if output == "new.json":
        ask = ["fit", "t.parquet", *COLUMNS, "-o", output]
    assert main(ask) == 0  # what is compiled is kept on the disk as well
    (folder / output).write_text("old")
    before = left(folder)
    capsys.readouterr()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        status = main(ask)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == f"groupcm: {output}: file too large"
    assert shown.out == ""
    assert left(folder) == before
    assert (folder / output).read_text() == "old"


# Mistakes


def truncate(path: str) -> None:
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) // 2])


def spoil_rows(path: str) -> None:
    """Leave the footer, so that only whoever reads the rows finds out."""
    data = bytearray(Path(path).read_bytes())
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[4:end] = b"\xff" * (end - 4)
    Path(path).write_bytes(data)


def other_schema(path: str) -> None:
    table = pq.read_table("t.parquet")
    pq.write_table(table.drop_columns([table.column_names[-1]]), path)


def other_kind(path: str) -> None:
    table = pq.read_table("t.parquet")
    pq.write_table(table.set_column(1, "polyp", [["no"] * len(table)]), path)


@pytest.mark.parametrize("command", ["fit", "score"])
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (truncate, "b.parquet cannot be read as Parquet"),
        (spoil_rows, "b.parquet cannot be read as Parquet"),
        (lambda path: Path(path).write_text("frame,polyp\na,1\n"), "b.parquet cannot be read as"),
        (lambda path: Path(path).write_bytes(b""), "b.parquet is an empty file"),
        (other_schema, "b.parquet"),
        (other_kind, "'polyp' holds numbers in t.parquet but text in b.parquet"),
        (lambda path: Path(path).unlink(), "b.parquet does not exist"),
        (lambda path: (Path(path).unlink(), Path(path).mkdir()), "b.parquet holds no tables"),
    ],
)
def test_damaged_tables(folder, table, capsys, command, damage, said):
    assert fit() == 0
    numbered = [f"other {i}" for i in range(len(table))]
    pq.write_table(table.set_column(0, "frame", [numbered]), "b.parquet")
    damage("b.parquet")
    before = left(folder)
    ask = {"fit": ["fit", *COLUMNS], "score": ["score", "m.json", "--label", "polyp"]}[command]
    capsys.readouterr()
    output = {"fit": "new.json", "score": "new.parquet"}[command]
    assert main([*ask, "t.parquet", "b.parquet", "-o", output]) == 2
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line.startswith("groupcm: ")]
    assert len(lines) == 1
    assert shown.err.endswith(lines[0] + "\n")
    assert said in lines[0]
    assert shown.out == ""
    assert left(folder) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--memory", "abc"], "'abc' is not an amount of memory; write it with a unit"),
        (["--group", "frmae"], "t.parquet has no column 'frmae' for the group column; did you"),
        (["--features", "nothing"], "t.parquet has no column 'nothing'"),
        (["--features", "frame"], "the group column 'frame' cannot be a feature as well"),
        (["--patient", "nobody"], "t.parquet has no column 'nobody' for the patient column"),
        (["--degree", "3"], "--degree goes with --map polynomial"),
        (["--map", "polynomial", "--components", "3"], "--components goes with --map fourier or"),
        (["--map", "polynomial", "--degree", "0"], "--degree is 0; it must be 1 or more"),
        (["--map", "polynomial", "--degree", "30"], "lower the degree"),
        (["--map", "tree"], "invalid choice: 'tree'"),
        (["--checkpoint", "t.parquet/c.json"], "t.parquet is not a folder"),
        (["--checkpoint", "t.parquet"], "t.parquet is one of the tables"),
        (["--checkpoint", "m.json"], "m.json cannot be both the model and the checkpoint"),
        (["--solver", "lbfgs", "--memory", "20kB"], "needs all rows in memory"),
    ],
)
def test_mistakes_of_a_fit(folder, capsys, options, said):
    try:
        status = fit(*options)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    shown = capsys.readouterr()
    assert said in shown.err.splitlines()[-1]
    assert shown.out == ""
    assert left(folder) == {"t.parquet"}


def test_missing_values_are_named(folder, table, made, capsys):
    who = made.patient.tolist()
    pq.write_table(table.set_column(3, "who", [[*who[:-1], None]]), "t.parquet")
    assert fit() == 2
    assert (
        f"t.parquet: the column 'who' has a missing value in row {len(who) - 1}"
        in capsys.readouterr().err
    )
    name, values = made.feature_names[2], made.X[:, 2].copy()
    values[7] = np.nan
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, pa.array(values)), "t.parquet", row_group_size=100)
    assert fit() == 2
    said = f"row 7 of t.parquet (counted from 0): the feature {name!r} is nan"
    assert said in capsys.readouterr().err
    assert fit("--memory", "20kB") == 2
    assert said in capsys.readouterr().err
    pq.write_table(table, "t.parquet")
    assert fit() == 0
    pq.write_table(table.set_column(place, name, pa.array(values)), "t.parquet", row_group_size=100)
    assert main(["score", "m.json", "t.parquet", "-o", "s.parquet"]) == 2
    assert f"row 7 of t.parquet (counted from 0): the feature {name!r}" in capsys.readouterr().err


def test_one_class_only(folder, table, capsys):
    zeros = pa.array(np.zeros(len(table), np.int8))
    pq.write_table(table.set_column(1, "polyp", zeros), "t.parquet")
    assert fit() == 2
    assert "'polyp' holds 0 in every row; a fit needs two" in capsys.readouterr().err


def test_sorting_imports_no_scikit_learn(folder):
    code = """
import sys
from groupcm.cli import main
main("sort t.parquet --group frame -o s.parquet".split())
print("imported:", *sorted({"sklearn", "numba", "scipy"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "imported:"


def test_every_command_reads_partitions_tabs_and_gzip(folder, table, capsys):
    """The same model and the same scores, from whichever tables."""
    patients = np.unique(table["who"])
    for patient in patients:
        part = table.filter(pc.equal(table["who"], patient)).drop_columns("who")
        (folder / "parts" / f"who={patient}").mkdir(parents=True)
        write_table(part, folder / "parts" / f"who={patient}" / "part.parquet")
    text = pa.concat_tables(
        [table.filter(pc.equal(table["who"], patient)) for patient in sorted(patients, key=str)]
    ).to_pandas()
    (folder / "t.tsv.gz").write_bytes(gzip.compress(text.to_csv(sep="\t", index=False).encode()))
    text.to_csv("t.csv", sep=";", index=False)
    found = []
    for number, given in enumerate(("parts", "t.tsv.gz", "t.csv")):
        model, scores = f"{number}.json", f"{number}.parquet"
        assert fit("--lam", "0.5", table=given, model=model) == 0
        assert main(["score", model, given, "-o", scores]) == 0
        assert main(["evaluate", model, given]) == 0
        assert re.search(rf"patients +{len(patients)}\b", capsys.readouterr().out)
        found.append(pq.read_table(scores).to_pydict())
    for other in found[1:]:
        assert other["group"] == found[0]["group"]
        assert other["winner"] == found[0]["winner"]
        np.testing.assert_allclose(other["score"], found[0]["score"], rtol=1e-3, atol=1e-3)
