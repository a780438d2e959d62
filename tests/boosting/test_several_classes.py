"""Trees for more than two classes: each against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import groupcm
from groupcm import GroupBoostingClassifier, sources

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of 10; a third shows "a", a third "b", and every group "background"."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(120), 10)
    X = rng.normal(size=(1200, 5)).astype(np.float32)
    y = np.full(1200, "background")
    for group in range(120):
        kind = group % 3
        if kind:
            row = 10 * group + int(rng.integers(10))
            y[row] = "ab"[kind - 1]
            X[row, kind] += 6
    return X, y, groups


def few_trees(**more: Any) -> GroupBoostingClassifier:
    given = {"n_estimators": 15, "early_stopping": False, "n_jobs": 1, "n_annealed": 5}
    return GroupBoostingClassifier(**{**given, **more})


def test_each_class_is_that_of_a_fit_against_the_rest(data):
    X, y, groups = data
    model = few_trees().fit(X, y, groups)
    assert model.classes_.tolist() == ["a", "b", "background"]
    assert model.background_.tolist() == [False, False, True]
    assert model.n_trees_.tolist() == [15, 15, 0]
    scores = model.decision_function(X)
    for k in range(2):
        alone = few_trees().fit(X, y == model.classes_[k], groups)
        assert np.array_equal(scores[:, k], alone.decision_function(X))
    assert not scores[:, 2].any()
    found = model.group_scores(X, groups)
    assert found.score.shape == (120, 3)
    holds = np.arange(120) % 3
    assert np.mean(np.argmax(found.score, axis=1)[holds > 0] == holds[holds > 0] - 1) > 0.95
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_weights_of_classes(data):
    X, y, groups = data
    heavy = few_trees(class_weight={"a": 5.0}).fit(X, y, groups).decision_function(X)
    equal = few_trees(class_weight=None).fit(X, y, groups).decision_function(X)
    assert np.mean(heavy[:, 0]) > np.mean(equal[:, 0])
    assert np.array_equal(heavy[:, 1], equal[:, 1])


def test_a_stream_and_a_saved_model(data, tmp_path):
    X, y, groups = data
    np.save(tmp_path / "X.npy", X)
    source = sources.from_npy(tmp_path / "X.npy", group=groups, label=y)
    model = few_trees(memory="20kB", max_passes=20, early_stopping=True).fit(source)
    assert model.n_passes_ >= 2
    assert not hasattr(model, "held_out_scores_")
    groupcm.save(model, tmp_path / "m.json")
    loaded = groupcm.load(tmp_path / "m.json")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert model.predict_groups(source).tolist()[:3] != ["a", "a", "a"]


def test_unannotated_groups_need_two_classes(data):
    X, y, groups = data
    with pytest.raises(ValueError, match=r"some positive groups are not annotated, .* y has 3"):
        few_trees(n_estimators=300).fit(X, y, groups, annotated=np.zeros(1200, dtype=bool))


def test_onnx(data, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    X, y, groups = data
    model = few_trees().fit(X, y, groups)
    groupcm.export_onnx(model, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    feed = {"X": X, "groups": groups.astype(np.int64)}
    outputs = [np.asarray(found) for found in session.run(None, feed)]
    scores = model.decision_function(X)
    assert any(
        found.shape == scores.shape and np.allclose(found, scores, atol=1e-5) for found in outputs
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_group_of_weight_two_is_a_group_given_twice(seed):
    """Of trees of two leaves and features of fewer values than bins, LightGBM counts nothing."""
    rng = np.random.default_rng(seed)
    n_groups, size = 60, 8
    groups = np.repeat(np.arange(n_groups), size)
    shown = np.arange(len(groups)) % size < 2
    y = np.where(shown, rng.integers(0, 3, n_groups)[groups], 0)
    X = rng.normal(size=(len(groups), 5))
    X[np.arange(len(X)), y] += 1.5 * (y > 0)
    X = X.round(1)
    weight = rng.integers(1, 3, n_groups)
    rows = np.arange(len(groups)).reshape(n_groups, size)
    often = np.repeat(rows, weight, axis=0).ravel()
    model = few_trees(
        n_estimators=30,
        num_leaves=2,
        min_child_samples=1,
        subsample=1.0,
        lightgbm_params={"min_data_in_bin": 1},
    )
    weighted = clone(model).fit(X, y, groups, sample_weight=weight[groups].astype(float))
    twice = clone(model).fit(X[often], y[often], np.repeat(np.arange(weight.sum()), size))
    found = weighted.decision_function(X)
    np.testing.assert_allclose(found, twice.decision_function(X), rtol=1e-9)
    plain = clone(model).fit(X, y, groups).decision_function(X)
    assert np.abs(found - plain).max() > 1e-3
