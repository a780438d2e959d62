"""Which of two labels is positive: said by the user, kept by models, files and metrics."""

from __future__ import annotations

import json
import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    export_onnx,
    load,
    metrics,
    save,
)
from groupcm.boosting import GroupEvaluation, GroupObjective
from groupcm.cli._main import main
from groupcm.data.folds import group_folds
from groupcm.data.labels import label_named
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError, PositiveLabelWarning
from groupcm.estimators.path import lambda_path
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.report.model_card import model_card
from groupcm.simulate import capsule
from groupcm.sources import from_arrays, from_dask, from_npy, from_parquet

NAMES = np.array(["healthy", "cancer"])  # the positive one comes first in the alphabet
IN_ORDER = np.array(["normal", "polyp"])


@pytest.fixture(scope="module")
def data():
    return capsule(40, n_positive=16, group_size=8, seed=3)


def texts(data) -> np.ndarray:
    return NAMES[np.asarray(data.y)]


MODELS: dict[str, Any] = {
    "linear": GroupClassifier(0.9),
    "cv": GroupClassifierCV([0.5, 0.9], cv=2),
    "misvm": MISVMClassifier(0.9),
    "trees": GroupBoostingClassifier(5, early_stopping=False, min_child_samples=5),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_of_texts_is_the_model_of_zeros_and_ones(kind, data):
    numbered = clone(MODELS[kind]).fit(data.X, data.y, data.groups)
    named = clone(MODELS[kind]).set_params(pos_label="cancer")
    named.fit(data.X, texts(data), data.groups)
    assert named.classes_.tolist() == ["healthy", "cancer"]
    scores = named.decision_function(data.X)
    np.testing.assert_array_equal(scores, numbered.decision_function(data.X))
    np.testing.assert_array_equal(named.predict(data.X), NAMES[numbered.predict(data.X)])
    expected = numbered.predict_groups(data.X, data.groups)
    np.testing.assert_array_equal(named.predict_groups(data.X, data.groups), NAMES[expected])
    for groups in (data.groups, None):
        assert named.score(data.X, texts(data), groups) == numbered.score(data.X, data.y, groups)


@pytest.mark.parametrize("kind", MODELS)
def test_models_with_a_positive_label_are_saved_and_pickled(kind, data, tmp_path):
    model = clone(MODELS[kind]).set_params(pos_label="cancer")
    model.fit(data.X, texts(data), data.groups)
    save(model, tmp_path / "model.json")
    for again in (load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert again.pos_label == "cancer"
        assert again.classes_.tolist() == ["healthy", "cancer"]
        np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))
    assert model_card(model).positive_class == "cancer"
    assert "cancer (positive), healthy (negative)" in model_card(again).text()


def test_classes_in_an_order_that_the_parameter_denies_are_refused(data, tmp_path):
    model = GroupClassifier(pos_label="cancer").fit(data.X, texts(data), data.groups)
    model.set_params(pos_label=None)
    with pytest.raises(InputError, match=r"with pos_label=None the second must be 'healthy'"):
        save(model, tmp_path / "model.json")


def test_onnx_names_the_positive_class(data, tmp_path):
    import onnxruntime

    model = GroupClassifier(pos_label="cancer").fit(data.X, texts(data), data.groups)
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["classes"]) == ["healthy", "cancer"]
    assert json.loads(told["positive_class"]) == "cancer"


@pytest.mark.parametrize("pos_label", [0, 1, False, True, np.int64(0)])
def test_numbers_and_booleans_take_a_positive_label(pos_label, data):
    for y in (np.asarray(data.y), np.asarray(data.y) == 1):
        model = GroupClassifier(pos_label=pos_label).fit(data.X, y, groups="none")
        assert model.classes_[1] == pos_label
        assert model.classes_.dtype == y.dtype


