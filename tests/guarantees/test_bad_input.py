"""A mistake gets one sentence that says where it is, and changes nothing."""

from __future__ import annotations

import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from groupcm import GroupClassifier, GroupClassifierCV
from groupcm.data.tables.formats import write_table
from groupcm.errors import LabelsWarning
from groupcm.estimators.tables import fit_tables
from groupcm.sources import from_parquet


def good(n: int = 24, d: int = 3):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n // 4), 4)
    y = ((np.arange(n) % 4 == 1) & (groups % 2 == 0)).astype(int)
    X = rng.normal(size=(n, d)) + 2.0 * y[:, None]
    return X, y, groups


@contextmanager
def one_sentence(*parts: str, error: type[Exception] | tuple = (ValueError, TypeError)):
    """The block raises an error of one sentence in which every part is found."""
    with pytest.raises(error) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message, message
    assert re.search(r"[.!?]\s+[A-Z]", message) is None, f"more than one sentence: {message}"
    assert len(message) > 15, message
    for part in parts:
        assert re.search(part, message, re.IGNORECASE), f"{part!r} is not in: {message}"


def row(i: int) -> str:
    return rf"\brow {i}\b"


def column(name: object) -> str:
    return rf"\bcolumn (\d+ )?\W*{re.escape(str(name))}\b"


def refuse(X, y, *parts: str, groups=None, overlap=None, **params) -> None:
    """Fitting fails with one sentence, leaves the data alone and the estimator as it was."""
    arrays = [a for a in (X, y, groups, overlap) if isinstance(a, np.ndarray)]
    before = [a.copy() for a in arrays]

    fresh = GroupClassifier(**params)
    with one_sentence(*parts):
        fresh.fit(X, y, groups=groups, overlap=overlap)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        fresh.predict(good()[0])

    # Another number of features, so that a half-done fit would show.
    X_old, y_old, groups_old = good(d=5)
    fitted = GroupClassifier().fit(X_old, y_old, groups=groups_old)
    fitted.set_params(**params)
    state = dict(vars(fitted))
    with one_sentence(*parts):
        fitted.fit(X, y, groups=groups, overlap=overlap)
    assert vars(fitted).keys() == state.keys()
    assert all(vars(fitted)[name] is value for name, value in state.items())

    for array, copy in zip(arrays, before, strict=True):
        assert array.tobytes() == copy.tobytes()  # bit by bit, since NaN is not equal to itself


bad_numbers = pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])


@bad_numbers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("standardize", [True, False])
def test_not_a_number_in_an_array(bad, dtype, order, standardize):
    X, y, groups = good()
    X = np.array(X, dtype=dtype, order=order)
    X[7, 2] = bad
    word = "nan" if np.isnan(bad) else "inf"
    refuse(X, y, row(7), column(2), word, groups=groups, standardize=standardize)
    refuse(X, y, row(7), column(2), word, standardize=standardize)
    refuse(X, y, row(7), column(2), word, groups=groups, solver="lbfgs", standardize=standardize)


@bad_numbers
def test_not_a_number_where_groups_are_shuffled(bad):
    X, y, groups = good()
    order = np.random.default_rng(1).permutation(len(X))
    X[order[0], 1] = bad
    # The row is named as the user counts it, not as the solver sorts it.
    refuse(X[order], y[order], row(0), column(1), groups=groups[order])


