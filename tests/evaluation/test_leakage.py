"""Which columns are features: by name, pattern and family, and those that look like labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from groupcm import sources
from groupcm.cli._main import main
from groupcm.data.groups import index_groups
from groupcm.data.leakage import rows_to_check, separating_features, warn_of_leakage
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.formats import write_table
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe
from groupcm.errors import InputError, LeakageWarning
from groupcm.metrics import candidate_roc_auc
from groupcm.persistence.model_file import read
from groupcm.utils.extras import is_installed

ROLES = ["--group", "frame", "--label", "label_polyp"]
FEATURES = ["shape_area", "shape_extent", "f1", "f2", "label_site", "other"]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    n = 400
    columns = {"frame": np.arange(n) // 4, "label_polyp": (np.arange(n) % 16 == 0).astype(int)}
    columns |= {name: rng.normal(size=n) + columns["label_polyp"] for name in FEATURES}
    columns["label_site"] = rng.integers(0, 3, n)
    columns["other"] = 2.0 - columns["label_polyp"] + 1e-3 * rng.random(n)
    return pa.table(columns)


@pytest.fixture
def table(made, tmp_path, request, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if getattr(request, "param", "parquet") == "csv":
        pacsv.write_csv(made, tmp_path / "t.csv")
        return "t.csv"
    pq.write_table(made, tmp_path / "t.parquet", row_group_size=100)
    return "t.parquet"


@pytest.mark.parametrize("table", ["parquet", "csv"], indirect=True)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--features", "f*"], ["f1", "f2"]),
        (["--features", "shape"], ["shape_area", "shape_extent"]),
        (["--features", "other,shape_*"], ["other", "shape_area", "shape_extent"]),
        (["--features", "f?,f1"], ["f1", "f2"]),
        (["--features", "f2,f?"], ["f2", "f1"]),
        (["--exclude", "label_*,other"], ["shape_area", "shape_extent", "f1", "f2"]),
        (["--exclude", "label,shape", "--features", "f*,shape_*"], ["f1", "f2"]),
    ],
)
def test_patterns_and_families_choose_the_features(table, options, expected):
    assert main(["fit", table, *ROLES, *options, "-o", "m.json"]) == 0
    assert read("m.json").model.feature_names_in_.tolist() == expected


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_name_of_a_role_excludes_its_family(made, tmp_path, monkeypatch, suffix):
    """Before, --exclude label did nothing where the labels are in a column called label."""
    monkeypatch.chdir(tmp_path)
    names = [
        {"label_polyp": "label", "shape_extent": "f1_extent"}.get(n, n) for n in made.column_names
    ]
    write_table(made.rename_columns(names), tmp_path / f"t.{suffix}")
    fit = ["fit", f"t.{suffix}", "--group", "frame", "--label", "label", "-o", "m.json"]
    for exclude, expected in (
        ("label,frame", ["shape_area", "f1_extent", "f1", "f2", "other"]),
        # The name of a feature stands for itself alone.
        ("label,f1", ["shape_area", "f1_extent", "f2", "other"]),
    ):
        assert main([*fit, "--exclude", exclude]) == 0
        assert read("m.json").model.feature_names_in_.tolist() == expected


@pytest.mark.parametrize("table", ["parquet", "csv"], indirect=True)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--features", "texture_*"], "'texture_*' of --features matches no column of t."),
        (["--exclude", "texture"], "'texture' of --exclude matches no column of t."),
        (["--features", "texture"], "has no column 'texture'"),
        (["--exclude", "*"], "has no feature columns left by --exclude"),
    ],
)
def test_what_matches_nothing_is_named(table, options, sentence, capsys):
    assert main(["fit", table, *ROLES, *options, "-o", "m.json"]) == 2
    assert sentence in capsys.readouterr().err


def test_python_has_the_same_patterns(table):
    roles = {"group": "frame", "label": "label_polyp"}
    found = sources.from_parquet(table, **roles, exclude=["label_*", "other", "shape"])
    assert found.feature_names == ["f1", "f2"]
    assert sources.from_parquet(table, **roles, features="shape").feature_names == FEATURES[:2]
    read_whole = read_tables([table], **roles, features=["f*", "shape"], exclude=["f2"])
    assert read_whole.feature_names == ["f1", *FEATURES[:2]]
    with pytest.raises(InputError, match=r"'g\*' of features matches no column"):
        sources.from_parquet(table, **roles, features=["g*"])


def test_a_column_of_lists_remains_when_others_are_excluded(tmp_path):
    values = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(8.0)), 2)
    lists = pa.table({"g": [1, 1, 2, 2], "y": [0, 1, 0, 0], "emb": values, "label_b": [0, 1, 1, 0]})
    pq.write_table(lists, tmp_path / "t.parquet")
    found = sources.from_parquet(tmp_path / "t.parquet", group="g", label="y", exclude="label_b")
    assert found.feature_names == ["emb[0]", "emb[1]"]


@pytest.mark.parametrize("table", ["parquet", "csv"], indirect=True)
def test_labels_of_other_tasks_are_warned_of(table, capsys):
    assert main(["fit", table, *ROLES, "-o", "m.json"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "'label_site' is named like a label" in said
    assert "'other' separates the candidates without the others (AUC 1.000)" in said
    assert "--exclude label_site,other" in said
    assert main(["fit", table, *ROLES, "--exclude", "label_site,other", "-o", "m.json"]) == 0
    assert "--exclude" not in capsys.readouterr().err


def test_a_comparison_warns_as_well(table, capsys):
    fast = ["--models", "gcm", "--folds", "2", "--settings", "1", "--no-learning"]
    assert main(["compare", table, *ROLES, *fast]) == 0
    assert "--exclude label_site,other" in " ".join(capsys.readouterr().err.split())


def test_the_area_of_a_feature_is_that_of_candidates():
    rng = np.random.default_rng(1)
    y = np.arange(600) % 3
    for shift in (3.0, 3.5, -3.5, 4.5):
        values = shift * (y == 2) + rng.standard_normal(600)
        area = candidate_roc_auc(y == 2, values)
        found = separating_features(values[:, None], np.where(y == 2, "b", "a"), ["x"])
        assert bool(found) == (max(area, 1 - area) > 0.99)
        if found:
            assert found[0][1] == pytest.approx(max(area, 1 - area))
        of_three = separating_features(values[:, None], y, ["x"])
        assert bool(of_three) == bool(found)
    # Missing values are left out, and few rows say nothing.
    label = np.arange(40) % 2
    missing = np.where(np.arange(40) % 5 == 0, np.nan, label)
    assert separating_features(missing[:, None], label, ["x"]) == [("x", 1.0)]
    assert separating_features(missing[:12, None], label[:12], ["x"]) == []


def test_one_sentence_names_at_most_a_few_columns():
    X, y = np.zeros((40, 12)), np.arange(40) % 2
    names = [f"label_{j}" for j in range(12)]
    with pytest.warns(LeakageWarning) as heard:
        warn_of_leakage("polyp", X, rows_to_check(y, index_groups(np.arange(40)), 12), names)
    sentence = str(heard[0].message)
    assert "'label_4' and 7 more are named like labels" in sentence
    assert "label_5" not in sentence
    assert ". " not in sentence


def with_column(made: pa.Table, name: str, values) -> pa.Table:
    names = [*made.column_names, name]
    return pa.Table.from_arrays([*made.columns, pa.array(values)], names=names)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("by_class", [False, True])
def test_a_label_of_the_group_is_warned_of(made, tmp_path, monkeypatch, capsys, suffix, by_class):
    """Before, only the candidates were looked at, whose AUC is 0.9 here."""
    monkeypatch.chdir(tmp_path)
    made = made.select(["frame", "label_polyp", "f1", "f2"])
    frame, label = (made[name].to_numpy() for name in ("frame", "label_polyp"))
    found = with_column(made, "frame_has_polyp", np.isin(frame, frame[label == 1]) * 1.0)
    if by_class:  # positive groups first, in row groups of their own
        found = found.sort_by([("frame_has_polyp", "descending"), ("frame", "ascending")])
    write_table(found, tmp_path / f"t.{suffix}")
    if suffix == "parquet":
        pq.write_table(found, tmp_path / "t.parquet", row_group_size=20)
    assert main(["fit", f"t.{suffix}", *ROLES, "-o", "m.json"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "'frame_has_polyp' separates the groups without the others (AUC 1.000)" in said
    assert "--exclude frame_has_polyp what is not known" in said
    assert main(["fit", f"t.{suffix}", *ROLES, "--exclude", "frame_has_polyp", "-o", "m.json"]) == 0
    assert "AUC" not in capsys.readouterr().err


@pytest.mark.skipif(not is_installed("lightgbm"), reason="lightgbm")
def test_values_that_are_missing_by_class_are_warned_of(made, tmp_path, monkeypatch, capsys):
    """Before, the rows without a value were left out first."""
    monkeypatch.chdir(tmp_path)
    made = made.select(["frame", "label_polyp", "f1", "f2"])
    frame, label = (made[name].to_numpy() for name in ("frame", "label_polyp"))
    is_positive = np.isin(frame, frame[label == 1])
    values = np.arange(len(frame)) % 7.0
    found = with_column(made, "a", np.where(label == 0, np.nan, values))
    found = with_column(found, "b", np.where(is_positive, values, np.nan))
    write_table(with_column(found, "c", np.where(frame % 5, values, np.nan)), tmp_path / "t.csv")
    trees = ["--model", "trees", "--n-estimators", "3"]
    assert main(["fit", "t.csv", *ROLES, *trees, "-o", "m.json"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "'a' separates the candidates by where its values are missing (AUC 1.000)" in said
    assert "'b' separates the groups by where its values are missing (AUC 1.000)" in said
    assert "--exclude a,b what" in said


def test_measurements_of_pictures_are_not_suspected(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    about = TableDescription(
        ColumnRoles.of({"group": "frame", "label": "label_polyp"}), ("f1", "other"), {"a": 1}
    )
    for recipe, is_told in ((None, True), ({"a": 1}, False)):
        told = replace(about, recipe=recipe)
        pq.write_table(made.replace_schema_metadata(describe(made.schema, told).metadata), "t.pq")
        Path("t.pq").rename("t.parquet")
        assert main(["fit", "t.parquet", "-o", "m.json"]) == 0
        assert ("'other' separates" in capsys.readouterr().err) == is_told


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_column_of_patients_is_warned_of(made, tmp_path, monkeypatch, capsys, suffix):
    monkeypatch.chdir(tmp_path)
    made = made.select(["frame", "label_polyp", "f1", "f2"])
    patient = made["frame"].to_numpy() // 4
    found = with_column(with_column(made, "patient", patient), "patient_age", patient % 9)
    write_table(found, tmp_path / f"t.{suffix}")
    fit = ["fit", f"t.{suffix}", *ROLES, "-o", "m.json"]
    assert main(fit) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "of the features, 'patient' is named like a patient; name the column" in said
    assert "--patient patient, so that no fold splits one, or leave it out with --exclude" in said
    for remedy in ("--patient", "--exclude"):
        assert main([*fit, remedy, "patient"]) == 0
        assert "is named like a patient" not in capsys.readouterr().err
    subject = with_column(found, "subject_id", patient)
    write_table(subject, tmp_path / f"t.{suffix}")
    assert main([*fit, "--patient", "patient"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "leave out with --exclude subject_id the columns that identify patients" in said


def test_few_rows_of_every_group_are_looked_at():
    rng = np.random.default_rng(0)
    groups = index_groups(np.sort(rng.integers(0, 900, 60_000)))
    labels = (rng.random(60_000) < 0.004).astype(int)
    found = rows_to_check(labels, groups, 1_000)
    assert np.array_equal(found.rows, np.unique(found.rows))
    assert np.array_equal(found.holds[:, 1], groups.maxima(labels == 1)[found.group])
    sizes = np.bincount(found.group[found.is_of_group])
    assert set(sizes[sizes > 0]) <= set(range(1, 11))
    assert np.count_nonzero(sizes) >= 400 - 200
    # The rows of groups are chosen whatever their labels.
    assert found.labels[found.is_of_group].mean() < 0.02
    few = rows_to_check(labels, groups, 1_000, np.arange(5_000, 9_000))
    assert few.rows.min() >= 5_000
    assert few.rows.max() < 9_000