def test_what_cannot_be_positive_is_refused(data):
    y = np.array(["a", "b", "c"])[np.arange(len(data.y)) % 3]
    with pytest.raises(ValueError, match=r"two labels, and y holds 3 \('a', 'b' and 'c'\)"):
        GroupClassifier(pos_label="a").fit(data.X, y, data.groups)
    for model in MODELS.values():
        wrong = clone(model).set_params(pos_label="Cancer")
        with pytest.raises(ValueError, match=r"'Cancer', .* y holds 'cancer' and 'healthy'"):
            wrong.fit(data.X, texts(data), data.groups)
        with pytest.raises(ValueError, match="pos_label must be None or a label"):
            clone(model).set_params(pos_label=["cancer"]).fit(data.X, texts(data), data.groups)
    # "1" is not the number 1.
    with pytest.raises(ValueError, match="'1', which does not occur: y holds 0 and 1"):
        GroupClassifier(pos_label="1").fit(data.X, data.y, data.groups)


@pytest.mark.parametrize("kind", MODELS)
def test_texts_without_a_positive_label_warn(kind, data):
    model = clone(MODELS[kind])
    with pytest.warns(PositiveLabelWarning, match=r"'polyp' is taken as positive.*pos_label="):
        model.fit(data.X, IN_ORDER[np.asarray(data.y)], data.groups)
    assert model.classes_.tolist() == ["normal", "polyp"]


@pytest.mark.parametrize(
    "labels", [(0, 1), (False, True), ("no", "yes"), ("Negative", "Positive"), ("0", "1")]
)
def test_labels_that_say_it_themselves_do_not_warn(labels, data):
    y = np.array(labels)[np.asarray(data.y)]
    assert GroupClassifier().fit(data.X, y, data.groups).classes_[1] == labels[1]
    metrics.group_roc_auc(y, data.X[:, 0], data.groups)


def test_the_warning_is_shown_once_at_the_line_of_the_user(data):
    def fits() -> None:
        for _ in range(3):
            GroupClassifier().fit(data.X, texts(data), groups="none")

    with warnings.catch_warnings(record=True, action="default") as caught:
        fits()
    assert [warning.category for warning in caught] == [PositiveLabelWarning]
    assert caught[0].filename == __file__


def test_of_three_texts_none_is_positive(data):
    y = np.array(["a", "b", "c"])[np.arange(len(data.y)) % 3]
    assert GroupClassifier().fit(data.X, y, groups="none").classes_.tolist() == ["a", "b", "c"]