@bad_numbers
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("where", ["negative group", "rest of a positive group"])
def test_not_a_number_in_a_long_array(bad, standardize, where):
    """Long enough that looking first would cost a pass of its own."""
    n = 400_000
    X = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32)
    groups = np.repeat(np.arange(n // 50), 50)
    y = np.zeros(n, dtype=int)
    y[np.arange(0, 50 * 20, 50)] = 1
    X[y == 1] += 2
    i = 287_654 if where == "negative group" else 53
    X[i, 3] = bad
    model = GroupClassifier(standardize=standardize)
    with one_sentence(row(i), column(3)):
        model.fit(X, y, groups=groups)
    assert not hasattr(model, "coef_")


@bad_numbers
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_not_a_number_in_sparse_data(bad, container):
    X, y, groups = good()
    X = np.where(X < 0, 0, X)
    X[7, 2] = bad
    X = container(X)
    data = X.data.copy()
    refuse(X, y, row(7), column(2), groups=groups)
    np.testing.assert_array_equal(X.data, data)


@bad_numbers
@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_not_a_number_in_a_table_names_its_column(bad, frame):
    X, y, groups = good()
    X[7, 2] = bad
    table = pd.DataFrame(X, columns=["area", "depth", "shine"])
    if frame == "polars":
        table = pl.DataFrame({name: table[name].to_numpy() for name in table})
    elif frame == "pyarrow":
        table = pa.table({name: table[name].to_numpy() for name in table})
    refuse(table, y, row(7), column("shine"), groups=groups)


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_null_in_a_table_names_its_column(frame):
    X, y, groups = good()
    columns = {name: list(X[:, j]) for j, name in enumerate(["area", "depth", "shine"])}
    columns["depth"][5] = None
    if frame == "pandas":
        table = pd.DataFrame(columns).astype({"depth": "Float64"})
    else:
        table = pl.DataFrame(columns) if frame == "polars" else pa.table(columns)
    refuse(table, y, row(5), column("depth"), groups=groups)


@bad_numbers
def test_not_a_number_when_scoring(bad):
    X, y, groups = good()
    model = GroupClassifier().fit(X, y, groups=groups)
    X = X.copy()
    X[3, 1] = bad
    for score in (model.decision_function, model.predict):
        with one_sentence(row(3), column(1)):
            score(X)
    with one_sentence(row(3), column(1)):
        model.group_scores(X, groups)


def test_one_class_only():
    X, _, groups = good()
    refuse(X, np.zeros(len(X), dtype=int), "class", groups=groups)
    refuse(X, np.ones(len(X), dtype=int), "class", groups=groups)


def test_no_negative_group():
    X, _, groups = good()
    everywhere = (np.arange(len(X)) % 4 == 1).astype(int)
    refuse(X, everywhere, "negative", "group", groups=groups)


def test_no_positive_group_left():
    X, y, groups = good()
    overlap = np.where(y == 1, 0.3, 0.0)
    refuse(X, y, "positive", "group", groups=groups, overlap=overlap, min_overlap=0.5)


def test_background_can_be_the_only_negatives():
    X, _, groups = good()
    everywhere = (np.arange(len(X)) % 4 == 1).astype(int)
    model = GroupClassifier(background="negative").fit(X, everywhere, groups=groups)
    assert model.gap_ <= 1e-4


@pytest.mark.parametrize("what", ["y", "groups", "overlap"])
@pytest.mark.parametrize("change", [-1, 1])
def test_lengths_that_differ(what, change):
    X, y, groups = good()
    given = {"y": y, "groups": groups, "overlap": np.ones(len(X))}
    given[what] = np.resize(given[what], len(X) + change)
    refuse(X, given.pop("y"), str(len(X)), str(len(X) + change), **given)


def test_lengths_that_differ_when_scoring():
    X, y, groups = good()
    model = GroupClassifier().fit(X, y, groups=groups)
    for method in (model.group_scores, model.predict_groups):
        with one_sentence("groups", "24", "23"):
            method(X, groups[:-1])
    with one_sentence("24", "23"):
        model.score(X, y, groups=groups[:-1])


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("loss", "smoothed_hinge"),
        ("penalty", "huber"),
        ("grouping", "negative"),
        ("background", "ignore"),
        ("solver", "working_set"),
    ],
)
@pytest.mark.parametrize("wrong", ["bogus", None, 3, ["hinge"]])
def test_unknown_option(name, right, wrong):
    X, y, groups = good()
    # The sentence names the parameter and what it may be.
    refuse(X, y, name, right, groups=groups, **{name: wrong})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *[("lam", value) for value in (0.0, 1.0, -0.1, 1.5, np.nan, "0.5", None)],
        *[("C", value) for value in (0.0, -1.0, np.nan, np.inf, "1")],
        *[("delta", value) for value in (-0.5, np.nan, np.inf, "0.5", None)],
        *[("epsilon", value) for value in (-1.0, 0.0, np.nan, np.inf, "1", None)],
        *[("l1_ratio", value) for value in (-0.1, 1.1, np.nan, "1", None)],
        *[("tol", value) for value in (-1e-4, np.nan, "small", None)],
        *[("max_passes", value) for value in (0, -3, np.nan, "many")],
        *[("min_overlap", value) for value in (np.nan, "half", None)],
    ],
)
def test_a_number_out_of_range(name, wrong):
    X, y, groups = good()
    refuse(X, y, rf"\b{name}\b", groups=groups, **{name: wrong})


