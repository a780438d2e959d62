"""A model file from elsewhere, or a model modified in memory, is refused or works; no memory is
read that is not the model's, and nothing but an `InputError` leaves `load`."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import tracemalloc
import warnings
from contextlib import suppress
from pathlib import Path

import model_kinds
import numpy as np
import pytest
import scipy.sparse as sp

from groupcm import GroupClassifier, GroupClassifierCV, features, load, save
from groupcm.errors import InputError
from groupcm.estimators.group_model import GroupModel
from groupcm.kernels.dot import pack_affine, stored_rows
from groupcm.objective.terms import NO_ORDER, Terms
from groupcm.persistence import encoding as model_json
from groupcm.persistence.model_file import read
from groupcm.report.model_card import model_card
from groupcm.sources.rows.chunk import ColumnMajorFeatures, RowMajorFeatures
from groupcm.sources.rows.solver_rows import ArrayRows
from groupcm.utils.fitted_state import Count, Labels, StateError
from groupcm.utils.state_check import check_model, declared_state

V0_1 = Path(__file__).parents[1] / "files" / "models_v0.1"


def content_of(kind: str) -> dict:
    return json.loads((V0_1 / f"{kind}.json").read_text(encoding="utf-8"))


def write(path: Path, content: dict) -> Path:
    """Write a model file with the right checksum, as a forger would."""
    content.pop("sha256", None)
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(path)
    sentence = str(caught.value)
    assert type(caught.value) is InputError
    assert sentence.startswith(str(path))
    assert sentence.isprintable()
    assert len(sentence) < 1_000
    return sentence


def array(values, dtype: str = "<f8") -> dict:
    values = np.asarray(values)
    return {"$array": values.ravel().tolist(), "dtype": dtype, "shape": list(values.shape)}


def state(**changes):
    """Change fitted attributes of the model."""

    def change(content):
        content["model"]["state"].update(copy.deepcopy(changes))

    return change


def params(**changes):
    def change(content):
        content["model"]["params"].update(copy.deepcopy(changes))

    return change


def in_map(**changes):
    """Change fitted attributes of the map of groupcm within the model."""

    def change(content):
        content["model"]["state"]["feature_map_"]["state"].update(copy.deepcopy(changes))

    return change


def in_sampler(**changes):
    def change(content):
        sampler = content["model"]["state"]["feature_map_"]["state"]["sampler_"]
        sampler["attributes"].update(copy.deepcopy(changes))

    return change


def in_transformer(where: str, **changes):
    """Change parameters or attributes of the transformer of scikit-learn within the model."""

    def change(content):
        transformer = content["model"]["state"]["feature_map_"]["params"]["transformer"]
        transformer[where].update(copy.deepcopy(changes))

    return change


def without(*names):
    def change(content):
        for name in names:
            del content["model"]["state"][name]

    return change


POINT = {"$record": "Isotonic", "fields": {}}
FORGERIES = [
    # Shapes against each other.
    ("linear", state(coef_=array(np.ones((1, 7)))), "coef_ has the shape (1, 7) instead of (1, 3)"),
    ("linear", state(coef_=array(np.ones((2, 3)))), "coef_ has the shape (2, 3) instead of (1, 3)"),
    ("linear", state(coef_=array(np.ones(3))), "coef_ has the shape (3,)"),
    ("linear", state(n_features_in_=5), "coef_ has the shape (1, 3) instead of (1, 5)"),
    ("linear", state(intercept_=array([0.0, 1.0])), "intercept_ has the shape (2,)"),
    ("linear", state(background_=array([True], "|b1")), "background_ has the shape (1,)"),
    ("linear", state(classes_=array([0, 1, 2], "<i8")), "background_ has the shape (2,)"),
    ("linear_named", state(feature_names_in_=array(["a", "b"], "object")), "has 2 features"),
    ("three_classes", state(coef_=array(np.ones((2, 3)))), "coef_ has the shape (2, 3)"),
    ("three_classes", state(solution_=[]), "solution_ has 0 scores, but classes_ says 3"),
    ("three_classes", state(gap_=0.0), "gap_ must be an array"),
    ("polynomial", state(coef_=array(np.ones((1, 4)))), "feature_map_.n_features_out_"),
    ("random_fourier", in_map(random_offset_=array(np.ones(5))), "random_offset_ has the shape"),
    ("random_fourier", in_map(n_features_in_=4), "random_weights_ has the shape (3, 6)"),
    ("nystroem", in_sampler(components_=array(np.ones((5, 4)))), "components_ has the shape"),
    ("nystroem", in_sampler(normalization_=array(np.ones((4, 5)))), "normalization_ has the shape"),
    ("cross_validated", state(scores_=array(np.ones((3, 5)))), "scores_ has the shape (3, 5)"),
    # Values.
    ("linear", state(coef_=array(["a", "b", "c"], "<U1")), "coef_ is an array of str"),
    ("linear", state(coef_=array([[1.0, 2.0, 3.0]], "object")), "coef_ is an array of object"),
    ("linear", state(coef_=array([[1, 2, 3]])), "coef_ is an array of float64 with a value"),
    ("linear", state(coef_=array([["1", "2", "3"]])), "coef_ is an array of float64 with a value"),
    (
        "linear",
        state(coef_={"$array": [1.0, 2.0, {"$float": "inf"}], "dtype": "<f8", "shape": [1, 3]}),
        "coef_ holds a NaN or an infinity",
    ),
    ("linear", state(classes_=array([1, 0], "<i8")), "with pos_label=None the second must be 1"),
    ("linear", state(classes_=array([1, 1], "<i8")), "labels of classes_ are not sorted"),
    ("linear", state(classes_=array([0, 300], "|u1")), "a value that uint8 cannot hold"),
    ("linear", state(classes_=array([[0, 1]], "<i8")), "classes_ must be an array of labels"),
    ("linear", state(gap_=0.5), "gap_ is 0.5, but objective_"),
    ("linear", state(objective_=-1.0), "objective_ is -1.0, outside the range"),
    ("linear", state(n_rounds_=0), "n_rounds_ is 0, outside the range"),
    ("linear", state(outcome_="happy"), "outcome_ must be one of 'settled', 'cycled'"),
    ("linear", state(solution_=None), "solution_ must be a Solution, not a NoneType"),
    ("linear", state(history_=[{"$model": "Polynomial", "params": {}, "state": {}}]), "not fitted"),
    ("linear", state(n_features_in_=True), "n_features_in_ must be a whole number"),
    ("linear", without("intercept_"), "intercept_ is missing"),
    ("linear", lambda content: content["model"].update(state={}), "it is not fitted"),
    ("linear", lambda content: content.update(model=[1]), "it holds no model"),
    ("cross_validated", state(lam_=0.5), "lam_ is 0.5, which is not one of lams_"),
    ("misvm", state(witnesses_=array([-1], "<i8")), "witnesses_ holds a value outside"),
    # Parameters, by the checks of fit.
    ("linear", params(lam=2.0), "lam must be a number between 0 and 1"),
    ("linear", params(max_passes=10**400), "max_passes must be a number above 0"),
    ("linear", params(penalty=["l1"]), "penalty must be one of"),
    ("linear", params(random_state=-1), "random_state"),
    ("linear", params(standardize="yes"), "standardize must be True or False"),
    ("linear", params(feature_map={"$scalar": "<f8"}), "feature_map is the type"),
    ("cross_validated", params(lams=10**12), "lams"),
    ("cross_validated", params(scoring="no"), "is not a metric"),
    ("cross_validated", params(cv=None), "cv must be a number of folds"),
    ("misvm", params(max_iter=1), "max_iter must be at least 2"),
    ("calibrated_sigmoid", params(method=["sigmoid"]), "method must be 'sigmoid'"),
    ("trees", params(n_jobs=10**9), "n_jobs is 1000000000"),
    ("linear", params(feature_map=array([1.0])), "feature_map must be None, a map"),
    ("calibrated_sigmoid", params(estimator=array([1.0])), "estimator must be a classifier"),
    # Parts.
    ("calibrated_sigmoid", state(classes_=array([0, 2], "<i8")), "not the two classes of"),
    ("calibrated_sigmoid", state(n_features_in_=4), "estimator_.n_features_in_ has 3 features"),
    ("calibrated_sigmoid", state(calibrator_=None), "calibrator_ must be a Sigmoid or Isotonic"),
    (
        "calibrated_sigmoid",
        state(
            calibrator_={"$record": "Sigmoid", "fields": {"slope": -1.0, "intercept": 0.0}},
        ),
        "slope is -1.0, outside the range",
    ),
    (
        "calibrated_isotonic",
        state(
            calibrator_={
                "$record": "Isotonic",
                "fields": {"score": array([0.0, 1.0]), "probability": array([0.5, 0.2])},
            }
        ),
        "must not fall",
    ),
    (
        "calibrated_isotonic",
        state(
            calibrator_={
                "$record": "Isotonic",
                "fields": {"score": array([0.0, 1.0]), "probability": array([0.5])},
            }
        ),
        "probability has the shape (1,)",
    ),
    ("calibrated_isotonic", state(calibrator_=POINT), "calibrator_.score is missing"),
    # Transformers of scikit-learn, whose own code trusts its attributes.
    ("standard_scaler", in_transformer("attributes", scale_=array([1.0])), "scale_ has the shape"),
    ("standard_scaler", in_transformer("attributes", mean_=None), "mean_ is None"),
    ("polynomial_features", in_transformer("attributes", _n_out_full=10**9), "more than its file"),
    ("polynomial_features", in_transformer("attributes", _n_out_full=11), "number of monomials"),
    ("polynomial_features", in_transformer("params", degree=3), "fitted with another"),
    ("polynomial_features", in_transformer("params", degree=10**9), "fitted with another"),
    (
        "polynomial_features",
        lambda content: [
            in_transformer("params", degree=10**9, interaction_only=True)(content),
            in_transformer("attributes", _max_degree=10**9, _n_out_full=8, n_output_features_=8)(
                content
            ),
        ],
        "it must be 1,000 at most",
    ),
    ("bins_one_hot", in_transformer("attributes", n_bins_=array([3, 3, 4], "<i8")), "n_bins_"),
    ("spline_transformer", in_transformer("params", degree=3), "not a spline of degree 3"),
    ("spline_transformer", in_transformer("attributes", n_features_out_=15), "n_features_out_"),
    ("nystroem_sampler", in_transformer("params", n_jobs=10**6), "n_jobs is 1000000"),
    ("nystroem_sampler", in_transformer("params", kernel={"$scalar": "<f8"}), "is the type"),
    ("chi2_sampler", in_transformer("params", sample_steps=10**9), "sample_steps"),
    (
        "chi2_sampler",
        in_transformer("params", sample_steps=10**9, sample_interval=0.5),
        "more than its file can describe",
    ),
    ("pca", in_transformer("attributes", components_=array(np.ones((2, 4)))), "components_ has"),
    ("min_max_scaler", in_transformer("params", feature_range={"$tuple": [1]}), "feature_range"),
    ("quantile_transformer", in_transformer("attributes", references_=array([0.0])), "references_"),
    ("pipeline", in_transformer("params", steps=[1]), "steps must be pairs"),
    ("normalizer", in_transformer("attributes", n_features_in_=10**9), "more than its file"),
]


@pytest.mark.parametrize(("kind", "change", "said"), FORGERIES, ids=[f[2] for f in FORGERIES])
def test_a_forged_model_is_refused_by_name(tmp_path, kind, change, said):
    content = content_of(kind)
    change(content)
    sentence = refusal(write(tmp_path / "m.json", content))
    assert said in sentence
    assert "damaged" not in sentence


def test_categories_out_of_order_would_leave_the_matrix(tmp_path):
    content = content_of("one_hot")
    for place in ("params", "state"):
        part = content["model"][place]
        pipeline = part["feature_map"] if place == "params" else part["feature_map_"]
        steps = pipeline if place == "params" else pipeline["params"]["transformer"]
        encoder = steps["params"]["steps"][1]["$tuple"][1]["attributes"]
        encoder["categories_"][0]["$array"].reverse()
    assert "sorted and distinct" in refusal(write(tmp_path / "m.json", content))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"gap_": ', b'"gap_": NaN, "x": ', "NaN, which is not a JSON number"),
        (b'"gap_": ', b'"gap_": -Infinity, "x": ', "-Infinity, which is not a JSON number"),
        (b'"gap_": ', b'"gap_": 1e999, "x": ', "a number beyond the range of floats"),
        (b'"lam": ', b'"lam": 0.5, "lam": ', "two entries lam"),
        (b'"notes": {', b'"notes": {"x": ' + b"[" * 200 + b"]" * 200, "nested more than 100"),
        (b'"notes": {', b'"notes": {"x": ' + b"[" * 100_000, "damaged"),
        (b'"lam": ', b'"lam": ' + b"9" * 5_000 + b', "x": ', "damaged"),
        (b'"lam": ', b'"lam": "\xff", "x": ', "damaged"),
        (b'"version": 1', b'"version": true', "damaged"),
        (b'"version": 1', b'"version": ' + b"9" * 400, "newer than format 1"),
        (b'"groupcm": "0.1.0"', b'"groupcm": 7', "damaged"),
    ],
)
def test_what_json_should_not_hold(tmp_path, old, new, said):
    path = tmp_path / "m.json"
    data = (V0_1 / "linear.json").read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    assert said in refusal(path)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "m.json"
    data = (V0_1 / "linear.json").read_bytes()
    for length in range(0, len(data) - 2, 97):
        path.write_bytes(data[:length])
        refusal(path)


BOMBS = [
    ("linear", state(classes_=array(["a", "b"], "<U500000000")), "far more memory"),
    ("linear", state(coef_={"$array": [], "dtype": "<f8", "shape": [0, 10**12]}), "no array"),
    ("linear", state(n_features_in_=10**10), "more than its file can describe"),
    ("polynomial", in_map(_family={"$tuple": [10**6, False, 3]}), "1,000,000 allowed"),
    ("polynomial", in_map(_family={"$tuple": [150, True, 3]}), "coef_ has the shape"),
    ("cross_validated", params(lams=10**9), "lams"),
    ("normalizer", in_transformer("attributes", n_features_in_=10**10), "more than its file"),
]


@pytest.mark.parametrize(("kind", "change", "said"), BOMBS, ids=[bomb[2] for bomb in BOMBS])
def test_a_small_file_takes_little_memory(tmp_path, kind, change, said):
    content = content_of(kind)
    change(content)
    path = write(tmp_path / "m.json", content)
    load(V0_1 / f"{kind}.json")  # what the classes need for themselves
    tracemalloc.start()
    try:
        assert said in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_wide_type_of_text_is_kept_where_it_is_small(tmp_path):
    model = model_kinds.fitted("linear_named")
    model.classes_ = model.classes_.astype("<U20")
    save(model, tmp_path / "m.json")
    assert load(tmp_path / "m.json").classes_.dtype == "<U20"


def places(value, at=()):
    """Where the values of a JSON value are; of a long array, its first items."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list):
        for i, item in enumerate(value[:3]):
            yield from places(item, (*at, i))


