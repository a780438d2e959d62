"""``--weight`` and ``--class-weight``: a column of weights, and what the classes weigh."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier, GroupClassifierCV
from groupcm.cli import main
from groupcm.data.tables.roles import ColumnRoles
from groupcm.evaluation.comparison.tables import read_labelled
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule
from groupcm.utils.extras import is_installed

ROLES = ["--group", "frame", "--label", "polyp"]
TREES = ["--model", "trees", "--n-estimators", "5", "--no-early-stopping"]


@pytest.fixture(scope="module")
def data():
    return capsule(40, n_positive=20, n_patients=30, group_size=8, seed=6)


@pytest.fixture(scope="module")
def weight(data):
    drawn = np.random.default_rng(0).choice([0.0, 1.0, 3.0], data.n_groups)
    return drawn[np.unique(data.groups, return_inverse=True)[1]]


def write(data, weight, name: str) -> None:
    columns = {"frame": [f"f{g}" for g in data.groups], "polyp": data.y, "who": data.patient}
    columns |= {"times": weight}
    columns |= {n: np.ascontiguousarray(data.X[:, j]) for j, n in enumerate(data.feature_names)}
    table = pa.table(columns)
    (pq.write_table if name.endswith("parquet") else pacsv.write_csv)(table, name)


@pytest.fixture
def here(tmp_path, monkeypatch, data, weight):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    write(data, weight, "t.parquet")
    write(data, weight, "t.csv")


def fit(table: str, *options: str) -> int:
    columns = [*ROLES, "--patient", "who", "--weight", "times"]
    return main(["fit", table, *columns, *options, "-o", "m.json"])


def refused(capsys, table: str, *options: str) -> str:
    assert fit(table, *options) == 2
    return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
@pytest.mark.parametrize("class_weight", ["balanced", "none"])
def test_a_linear_fit_is_weighted(data, weight, table, class_weight):
    assert fit(table, "--class-weight", class_weight) == 0
    saved = read("m.json")
    of_class = None if class_weight == "none" else "balanced"
    expected = GroupClassifier(class_weight=of_class, random_state=0)
    expected.fit(data.X, data.y, data.groups, sample_weight=weight)
    assert saved.model.class_weight == of_class
    np.testing.assert_allclose(saved.model.coef_, expected.coef_, rtol=1e-6)
    assert list(saved.model.feature_names_in_) == data.feature_names
    assert saved.notes["columns"]["weight"] == "times"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_folds_are_weighted_and_have_the_patients_of_groups_that_count(data, weight, table):
    assert fit(table, "--cv", "--folds", "2", "--lams", "0.5,0.9") == 0
    expected = GroupClassifierCV([0.5, 0.9], cv=2).fit(
        data.X, data.y, data.groups, patients=data.patient, sample_weight=weight
    )
    saved = read("m.json")
    assert saved.model.lam_ == expected.lam_
    np.testing.assert_allclose(saved.model.scores_, expected.scores_)
    assert "held_out" in saved.notes


@pytest.mark.usefixtures("here")
@pytest.mark.skipif(not is_installed("lightgbm"), reason="trees need LightGBM")
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_trees_are_weighted(data, weight, table):
    from groupcm import GroupBoostingClassifier

    assert fit(table, *TREES, "--class-weight", "none") == 0
    expected = GroupBoostingClassifier(5, early_stopping=False, class_weight=None)
    expected.fit(data.X, data.y, data.groups, sample_weight=weight)
    np.testing.assert_allclose(
        read("m.json").model._scorer.of_rows(data.X), expected._scorer.of_rows(data.X)
    )
    assert fit(table, *TREES, "--cv", "--folds", "2", "--calibrate", "sigmoid") == 0


@pytest.mark.usefixtures("here")
def test_a_named_column_of_weights_is_no_feature(data, capsys):
    few = ["--models", "svm", "--settings", "1", "--folds", "2", "--no-learning"]
    compared = ["compare", "t.csv", *ROLES, "--weight", "times", *few]
    assert main([*compared, "--features", "times"]) == 2
    assert "the weight column 'times' cannot be a feature as well" in capsys.readouterr().err
    roles = ColumnRoles("frame", "polyp", patient="who", weight="times")
    assert read_labelled(["t.csv"], roles).candidates.feature_names == data.feature_names
    assert main(["fit", "t.csv", *ROLES, "--exclude", "who", "-o", "with.json"]) == 0
    assert "times" in read("with.json").model.feature_names_in_
    assert fit("t.csv") == 0
    assert main(["evaluate", "m.json", "t.csv"]) == 0


@pytest.mark.usefixtures("here")
def test_mistakes_in_weights_name_file_row_and_group(data, weight, capsys):
    said = refused(capsys, "t.parquet", "--memory", "10kB")
    expected = "--weight needs all 486 candidates in memory, and they do not fit; raise --memory"
    assert expected in said
    for table in ("bad.csv", "bad.parquet"):
        wrong = weight.copy()
        wrong[7] = -1.0
        write(data, wrong, table)
        said = refused(capsys, table)
        assert said.endswith(
            f"{table}: the weight column 'times' is -1 in row 7 (counted from 0); a weight is a "
            "finite number of at least 0"
        )
        wrong = np.ones(len(weight))
        negative = data.groups[~np.isin(data.groups, data.groups[data.y == 1])][0]
        wrong[np.argmax(data.groups == negative)] = 2.0
        write(data, wrong, table)
        assert f"holds 1 and 2 for the negative group f{negative}" in refused(capsys, table)
        assert fit(table, "--grouping", "none") == 0
        write(data, np.array(["x"] * len(weight)), table)
        assert "the weight column 'times' holds text; use numbers" in refused(capsys, table)
    assert "t.csv has no column 'no' for the weight column" in refused(
        capsys, "t.csv", "--weight", "no"
    )