def test_empty_tables():
    _, y, _ = good()
    refuse(np.empty((0, 3)), np.empty(0, dtype=int), "0", "row|sample")
    refuse(np.empty((24, 0)), y, "0", "feature|column")
    refuse(pd.DataFrame({"area": []}), np.empty(0, dtype=int), "0", "row|sample")
    refuse(sp.csr_matrix((0, 3)), np.empty(0, dtype=int), "0", "row|sample")


def without_the_ninth(values, null=None) -> list:
    return [null if i == 9 else value for i, value in enumerate(values)]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda ids, names: without_the_ninth(names), id="list"),
        pytest.param(
            lambda ids, names: np.array(without_the_ninth(names), dtype=object), id="object-none"
        ),
        pytest.param(
            lambda ids, names: np.array(without_the_ninth(names, np.nan), dtype=object),
            id="object-nan",
        ),
        pytest.param(lambda ids, names: np.array(without_the_ninth(ids, np.nan)), id="float-nan"),
        pytest.param(
            lambda ids, names: pd.Series(without_the_ninth(ids), dtype="Int64"), id="pandas-na"
        ),
        pytest.param(lambda ids, names: pd.Series(without_the_ninth(names)), id="pandas-string"),
        pytest.param(
            lambda ids, names: pd.Series(without_the_ninth(names), dtype="category"),
            id="pandas-category",
        ),
        pytest.param(
            lambda ids, names: pd.Series(pd.to_datetime(without_the_ninth(ids), unit="D")),
            id="pandas-nat",
        ),
        pytest.param(lambda ids, names: pl.Series(without_the_ninth(ids)), id="polars"),
        pytest.param(lambda ids, names: pa.array(without_the_ninth(ids)), id="pyarrow"),
    ],
)
def test_group_without_a_name(make):
    X, y, groups = good()
    column = make(groups.tolist(), [f"frame {g}" for g in groups])
    refuse(X, y, "group", row(9), groups=column)


def test_groups_must_be_a_column():
    X, y, groups = good()
    refuse(X, y, "groups", groups=np.column_stack([groups, groups]))
    refuse(X, y, "groups", groups="patient")


@pytest.mark.parametrize("to", [np.asarray, pd.DataFrame, sp.csr_matrix])
def test_constant_features_are_named_and_get_no_weight(to):
    X, y, groups = good(d=4)
    X[:, 1], X[:, 3] = 5.0, 0.0
    if to is pd.DataFrame:
        X = pd.DataFrame(X, columns=["area", "depth", "shine", "edge"])
        names = r"depth.*edge"
    else:
        X, names = to(X), r"\b1\b.*\b3\b"
    model = GroupClassifier()
    with pytest.warns(UserWarning, match=names):
        model.fit(X, y, groups=groups)
    np.testing.assert_array_equal(model.coef_[0, [1, 3]], 0.0)
    assert np.all(model.coef_[0, [0, 2]] != 0)
    assert np.all(np.isfinite(model.decision_function(X)))


@pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_feature_is_constant_in_spite_of_rounding(value, dtype):
    X, y, groups = good()
    X = X.astype(dtype)
    X[:, 1] = value
    model = GroupClassifier()
    with pytest.warns(UserWarning, match=r"\b1\b"):
        model.fit(X, y, groups=groups)
    assert model.coef_[0, 1] == 0.0


def test_all_features_constant():
    """Nothing to learn from, but a valid problem: only the intercept is left."""
    _, y, groups = good()
    with pytest.warns(UserWarning, match="constant"):
        model = GroupClassifier().fit(np.ones((24, 2)), y, groups=groups)
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.gap_ <= 1e-4


def test_duplicate_column_names():
    X, y, groups = good()
    table = pd.DataFrame(X, columns=["area", "depth", "area"])
    refuse(table, y, "area", "twice|duplicate|more than once|unique|two columns", groups=groups)


@pytest.mark.parametrize("frame", ["pandas", "pandas-object", "polars", "pyarrow"])
def test_a_text_column_among_the_features(frame):
    X, y, groups = good()
    text = [f"dark {i}" for i in range(len(X))]
    if frame.startswith("pandas"):
        table = pd.DataFrame({"area": X[:, 0], "colour": text, "shine": X[:, 2]})
        if frame == "pandas-object":
            table["colour"] = table["colour"].astype(object)
    elif frame == "polars":
        table = pl.DataFrame({"area": X[:, 0], "colour": text, "shine": X[:, 2]})
    else:
        table = pa.table({"area": X[:, 0], "colour": text, "shine": X[:, 2]})
    refuse(table, y, column("colour"), groups=groups)


