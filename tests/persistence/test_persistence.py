"""A model file gives the same model back, and runs nothing."""

from __future__ import annotations

import hashlib
import json
import math
import re
from copy import deepcopy
from pathlib import Path

import model_kinds
import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.preprocessing as skp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.pipeline import make_pipeline

from groupcm import CalibratedGroupClassifier, features, simulate
from groupcm.errors import InputError
from groupcm.estimators.classifier import GroupClassifier
from groupcm.persistence.encoding import Damaged, Unstorable, decode, encode
from groupcm.persistence.model_file import load, read, save
from groupcm.utils.progress import Step

V0_1 = Path(__file__).parents[1] / "files" / "models_v0.1"


def fitted(labels=(0, 1), **options):
    made = simulate.capsule(30, n_positive=10, group_size=10, seed=1)
    y = np.array(labels)[made.y]
    return GroupClassifier(**options).fit(made.X, y, groups=made.groups), made


def equal(a, b) -> bool:
    """Whether two values are the same in type and in every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and equal(a.tolist(), b.tolist())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return equal(list(vars(a).values()), list(vars(b).values()))
    return a == b or (a != a and b != b)


@pytest.mark.parametrize(
    "options", [{}, {"loss": "logistic", "penalty": "elasticnet", "l1_ratio": 0.3}]
)
@pytest.mark.parametrize("labels", [(0, 1), (-1.0, 2.0), (False, True), ("no", "yes")])
def test_a_model_comes_back_whole(tmp_path, labels, options):
    model, made = fitted(labels, lam=0.7, random_state=3, **options)
    save(model, tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    assert type(back) is GroupClassifier
    assert back.get_params() == model.get_params()
    stored = [name for name in GroupClassifier._fitted_state if hasattr(model, name)]
    assert {"coef_", "classes_", "gap_", "history_", "solution_"} <= set(stored)
    for name in stored:
        assert equal(getattr(model, name), getattr(back, name)), name
    assert np.array_equal(back.decision_function(made.X), model.decision_function(made.X))
    assert np.array_equal(back.predict(made.X), model.predict(made.X))


def test_three_classes_come_back(tmp_path):
    made = simulate.capsule(30, n_positive=20, group_size=10, seed=2)
    y = np.where(made.y == 1, 1 + made.groups % 2, 0)
    model = GroupClassifier().fit(made.X, y, groups=made.groups)
    save(model, tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    before, after = (m.group_scores(made.X, made.groups) for m in (model, back))
    assert np.array_equal(before.score, after.score)


def test_notes_come_back(tmp_path):
    model, _ = fitted()
    save(model, tmp_path / "m.json", notes={"columns": {"group": "frame", "patient": None}})
    assert read(tmp_path / "m.json").notes == {"columns": {"group": "frame", "patient": None}}


def test_a_loaded_model_keeps_the_notes_of_its_file(tmp_path):
    """Before, a threshold set in Python lost the columns, the training and the pictures."""
    model, made = fitted()
    shares = {"sensitivity": 0.8, "specificity": 0.9}
    held_out = {"n_positive_groups": 10, "n_negative_groups": 30, "group_auc": 0.9}
    held_out |= {"group_auc_low": 0.8, "group_auc_high": 1.0, "level": 0.95, "drawn": "groups"}
    notes = {"columns": {"group": "frame"}, "recipe": {"a": 1}, "held_out": held_out | shares}
    save(model, tmp_path / "m.json", notes=notes)
    save(load(tmp_path / "m.json"), tmp_path / "same.json")
    assert read(tmp_path / "same.json").notes == notes
    back = deepcopy(load(tmp_path / "m.json")).set_threshold(0.2)
    save(back, tmp_path / "set.json", notes={"mine": 1, "columns": {"group": "g"}})
    found = read(tmp_path / "set.json")
    unknown = {"sensitivity": None, "specificity": None}
    # The shares were those of the threshold before.
    assert found.notes == {
        "columns": {"group": "g"}, "recipe": {"a": 1}, "held_out": held_out | unknown, "mine": 1,
    }  # fmt: skip
    assert found.model.threshold_ == 0.2
    tuned = load(tmp_path / "m.json").tune_threshold(made.X, made.y, made.groups)
    save(tuned, tmp_path / "tuned.json")
    assert read(tmp_path / "tuned.json").notes["recipe"] == {"a": 1}
    # A calibrated model has those of the model that it calibrates, and a new fit has none.
    loaded = load(tmp_path / "m.json")
    calibrated = CalibratedGroupClassifier(loaded, cv="prefit").fit(made.X, made.y, made.groups)
    save(calibrated, tmp_path / "c.json")
    assert read(tmp_path / "c.json").notes["columns"] == {"group": "frame"}
    for again in (loaded, clone(back)):
        save(again.fit(made.X, made.y, made.groups), tmp_path / "new.json")
        assert read(tmp_path / "new.json").notes == {}


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        -0.0,
        5e-324,
        math.inf,
        math.nan,
        2**70,
        (1, (2.0, None)),
        np.float32(0.1),
        np.int64(7),
        np.array(1.5),
        np.array([[0.1, np.nan], [-np.inf, 2.0]], np.float32),
        np.zeros((0, 3)),
        np.array([True, False]),
        np.array(["a", "longer"]),
        np.array(["a", "b"], dtype=object),
        {"a": [1, 2.5]},
        {1: 2, "$float": 1.5, np.int64(3): [4]},
        [Step(1.0, 0.5, 0.4, 3, 0.01)],
    ],
    ids=repr,
)
def test_values_come_back_exactly(value):
    assert equal(decode(json.loads(json.dumps(encode(value, "x"), allow_nan=False))), value)


@pytest.mark.parametrize(
    "value", [object(), {None: 2}, {(1, 2): 1}, b"x", np.datetime64("2026-01-01")]
)
def test_values_json_cannot_carry_are_named(value):
    with pytest.raises(Unstorable, match=r"^x\[1\] is an? "):
        encode([0, value], "x")


@pytest.mark.parametrize("pairs", [{}, 3, [1], [[1]], [[1, 2, 3]], [[[1], 2]], [[None, 2]]])
def test_a_dict_that_is_none_is_refused(pairs):
    with pytest.raises(Damaged):
        decode({"$dict": pairs})


def test_a_parameter_json_cannot_carry_is_named(tmp_path):
    model, _ = fitted(random_state=np.random.RandomState(0))
    with pytest.raises(InputError, match="the parameter random_state is a RandomState"):
        save(model, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_what_is_not_ours_or_not_fitted_is_refused(tmp_path):
    class Mine(GroupClassifier):
        pass

    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(GroupClassifier(), tmp_path / "m.json")
    mine = Mine()
    mine.__dict__.update(vars(fitted()[0]))
    with pytest.raises(InputError, match="Mine is a Mine, which a model file cannot contain"):
        save(mine, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def refusal(path) -> str:
    with pytest.raises(InputError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.json"
    save(fitted()[0], path)
    return path


def rewrite(path, change) -> None:
    """Change a model file and give it the right checksum again, as a forger would."""
    content = json.loads(path.read_text())
    content.pop("sha256")
    change(content)
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(content))


def test_the_checksum_is_the_documented_one(saved):
    before = load(saved).coef_
    rewrite(saved, lambda content: None)
    assert np.array_equal(load(saved).coef_, before)


def test_a_newer_file(saved):
    rewrite(saved, lambda content: content.update(version=2, groupcm="9.9"))
    sentence = refusal(saved)
    assert "groupcm 9.9 in format 2" in sentence
    assert "install a newer groupcm" in sentence


def test_a_damaged_file(saved):
    whole = saved.read_text()
    saved.write_text(whole.replace('"lam": 0.5', '"lam": 0.6'))
    assert "damaged" in refusal(saved)
    for length in (len(whole) // 2, 150):
        saved.write_text(whole[:length])
        assert "damaged" in refusal(saved)
    rewrite_me = json.loads(whole)
    del rewrite_me["sha256"]
    saved.write_text(json.dumps(rewrite_me))
    assert "damaged" in refusal(saved)


@pytest.mark.parametrize("content", [b"", b"PAR1\x00\xff", b"[1, 2]", b'{"format": "other"}'])
def test_a_foreign_file(tmp_path, content):
    (tmp_path / "m.json").write_bytes(content)
    assert "is not a model that groupcm saved" in refusal(tmp_path / "m.json")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["model"].update({"$model": "os.system"}), "holds the type os.system"),
        (lambda c: c["model"].update({"$model": ["GroupClassifier"]}), "unknown to this"),
        (
            lambda c: c["notes"].update(x={"$record": "Popen", "fields": {}}),
            "holds the type Popen",
        ),
        (lambda c: c["model"]["params"].update(run=1), "parameter run, which no GroupClassifier"),
        (lambda c: c["model"]["state"].update(fit=1), "it has fit, which no GroupClassifier has"),
        (lambda c: c["model"]["state"]["coef_"].update(dtype="V8"), "which no model has"),
        (lambda c: c["model"]["state"]["coef_"].update(shape=[10**12]), "coef_ has 13 values"),
        (lambda c: c.pop("model"), "model is missing"),
    ],
)
def test_a_forged_file_runs_and_makes_nothing(saved, change, said):
    rewrite(saved, change)
    assert said in refusal(saved)


def positive(n: int = 80):
    return np.random.default_rng(5).uniform(0.1, 3.0, (n, 3))


def through_a_file(feature_map, tmp_path):
    save(feature_map, tmp_path / "map.json")
    return load(tmp_path / "map.json")


@pytest.mark.parametrize(
    "feature_map",
    [
        features.Polynomial(3),
        features.Polynomial(4, interaction_only=True),
        features.Polynomial(4, max_factors=2),
        features.RandomFourier(20),
        features.Nystroem(15, kernel="poly", degree=2, coef0=1.0),
        features.AdditiveChi2(3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("named", [False, True])
def test_a_feature_map_comes_back_to_the_last_bit(tmp_path, feature_map, named):
    X = positive()
    feature_map = clone(feature_map)
    feature_map.fit(pd.DataFrame(X, columns=["a", "b", "c"]) if named else X)
    back = through_a_file(feature_map, tmp_path)
    assert type(back) is type(feature_map)
    assert back.get_params() == feature_map.get_params()
    assert back.n_features_out_ == feature_map.n_features_out_
    assert equal(back.get_feature_names_out(), feature_map.get_feature_names_out())
    assert np.array_equal(back.transform(X), feature_map.transform(X))
    weights = np.arange(back.n_features_out_) / 7.0
    assert np.array_equal(back.dot(X, weights), feature_map.dot(X, weights))


TRANSFORMERS = [
    skp.StandardScaler(),
    skp.MinMaxScaler((-1, 2)),
    skp.MaxAbsScaler(),
    skp.RobustScaler(quantile_range=(10.0, 90.0)),
    skp.QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    skp.PowerTransformer(),
    skp.PowerTransformer("box-cox", standardize=False),
    skp.PolynomialFeatures(3, interaction_only=True),
    skp.SplineTransformer(n_knots=4, extrapolation="linear"),
    skp.SplineTransformer(n_knots=4, extrapolation="periodic", knots="quantile"),
    skp.Normalizer("l1"),
    skp.KBinsDiscretizer(4, encode="onehot", strategy="uniform", dtype=np.float32),
    skp.KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
    skp.KBinsDiscretizer([2, 3, 4], encode="onehot-dense", strategy="uniform"),
    PCA(2),
    PCA(0.9, whiten=True, svd_solver="full"),
    RBFSampler(n_components=9, random_state=0),
    SklearnNystroem(gamma=0.3, n_components=9, random_state=0),
    AdditiveChi2Sampler(),
    make_pipeline(
        skp.StandardScaler(), "passthrough", make_pipeline(PCA(2), skp.SplineTransformer())
    ),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
@pytest.mark.parametrize("named", [False, True])
def test_a_transformer_of_scikit_learn_comes_back_to_the_last_bit(tmp_path, transformer, named):
    X = positive()
    fitted_map = features.as_feature_map(
        clone(transformer).fit(pd.DataFrame(X, columns=["a", "b", "c"]) if named else X)
    )
    back = through_a_file(fitted_map, tmp_path)
    theirs = back.transformer
    assert type(theirs) is type(transformer)
    assert repr(theirs) == repr(transformer)
    assert vars(theirs).keys() == vars(fitted_map.transformer).keys()
    assert np.array_equal(back.transform(X), fitted_map.transform(X))
    assert equal(back.get_feature_names_out(), fitted_map.get_feature_names_out())


def test_arrays_keep_their_order_in_memory():
    for array in (np.ones((3, 4)), np.ones((4, 3)).T, np.ones((8, 3)).T[:2], np.ones((1, 3))):
        back = decode(json.loads(json.dumps(encode(array, "x"))))
        assert np.array_equal(back, array)
        assert (back.strides[0] < back.strides[1]) == (array.strides[0] < array.strides[1])


@pytest.mark.parametrize(
    ("transformer", "said"),
    [
        (skp.FunctionTransformer(np.log), "transformer is a FunctionTransformer, which a model"),
        (make_pipeline(skp.FunctionTransformer(np.log)), r"Pipeline's steps\[0\]\[1\] is a Func"),
        (SklearnNystroem(np.dot, n_components=2), "Nystroem's kernel is a"),
    ],
)
def test_a_transformer_that_holds_code_is_named(tmp_path, transformer, said):
    fitted_map = features.as_feature_map(transformer.fit(positive()))
    with pytest.raises(InputError, match=said) as caught:
        save(fitted_map, tmp_path / "map.json")
    if "FunctionTransformer" in str(caught.value):
        assert "it can carry the maps of groupcm.features and scikit-learn's" in str(caught.value)
        assert "StandardScaler" in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def saved_scaler(tmp_path):
    path = tmp_path / "map.json"
    save(features.as_feature_map(skp.StandardScaler().fit(positive())), path)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda t: t.update({"$sklearn": "FunctionTransformer"}),
            "holds the type FunctionTransformer",
        ),
        (lambda t: t.update({"$sklearn": ["PCA"]}), "unknown to this"),
        (lambda t: t["params"].update(run=1), "a StandardScaler has no run of its own"),
        (lambda t: t["attributes"].update(transform=1), "has no transform of its own"),
        (lambda t: t["attributes"].update(__class__=1), "has no __class__ of its own"),
        (lambda t: t["attributes"].update(mean_={"$code": "x"}), "holds the type code"),
        (lambda t: t["attributes"].update(mean_={"$dtype": "O"}), "mean_ is the type O"),
        (lambda t: t["attributes"].update(mean_={"$dtype": "<f8"}), "which no model has there"),
        (lambda t: t["attributes"].update(mean_={"$spline": {"t": [1]}}), "mean_ lacks 'c'"),
        (lambda t: t["attributes"]["mean_"].update(order="X"), "mean_ has the order X"),
        (lambda t: t.pop("version"), "transformer lacks 'version'"),
    ],
)
def test_a_forged_transformer_runs_and_makes_nothing(saved_scaler, change, said):
    rewrite(saved_scaler, lambda content: change(content["model"]["params"]["transformer"]))
    assert said in refusal(saved_scaler)


def test_another_version_of_scikit_learn_is_read(saved_scaler):
    def age(content):
        transformer = content["model"]["params"]["transformer"]
        assert transformer["version"] == sklearn.__version__
        transformer["version"] = "0.9"
        transformer["params"]["gone"] = 1
        transformer["attributes"].update(fit=1, extra_=2)

    before = load(saved_scaler)
    rewrite(saved_scaler, age)
    after = load(saved_scaler)
    assert np.array_equal(after.transform(positive()), before.transform(positive()))
    assert callable(after.transformer.fit)


def test_a_forged_polynomial_reads_no_foreign_memory(tmp_path):
    path = tmp_path / "map.json"
    save(features.Polynomial(3).fit(positive()), path)

    def forge(*family):
        def change(content):
            content["model"]["state"].update(n_features_in_=2, _family={"$tuple": list(family)})

        return change

    rewrite(path, forge(3, False, 2))
    forged = load(path)
    assert forged.transform(np.ones((5, 2))).tolist() == [[1.0] * 9] * 5
    with pytest.raises(ValueError, match="expecting 2 features"):
        forged.transform(positive())
    for family, said in {
        (3, False, 0): r"_family\[2\] is 0, outside the range",
        (3, False, 3): "products of 3 different features of 2",
        (10**9, False, 2): "more than the 1,000,000 allowed",
        (1_000, False, 2): "more than the 20,000,000 factors allowed",
    }.items():
        rewrite(path, forge(*family))
        assert re.search(said, refusal(path))
    forged._family = (3, False, 0)
    with pytest.raises(ValueError, match="0 monomials do not fit a map"):
        forged.transform(np.ones((5, 2)))


@pytest.mark.parametrize("kind", model_kinds.KINDS)
def test_a_file_of_version_0_1_is_read_and_scores_the_same(kind):
    model = load(V0_1 / f"{kind}.json")
    known = json.loads((V0_1 / "expected_scores.json").read_text(encoding="utf-8"))
    X, groups = np.array(known["X"]), np.array(known["groups"])
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model_kinds.NAMES)
    expected = known["models"][kind]
    np.testing.assert_allclose(model.decision_function(X), expected["scores"], rtol=1e-9)
    found = model.group_scores(X, groups)
    np.testing.assert_allclose(found.score, expected["group_scores"], rtol=1e-9)
    assert found.winner.tolist() == expected["winners"]
    if kind == "calibrated_cross_validated":  # its file notes a threshold, which is taken over
        assert (model.threshold_, model.decision_.words) == (0.25, "given")
        alarm = np.array(expected["group_scores"]) >= 0.25
        assert model.predict_groups(X, groups).tolist() == model.classes_[alarm * 1].tolist()
    else:
        assert model.predict_groups(X, groups).tolist() == expected["groups"]
    if "probabilities" in expected:
        found = model.predict_proba_groups(X, groups)
        np.testing.assert_allclose(found, expected["probabilities"], rtol=1e-9)