WRONG = [None, True, -1, 0, 3, 2**70, 1.5, 1e308, "x", "", [], {}, [[1.0]], {"$float": "nan"}]


@pytest.mark.parametrize("kind", model_kinds.KINDS)
def test_a_model_with_any_value_replaced_is_refused_or_works(tmp_path, kind):
    X, _, groups = model_kinds.candidates(1)
    chance = random.Random(kind)
    whole = content_of(kind)
    all_places = list(places(whole["model"]))
    for _ in range(25):
        content = copy.deepcopy(whole)
        *way, last = chance.choice(all_places)
        part = content["model"]
        for step in way:
            part = part[step]
        part[last] = copy.deepcopy(chance.choice(WRONG))
        path = write(tmp_path / "m.json", content)
        try:
            model = load(path)
        except InputError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a frame without names, an overflow
            with suppress(ValueError):
                model.group_scores(X, groups)
                model.decision_function(X)
            model_card(path).text()


@pytest.fixture(scope="module")
def linear():
    return model_kinds.fitted("linear")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.ones((1, 7))),
        ("coef_", np.ones((1, 100_000))),
        ("coef_", np.ones((1, 2))),
        ("coef_", np.ones(3)),
        ("coef_", [[1.0, 2.0, 3.0]]),
        ("coef_", np.array([["a", "b", "c"]])),
        ("coef_", np.array([[1, None, 2]], dtype=object)),
        ("coef_", np.full((1, 3), np.nan)),
        ("intercept_", np.ones(2)),
        ("intercept_", 0.0),
        ("classes_", np.array([0, 1, 2])),
        ("feature_map_", features.RandomFourier(5).fit(np.zeros((4, 3)))),
        ("feature_map_", "polynomial"),
    ],
    ids=str,
)
def test_a_model_modified_in_memory_is_refused(tmp_path, linear, name, value):
    X, _, groups = model_kinds.candidates(1)
    model = copy.deepcopy(linear)
    setattr(model, name, value)
    for rows in (X, X.astype(np.float32), sp.csr_array(X)):
        with pytest.raises(ValueError, match=name):
            model.group_scores(rows, groups)
        with pytest.raises(ValueError, match=name):
            model.decision_function(rows)
    with pytest.raises(InputError, match=rf"cannot save this GroupClassifier: .*{name}"):
        save(model, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_callers_of_kernels_check_the_widths():
    X = np.arange(44.0).reshape(4, 11)
    right, wrong = np.ones((2, 11)), np.ones((2, 500))
    constant, mean = np.zeros(2), np.zeros(11)
    for rows in (RowMajorFeatures(X), ColumnMajorFeatures(tuple(np.ascontiguousarray(X.T)))):
        assert rows.scores(mean, right, constant).shape == (2, 4)
        for given in (
            (mean, wrong, constant),
            (wrong[0], right, constant),
            (mean, right, np.zeros(1)),
        ):
            with pytest.raises(ValueError, match=r"weights|shorter|longer"):
                rows.scores(*given)
        with pytest.raises(ValueError, match="weights for rows of 11 features"):
            rows.scores_and_norms(mean, wrong[0], right, constant)
    with pytest.raises(ValueError, match="one length"):
        ColumnMajorFeatures((X[:, 0].copy(), X[:2, 1].copy())).scores(
            mean[:2], right[:, :2], constant
        )
    with pytest.raises(IndexError, match="of a chunk of 4"):
        ColumnMajorFeatures((X[:, 0].copy(),)).take(np.array([0, 4]))
    with pytest.raises(ValueError, match="do not fit a matrix"):
        ColumnMajorFeatures((X[:, 0].copy(),)).fill(np.empty((2, 1)))
    terms = Terms(-1, np.array([0]), np.array([4]), NO_ORDER, 1.0, alone=False)
    for rows in (X, sp.csr_array(X)):
        for theta in (np.ones(8), np.ones(500)):
            with pytest.raises(ValueError, match="weights for rows of 11 features"):
                ArrayRows(rows, mean, np.ones(11)).worst(terms, theta)
    with pytest.raises(ValueError, match="C-ordered"):
        stored_rows(X.T)
    with pytest.raises(ValueError, match="weights for rows"):
        pack_affine(mean[:5], mean)


def test_sparse_rows_with_indices_past_the_last_column_are_refused(linear):
    X, y, groups = model_kinds.candidates(1)
    rows = sp.csr_array(X)
    rows.indices[7] = 10**6
    with pytest.raises(ValueError, match="indices"):
        linear.group_scores(rows, groups)
    with pytest.raises(ValueError, match="indices"):
        GroupClassifier().fit(rows, y, groups)


def test_sparse_rows_are_refused_by_a_map():
    X, _, groups = model_kinds.candidates(1)
    model = model_kinds.fitted("random_fourier")
    for score in (model.decision_function, lambda rows: model.group_scores(rows, groups)):
        with pytest.raises(ValueError, match="needs dense rows"):
            score(sp.csr_array(X))


def test_a_transformer_that_changed_its_width_is_refused():
    X, _, groups = model_kinds.candidates(1)
    model = model_kinds.fitted("pca")
    transformer = model.feature_map_.transformer
    transformer.components_ = transformer.components_[:1]
    transformer.explained_variance_ = transformer.explained_variance_[:1]
    with pytest.raises(ValueError, match="2 features are expected"):
        model.group_scores(X, groups)


def test_weights_beyond_the_range_of_floats_are_named(linear):
    X, _, groups = model_kinds.candidates(1)
    model = copy.deepcopy(linear)
    model.coef_ = np.full((1, 3), 1e308)
    for score in (model.decision_function, lambda rows: model.group_scores(rows, groups)):
        with pytest.raises(ValueError, match="beyond the range of floats although every value"):
            score(X)


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ({"columns": ["frame"]}, "notes.columns must hold names with values"),
        ({"columns": {"group": 3}}, "notes.columns.group must be a text"),
        ({"operating_point": {"threshold": "high", "chosen": "given"}}, "threshold must be a num"),
        ({"operating_point": {"threshold": 1.0}}, "notes.operating_point lacks 'chosen'"),
        ({"held_out": {"x": 1}}, "notes.held_out lacks 'n_positive_groups'"),
        ({"trained_on": 5}, "notes.trained_on must hold names"),
        ({"tables": "train.csv"}, "notes.tables must be a list"),
        ({"versions": {"numpy": None}}, "notes.versions.numpy must be a text"),
    ],
)
def test_notes_that_groupcm_reads_are_checked(tmp_path, linear, notes, said):
    content = content_of("linear")
    content["notes"] = notes
    assert said in refusal(write(tmp_path / "m.json", content))
    with pytest.raises(InputError, match="cannot save this GroupClassifier: notes"):
        save(linear, tmp_path / "n.json", notes=notes)