def test_text_in_an_array():
    X, y, groups = good()
    refuse(X.astype(str).astype(object) + "cm", y, groups=groups)


def test_complex_numbers():
    # scikit-learn's own words, which its checks ask for; they show the array as well.
    X, y, groups = good()
    with pytest.raises(ValueError, match="Complex data not supported"):
        GroupClassifier().fit(X + 1j, y, groups=groups)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_a_float_cannot_hold(dtype):
    X, y, groups = good()
    X = np.abs(10 * X).astype(dtype)
    X[11, 0] = 2**53 + 1
    refuse(X, y, row(11), column(0), groups=groups)
    table = pd.DataFrame(X, columns=["area", "depth", "shine"])
    refuse(table, y, row(11), column("area"), groups=groups)


def test_integers_that_a_float_can_hold():
    X, y, groups = good()
    X = (10 * X).astype(np.int64)
    X[11, 0] = 2**53
    assert GroupClassifier().fit(X, y, groups=groups).gap_ <= 1e-4


@bad_numbers
def test_bad_overlap(bad):
    X, y, groups = good()
    overlap = np.where(y == 1, 0.8, 0.0)
    overlap[np.flatnonzero(y)[1]] = bad
    refuse(X, y, "overlap", row(int(np.flatnonzero(y)[1])), groups=groups, overlap=overlap)


def test_overlap_must_be_numbers():
    X, y, groups = good()
    refuse(X, y, "overlap", groups=groups, overlap=np.array(["much"] * len(X)))
    refuse(X, y, "overlap", groups=groups, overlap=np.ones((len(X), 2)))


def test_labels_with_decimals_are_no_classes():
    X, y, groups = good()
    refuse(X, y + 0.25, "unknown label type: continuous", "0.25 and 1.25", groups=groups)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_label_column_with_decimals_is_named(tmp_path, suffix):
    X, y, groups = good()
    path = tmp_path / f"rows.{suffix}"
    size = np.round(np.linspace(0.5, 3.5, len(y)), 3)
    write_table(pa.table({"g": groups, "size": size, "x": X[:, 0]}), path)
    for model in (GroupClassifier(), GroupClassifierCV(cv=2)):
        with one_sentence("unknown label type: continuous", "column 'size' holds 24 different"):
            fit_tables(model, path, group="g", label="size")
    if suffix == "parquet":
        with one_sentence("unknown label type: continuous"):
            GroupClassifier().fit(from_parquet(path, group="g", label="size"))


def test_many_numbers_as_labels_are_warned_of_and_texts_are_not():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(21), 2)
    X = rng.normal(size=(len(y), 2))
    model = GroupClassifier(tol=0.5, max_passes=5)
    with pytest.warns(LabelsWarning, match="y holds 21 different numbers"):
        model.fit(X, y, groups="none")
    assert len(model.fit(X, np.array([f"kind {k}" for k in y]), groups="none").classes_) == 21
    assert len(model.fit(X, y % 20, groups="none").classes_) == 20


def test_labels_must_not_be_missing():
    X, y, groups = good()
    refuse(X, np.where(np.arange(len(y)) == 4, np.nan, y), groups=groups)
    refuse(X, [None if i == 4 else int(v) for i, v in enumerate(y)], groups=groups)


def test_a_table_without_its_columns_when_scoring():
    X, y, groups = good()
    table = pd.DataFrame(X, columns=["area", "depth", "shine"])
    model = GroupClassifier().fit(table, y, groups=groups)
    # scikit-learn's own sentence runs over lines, and its tests ask for it.
    with pytest.raises(ValueError, match="shine"):
        model.predict(table[["area", "depth"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["depth", "area", "shine"]])


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros(3, dtype=int), [1.0, 2.0, 3.0], 1.0, [[[1]]]])
def test_what_is_not_a_table_is_refused_in_one_sentence(X):
    with pytest.raises(ValueError, match=r"Expected 2D array, got \dD array instead") as refusal:
        GroupClassifier().fit(X, [0, 1, 0])
    assert "\n" not in str(refusal.value)
