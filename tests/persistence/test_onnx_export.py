"""Exported graphs give what the models give, whatever map, classes and scale."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from onnx_runs import assert_close, assert_same, called, fitted, made, run
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler
from sklearn.kernel_approximation import Nystroem as Sampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import groupcm
from groupcm import CalibratedGroupClassifier, GroupClassifier, GroupClassifierCV, MISVMClassifier
from groupcm.errors import InputError
from groupcm.estimators.calibrators import Isotonic
from groupcm.features import AdditiveChi2, Nystroem, Polynomial, RandomFourier
from groupcm.persistence.onnx import export_onnx
from groupcm.simulate import capsule

ROWS = made()[0].astype(np.float64)
MAPS = [
    None,
    Polynomial(1),
    Polynomial(3),
    Polynomial(3, interaction_only=True),
    Polynomial(4, max_factors=2),
    RandomFourier(30),
    *(AdditiveChi2(steps) for steps in (1, 2, 3)),
    *(Nystroem(12, kernel=kernel) for kernel in ("rbf", "laplacian", "linear", "cosine")),
    Nystroem(12, kernel="poly", degree=2, gamma=0.3, coef0=0.5),
    Nystroem(12, kernel="polynomial"),
    Nystroem(12, kernel="sigmoid", gamma=0.05),
    StandardScaler().fit(ROWS),
    StandardScaler(with_mean=False).fit(ROWS),
    RobustScaler().fit(ROWS),
    RobustScaler(with_scaling=False).fit(ROWS),
    MaxAbsScaler().fit(ROWS),
    MinMaxScaler((-1, 2), clip=True).fit(ROWS[:20]),
    PCA(3).fit(ROWS),
    PCA(3, whiten=True).fit(ROWS),
    AdditiveChi2Sampler(sample_steps=2, sample_interval=0.6).fit(ROWS),
    make_pipeline(StandardScaler(), "passthrough", RBFSampler(n_components=20, random_state=0)).fit(
        ROWS
    ),
    make_pipeline(StandardScaler(), Sampler(kernel_params={"gamma": 0.7}, n_components=9)).fit(
        ROWS
    ),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("feature_map", MAPS, ids=called)
def test_every_feature_map(tmp_path, feature_map, n_classes):
    X, y, groups = made(n_classes)
    model = GroupClassifier(feature_map=feature_map).fit(X, y, groups)
    unseen = made(n_classes, seed=1)[0] * np.float32(1.3)
    found = assert_same(model, tmp_path, unseen, groups)
    assert found["scores"].ndim == (1 if n_classes == 2 else 2)
    assert np.ptp(found["scores"]) > 0.0
    assert [len(value) for value in run(model, tmp_path, X[:0], []).values()] == [0, 0, 0]


@pytest.mark.parametrize("feature_map", [None, RandomFourier(20), Nystroem(12)], ids=called)
@pytest.mark.parametrize("offset", [1e4, -3e5])
def test_features_far_from_zero(tmp_path, offset, feature_map):
    X, y, groups = made(offset=offset)
    model = GroupClassifier(0.9, feature_map=feature_map).fit(X, y, groups)
    assert np.abs(model.coef_).max() > 0.0
    assert_same(model, tmp_path, X, groups)


@pytest.mark.parametrize(
    "model",
    [GroupClassifier(standardize=False), GroupClassifierCV([0.2, 0.8], cv=3), MISVMClassifier()],
    ids=called,
)
def test_every_linear_model(tmp_path, model):
    X, y, groups = made()
    assert_same(model.fit(X, y, groups), tmp_path, X, groups)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("estimator", [GroupClassifier(), GroupClassifierCV([0.5], cv=3)])
def test_probabilities(tmp_path, method, estimator):
    data, unseen = (capsule(60, n_positive=30, group_size=10, seed=seed) for seed in (0, 1))
    model = CalibratedGroupClassifier(estimator, method=method, cv=3)
    model.fit(data.X, data.y, data.groups, data.overlap)
    X, groups = unseen.X.astype(np.float32), np.asarray(unseen.groups)
    found = assert_same(model, tmp_path, X, groups)
    ids = model.group_scores(X, groups).group
    expected = model.predict_proba_groups(X, groups)
    assert len(np.unique(expected[:, 1])) > 3
    np.testing.assert_allclose(found["probabilities"][ids], expected, atol=1e-6)
    assert found["probabilities"].dtype == np.float32


def test_probabilities_at_and_beyond_the_knots(tmp_path):
    X, y, groups = made()
    model = CalibratedGroupClassifier(GroupClassifier(), method="isotonic", cv=3)
    model.fit(X, y, groups)
    model.estimator_.coef_ = np.array([[1.0, 0.0, 0.0, 0.0]])
    model.estimator_.intercept_ = np.zeros(1)
    for knots in ([0.25], [0.25, 0.5, 3.0]):
        curve = Isotonic(np.array(knots), np.linspace(0.1, 0.7, len(knots)))
        model.calibrator_ = curve
        x = np.array([-1e30, -1.0, 0.0, 0.25, 0.3, 0.5, 1.0, 3.0, 4.0, 1e30], np.float32)
        rows = np.column_stack([x, np.zeros((len(x), 3), np.float32)])
        found = run(model, tmp_path, rows, np.arange(len(x)))
        np.testing.assert_allclose(found["probabilities"][:, 1], curve(x), atol=1e-6)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_no_probability_of_what_is_not_known(tmp_path, method):
    X, y, groups = made()
    model = CalibratedGroupClassifier(GroupClassifier(), method=method, cv=3).fit(X, y, groups)
    rows = X[:3].copy()
    rows[1, 0] = np.nan
    found = run(model, tmp_path, rows, [0, 3, 1])["probabilities"]
    assert np.isnan(found).tolist() == [[False] * 2, [False] * 2, [True] * 2, [True] * 2]


def test_a_histogram_below_zero_shows_itself(tmp_path):
    model = fitted(feature_map=AdditiveChi2())
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -0.1, 1.0, 1.0]])
    assert np.isnan(run(model, tmp_path, rows)["scores"]).tolist() == [False, True]


def test_scores_alone(tmp_path):
    X, y, groups = made()
    model = CalibratedGroupClassifier(GroupClassifier(), cv=3).fit(X, y, groups)
    found = run(model, tmp_path, X)
    assert list(found) == ["scores"]
    assert_close(found["scores"], model.decision_function(X))


def test_the_file_tells_what_it_is(tmp_path):
    X, y, groups = made(3)
    labels = np.array(["none", "crack", "stain"])[y]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "naïve"])
    model = GroupClassifier().fit(frame, labels, groups)
    export_onnx(model, tmp_path / "model.onnx")
    file = onnx.load(tmp_path / "model.onnx")
    told = {entry.key: entry.value for entry in file.metadata_props}
    assert (file.producer_name, file.producer_version) == ("groupcm", groupcm.__version__)
    assert told["groupcm_version"] == groupcm.__version__
    assert told["model"] == "GroupClassifier"
    assert json.loads(told["classes"]) == ["crack", "none", "stain"]
    assert json.loads(told["feature_names"]) == ["a", "b", "c", "naïve"]
    assert "largest score" in told["decision"]
    assert "threshold" not in told
    assert "winners" in file.doc_string
    shapes = {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*file.graph.input, *file.graph.output]
    }
    assert shapes == {
        "X": ["candidates", 4],
        "groups": ["candidates"],
        "scores": ["candidates", 3],
        "group_scores": ["groups", 3],
        "winners": ["groups", 3],
    }


def test_two_classes_have_a_threshold(tmp_path):
    X, y, groups = made()
    export_onnx(GroupClassifier().fit(X, y, groups), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    told = session.get_modelmeta().custom_metadata_map
    assert (told["threshold"], json.loads(told["classes"])) == ("0.0", [0, 1])
    assert "feature_names" not in told


def calibrated_pipeline() -> CalibratedGroupClassifier:
    X, y, groups = made()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    return CalibratedGroupClassifier(pipeline, cv=3).fit(X, y, groups)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (LogisticRegression, "cannot export a LogisticRegression: .* classifier of groupcm"),
        (lambda: Polynomial(2).fit(ROWS), "cannot export a Polynomial"),
        (lambda: "model.json", "cannot export a str"),
        (calibrated_pipeline, "it calibrates a Pipeline"),
        (
            lambda: fitted(feature_map=QuantileTransformer(n_quantiles=9).fit(ROWS)),
            "feature map QuantileTransformer cannot be exported; these can: .*StandardScaler",
        ),
        (lambda: fitted(feature_map=Nystroem(9, kernel="chi2")), "'chi2' .*these can: rbf"),
    ],
)
def test_what_cannot_be_exported_is_named(tmp_path, make, sentence):
    with pytest.raises(InputError, match=sentence):
        export_onnx(make(), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model", [GroupClassifier(), CalibratedGroupClassifier(GroupClassifier())], ids=called
)
def test_a_model_must_be_fitted(tmp_path, model):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        export_onnx(model, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["model.json", "MODEL.JSON"])
def test_a_saved_model_is_not_overwritten(tmp_path, name):
    model, path = fitted(), tmp_path / name
    groupcm.save(model, path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"end its name in \.onnx"):
        export_onnx(model, path)
    assert path.read_bytes() == before
    export_onnx(model, tmp_path / "model.onnx")


def test_without_onnx_the_extra_is_named(tmp_path, monkeypatch):
    model = fitted()
    for name in [name for name in sys.modules if name.split(".")[0] == "onnx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError) as caught:
        export_onnx(model, tmp_path / "model.onnx")
    assert 'pip install "groupcm[onnx]"' in str(caught.value)


def test_the_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    path.write_text("as it was")

    def full_disk(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match=r"model\.onnx"):
        export_onnx(fitted(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    assert path.read_text() == "as it was"