SCORES = np.random.default_rng(0).normal(size=80)
TRUTH = (np.arange(80) % 5 == 0).astype(int)
GROUPS = np.arange(80) // 2
OF_ROWS = {
    name: getattr(metrics, name)
    for name in (
        *("group_roc_auc", "candidate_roc_auc", "group_average_precision", "group_roc_curve"),
        *("sensitivity_at_specificity", "group_precision_recall_curve", "operating_point"),
        *("bootstrap_interval", "roc_band", "froc_curve"),
    )
} | {
    "sensitivity_at_threshold": partial(metrics.sensitivity_at_threshold, threshold=0.2),
    "specificity_at_threshold": partial(metrics.specificity_at_threshold, threshold=0.2),
    "compare": lambda y, s, g, **k: metrics.compare(y, s, np.sin(s), g, n_resamples=50, **k),
    "own_metric": partial(
        metrics.bootstrap_interval, metric=lambda y, s, g: float(np.mean(s[y])), n_resamples=50
    ),
    "partial": lambda y, s, g, pos_label=None: metrics.bootstrap_interval(
        y, s, g, metric=partial(metrics.sensitivity_at_specificity, pos_label=pos_label)
    ),
    "at": lambda y, s, g, **k: metrics.operating_point(TRUTH, s, g, threshold=0.1).at(y, s, g, **k),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_every_metric_takes_the_positive_label(name):
    metric = OF_ROWS[name]
    truth = TRUTH == 1 if name == "own_metric" else TRUTH
    expected = metric(truth, SCORES, GROUPS)
    found = metric(NAMES[TRUTH], SCORES, GROUPS, pos_label="cancer")
    assert repr(found) == repr(expected)
    swapped = metric(1 - TRUTH, SCORES, GROUPS, pos_label=0)
    assert repr(swapped) == repr(expected)


def test_a_threshold_is_chosen_by_the_positive_label():
    expected = choose_threshold(TRUTH, SCORES, GROUPS, specificity=0.5)
    found = choose_threshold(NAMES[TRUTH], SCORES, GROUPS, specificity=0.5, pos_label="cancer")
    assert found == expected
    alone = choose_threshold(TRUTH, SCORES, specificity=0.5)
    assert choose_threshold(TRUTH, SCORES, "none", specificity=0.5) == alone


@pytest.mark.parametrize("metric", [metrics.group_brier_score, metrics.reliability_curve])
def test_metrics_of_probabilities_take_the_positive_label(metric):
    p = np.random.default_rng(1).random(40)
    expected = metric(TRUTH, p, GROUPS)
    assert repr(metric(NAMES[TRUTH], p, GROUPS, pos_label="cancer")) == repr(expected)


def test_metrics_of_candidates_take_the_positive_label():
    expected = metrics.candidate_roc_curve(TRUTH, SCORES)
    found = metrics.candidate_roc_curve(NAMES[TRUTH], SCORES, pos_label="cancer")
    assert repr(found) == repr(expected)


def test_metrics_of_texts_warn_and_name_what_is_wrong():
    with pytest.warns(PositiveLabelWarning, match="'healthy' is taken as positive"):
        guessed = metrics.group_roc_auc(NAMES[TRUTH], SCORES)
    assert guessed == 1.0 - metrics.group_roc_auc(TRUTH, SCORES)
    with pytest.raises(ValueError, match="'x', which does not occur: y holds 'cancer' and"):
        metrics.group_roc_auc(NAMES[TRUTH], SCORES, pos_label="x")


@pytest.mark.parametrize("wrap", [lambda model: model, partial(make_pipeline, StandardScaler())])
def test_a_scorer_that_takes_the_larger_label_as_positive_warns(data, wrap):
    y = texts(data)
    with sklearn.config_context(enable_metadata_routing=True):
        model = wrap(GroupClassifier(0.5, pos_label="cancer")).fit(data.X, y, groups=data.groups)
    roc_auc = get_scorer("roc_auc")
    with pytest.warns(PositiveLabelWarning, match="the result is inverted"):
        inverted = roc_auc(model, data.X, y)
    auc = roc_auc_score(data.y, model.decision_function(data.X))
    assert inverted == pytest.approx(1.0 - auc)
    with warnings.catch_warnings(action="error"):  # neither of these is inverted
        get_scorer("accuracy")(model, data.X, y)
        make_scorer(
            average_precision_score, response_method="decision_function", pos_label="cancer"
        )(model, data.X, y)
        model.decision_function(data.X)


@pytest.mark.parametrize("scorer", ["group_roc_auc_scorer", "sensitivity_at_specificity_scorer"])
def test_scorers_take_the_positive_class_from_the_estimator(scorer, data):
    scorer = getattr(metrics, scorer)
    numbered = make_pipeline(StandardScaler(), GroupClassifier(standardize=False))
    named = clone(numbered).set_params(groupclassifier__pos_label="cancer")
    with sklearn.config_context(enable_metadata_routing=True):
        expected, found = (
            cross_val_score(
                model, data.X, y, cv=GroupKFold(3), scoring=scorer, params={"groups": data.groups}
            )
            for model, y in ((numbered, data.y), (named, texts(data)))
        )
    np.testing.assert_array_equal(found, expected)


def test_a_scorer_of_a_foreign_classifier_has_its_positive_class(data):
    y = IN_ORDER[np.asarray(data.y)]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data.X, y)
    auc = metrics.group_roc_auc_scorer(model, data.X, y, groups=data.groups)
    assert auc == metrics.group_roc_auc(data.y, model.decision_function(data.X), data.groups)


