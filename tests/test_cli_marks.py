"""``groupcm fit --annotated --object``: columns that tell what is known of the annotation."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier, GroupClassifierCV
from groupcm.cli import main
from groupcm.extras import is_installed
from groupcm.persistence import read
from groupcm.simulate import capsule
from groupcm.table_roles import TableDescription, describe

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "fit"]
MARKS = ["--annotated", "known", "--object", "thing"]
needs_trees = pytest.mark.skipif(not is_installed("lightgbm"), reason="trees need LightGBM")


class Marked:
    """Candidates with two objects in some positive groups, and groups nobody annotated."""

    def __init__(self) -> None:
        made = capsule(40, n_positive=20, n_patients=30, group_size=10, seed=6)
        self.X, self.names, self.groups = made.X, made.feature_names, made.groups
        of_unknown = np.isin(made.groups, np.unique(made.groups[made.y == 1])[:5])
        self.annotated = ~of_unknown
        self.y = np.where(of_unknown, 1, made.y)
        self.overlap = np.where(of_unknown, 0.0, made.overlap)
        self.objects = np.where(self.y == 1, np.arange(len(made.y)) % 2, -1)

    def table(self) -> pa.Table:
        things = [None if k < 0 else f"thing {k}" for k in self.objects.tolist()]
        things = [t if a else None for t, a in zip(things, self.annotated, strict=True)]
        columns = {"frame": [f"f{g}" for g in self.groups], "polyp": self.y, "fit": self.overlap}
        columns |= {"known": self.annotated, "thing": things}
        columns |= {n: np.ascontiguousarray(self.X[:, j]) for j, n in enumerate(self.names)}
        return pa.table(columns)

    def fitted(self, model, **left_out):
        known = {"annotated": self.annotated, "objects": self.objects, **left_out}
        return model.fit(self.X, self.y, self.groups, self.overlap, **known)


@pytest.fixture(scope="module")
def marked():
    return Marked()


@pytest.fixture
def here(tmp_path, monkeypatch, marked):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    pq.write_table(marked.table(), "t.parquet")
    pacsv.write_csv(marked.table(), "t.csv")
    return tmp_path


def fit(table: str, *options: str) -> int:
    return main(["fit", table, *ROLES, *options, "-o", "m.json"])


def refused(capsys, table: str, *options: str) -> str:
    assert fit(table, *options) == 2
    return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_a_linear_fit_knows_them(here, capsys, marked, table):
    assert fit(table, *MARKS, "--lam", "0.9") == 0
    said = capsys.readouterr().out
    saved = read("m.json")
    expected = marked.fitted(GroupClassifier(0.9))
    assert list(saved.model.feature_names_in_) == marked.names
    np.testing.assert_array_equal(saved.model.witnesses_, expected.witnesses_)
    np.testing.assert_allclose(saved.model.coef_, expected.coef_, rtol=1e-6)
    without = marked.fitted(GroupClassifier(0.9), objects=None)
    assert not np.allclose(without.coef_, expected.coef_, rtol=1e-3)
    assert "5 positive groups: the fit chose a candidate of each, in " in said
    assert "with the candidates it chose" in said
    assert saved.notes["columns"]["annotated"] == "known"
    assert saved.notes["n_unannotated_groups"] == 5


def test_folds_of_a_linear_model_know_them(here, marked):
    assert fit("t.parquet", *MARKS, "--cv", "--folds", "2", "--lams", "2") == 0
    expected = marked.fitted(GroupClassifierCV(2, cv=2))
    found = read("m.json").model
    assert found.lam_ == expected.lam_
    np.testing.assert_array_equal(found.witnesses_, expected.witnesses_)


@needs_trees
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_trees_know_them(here, capsys, marked, table):
    from groupcm import GroupBoostingClassifier

    options = ["--model", "trees", "--n-estimators", "6", "--no-early-stopping"]
    said = refused(capsys, table, *MARKS, *options)
    assert said.endswith("grown; lower --n-warm-up or raise --n-estimators.")
    options += ["--n-warm-up", "3"]
    assert fit(table, *MARKS, *options) == 0
    X = pd.DataFrame(marked.X, columns=marked.names)
    found = read("m.json").model
    trees = GroupBoostingClassifier(6, early_stopping=False, n_warm_up=3)
    expected = marked.fitted(trees)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(marked.X))
    np.testing.assert_array_equal(found.witnesses_, expected.witnesses_)
    assert fit(table, *MARKS, *options, "--cv", "--folds", "2") == 0
    found = read("m.json").model
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(marked.X))
    assert len(found.witnesses_) == 5


def test_a_table_that_knows_its_objects_is_fitted_with_them(here, marked):
    table = marked.table()
    table = table.filter(table["known"]).drop_columns("known")
    roles = {"group": "frame", "label": "polyp", "overlap": "fit", "object": "thing"}
    about = TableDescription(roles, tuple(marked.names))
    pq.write_table(table.cast(describe(table.schema, about)), "told.parquet")
    assert main(["fit", "told.parquet", "-o", "m.json"]) == 0
    saved = read("m.json")
    assert saved.notes["columns"]["object"] == "thing"
    rows = marked.annotated
    model = GroupClassifier().fit(
        marked.X[rows],
        marked.y[rows],
        marked.groups[rows],
        marked.overlap[rows],
        objects=marked.objects[rows],
    )
    np.testing.assert_allclose(saved.model.coef_, model.coef_, rtol=1e-6)
    # Without grouping every positive row counts by itself, and objects mean nothing.
    assert main(["fit", "told.parquet", "--grouping", "none", "-o", "m.json"]) == 0
    assert read("m.json").notes["columns"]["object"] is None
    assert main(["score", "m.json", "told.parquet", "-o", "s.csv"]) == 0


def test_other_labels_than_the_tables_own_have_no_objects(here, marked):
    """The objects that a table knows are those of its own labels."""
    rows = marked.table().filter(pa.array(marked.annotated)).drop_columns("known")
    other = np.asarray(rows["polyp"]).copy()
    other[int(np.argmax(other == 0))] = 1
    rows = rows.append_column("other", pa.array(other))
    roles = {"group": "frame", "label": "polyp", "overlap": "fit", "object": "thing"}
    about = TableDescription(roles, tuple(marked.names))
    pq.write_table(rows.cast(describe(rows.schema, about)), "told.parquet")
    assert main(["fit", "told.parquet", "--label", "other", "-o", "m.json"]) == 0
    assert read("m.json").notes["columns"]["object"] is None


def test_objects_of_a_table_that_is_streamed(here, marked):
    table = marked.table()
    pq.write_table(table.filter(table["known"]), "t.parquet", row_group_size=50)
    whole = ["--object", "thing", "--features", ",".join(marked.names)]
    assert fit("t.parquet", *whole) == 0
    in_memory = read("m.json").model
    assert fit("t.parquet", *whole, "--memory", "6kB") == 0
    streamed = read("m.json").model
    assert streamed.objective_ == pytest.approx(in_memory.objective_, rel=2e-4)
    assert fit("t.parquet", "--features", ",".join(marked.names)) == 0
    assert read("m.json").model.objective_ != pytest.approx(in_memory.objective_, rel=1e-2)


def test_a_comparison_takes_no_object_for_a_feature(here, capsys, marked):
    table = marked.table().drop_columns("known")
    table = changed(table, "thing", marked.objects)  # numbers, which could be a feature
    roles = {"group": "frame", "label": "polyp", "overlap": "fit", "object": "thing"}
    about = TableDescription(roles, tuple(marked.names))
    pq.write_table(table.cast(describe(table.schema, about)), "told.parquet")
    few = ["--models", "gcm,svm", "--folds", "2", "--settings", "1", "--no-learning"]
    assert main(["compare", "told.parquet", *few]) == 0
    told = capsys.readouterr().out
    assert main(["compare", "told.parquet", *few, "--features", ",".join(marked.names)]) == 0
    again = capsys.readouterr().out
    areas = [re.findall(r"\d\.\d{3} \(\d", text) for text in (told, again)]
    assert len(areas[0]) == 2
    assert areas[0] == areas[1]


def changed(table: pa.Table, column: str, values) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array(values))


def test_whole_numbers_say_it_too(here, marked):
    pq.write_table(changed(marked.table(), "known", marked.annotated.astype(int)), "w.parquet")
    assert fit("w.parquet", *MARKS) == 0
    assert read("m.json").notes["n_unannotated_groups"] == 5


def test_what_is_missing_or_wrong_is_told_by_its_row(here, capsys, marked):
    known = marked.annotated.tolist()
    known[7] = None
    pq.write_table(changed(marked.table(), "known", known), "bad.parquet")
    assert "'known' is missing in row 7" in refused(capsys, "bad.parquet", *MARKS)
    two = marked.annotated.astype(int)
    two[9] = 2
    pq.write_table(changed(marked.table(), "known", two), "bad.parquet")
    said = refused(capsys, "bad.parquet", *MARKS)
    assert "bad.parquet: the annotated column 'known' holds 2 in row 9" in said
    words = np.where(marked.annotated, "yes", "no")
    pq.write_table(changed(marked.table(), "known", words), "bad.parquet")
    assert "holds 'yes' in row" in refused(capsys, "bad.parquet", *MARKS)
    row = int(np.flatnonzero(~marked.annotated)[0])
    mixed = marked.annotated.copy()
    mixed[row] = True
    pq.write_table(changed(marked.table(), "known", mixed), "bad.parquet")
    said = refused(capsys, "bad.parquet", "--annotated", "known", "--features", marked.names[0])
    assert f"both true and false for the positive group f{marked.groups[row]}" in said
    positive = int(np.flatnonzero(marked.annotated & (marked.y == 1))[0])
    things = marked.table()["thing"].to_pylist()
    things[positive] = None
    pq.write_table(changed(marked.table(), "thing", things), "bad.parquet")
    said = refused(capsys, "bad.parquet", *MARKS)
    assert f"row {positive} (counted from 0) is positive and its object column 'thing'" in said


def test_what_they_need(here, capsys, marked):
    few = ["--memory", "2kB"]
    assert "in memory, and they do not fit; raise --memory" in refused(
        capsys, "t.parquet", *MARKS, *few
    )
    assert "--object needs --grouping negative" in refused(
        capsys, "t.parquet", *MARKS, "--grouping", "both"
    )
    three = np.where(np.arange(len(marked.y)) % 7 == 0, 2, marked.y)
    pq.write_table(changed(marked.table(), "polyp", three), "three.parquet")
    assert "--annotated goes with two classes" in refused(capsys, "three.parquet", *MARKS)
    assert "has no column 'thin'" in refused(capsys, "t.csv", "--object", "thin")
    assert not (here / "m.json").exists()