def test_other_notes_are_free(tmp_path, linear):
    notes = {"mine": [1, {"deep": (2.5, None)}], "columns": None}
    save(linear, tmp_path / "m.json", notes=notes)
    assert read(tmp_path / "m.json").notes == notes


def test_notes_nested_too_deeply_are_not_saved(tmp_path, linear):
    for depth in (150, 100_000):
        notes = []
        for _ in range(depth):
            notes = [notes]
        with pytest.raises(InputError, match=r"cannot save this GroupClassifier: .*nested"):
            save(linear, tmp_path / "m.json", notes={"x": notes})


class Named(GroupModel):
    """A class that only names its attributes and checks some of them itself."""

    _fitted_state = ("own_", "n_features_in_", "classes_", "background_")

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def _check_parameters(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be 1 or more;\n got {self.size}.")

    def _check_state(self) -> None:
        if self.own_ != self.size:
            raise StateError("own_ is not the size")


def test_a_class_with_names_alone_checks_itself(tmp_path, monkeypatch):
    monkeypatch.setitem(model_json._MODELS, "Named", Named.__module__)
    monkeypatch.setattr(model_json, "import_module", lambda name: __import__("sys").modules[name])
    declared = declared_state(Named)
    assert declared["own_"] is None
    assert isinstance(declared["n_features_in_"], Count)
    assert isinstance(declared["classes_"], Labels)
    model = Named()
    model.own_, model.n_features_in_ = 1, 2
    model.classes_, model.background_ = np.array([0, 1]), np.array([True, False])
    save(model, tmp_path / "m.json")
    assert load(tmp_path / "m.json").own_ == 1
    content = json.loads((tmp_path / "m.json").read_text())
    for change, said in {
        ("state", "own_", 2): "own_ is not the size",
        ("state", "n_features_in_", 0): "n_features_in_ must be a whole number from 1",
        ("params", "size", 0): "size must be 1 or more; got 0",
    }.items():
        forged = copy.deepcopy(content)
        part, name, value = change
        forged["model"][part][name] = value
        assert said in refusal(write(tmp_path / "n.json", forged))


def test_sizes_that_a_model_declares_are_checked_with_one_sentence(linear):
    model = copy.deepcopy(linear)
    check_model(model)
    model.solution_ = model_kinds.fitted("polynomial").solution_
    with pytest.raises(StateError, match=r"^solution_\.weights has the shape \(\d+,\) instead of"):
        check_model(model)
    check_model(GroupClassifierCV(), only=())
