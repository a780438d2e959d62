"""``--annotated`` and ``--object``: columns that tell what is known of the annotation."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier, GroupClassifierCV
from groupcm.cli import main
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.experiments.annotation import annotation_curve
from groupcm.metrics import candidate_roc_auc
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule
from groupcm.utils.extras import is_installed

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
    assert "for the candidates that training chose" in said
    assert saved.notes["columns"]["annotated"] == "known"
    assert saved.notes["n_unannotated_groups"] == 5


def test_an_overlap_that_no_group_has_is_told_as_the_option(here, capsys):
    said = refused(capsys, "t.parquet", *MARKS, "--min-overlap", "2")
    assert said.endswith("by less than --min-overlap 2; lower --min-overlap.")


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
    about = TableDescription(ColumnRoles.of(roles), tuple(marked.names))
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
    about = TableDescription(ColumnRoles.of(roles), tuple(marked.names))
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
    about = TableDescription(ColumnRoles.of(roles), tuple(marked.names))
    pq.write_table(table.cast(describe(table.schema, about)), "told.parquet")
    few = ["--models", "gcm,svm", "--folds", "2", "--settings", "1", "--no-learning"]
    assert main(["compare", "told.parquet", *few]) == 0
    told = capsys.readouterr().out
    assert main(["compare", "told.parquet", *few, "--features", ",".join(marked.names)]) == 0
    again = capsys.readouterr().out
    areas = [re.findall(r"^  \w+ +\d\.\d{3} \(", text, re.MULTILINE) for text in (told, again)]
    assert len(areas[0]) == 2
    assert areas[0] == areas[1]


FEW = ["--folds", "2", "--settings", "2", "--no-learning"]


def compare(capsys, table: str, *options: str) -> dict[str, str]:
    """The row of each model, and all else under no name."""
    assert main(["compare", table, *ROLES, *FEW, *options]) == 0
    said = capsys.readouterr().out
    rows = re.findall(r"^  (\S.*?)  +(\d\.\d.*?)  [\d.]+ m?s$", said, re.MULTILINE)
    return {**dict(rows), "": said}


@pytest.mark.parametrize("table", ["t.parquet", pytest.param("t.csv", marks=pytest.mark.slow)])
def test_a_comparison_knows_them(here, capsys, marked, table):
    found = compare(capsys, table, *MARKS, "--models", "svm,misvm,gcm")
    expected = compare_models(
        marked.X,
        marked.y,
        marked.groups,
        marked.overlap,
        annotated=marked.annotated,
        objects=marked.objects,
        models=["svm", "misvm", "gcm"],
        cv=2,
        n_settings=2,
        learning=False,
    )
    for model in expected.models:
        assert model.candidate_roc is not None
        assert found[model.name].startswith(f"{model.group_roc.auc.estimate:.3f} (")
        assert found[model.name].endswith(f" {model.candidate_roc.auc.estimate:.3f}")
    assert expected.notes[0].startswith("5 of 20 positive groups are not annotated: ")
    assert all(note in found[""].splitlines() for note in expected.notes)


@pytest.mark.slow
def test_marks_that_are_numbers_leak_into_no_model(here, capsys, marked):
    """As features, either column would tell positive groups from negative ones."""
    table = changed(marked.table(), "thing", marked.objects)
    table = changed(table, "known", marked.annotated.astype(int))
    pq.write_table(table, "numbers.parquet")
    alone = ["--features", ",".join(marked.names)]
    models = ["--models", "svm,gcm-none"]
    expected = compare(capsys, "numbers.parquet", *MARKS, *models, *alone)
    found = compare(capsys, "numbers.parquet", *MARKS, *models)
    assert [found[name] for name in ("SVM", "GCM without grouping")] == [
        expected[name] for name in ("SVM", "GCM without grouping")
    ]
    leaking = compare(capsys, "numbers.parquet", *models)
    assert leaking["SVM"].startswith("1.000")
    assert not found["SVM"].startswith("1.000")
    said = ["compare", "numbers.parquet", *ROLES, *MARKS, "--features", "thing"]
    assert main(said) == 2
    assert "the object column 'thing' cannot be a feature as well" in capsys.readouterr().err
    said = ["fit", "numbers.parquet", *ROLES, *MARKS, "--features", "known", "-o", "m.json"]
    assert main(said) == 2
    assert "the annotated column 'known' cannot be a feature" in capsys.readouterr().err


def test_a_comparison_with_other_labels_than_the_tables_own_has_no_objects(here, marked, capsys):
    table = marked.table().filter(pa.array(marked.annotated)).drop_columns("known")
    other = np.asarray(table["polyp"]).copy()
    other[int(np.argmax(other == 0))] = 1  # a positive row without an object
    table = table.append_column("other", pa.array(other))
    roles = {"group": "frame", "label": "polyp", "overlap": "fit", "object": "thing"}
    about = TableDescription(ColumnRoles.of(roles), tuple(marked.names))
    pq.write_table(table.cast(describe(table.schema, about)), "told.parquet")
    few = [*FEW, "--models", "gcm"]
    assert main(["compare", "told.parquet", "--label", "other", *few]) == 0
    assert main(["compare", "told.parquet", "--label", "other", "--object", "thing", *few]) == 2
    assert "its object column 'thing' is empty" in capsys.readouterr().err


def evaluation(capsys, table: str, *options: str) -> dict[str, str]:
    assert main(["evaluate", "m.json", table, *options]) == 0
    said = capsys.readouterr().out
    return dict(re.findall(r"^  (\S.*?)  +(.*)$", said, flags=re.MULTILINE))


@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_knows_them_from_the_model(here, capsys, marked, table):
    assert fit(table, *MARKS) == 0
    capsys.readouterr()
    rows = evaluation(capsys, table, "--object", "thing")
    assert rows["not annotated"].startswith("5 of 20 positive groups; metrics of groups include")
    assert rows["groups"] == "60, of them 20 positive"
    known = marked.annotated
    score = read("m.json").model.decision_function(pd.DataFrame(marked.X, columns=marked.names))
    auc = candidate_roc_auc(marked.y[known], score[known])
    assert rows["candidate AUC"].startswith(f"{auc:.4f} (")
    wrong = candidate_roc_auc(marked.y, score)
    assert not rows["candidate AUC"].startswith(f"{wrong:.4f} (")
    assert rows["objects found"].endswith(" of 2")
    assert " of 15 annotated positive groups" in rows["winner on the object"]
    assert " annotated positive groups found" in rows["winners right"]


@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_is_told_of_them_or_does_without(here, capsys, marked):
    assert fit("t.parquet", "--features", ",".join(marked.names)) == 0
    capsys.readouterr()
    assert "not annotated" not in evaluation(capsys, "t.parquet")
    told = evaluation(capsys, "t.parquet", "--annotated", "known")
    assert told["not annotated"].startswith("5 of 20")
    assert fit("t.parquet", *MARKS) == 0
    capsys.readouterr()
    pq.write_table(marked.table().drop_columns(["known"]), "other.parquet")
    assert "not annotated" not in evaluation(capsys, "other.parquet")
    assert main(["evaluate", "m.json", "other.parquet", "--annotated", "known"]) == 2
    assert "no column 'known' for the annotated column" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_reports_say_it(here, capsys, marked):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    assert fit("t.parquet", *MARKS) == 0
    assert main(["evaluate", "m.json", "t.parquet", "--report", "e.html"]) == 0
    page = (here / "e.html").read_text(encoding="utf-8")
    assert "5 of 20 positive groups; metrics of groups include them" in page
    assert "groups found and annotated, the candidate that raised the alarm" in page
    compare(capsys, "t.parquet", *MARKS, "--models", "gcm", "--report", "c.html")
    page = (here / "c.html").read_text(encoding="utf-8")
    assert "5 of 20 positive groups are not annotated: GCM chooses a candidate" in page


def test_the_experiment_of_annotation_leaves_groups_without_one_out(here, capsys, marked):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    few = ["--folds", "2", "--settings", "1", "--repeats", "2", "--sizes", "4", "-o", "a"]
    numbers = changed(marked.table(), "thing", marked.objects)
    pq.write_table(numbers, "numbers.parquet")
    assert main(["experiment", "annotation", "numbers.parquet", *ROLES, *MARKS, *few]) == 0
    said = capsys.readouterr().out
    assert "5 positive groups are not annotated; they took no part." in said
    assert "2 repeats are few" in said
    assert "5 positive groups are not annotated" in (here / "a/annotation.html").read_text()
    known = marked.annotated
    curve = annotation_curve(
        *(each[known] for each in (marked.X, marked.y, marked.groups, marked.overlap)),
        objects=marked.objects[known],
        sizes=[4],
        repeats=2,
        n_folds=2,
        n_settings=1,
    )
    found = json.loads((here / "a/annotation.json").read_text())
    assert (found["positive_groups"], found["positive_groups_left_out_unannotated"]) == (15, 5)
    for name, expected in (("gcm_auc", curve.gcm), ("misvm_auc", curve.misvm)):
        np.testing.assert_allclose(found[name], expected, atol=1e-9)
    np.testing.assert_allclose(
        found["gcm_auc_with_others_unannotated"], curve.with_others, atol=1e-9
    )


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
    assert "'known' has a missing value in row 7" in refused(capsys, "bad.parquet", *MARKS)
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


def test_truth_may_be_written_as_text(here, marked):
    table = marked.table()
    place = table.column_names.index("known")
    for words in (("True", "False"), ("1", "0")):
        written = [words[0] if known else words[1] for known in marked.annotated]
        pq.write_table(table.set_column(place, "known", pa.array(written)), "text.parquet")
        assert fit("text.parquet", *MARKS, "--lam", "0.9") == 0
        assert read("m.json").notes["n_unannotated_groups"] == 5