@pytest.mark.parametrize("wrapped", [False, True])
def test_calibration_takes_the_label_of_its_estimator(wrapped, data):
    def fitted(y, **parameters):
        inner: Any = GroupClassifier(0.9, **parameters)
        inner = make_pipeline(StandardScaler(), inner) if wrapped else inner
        return CalibratedGroupClassifier(inner, cv=3).fit(data.X, y, data.groups)

    named = fitted(texts(data), pos_label="cancer")
    numbered = fitted(data.y)
    assert named.classes_.tolist() == ["healthy", "cancer"]
    np.testing.assert_array_equal(named.held_out_scores_, numbered.held_out_scores_)
    np.testing.assert_array_equal(
        named.predict_proba_groups(data.X, data.groups),
        numbered.predict_proba_groups(data.X, data.groups),
    )
    found = named.score(data.X, texts(data), data.groups)
    assert found == numbered.score(data.X, data.y, data.groups)


def test_calibration_is_saved_with_the_label(data, tmp_path):
    model = CalibratedGroupClassifier(GroupClassifier(pos_label="cancer"), cv=3)
    model.fit(data.X, texts(data), data.groups)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(
        again.predict_groups(data.X, data.groups), model.predict_groups(data.X, data.groups)
    )
    of_folds = GroupClassifierCV([0.5], cv=2, pos_label="cancer")
    of_folds.fit(data.X, texts(data), data.groups)
    held_out = CalibratedGroupClassifier.of_held_out(of_folds)
    assert held_out.classes_.tolist() == ["healthy", "cancer"]


def test_calibration_warns_once_about_texts(data):
    model = CalibratedGroupClassifier(GroupClassifier(), cv=3)
    with warnings.catch_warnings(record=True, action="always") as caught:
        model.fit(data.X, IN_ORDER[np.asarray(data.y)], data.groups)
    assert [warning.category for warning in caught] == [PositiveLabelWarning]


def test_streams_of_texts(data, tmp_path):
    order = np.argsort(data.groups, kind="stable")
    X, y, groups = data.X[order], texts(data)[order], np.asarray(data.groups)[order]
    table = {f"f{j}": X[:, j] for j in range(X.shape[1])} | {"group": groups, "label": y}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=100)
    np.save(tmp_path / "X.npy", X)
    expected = GroupClassifier(0.9).fit(X, (y == "cancer").astype(int), groups)
    for source in (
        from_parquet(tmp_path / "rows.parquet", group="group", label="label"),
        from_npy(tmp_path / "X.npy", group=groups, label=y),
        from_arrays(X, group=groups, label=y),
    ):
        model = GroupClassifier(0.9, pos_label="cancer").fit(source)
        assert model.classes_.tolist() == ["healthy", "cancer"]
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
        assert model.score(source) == expected.score(X, (y == "cancer").astype(int), groups)
        with pytest.raises(ValueError, match="the label column holds 'cancer' and 'healthy'"):
            GroupClassifier(pos_label="x").fit(source)
        with (
            pytest.warns(PositiveLabelWarning),
            pytest.raises(ValueError, match="name the other label with pos_label"),
        ):
            GroupClassifier().fit(source)


@pytest.mark.slow
def test_a_stream_of_dask_with_texts(data):
    dd, distributed = pytest.importorskip("dask.dataframe"), pytest.importorskip("distributed")
    frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.X.shape[1])])
    frame = frame.assign(group=np.asarray(data.groups), label=texts(data)).sort_values("group")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        source = from_dask(
            dd.from_pandas(frame, npartitions=1), group="group", label="label", client=client
        )
        model = GroupClassifier(0.9, pos_label="cancer").fit(source)
    assert model.classes_.tolist() == ["healthy", "cancer"]


def test_folds_and_paths_take_the_positive_label(data):
    expected = group_folds(data.y, data.groups, n_splits=3)
    found = group_folds(texts(data), data.groups, n_splits=3, pos_label="cancer")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    path = lambda_path(data.X, texts(data), data.groups, lams=[0.5], pos_label="cancer")
    assert path.models[0].classes_.tolist() == ["healthy", "cancer"]
    # Explicit rows as folds of λ, too.
    model = GroupClassifierCV([0.5], cv=expected, pos_label="cancer")
    numbered = GroupClassifierCV([0.5], cv=expected).fit(data.X, data.y, data.groups)
    model.fit(data.X, texts(data), data.groups)
    np.testing.assert_array_equal(model.scores_, numbered.scores_)


