"""Features that are categories, and features in which scores are monotone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import groupcm
from groupcm import GroupBoostingClassifier, export_onnx, sources
from groupcm.boosting.forest import Forest
from groupcm.boosting.lightgbm_text import read_forest, write_text
from groupcm.boosting.scorer import TreeScorer
from groupcm.errors import InputError, ParameterError, TreesWarning
from groupcm.metrics import group_roc_auc

lightgbm: Any = pytest.importorskip("lightgbm")

LABELS = np.array(list("abcdefgh"))
ON_OBJECT = (1, 4, 6)


@pytest.fixture(scope="module")
def data():
    """Candidates of eight kinds, of which three are typical of objects; and a noisy size."""
    rng = np.random.default_rng(0)
    kind, size = rng.integers(0, 8, 3000), rng.normal(size=3000)
    score = 2.0 * np.isin(kind, ON_OBJECT) + 0.3 * size + 0.7 * rng.normal(size=3000)
    return kind, size, (score > 3.0).astype(int), np.repeat(np.arange(300), 10)


def trees(**parameters: Any) -> GroupBoostingClassifier:
    given = {"n_estimators": 15, "early_stopping": False, "n_jobs": 1, "n_annealed": 10}
    return GroupBoostingClassifier(**({"colsample_bytree": 1.0} | given | parameters))


def frames(kind: Any, size: Any) -> dict[str, Any]:
    text = LABELS[kind]
    return {
        "pandas": pd.DataFrame({"size": size, "kind": pd.Categorical(text)}),
        "pandas, numbers": pd.DataFrame({"size": size, "kind": pd.Categorical(kind + 0.5)}),
        "polars": pl.DataFrame({"size": size, "kind": pl.Series(text).cast(pl.Categorical)}),
        "enum": pl.DataFrame({"size": size, "kind": pl.Series(text).cast(pl.Enum(LABELS))}),
        "arrow": pa.table({"size": size, "kind": pa.array(text).dictionary_encode()}),
    }


def test_categorical_columns_of_every_frame_are_one_model(data, tmp_path):
    kind, size, y, groups = data
    plain = trees(categorical_features=[1]).fit(np.column_stack([size, kind]), y, groups)
    assert np.any(plain.forests_[0].is_by_category)
    expected = plain.decision_function(np.column_stack([size, kind]))
    for name, X in frames(kind, size).items():
        model = trees().fit(X, y, groups)
        assert model.is_categorical_.tolist() == [False, True]
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores, expected, atol=1e-9)
        if name == "enum":
            assert model.categories_ == {"kind": LABELS.tolist()}
        groupcm.save(model, tmp_path / "trees.json")
        loaded = groupcm.load(tmp_path / "trees.json")
        assert loaded.categories_ == model.categories_
        assert np.array_equal(loaded.decision_function(X), scores)
        best = model.group_scores(X, groups).score
        assert np.array_equal(loaded.group_scores(X, groups).score, best)


def test_codes_follow_the_labels_and_not_the_order_of_a_new_frame(data):
    kind, size, y, groups = data
    X = frames(kind, size)["pandas"]
    model = trees().fit(X, y, groups)
    scores = model.decision_function(X)
    reordered = X.assign(kind=X["kind"].cat.reorder_categories(LABELS[::-1]))
    assert np.array_equal(model.decision_function(reordered), scores)
    assert np.array_equal(model.decision_function(X.assign(kind=LABELS[kind])), scores)
    unknown = X.iloc[:3].assign(kind=["z", None, "y"])
    missing = X.iloc[:3].assign(kind=pd.Categorical([None] * 3, LABELS))
    assert np.array_equal(model.decision_function(unknown), model.decision_function(missing))


def test_columns_of_text_are_categories_where_they_are_listed(data):
    kind, size, y, groups = data
    X = pd.DataFrame({"size": size, "kind": LABELS[kind]})
    listed = trees(categorical_features=["kind"]).fit(X, y, groups)
    typed = trees().fit(frames(kind, size)["pandas"], y, groups)
    np.testing.assert_allclose(listed.decision_function(X), typed.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match=r"column 'kind' of X holds .*, not numbers"):
        trees().fit(X, y, groups)


def test_scores_of_categories_are_lightgbms(data):
    kind, size, y, groups = data
    X = np.column_stack([size, kind]).astype(np.float64)
    model = trees(categorical_features=[False, True]).fit(X, y, groups)
    (booster,) = model.boosters_
    awkward = np.array([[0.0, v] for v in (np.nan, -1.0, 99.0, 1.7, 1.0, 31.0, 32.0, 1e9, 6.99)])
    for rows in (X, awkward):
        expected = booster.predict(rows, raw_score=True)
        assert np.array_equal(model.decision_function(rows), expected)
        sparse = sp.csr_array(np.nan_to_num(rows))
        dense = model.decision_function(np.nan_to_num(rows))
        assert np.array_equal(model.decision_function(sparse), dense)
    again = read_forest(write_text(model.forests_[0]))
    assert np.array_equal(TreeScorer([again]).of_rows(X)[:, 0], model.decision_function(X))


def test_contributions_of_categories_add_up(data):
    kind, size, y, groups = data
    X = np.column_stack([size, kind]).astype(np.float64)
    model = trees(categorical_features=[1]).fit(X, y, groups)
    scorer = TreeScorer(model.forests_)
    contributions, expected = scorer.contributions(X[:50])
    np.testing.assert_allclose(
        expected + contributions.sum(axis=1), model.decision_function(X[:50]), atol=1e-9
    )
    by_lightgbm = model.boosters_[0].predict(X[:50], pred_contrib=True)
    np.testing.assert_allclose(contributions, by_lightgbm[:, :-1], atol=1e-6)


def test_streams_have_categories_by_number_or_name(data, tmp_path):
    kind, size, y, groups = data
    X = np.column_stack([size, kind]).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    source = sources.from_npy(tmp_path / "X.npy", group=groups, label=y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)  # new winners of the last pass
        model = trees(categorical_features=[1], memory="20kB").fit(source)
    assert model.n_passes_ > 0
    assert np.any(model.forests_[0].is_by_category)
    scores = model.decision_function(source)
    assert np.array_equal(scores, model.decision_function(X))
    assert group_roc_auc(y, scores, groups) > 0.7
    table = pa.table({"size": size, "kind": kind, "label": y, "frame": groups})
    pq.write_table(table, tmp_path / "rows.parquet")
    parquet = sources.from_parquet(tmp_path / "rows.parquet", group="frame", label="label")
    named = trees(categorical_features=["kind"]).fit(parquet)
    assert named.is_categorical_.tolist() == [False, True]


def test_more_than_two_classes_have_categories(data):
    kind, size, _, groups = data
    X = frames(kind, size)["pandas"]
    y = np.where(np.isin(kind, (1, 4)) & (size > 0.5), "x", np.where(kind == 6, "y", "none"))
    model = trees(n_estimators=5).fit(X, y, groups)
    assert model.decision_function(X).shape == (3000, 3)
    assert model.group_scores(X, groups).score.shape == (300, 3)


@pytest.mark.parametrize("memory", [None, "40kB"])
@pytest.mark.parametrize("objective", ["gcm", "partial_auc"])
def test_a_monotone_score_is_monotone(objective, memory, tmp_path):
    rng = np.random.default_rng(1)
    X, groups = rng.normal(size=(2000, 3)), np.repeat(np.arange(200), 10)
    # The second feature lowers what is positive, against its constraint; the third has none.
    y = (X[:, 0] - X[:, 1] + np.abs(X[:, 2]) + rng.normal(size=2000) > 3.5).astype(int)
    np.save(tmp_path / "X.npy", X)
    source = sources.from_npy(tmp_path / "X.npy", group=groups, label=y)
    model = trees(monotone_constraints=[1, 1, 0], objective=objective, memory=memory)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)
        model.fit(source)
    free = trees(objective=objective).fit(X, y, groups)
    line = np.linspace(-3, 3, 200)

    def along(model: Any, feature: int) -> Any:
        rows = np.repeat(X[:20], len(line), axis=0)
        rows[:, feature] = np.tile(line, 20)
        return np.diff(model.decision_function(rows).reshape(20, -1), axis=1)

    for feature in (0, 1):
        assert np.all(along(model, feature) >= 0.0)
    assert np.any(along(model, 0) > 0.0)
    assert np.any(along(model, 2) < 0.0)
    assert np.any(along(free, 1) < 0.0)


def test_constraints_by_name(data):
    kind, size, y, groups = data
    X = pd.DataFrame({"size": size, "kind": kind})
    named = trees(monotone_constraints={"size": -1}).fit(X, y, groups)
    listed = trees(monotone_constraints=[-1, 0]).fit(X, y, groups)
    assert named.trees_ == listed.trees_
    assert named.trees_ != trees().fit(X, y, groups).trees_


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"categorical_features": "kind"}, "categorical_features must be"),
        ({"categorical_features": ["shape"]}, "names 'shape', but the features have other names"),
        ({"categorical_features": [2]}, "holds 2; features are named, or numbered from 0 to 1"),
        ({"categorical_features": [True]}, "has 1 flags, but there are 2 features"),
        ({"categorical_features": ["size", "kind"]}, "feature 'size' holds .* whole numbers"),
        ({"monotone_constraints": [1]}, "monotone_constraints has 1 values, but there are 2"),
        ({"monotone_constraints": {"size": 2}}, "monotone_constraints holds 2; use 1 for"),
        ({"monotone_constraints": {"kind": 1}}, "feature 'kind', whose categories have no order"),
        ({"lightgbm_params": {"cat_feature": [1]}}, "which is the parameter categorical_features"),
    ],
)
def test_what_is_impossible_is_named(data, parameters, sentence):
    kind, size, y, groups = data
    with pytest.raises((ParameterError, InputError), match=sentence):
        trees(**parameters).fit(frames(kind, size)["pandas"], y, groups)


def test_a_category_that_no_file_can_hold_is_named(data):
    kind, size, y, groups = data
    X = pd.DataFrame({"size": size, "kind": pd.Categorical(pd.to_datetime(kind))})
    with pytest.raises(InputError, match=r"column 'kind' of X has the category .* Timestamp"):
        trees().fit(X, y, groups)


def test_labels_of_categories_are_refused_in_a_source_and_exact_as_numbers():
    number = np.arange(120) // 3 % 4
    y, groups = (number == 2).astype(int), np.arange(120) // 3
    kind = pd.Categorical(2**60 + number)
    frame = pd.DataFrame({"kind": kind, "size": np.random.default_rng(0).random(120)})
    model = trees().fit(frame, y, groups)
    assert len(set(model.categories_["kind"])) == 4
    known = sources.from_arrays(frame.assign(kind=number), label=y, group=groups)
    with pytest.raises(InputError, match="knows the categories of kind by their labels"):
        model.decision_function(known)


def test_an_export_to_onnx_is_refused(data, tmp_path):
    pytest.importorskip("onnx")
    kind, size, y, groups = data
    model = trees().fit(frames(kind, size)["pandas"], y, groups)
    with pytest.raises(InputError, match="the trees split by categories, which the ONNX export"):
        export_onnx(model, tmp_path / "trees.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("cat_boundaries=0 1", "cat_boundaries=0 9", "tree 0: cat_boundaries does not divide"),
        ("cat_boundaries=0 1", "cat_boundaries=1 1", "tree 0: cat_boundaries does not divide"),
        ("cat_threshold=", "cat_threshold=4294967296 ", "not a whole number below 2\\^32"),
        ("cat_threshold=", "cat_threshold=-1 ", "cat_boundaries does not divide|hold no bits"),
        ("num_cat=1", "num_cat=2", "tree 0: cat_boundaries does not divide"),
        ("num_cat=1", "num_cat=0", "tree 0 has 'cat_boundaries', which is not known here"),
        ("threshold=0", "threshold=1", "which is not the number of a set of categories"),
        ("threshold=0", "threshold=-1", "which is not the number of a set of categories"),
        ("decision_type=1", "decision_type=3", "decision_type holds 3, which is none of 0, 1, 2"),
    ],
)
def test_damaged_sets_of_categories_are_named(old, new, sentence):
    X = np.repeat(np.arange(4.0), 25)[:, None]
    given = {"num_leaves": 2, "verbose": -1, "min_data_per_group": 1, "num_threads": 1}
    dataset = lightgbm.Dataset(X, X[:, 0] == 2, categorical_feature=[0])
    text = write_text(read_forest(lightgbm.train(given, dataset, 1).model_to_string()))
    assert old in text
    changed = text.replace(f"\n{old}", f"\n{new}", 1)
    size = len(changed) - len(text)
    header, _, rest = changed.partition("tree_sizes=")
    number, _, rest = rest.partition("\n")
    with pytest.raises(InputError, match=sentence):
        read_forest(f"{header}tree_sizes={int(number) + size}\n{rest}")


def test_a_forest_without_categories_has_no_sets():
    assert len(Forest.of_no_trees(2).sets) == 0
