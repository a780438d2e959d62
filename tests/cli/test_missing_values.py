"""Missing values in tables: trees learn from them and score them, other models refuse them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

pytest.importorskip("lightgbm")

from groupcm import GroupBoostingClassifier
from groupcm.cli import main
from groupcm.data.tables.candidates import read_tables
from groupcm.errors import InputError
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule
from groupcm.sources import tables as reading
from groupcm.sources.tables import holds_missing

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "overlap"]
FEW = ["--model", "trees", "--n-estimators", "8", "--num-leaves", "5", "--min-child-samples", "5"]
FEW += ["--no-early-stopping"]
OPTIONS: dict[str, Any] = {"n_estimators": 8, "num_leaves": 5, "min_child_samples": 5}
SUFFIXES = ["csv", "parquet", "arrow"]


def write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        pacsv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, str(path), compression="uncompressed")
    return path


@pytest.fixture(scope="module")
def made():
    """Every seventh candidate lacks the first feature, and every positive one the best."""
    data = capsule(40, n_positive=20, group_size=8, seed=2)
    data.X[::7, 0] = np.nan
    data.X[data.y == 1, data.feature_names.index("edge_closure")] = np.nan
    return data


def table_of(made, *, nulls: bool = True) -> pa.Table:
    columns: dict[str, Any] = {"frame": made.groups, "polyp": made.y, "overlap": made.overlap}
    found = {name: pa.array(np.ascontiguousarray(v)) for name, v in columns.items()}
    for name, values in zip(made.feature_names, made.X.T, strict=True):
        found[name] = pa.array(np.ascontiguousarray(values), from_pandas=nulls)
    return pa.table(found)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    return tmp_path


def refused(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    said = capsys.readouterr().err.splitlines()
    (line,) = [line for line in said if line.startswith("groupcm: ")]
    return line


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("nulls", [True, False])
def test_trees_are_fitted_and_score(here, made, suffix, nulls):
    table = str(write(table_of(made, nulls=nulls), here / f"t.{suffix}"))
    assert main(["fit", table, *ROLES, *FEW, "-o", "m.json"]) == 0
    expected = GroupBoostingClassifier(**OPTIONS, early_stopping=False)
    expected.fit(made.X, made.y, made.groups, made.overlap)
    model = read("m.json").model
    # Splits upon missing values, not beside them.
    assert not np.array_equal(
        expected.decision_function(made.X), expected.decision_function(np.nan_to_num(made.X))
    )
    del model.feature_names_in_
    np.testing.assert_allclose(model.decision_function(made.X), expected.decision_function(made.X))
    assert main(["score", "m.json", table, "-o", "s.parquet"]) == 0
    found = expected.group_scores(made.X, made.groups)
    np.testing.assert_allclose(pq.read_table("s.parquet")["score"], found.score)


@pytest.mark.parametrize("suffix", [pytest.param("csv", marks=pytest.mark.slow), "parquet"])
@pytest.mark.filterwarnings("ignore")
def test_trees_with_folds_are_evaluated_and_taught_again(here, capsys, made, suffix):
    table = str(write(table_of(made), here / f"t.{suffix}"))
    folds = ["--cv", "--folds", "2", "--calibrate", "sigmoid"]
    assert main(["fit", table, *ROLES, *FEW, *folds, "-o", "m.json"]) == 0
    command = ["evaluate", "m.json", table, "--train", table, "--report", "r.html"]
    assert main(command) == 0
    assert "group AUC" in capsys.readouterr().out
    assert "nan" not in Path("r.html").read_text(encoding="utf-8").split("<svg")[0].lower()


@pytest.mark.parametrize(("suffix", "nulls"), [("csv", True), ("arrow", True), ("arrow", False)])
def test_a_linear_model_names_the_place_and_the_model_that_takes_it(
    here, capsys, made, suffix, nulls
):
    table = str(write(table_of(made, nulls=nulls), here / f"t.{suffix}"))
    line = refused(capsys, "fit", table, *ROLES, "-o", "m.json")
    assert f"t.{suffix}: the " in line
    assert (
        f"{made.feature_names[0]!r} {'has a missing value' if nulls else 'is nan'} in row 0" in line
    )
    assert line.endswith("; groupcm fit --model trees takes missing values")
    assert not Path("m.json").exists()


def test_a_linear_model_refuses_parquet(here, capsys, made):
    table = str(write(table_of(made), here / "t.parquet"))
    line = refused(capsys, "fit", table, *ROLES, "-o", "m.json")
    assert "t.parquet: the column" in line
    assert "has a missing value in row 0" in line


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_trees_refuse_infinity_and_missing_keys(here, capsys, made, suffix):
    table = table_of(made)
    rows = table.num_rows
    name = made.feature_names[2]
    at = table.column_names.index(name)
    infinite = made.X[:, 2].astype(float)
    infinite[5] = -np.inf
    write(table.set_column(at, name, pa.array(infinite)), here / f"i.{suffix}")
    line = refused(capsys, "fit", f"i.{suffix}", *ROLES, *FEW, "-o", "m.json")
    assert f"{name!r} is -inf in row 5" in line
    assert "takes missing" not in line
    overlap = pa.array([None if row == 4 else 0.0 for row in range(rows)])
    write(table.set_column(2, "overlap", overlap), here / f"o.{suffix}")
    line = refused(capsys, "fit", f"o.{suffix}", *ROLES, *FEW, "-o", "m.json")
    assert "'overlap' has a missing value in row 4" in line
    assert "takes missing" not in line


def test_columns_of_every_type_may_lack_values(tmp_path):
    columns = {
        "g": pa.array([1, 1, 2]),
        "whole": pa.array([7, None, 2**53], pa.int64()),
        "small": pa.array([None, 1, 2], pa.uint8()),
        "yes": pa.array([True, None, False]),
        "single": pa.array([0.5, None, float("nan")], pa.float32()),
        "money": pa.array([None, 1, 2], pa.decimal128(5, 2)),
        "nothing": pa.nulls(3),
    }
    path = write(pa.table(columns), tmp_path / "t.parquet")
    found = read_tables([path], group="g", allow_missing=True)
    none = np.nan
    expected = [[7, none, 2**53], [none, 1, 2], [1, none, 0], [0.5, none, none], [none, 1, 2]]
    np.testing.assert_array_equal(found.X.T, [*expected, [none] * 3])
    small = read_tables([path], group="g", features=["small", "single"], allow_missing=True)
    assert small.X.dtype == np.float32


def test_a_whole_number_too_large_is_refused_among_missing_ones(tmp_path):
    values = pa.array([None, 1, 2**53 + 1], pa.int64())
    path = write(pa.table({"g": [1, 1, 2], "id": values}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"'id' is 9007199254740993 in row 2"):
        read_tables([path], group="g", allow_missing=True)


def test_parquet_is_streamed_unless_a_feature_is_missing(tmp_path):
    columns = {"g": [1, 2], "note": ["a", None], "size": [1.0, 2.0]}
    path = write(pa.table(columns), tmp_path / "t.parquet")
    roles = {"group": "g", "label": "note"}
    assert not holds_missing([path], roles, None)
    other = write(pa.table({**columns, "size": [1.0, float("nan")]}), tmp_path / "u.parquet")
    assert holds_missing([path, other], roles, None)


def test_missing_values_that_do_not_fit_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "memory_to_use", lambda _: 15)
    path = write(pa.table({"g": [1, 2], "size": [1.0, None]}), tmp_path / "t.parquet")
    with pytest.raises(
        InputError, match=r"t.parquet: the column 'size' has a missing value in row 1, and"
    ):
        holds_missing([path], {"group": "g"}, None)
