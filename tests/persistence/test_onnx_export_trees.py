"""Exported trees give what LightGBM gives, for every float32 value and every missing one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from onnx_runs import assert_same, called, run
from tree_model import TreeModel, lightgbm

from groupcm import CalibratedGroupClassifier
from groupcm.errors import InputError
from groupcm.persistence.onnx import export_onnx
from groupcm.persistence.onnx.trees import TreeTable
from groupcm.simulate import capsule

D = 5
WITH_MISSING = {"NaN": {}, "Zero": {"zero_as_missing": True}, "None": {"use_missing": False}}
SMALL = {"num_leaves": 8, "min_data_in_leaf": 3}


def made_rows(n: int = 400, seed: int = 0) -> np.ndarray:
    """Numbers with zeros and gaps, two columns of them whole."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).astype(np.float32)
    X[:, 3], X[:, 4] = rng.integers(0, 9, n), rng.integers(0, 150, n)
    X[rng.random(X.shape) < 0.15] = 0.0
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def squares(scores: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
    """An objective of one's own: half the squared distance."""
    return scores - data.get_label(), np.ones(len(scores))


def grown(X: np.ndarray, n_trees: int, **parameters: Any) -> Any:
    known = np.nan_to_num(X)
    y = known[:, 0] * known[:, 1] - known[:, 2] ** 2 + np.isnan(X[:, 0])
    y += 1.0 * np.isin(known[:, 3], [0, 2, 5]) - (known[:, 4] % 7 == 0)
    own = {"objective": squares, "verbose": -1, "num_threads": 1, **SMALL, **parameters}
    return lightgbm.train(own, lightgbm.Dataset(X, y), n_trees)


def model_of(*boosters: Any) -> TreeModel:
    model = TreeModel()
    model.trees_ = [booster.model_to_string() for booster in boosters]
    model.n_features_in_ = boosters[0].num_feature()
    model.classes_ = np.arange(max(2, len(boosters)))
    model.background_ = np.zeros(len(model.classes_), bool)
    model._reset_threshold()
    return model


def nodes_of(booster: Any) -> list[dict[str, Any]]:
    """All decisions of all trees."""
    waiting = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    found = []
    while waiting:
        node = waiting.pop()
        if "left_child" in node:
            found.append(node)
            waiting += [node["left_child"], node["right_child"]]
    return found


def groups_for(n: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, max(1, n // 6), n)


@pytest.mark.parametrize("missing", WITH_MISSING)
def test_every_kind_of_decision(tmp_path, missing):
    booster = grown(made_rows(), 30, **WITH_MISSING[missing])
    nodes = nodes_of(booster)
    assert missing in {node["missing_type"] for node in nodes}
    assert missing == "None" or {node["default_left"] for node in nodes} == {True, False}
    unseen = made_rows(600, seed=1)
    unseen[::10, 3:] = -0.4
    unseen[::11, 3:] = [-3.0, 1e10]
    assert_same(model_of(booster), tmp_path, unseen, groups_for(600))


@pytest.mark.parametrize("missing", WITH_MISSING)
def test_both_sides_of_every_threshold(tmp_path, missing):
    """The float32 numbers around each threshold, which is float64, fall as in LightGBM."""
    booster = grown(made_rows(), 30, **WITH_MISSING[missing])
    rows = []
    for node in nodes_of(booster):
        # What tells NaN from the rest has the largest float64.
        near = np.float32(np.clip(node["threshold"], -1e30, 1e30))
        for value in (np.nextafter(near, np.float32(-9)), near, np.nextafter(near, np.float32(9))):
            row = made_rows(1, seed=len(rows))[0]
            row[node["split_feature"]] = value
            rows.append(row)
    X = np.array(rows)
    found = run(model_of(booster), tmp_path, X, groups_for(len(X)))
    expected = booster.predict(X, raw_score=True)
    assert len(np.unique(expected)) > 50
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-6)


def test_a_value_at_the_threshold_goes_left(tmp_path):
    x = np.repeat([0.0, 1.0], 50)[:, None]
    parameters = {"verbose": -1, "num_threads": 1, "zero_as_missing": False}
    booster = lightgbm.train(parameters, lightgbm.Dataset(x + 1.0, x[:, 0]), 1)
    text = booster.model_to_string()
    (trained,) = (node["threshold"] for node in nodes_of(booster))
    assert 1.5 < trained < 1.5 + 1e-12
    assert text.count("threshold=1.5000000000000002") == 1
    exact = text.replace("threshold=1.5000000000000002", "threshold=1.5000000000000000")
    booster = lightgbm.Booster(model_str=exact)
    assert [node["threshold"] for node in nodes_of(booster)] == [1.5]
    X = np.nextafter(np.float32(1.5), np.float32([-9.0, 1.5, 9.0]))[:, None]
    low, at, high = run(model_of(booster), tmp_path, X, np.arange(3))["scores"]
    assert low == at < high
    assert_same(model_of(booster), tmp_path, X, np.arange(3))


@pytest.mark.parametrize("missing", WITH_MISSING)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_values_that_lightgbm_takes_for_zero(tmp_path, missing, sign):
    x = np.repeat([0.0, sign], 50)[:, None]
    parameters = {"verbose": -1, "num_threads": 1, **WITH_MISSING[missing]}
    booster = lightgbm.train(parameters, lightgbm.Dataset(x, x[:, 0]), 3)
    assert len(nodes_of(booster)) == 3
    edge = np.float32(1e-35)
    near = [0.0, 1e-40, 9e-36, edge, np.nextafter(edge, np.float32(1)), 2e-35, 1e-30, 1.0, np.nan]
    X = np.array([*near, *(-value for value in near)], np.float32)[:, None]
    found = run(model_of(booster), tmp_path, X, np.arange(len(X)))
    expected = booster.predict(X, raw_score=True)
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-6)


FEW_NUMBERS = st.sampled_from([np.nan, 0.0, -0.0, 1e-36, -1e-35, 0.5, -1.0, 2.0, 3.9, 8.0, 149.0])
ANY_NUMBER = st.floats(width=32, allow_infinity=False)


@pytest.fixture(scope="module", params=WITH_MISSING)
def session(request, tmp_path_factory) -> tuple[Any, Any]:
    """A booster and the graph of its scores."""
    import onnxruntime

    booster = grown(made_rows(), 20, **WITH_MISSING[request.param])
    path = tmp_path_factory.mktemp("trees") / "model.onnx"
    export_onnx(model_of(booster), path, groups=False)
    return booster, onnxruntime.InferenceSession(path)


@settings(deadline=None)
@given(rows=st.lists(st.lists(FEW_NUMBERS | ANY_NUMBER, min_size=D, max_size=D), min_size=1))
def test_any_finite_or_missing_value(session, rows):
    booster, graph = session
    X = np.array(rows, np.float32)
    (scores,) = graph.run(None, {"X": X})
    np.testing.assert_allclose(scores, booster.predict(X, raw_score=True), rtol=0, atol=1e-5)


def test_sums_of_many_trees(tmp_path):
    """Sums of 500 leaves come out as close as float32 can say them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=500)
    parameters = {"objective": "regression", "verbose": -1, "num_threads": 1, "num_leaves": 7}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), 500)
    assert booster.num_trees() == 500
    found = assert_same(model_of(booster), tmp_path, X, groups_for(500))
    exact = booster.predict(X, raw_score=True).astype(np.float32)
    assert np.mean(found["scores"] == exact) > 0.99
    for few in (1, 3, 40):  # few rows are shared among threads by trees, many by rows
        assert_same(model_of(booster), tmp_path, X[:few], np.zeros(few, int))


def test_a_column_a_class(tmp_path):
    X = made_rows()
    boosters = [grown(X, n, seed=n, bagging_fraction=0.5, bagging_freq=1) for n in (3, 7, 1)]
    found = assert_same(model_of(*boosters), tmp_path, X, groups_for(len(X)))
    assert found["scores"].shape == (400, 3)
    assert len(np.unique(found["winners"], axis=1)) > 1


def test_trees_that_are_one_leaf_and_no_trees(tmp_path):
    X = made_rows(60)
    parameters = {"objective": "regression", "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(X, np.arange(60) % 2 + 0.25, params={"min_data_in_leaf": 1000})
    level = lightgbm.train({**parameters, "min_data_in_leaf": 1000}, data, 3)
    assert nodes_of(level) == []
    empty = lightgbm.Booster(parameters, lightgbm.Dataset(X, np.arange(60)))
    assert empty.num_trees() == 0
    grown_too = grown(X, 2)
    found = assert_same(model_of(level, empty, grown_too), tmp_path, X, groups_for(60))
    np.testing.assert_allclose(found["scores"][:, 0], 0.75, rtol=1e-6)
    assert not found["scores"][:, 1].any()
    assert np.ptp(found["scores"][:, 2]) > 0


def test_a_tree_as_deep_as_it_has_leaves(tmp_path):
    x = np.arange(300, dtype=np.float32)[:, None]
    steep = np.exp(x[:, 0].astype(float) / 5.0 - 50.0)
    parameters = {"num_leaves": 200, "min_data_in_leaf": 1, "max_bin": 400, "verbose": -1}
    parameters |= {"min_data_in_bin": 1, "num_threads": 1, "min_sum_hessian_in_leaf": 0.0}
    booster = lightgbm.train(parameters, lightgbm.Dataset(x, steep), 2)
    assert_same(model_of(booster), tmp_path, x, np.arange(300) % 7)


def test_another_runtime_agrees(tmp_path):
    X = made_rows(40)
    booster = grown(made_rows(), 4)
    path = tmp_path / "model.onnx"
    export_onnx(model_of(booster), path)
    evaluator = ReferenceEvaluator(str(path))
    scores, _, winners = evaluator.run(None, {"X": X, "groups": groups_for(40)})
    expected = run(model_of(booster), tmp_path, X, groups_for(40))
    np.testing.assert_allclose(scores, expected["scores"], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(winners, expected["winners"])


def test_thresholds_and_leaves_keep_every_digit():
    booster = grown(made_rows(), 10)
    table = TreeTable.of(model_of(booster).forests_)
    text = booster.model_to_string()
    leaves = [
        float(value)
        for line in text.splitlines()
        if line.startswith("leaf_value=")
        for value in line.removeprefix("leaf_value=").split()
    ]
    assert sorted(table.weight) == sorted(leaves)
    assert len(table.roots) == 10


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_trees(tmp_path, method):
    data, unseen = (capsule(40, n_positive=20, group_size=8, seed=seed) for seed in (0, 1))
    model = CalibratedGroupClassifier(TreeModel(), method=method, cv=3)
    model.fit(data.X, data.y, data.groups)
    X, groups = unseen.X.astype(np.float32), np.asarray(unseen.groups)
    found = assert_same(model, tmp_path, X, groups)
    ids = model.group_scores(X, groups).group
    expected = model.predict_proba_groups(X, groups)
    assert len(np.unique(expected[:, 1])) > 3
    np.testing.assert_allclose(found["probabilities"][ids], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"linear_tree": True}, "has linear leaves"),
        ({"min_data_per_group": 3, "max_cat_to_onehot": 9}, "the trees split by categories"),
        ({"objective": "multiclass", "num_class": 3}, "num_class='3'"),
    ],
    ids=called,
)
def test_what_cannot_be_exported_is_named(tmp_path: Path, parameters, sentence):
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[:, 1] = np.arange(90) % 6
    own = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3, **parameters}
    categorical = [1] if "min_data_per_group" in parameters else []
    data = lightgbm.Dataset(X, np.arange(90) % 3, params=own, categorical_feature=categorical)
    booster = lightgbm.train(own, data, 2)
    with pytest.raises(InputError, match=sentence):
        export_onnx(model_of(booster), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