def test_an_evaluation_of_texts(data):
    named = GroupClassifier(0.9, pos_label="cancer").fit(data.X, texts(data), data.groups)
    numbered = GroupClassifier(0.9).fit(data.X, data.y, data.groups)
    rows = (data.X, data.groups)

    def auc(model, y, **options):
        found = evaluate(model, rows[0], y, rows[1], n_resamples=50, **options)
        return found.group_roc.auc.estimate

    expected = auc(numbered, data.y)
    assert auc(named, texts(data)) == expected
    # Labels of other words than those of training, on rows and on a source.
    assert auc(numbered, texts(data), pos_label="cancer") == expected
    assert auc(named, data.y, pos_label=1) == expected
    with pytest.raises(ValueError, match=r"positive class of the model is 'cancer'; fit the model"):
        auc(named, texts(data), pos_label="healthy")
    with pytest.raises(ValueError, match="'x', which does not occur"):
        auc(numbered, texts(data), pos_label="x")


def test_a_comparison_takes_the_positive_label(data):
    options: dict[str, Any] = {"models": ["gcm"], "cv": 2, "n_settings": 1, "learning": False}
    options["n_resamples"] = 50
    expected = compare_models(data.X, data.y, data.groups, **options)
    found = compare_models(data.X, texts(data), data.groups, pos_label="cancer", **options)
    assert repr(found.models[0].group_roc.auc) == repr(expected.models[0].group_roc.auc)
    assert found.data.n_positive_groups == 16


def test_boosting_parts_take_the_positive_label(data):
    watch = GroupEvaluation(texts(data), data.groups, pos_label="cancer")
    scores = data.X[:, 0]
    assert watch(scores) == metrics.group_roc_auc(data.y, scores, data.groups)
    value, expected = (
        GroupObjective(y, data.groups, pos_label=label).derivatives(scores).value
        for y, label in ((texts(data), "cancer"), (data.y, None))
    )
    assert value == expected


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("1", [0, 1], 1),
        ("1.0", [0, 1], 1),
        ("1", ["0", "1"], "1"),
        ("True", [False, True], True),
        ("polyp", ["normal", "polyp"], "polyp"),
        ("polyp", [0, 1], "polyp"),
        ("nan", [0.0, 1.0], "nan"),
    ],
)
def test_labels_as_they_are_written(text, labels, expected):
    found = label_named(text, labels)
    assert found == expected
    assert type(found) is type(expected)


@pytest.fixture
def folder(tmp_path, monkeypatch, data):
    """The current folder, with tables of the labels "call" and "noise", and of 0 and 1."""
    monkeypatch.chdir(tmp_path)
    for seed, name in ((3, "train"), (4, "test")):
        made = capsule(40, n_positive=16, group_size=8, seed=seed)
        columns = {f"f{j}": made.X[:, j] for j in range(made.X.shape[1])}
        columns |= {"clip": made.groups, "sound": np.array(["noise", "call"])[made.y]}
        table = pa.table(columns)
        for ending in ("csv", "parquet"):
            write_table(table, f"{name}.{ending}")
        write_table(table.set_column(table.num_columns - 1, "sound", [made.y]), f"{name}01.csv")
    return tmp_path


