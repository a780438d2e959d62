"""Which columns are features: by name, pattern and family, and those that look like labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from groupcm import sources
from groupcm.cli import main
from groupcm.errors import InputError, LeakageWarning
from groupcm.evaluation.leakage import separating_features, warn_of_leakage
from groupcm.metrics import candidate_roc_auc
from groupcm.persistence import read
from groupcm.tables import read_tables

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
    with pytest.raises(InputError, match=r"'g\*' of --features matches no column"):
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
        warn_of_leakage("polyp", X, y, names)
    sentence = str(heard[0].message)
    assert "'label_4' and 7 more are named like labels" in sentence
    assert "label_5" not in sentence
    assert ". " not in sentence