FIT = ("fit", "--group", "clip", "--label", "sound", "-o", "m.json")


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("train.csv", ()),
        ("train.parquet", ("--cv", "--folds", "2", "--lams", "2")),
        ("train.parquet", ("trees",)),
    ],
)
def test_the_command_fits_what_is_called_positive(table, options, folder, capsys):
    if options == ("trees",):
        options = ("--model", "trees", "--n-estimators", "5", "--no-early-stopping", "--cv")
        options += ("--folds", "2", "--calibrate", "sigmoid")
    assert main([*FIT, table, "--positive", "call", *options]) == 0
    told = capsys.readouterr()
    assert "call (negative: noise)" in told.out
    assert "warning" not in told.err
    assert load("m.json").classes_.tolist() == ["noise", "call"]
    assert main(["describe", "m.json"]) == 0
    assert "call (positive), noise (negative)" in capsys.readouterr().out
    (counts,) = [json.loads(line[len('"notes": ') :].rstrip(",")) for line in notes_of("m.json")]
    assert counts["trained_on"]["n_positive_groups"] == 16
    # The model says which label of other tables is positive.
    assert main(["evaluate", "m.json", "test.parquet"]) == 0
    expected = auc_of(capsys.readouterr().out)
    assert expected > 0.6
    # Other labels for the same classes.
    assert main(["evaluate", "m.json", "test01.csv", "--positive", "1"]) == 0
    assert auc_of(capsys.readouterr().out) == expected
    score = ("score", "m.json", "test01.csv", "--label", "sound", "--positive", "1")
    assert main([*score, "-o", "s.csv"]) == 0
    assert auc_of(capsys.readouterr().out) == pytest.approx(expected, abs=1e-3)


def notes_of(path: str) -> list[str]:
    with open(path, encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.startswith('"notes"')]


def auc_of(printed: str) -> float:
    line = next(line for line in printed.splitlines() if "group AUC" in line)
    return float(line.split("group AUC")[1].split()[0].rstrip(","))


def test_texts_without_positive_warn_on_the_command_line(folder, capsys):
    # "noise" as positive: every clip holds some.
    assert main([*FIT, "train.csv"]) == 2
    told = capsys.readouterr().err
    assert "'noise' is taken as positive" in told
    assert "--positive" in told


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([*FIT, "train.csv", "--positive", "Call"], "--positive is 'Call', which does not occur"),
        ([*FIT, "train01.csv", "--positive", "2"], "the label column 'sound' holds 0 and 1"),
        (
            ["evaluate", "m.json", "test.csv", "--positive", "noise"],
            "again with --positive noise",
        ),
        (["evaluate", "m.json", "test01.csv", "--positive", "x"], "holds 0 and 1"),
        (["evaluate", "m.json", "test01.csv"], "is not a class of the model"),
        (["score", "m.json", "test.csv", "--positive", "call", "-o", "s.csv"], "with --label"),
    ],
)
def test_mistakes_in_positive_are_told(command, said, folder, capsys):
    model = GroupClassifier(pos_label="call")
    frame = pd.read_csv("train.csv")
    model.fit(frame.drop(columns=["clip", "sound"]), frame["sound"], frame["clip"])
    save(model, "m.json", notes={"columns": {"group": "clip", "label": "sound"}})
    assert main(command) == 2
    assert said in capsys.readouterr().err


def test_the_learning_curve_of_an_evaluation_has_the_positive_label(folder, capsys):
    assert main([*FIT, "train.parquet", "--positive", "call"]) == 0
    assert main(["evaluate", "m.json", "test.csv", "--train", "train.csv"]) == 0


def test_a_comparison_on_the_command_line_takes_positive(folder, capsys):
    options = ["--models", "gcm-none,gcm", "--folds", "2", "--settings", "1", "--no-learning"]
    columns = ["--group", "clip", "--label", "sound"]
    assert main(["compare", "train.csv", *columns, "--positive", "call", *options]) == 0
    named = capsys.readouterr().out
    assert named.startswith("Positive: call (negative: noise).")
    assert main(["compare", "train01.csv", *columns, *options]) == 0
    numbered = capsys.readouterr().out
    assert [auc.split("  ")[:2] for auc in numbered.splitlines()[1:4]] == [
        auc.split("  ")[:2] for auc in named.splitlines()[1:4]
    ]


@pytest.mark.slow
def test_the_annotation_experiment_takes_positive(folder, capsys):
    options = ["--sizes", "4", "--repeats", "2", "--folds", "2", "--settings", "1"]
    columns = ["--group", "clip", "--label", "sound", "--positive", "call"]
    command = ["experiment", "annotation", "train.csv", *columns, *options, "-o", "out"]
    assert main(command) == 0
    assert "Positive: call" in capsys.readouterr().out
