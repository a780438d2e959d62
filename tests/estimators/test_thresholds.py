"""The threshold: one rule and one count everywhere, part of every model, checked on new data."""

from __future__ import annotations

import csv
import json
import re
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import picture_model
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

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
from groupcm.annotations import Box
from groupcm.cli import main
from groupcm.cli.summaries import evaluation_rows
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError, ShiftWarning, ThresholdWarning
from groupcm.estimators.shift import compare_with_profile, shift_from_training
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.estimators.training.profile import draw_candidates
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.outcomes import contradiction
from groupcm.images.regions import Regions
from groupcm.images.scoring.scored_picture import ScoredPicture
from groupcm.images.scoring.table import PictureScores
from groupcm.metrics import Interval, at_threshold, operating_point
from groupcm.metrics.decision import (
    ChosenThreshold,
    DecisionRule,
    is_alarm,
    resolve_threshold,
    threshold_of,
)
from groupcm.persistence.model_file import read
from groupcm.report.model_card import model_card
from groupcm.report.page import evaluation_page
from groupcm.simulate import capsule
from groupcm.sources import from_parquet
from groupcm.utils.extras import is_installed
from groupcm.web.review.session import results_as_csv
from groupcm.web.server.scored_pictures import read_picture_model

V0_1 = Path(__file__).parents[1] / "files" / "models_v0.1"
needs_trees = pytest.mark.skipif(not is_installed("lightgbm"), reason="lightgbm")


@pytest.fixture(scope="module")
def made():
    return capsule(60, n_positive=24, group_size=8, seed=1)


def few_trees(**more) -> GroupBoostingClassifier:
    options: dict[str, Any] = {
        "n_estimators": 6,
        "n_annealed": 0,
        "n_jobs": 1,
        "min_child_samples": 5,
    } | more
    return GroupBoostingClassifier(**options)


def fitted(kind: str, made) -> Any:
    rows = made.X, made.y, made.groups
    models = {
        "linear": GroupClassifier(0.9),
        "cross-validated": GroupClassifierCV([0.5, 0.9], cv=3),
        "misvm": MISVMClassifier(0.9),
        "calibrated": CalibratedGroupClassifier(GroupClassifier(0.9), cv=3),
        "trees": few_trees(),
    }
    return models[kind].fit(*rows)


KINDS = ["linear", "cross-validated", "misvm", "calibrated"]
KINDS += [pytest.param("trees", marks=needs_trees)]


class Rounded(ClassifierMixin, BaseEstimator):
    """A model of two classes whose scores tie: the first feature, rounded."""

    classes_ = np.array([0, 1])
    n_features_in_ = 1

    def decision_function(self, X):
        return np.round(np.asarray(X)[:, 0], 2)


@pytest.mark.parametrize("seed", range(2))
def test_report_console_review_and_python_count_the_same(seed):
    """On version 0.1 the report looked the threshold up in a curve that omits points."""
    rng = np.random.default_rng(seed)
    n_groups, size = 150, 12
    groups = np.repeat(np.arange(n_groups), size)
    y = np.zeros(len(groups), dtype=int)
    y[np.arange(0, n_groups, 12) * size] = 1  # few, so that the curve has long flat stretches
    X = rng.normal(size=(len(y), 1)) + 2.0 * y[:, None]
    scores = Rounded().decision_function(X)
    curve = metrics.froc_curve(y, scores, groups)
    left_out = np.setdiff1d(scores[scores > 0.5], curve.thresholds)
    threshold = float(rng.choice(left_out))
    # In Python, and by hand.
    point = at_threshold(y, scores, groups, threshold=threshold)
    best, positive = scores.reshape(-1, size).max(axis=1), y.reshape(-1, size).max(axis=1) == 1
    assert point.true_positives == np.sum(best[positive] >= threshold)
    assert point.false_positives == np.sum(best[~positive] >= threshold)
    assert point.false_alarms == np.sum(scores[y == 0] >= threshold) / n_groups
    assert point.objects_found == np.sum(scores[y == 1] >= threshold)
    # On the console.
    found = evaluate(Rounded(), X, y, groups, threshold=threshold, n_resamples=20)
    rows = dict(evaluation_rows(found))
    assert rows["false alarms"].startswith(f"{point.false_alarms:.3g} candidates")
    assert f"{point.true_positives:,} of {positive.sum():,} positive groups" in rows["sensitivity"]
    assert f"; {point.false_positives:,} of " in rows["specificity"]
    # In the report.
    page = re.sub(r"\s+", " ", evaluation_page(found))
    told = re.search(
        r"([\d.]+) % of the positive groups are found with ([\d.]+) false alarms", page
    )
    assert told is not None
    assert float(told[1]) == pytest.approx(100 * point.objects_found / point.n_objects, abs=0.51)
    assert float(told[2]) == pytest.approx(point.false_alarms, rel=6e-3)
    assert f"{point.true_positives} of {positive.sum()} positive groups are found" in page
    # On the review page, which lists the outcome of every picture.
    results = [
        (str(k), {"score": float(best[k]), "truth": bool(positive[k]), "mark": None, "winner": ()}
         | dict.fromkeys(("probability", "on_object", "error")))
        for k in range(n_groups)
    ]  # fmt: skip
    listed = list(csv.DictReader(results_as_csv(results, threshold).split("\n")))
    outcomes = [row["outcome"] for row in listed]
    assert [row["alarm"] for row in listed] == [str(alarm) for alarm in is_alarm(best, threshold)]
    assert outcomes.count("true positive") == point.true_positives
    assert outcomes.count("false positive") == point.false_positives
    assert outcomes.count("false negative") == point.false_negatives
    assert outcomes.count("true negative") == point.true_negatives


def test_the_threshold_that_applies(made):
    model = GroupClassifier(lam=0.9).fit(made.X, made.y, made.groups)
    own = resolve_threshold(model.set_threshold(0.25))
    assert own == threshold_of(model) == ChosenThreshold.given(0.25)
    assert resolve_threshold(model, 2).value == 2.0
    chosen = ChosenThreshold(0.5, DecisionRule(target="youden", chosen_on="4 groups"))
    assert resolve_threshold(model, chosen) is chosen
    for wrong in (float("nan"), "0.5", True):
        with pytest.raises(ValueError, match="must be a number"):
            resolve_threshold(model, wrong)
    three = np.where(np.arange(len(made.y)) % 50 == 7, 2, made.y)
    many = GroupClassifier(lam=0.9).fit(made.X, three, made.groups)
    assert resolve_threshold(many) is None
    assert resolve_threshold(many, 0.5).chosen == "given"
    # A model of another library decides by the sign of its score.
    assert resolve_threshold(LogisticRegression().fit(made.X, made.y)).value == 0.0
    assert resolve_threshold(object()) is None


def test_a_picture_without_candidates_raises_no_alarm_in_the_list():
    result = {"score": -np.inf, "truth": True, "mark": None, "winner": ()}
    result |= dict.fromkeys(("probability", "on_object", "error"))
    (row,) = csv.DictReader(results_as_csv([("a.png", result)], -np.inf).split("\n"))
    assert (row["alarm"], row["outcome"]) == ("False", "false negative")


def test_what_happens_at_a_threshold_without_the_labels_of_some_candidates():
    y, groups = [1, 0, 1, 0, 0, 0], list("aabbcc")
    scores = np.array([0.2, 0.9, 0.9, 0.9, 0.9, 0.1], dtype=np.float32)
    known = [True, True, False, False, True, True]
    found = at_threshold(y, scores, groups, threshold=0.5, labelled=known)
    assert (found.true_positives, found.false_positives) == (2, 1)
    assert (found.false_alarms, found.objects_found, found.n_objects) == (1.0, 0, 1)
    # The object is found by another group's candidate.
    found = at_threshold(y, scores, groups, threshold=0.5, objects=[7, 0, 7, 0, 0, 0])
    assert (found.objects_found, found.n_objects) == (1, 1)
    with pytest.raises(ValueError, match="threshold is NaN"):
        at_threshold(y, scores, groups, threshold=float("nan"))


def test_a_group_without_candidates_never_alarms():
    assert is_alarm([-np.inf, 0.0], -np.inf).tolist() == [False, True]
    found = at_threshold([0, 1, 1], [0.0, -np.inf, 1.0], threshold=-np.inf)
    assert (found.true_positives, found.false_negatives) == (1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_threshold_is_part_of_every_model(kind, made, tmp_path):
    model = fitted(kind, made)
    assert isinstance(model.decision_, DecisionRule)
    assert model.decision_.is_default
    if kind == "calibrated":
        probability = model.predict_proba_groups(made.X, made.groups)[:, 1]
        assert model.predict_groups(made.X, made.groups).tolist() == (probability > 0.5).tolist()
    else:
        assert model.threshold_ == 0.0
    scores = model.group_scores(made.X, made.groups).score
    # A score that occurs: a tie is an alarm.
    threshold = float(np.sort(scores)[-5])
    n_alarms = np.sum(scores >= threshold)
    assert model.set_threshold(threshold) is model
    assert model.predict_groups(made.X, made.groups).sum() == n_alarms
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert (again.threshold_, again.decision_) == (threshold, model.decision_)
    assert again.decision_.words == "given"
    assert again.predict_groups(made.X, made.groups).sum() == n_alarms
    card = model_card(tmp_path / "m.json")
    assert card.threshold is not None
    assert card.threshold.value == threshold
    export_onnx(again, tmp_path / "m.onnx")
    told = {p.key: p.value for p in onnx.load(tmp_path / "m.onnx").metadata_props}
    assert float(told["threshold"]) == threshold
    assert "at least the threshold" in told["decision"]
    # Evaluation uses it without being asked to.
    decision = evaluate(again, made.X, made.y, made.groups, n_resamples=20).decision
    assert (decision.point.threshold, decision.chosen) == (threshold, "given")


def assert_between(threshold: float, score: float, scores: Any) -> None:
    """Assert that a threshold is halfway between a score and the next lower one."""
    lower = max(scores[scores < score])
    assert lower < threshold < score
    assert threshold == pytest.approx((lower + score) / 2)


def test_a_chosen_threshold_is_no_score():
    """On version 0.1 and before this test it was one, and rounding decided about its group."""
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 200), rng.normal(size=200)
    for target in ({"specificity": 0.9}, {"sensitivity": 0.9}, {"sensitivity": 1.0}, {}):
        chosen = choose_threshold(y, scores, **target).value
        point = operating_point(y, scores, **target)
        found = at_threshold(y, scores, threshold=chosen)
        assert (found.true_positives, found.false_positives) == (
            point.true_positives, point.false_positives,
        )  # fmt: skip
        assert min(abs(scores - chosen)) > 1e-6
        for rounded in (scores * (1 + 1e-9), scores.astype(np.float32)):
            assert at_threshold(y, rounded, threshold=chosen).false_positives == (
                point.false_positives
            )
    # The lowest score, the only one, neighbouring numbers and groups without candidates.
    assert choose_threshold([0, 1, 1], [2.0, 1.0, 3.0], sensitivity=1.0).value == 0.5
    assert choose_threshold([0, 1], [2.0, 2.0], sensitivity=1.0).value == 1.0
    after = np.nextafter(1.0, 2.0)
    assert choose_threshold([0, 1], [1.0, after], sensitivity=1.0).value == after
    assert choose_threshold([0, 1, 0], [-np.inf, 1.0, 0.0], specificity=1.0).value == 0.5
    assert np.isfinite(choose_threshold([0, 1], [-1.7e308, 1.7e308]).value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_is_tuned_on_labelled_groups(kind, made):
    model = fitted(kind, made)
    other = capsule(60, n_positive=24, group_size=8, seed=2)
    scores = model.group_scores(other.X, other.groups).score
    positive = metrics.index_groups(other.groups).maxima(other.y)
    model.tune_threshold(other.X, other.y, other.groups, sensitivity=0.8)
    expected = operating_point(positive, scores, sensitivity=0.8)
    assert_between(model.threshold_, expected.threshold, scores)
    rule = model.decision_
    assert (rule.level, rule.target, rule.value, rule.guarantee) == (
        "group", "sensitivity", 0.8, None,
    )  # fmt: skip
    assert rule.chosen_on == "84 groups given"
    model.fit(made.X, made.y, made.groups)
    assert model.decision_.is_default


@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_is_tuned_on_groups_that_folds_left_out(kind, made):
    model = fitted(kind, made)
    if kind in ("linear", "misvm"):
        with pytest.raises(ValueError, match="give labelled candidates as X, y and groups"):
            model.tune_threshold(specificity=0.8)
        return
    model.tune_threshold(specificity=0.8)
    positive = model.held_out_labels_ == 1
    expected = operating_point(positive, model.held_out_scores_, specificity=0.8)
    assert_between(model.threshold_, expected.threshold, model.held_out_scores_)
    assert model.decision_.chosen_on == "84 groups that the folds left out"


@needs_trees
def test_the_held_out_scores_of_trees_are_those_of_trees_that_have_not_seen_the_group(made):
    model = few_trees(validation=2).fit(made.X, made.y, made.groups)
    scores = model.held_out_scores_
    assert np.isfinite(scores).all()
    seen = model.group_scores(made.X, made.groups).score
    y = model.held_out_labels_
    assert y.tolist() == metrics.index_groups(made.groups).maxima(made.y).tolist()
    # The mean over folds of the same metric chose the number of trees.
    assert metrics.group_roc_auc(y, scores) == pytest.approx(model.validation_curve_.max(), abs=0.1)
    assert metrics.group_roc_auc(y, scores) < metrics.group_roc_auc(y, seen)
    share = few_trees(validation=0.25).fit(made.X, made.y, made.groups)
    assert 10 <= np.isfinite(share.held_out_scores_).sum() <= 40
    share.tune_threshold(specificity=0.5)
    none = few_trees(early_stopping=False).fit(made.X, made.y, made.groups)
    assert not np.isfinite(none.held_out_scores_).any()
    with pytest.raises(ValueError, match="no scores of both positive and negative groups"):
        none.tune_threshold()


def test_a_calibrated_model_takes_over_the_threshold_of_a_tuned_one(made, tmp_path):
    model = fitted("cross-validated", made).tune_threshold(specificity=0.7)
    calibrated = CalibratedGroupClassifier.of_held_out(model)
    assert (calibrated.threshold_, calibrated.decision_) == (model.threshold_, model.decision_)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_no_class_are_refused_by_score(kind, made):
    """Before, they counted as wrong, or as negative."""
    model = fitted(kind, made)
    for y in (made.y + 1, made.y.astype(str), np.where(made.y, "cancer", "healthy")):
        for groups in (made.groups, None):
            with pytest.raises(
                ValueError, match="not a class of the estimator; its classes are 0 and 1"
            ):
                model.score(made.X, y, groups)
    for y in (made.y.astype(float), made.y.astype(bool), made.y.astype(object)):
        assert model.score(made.X, y, made.groups) == model.score(made.X, made.y, made.groups)


def test_of_three_classes_one_label_may_be_unknown_and_not_all(made):
    """A training fold may lack a rare class; scores of the others are still meant."""
    y = np.where(np.arange(len(made.y)) % 7 == 0, 2, made.y)
    model = GroupClassifier().fit(made.X, y, made.groups)
    with pytest.raises(ValueError, match="its classes are 0, 1 and 2"):
        model.score(made.X, y + 10, made.groups)
    assert model.score(made.X, np.where(y == 2, 3, y)) <= model.score(made.X, y)


def test_more_than_two_classes_have_no_threshold(made, tmp_path):
    y = np.where(np.arange(len(made.y)) % 7 == 0, 2, made.y)
    model = GroupClassifier().fit(made.X, y, made.groups)
    assert (model.threshold_, model.decision_) == (None, None)
    with pytest.raises(ValueError, match="the model has 3 classes, and the largest score decides"):
        model.set_threshold(0.5)
    save(model, tmp_path / "m.json")
    assert load(tmp_path / "m.json").threshold_ is None


def test_a_threshold_that_is_no_number(made):
    model = fitted("linear", made)
    wrong: list[Any] = [float("nan"), None, "0.5", True, np.array([0.5])]
    for threshold in wrong:
        with pytest.raises(ValueError, match=r"threshold is .*; it must be a number\."):
            model.set_threshold(threshold)
        with pytest.raises(ValueError, match=r"threshold is .*; it must be a number\."):
            at_threshold([0, 1], [0.0, 1.0], threshold=threshold)
        with pytest.raises(ValueError, match=r"threshold is .*; it must be a number\."):
            metrics.sensitivity_at_threshold([0, 1], [0.0, 1.0], threshold=threshold)
    for threshold in (1, np.float32(1), np.int64(1)):
        assert model.set_threshold(threshold).threshold_ == 1.0
    assert model.set_threshold(np.inf).predict_groups(made.X, made.groups).sum() == 0
    with pytest.warns(ThresholdWarning, match="never raises an alarm"):
        model.tune_threshold(-made.X, made.y, made.groups, specificity=1.0)


@pytest.mark.parametrize(
    ("chosen", "target", "value", "chosen_on"),
    [
        ("chosen for a specificity of 0.9 on 84 groups", "specificity", 0.9, "84 groups"),
        ("chosen for a sensitivity of 1 on 84 groups", "sensitivity", 1.0, "84 groups"),
        (
            "chosen for the largest sum of sensitivity and specificity on 9 groups",
            "youden", None, "9 groups",
        ),
        ("by hand", None, None, "by hand"),
    ],
)  # fmt: skip
def test_the_threshold_that_version_0_1_noted_is_taken_over(
    tmp_path, chosen, target, value, chosen_on
):
    content = json.loads((V0_1 / "linear.json").read_text())
    assert "threshold_" not in content["model"]["state"]
    model = load(V0_1 / "linear.json")
    note = {"operating_point": {"threshold": 0.25, "chosen": chosen}}
    save(model, tmp_path / "m.json", notes=note)
    found = load(tmp_path / "m.json")
    rule = DecisionRule(target=target, value=value, chosen_on=chosen_on)
    assert (found.threshold_, found.decision_, rule.words) == (0.25, rule, chosen)
    # A threshold that the model has since been given counts.
    save(found.set_threshold(0.5), tmp_path / "m.json", notes=note)
    assert load(tmp_path / "m.json").threshold_ == 0.5


def test_a_damaged_threshold_is_refused(made, tmp_path):
    model = fitted("linear", made)
    model.decision_ = DecisionRule(target="specificity", chosen_on="nothing")
    with pytest.raises(InputError, match="a target other than youden, and nothing else, has"):
        save(model, tmp_path / "m.json")
    model.set_threshold(0.5).threshold_ = float("nan")
    with pytest.raises(InputError, match="threshold_ must be a number, not NaN"):
        save(model, tmp_path / "m.json")


def as_table(made) -> pa.Table:
    columns = {"frame": made.groups, "on_polyp": made.y, "overlap": made.overlap}
    columns |= {name: made.X[:, j] for j, name in enumerate(made.feature_names)}
    return pa.table({name: pa.array(np.ascontiguousarray(v)) for name, v in columns.items()})


ROLES = ["--group", "frame", "--label", "on_polyp", "--overlap", "overlap"]


@pytest.mark.parametrize(
    "options",
    [
        ["--cv", "--folds", "3", "--lams", "2"],
        ["--cv", "--folds", "3", "--lams", "2", "--calibrate", "sigmoid"],
        pytest.param(["--model", "trees", "--n-estimators", "5"], marks=needs_trees),
        ["--lam", "0.9"],
    ],
)
def test_the_tuned_threshold_reaches_the_scores(made, tmp_path, monkeypatch, capsys, options):
    monkeypatch.chdir(tmp_path)
    pq.write_table(as_table(made), "train.parquet")
    specificity = [] if "--lam" in options else ["--specificity", "0.8"]
    assert main(["fit", "train.parquet", *ROLES, *options, *specificity, "-o", "m.json"]) == 0
    model = load("m.json")
    if specificity:
        assert model.decision_.words == (
            "chosen for a specificity of 0.8 on 84 groups that the folds left out"
        )
        assert model.threshold_ != 0.0
    else:
        assert model.threshold_ == 0.0
    assert "operating_point" not in read("m.json").notes
    capsys.readouterr()
    assert main(["score", "m.json", "train.parquet", "-o", "s.parquet"]) == 0
    told = capsys.readouterr().out
    scores = pq.read_table("s.parquet").to_pandas()
    assert scores["alarm"].tolist() == (scores["score"] >= model.threshold_).tolist()
    X = pd.DataFrame(made.X, columns=made.feature_names)
    assert scores["alarm"].tolist() == (model.predict_groups(X, made.groups) == 1).tolist()
    assert f"{scores['alarm'].sum()} of 84 groups" in told
    assert model.decision_.words in told


def test_a_share_that_contradicts_the_target_is_reported(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(as_table(made), "train.parquet")
    fit = ["--cv", "--folds", "3", "--lams", "2", "--specificity", "0.9"]
    assert main(["fit", "train.parquet", *ROLES, *fit, "-o", "m.json"]) == 0
    same = as_table(capsule(60, n_positive=24, group_size=8, seed=3))
    pq.write_table(same, "same.parquet")
    model = load("m.json")
    feature = made.feature_names[int(np.argmax(np.abs(model.coef_[0]) * made.X.std(axis=0)))]
    column = same.column_names.index(feature)
    by = 4 * np.sign(model.coef_[0][made.feature_names.index(feature)])
    moved = pa.array(same[feature].to_numpy() + by * same[feature].to_numpy().std())
    pq.write_table(same.set_column(column, feature, moved), "moved.parquet")
    for name, is_told in (("same", False), ("moved", True)):
        capsys.readouterr()
        assert main(["evaluate", "m.json", f"{name}.parquet", "--report", f"{name}.html"]) == 0
        told = " ".join(capsys.readouterr().out.split())
        page = " ".join(Path(f"{name}.html").read_text().split())
        for text in (told, page):
            assert ("The threshold does not hold here" in text) == is_told
            assert ("chosen for a specificity of 0.9 on 84 groups that the folds left out, and the "
                    "specificity found is 0." in text) == is_told  # fmt: skip


def test_a_contradiction_needs_the_whole_interval_below_the_target():
    rule = DecisionRule(target="sensitivity", value=0.9, chosen_on="9 groups")
    for share, is_told in (
        (Interval(0.7, 0.5, 0.89), True),
        (Interval(0.7, 0.5, 0.9), False),
        (Interval(1.0, 0.95, 1.0), False),
        (Interval(0.7, float("nan"), float("nan")), False),
    ):
        assert (contradiction(rule, {"sensitivity": share}, 0.95) is not None) == is_told
    low = {"sensitivity": Interval(0.1, 0.0, 0.2)}
    assert contradiction(DecisionRule(chosen_on="given"), low, 0.95) is None


SHAPE: dict[str, Any] = {"n_positive": 40, "group_size": 10}
# Any: the tests look at its parts, which may be None.
shift_of: Any = shift_from_training


def shift(model: Any, data: Any, by: float = 0.0, feature: Any = slice(None)) -> Any:
    X = data.X.copy()
    X[:, feature] += by * data.X[:, feature].std(axis=0)
    found = shift_of(model, X, data.groups)
    assert found is not None
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_sample_is_not_reported_and_a_shifted_one_is(kind):
    for seed in range(3):
        model = fitted(kind, capsule(120, seed=2 * seed, **SHAPE))
        fresh = capsule(120, seed=2 * seed + 1, **SHAPE)
        assert shift(model, fresh).sentence is None
        # Far fewer positives than in training are no shift.
        rare = capsule(150, n_positive=3, group_size=10, seed=2 * seed + 1)
        assert shift(model, rare).sentence is None
        moved = shift(model, fresh, by=1.5, feature=4)
        assert [each.name for each in moved.features] == ["feature 4"]
        assert moved.features[0].is_higher
        assert "feature 4 (higher) moved" in moved.sentence
        assert shift(model, fresh, by=-1.5, feature=4).features[0].is_higher is False


def test_scores_that_moved_are_reported_although_no_feature_did():
    train, fresh = (capsule(120, seed=seed, **SHAPE) for seed in (0, 1))
    model = fitted("cross-validated", train)
    scores = model.group_scores(fresh.X, fresh.groups).score
    profile = model.training_profile_
    assert profile.is_held_out
    assert compare_with_profile(profile, scores).sentence is None
    moved: Any = compare_with_profile(profile, scores + 2 * scores.std())
    assert moved.score is not None
    assert moved.sentence.endswith("may not hold: their scores are higher.")


def test_missing_and_constant_values_and_either_precision():
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(300), 2), np.repeat(np.arange(300) % 3 == 0, 2) * 1
    X = np.column_stack([y + rng.normal(size=600), rng.integers(0, 2, 600) * 0.1, rng.random(600)])
    model = GroupClassifier(0.9).fit(X, y, groups)
    for same in (X, X.astype(np.float32), sp.csr_array(X)):
        assert shift_of(model, same, groups).sentence is None
    X[:, 1] = 0.0
    assert [each.name for each in shift_of(model, X, groups).features] == ["feature 1"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "list"])
def test_frames_of_every_kind_are_compared(made, kind):
    """Before, a lazy frame ended in an IndexError."""
    frame = pl.DataFrame(dict(zip(made.feature_names, made.X.T, strict=True)))
    X: Any = {
        "pandas": frame.to_pandas(), "polars": frame, "lazy": frame.lazy(),
        "arrow": frame.to_arrow(), "list": made.X.tolist(),
    }[kind]  # fmt: skip
    model = GroupClassifier(0.9).fit(made.X if kind == "list" else frame, made.y, made.groups)
    assert shift_of(model, X, made.groups).features == []
    alone = shift_of(model, X, "none")
    assert alone.n_features == 13


def test_too_few_groups_to_compare_are_said(made, capsys):
    """Before, nothing said that no shift of so few groups could be found."""
    model = fitted("linear", made)
    for n_groups, is_told in ((1, True), (5, True), (40, False)):
        rows = np.isin(made.groups, np.unique(made.groups)[:n_groups])
        found = shift_of(model, made.X[rows] + 1e3, made.groups[rows])
        assert (found.note is not None) == is_told == (found.sentence is None)
    assert "are too few to compare" in shift_of(model, made.X[:20], made.groups[:20]).note
    assert compare_with_profile(model.training_profile_, []).note is not None
    # Wherever it is not said, a shift can be found.
    for n_groups in range(2, 30):
        scores = np.full(n_groups, 1e6)
        found = compare_with_profile(model.training_profile_, scores)
        assert found.note is None or found.score is None
    pictures = PictureScores(probability=False, threshold=0.0, vote=False, category=None)
    place = Regions.of([Box(0, 0, 2, 2)], 4, 4)
    pictures.add(ScoredPicture("a", 4, 4, 0.5, None, True, 0, 0, 9, place, 1, drawn=made.X[0]))
    found = pictures.shift_from_training(model)
    assert found is not None
    assert "1 group is too few to compare with those of the training" in str(found.note)


@needs_trees
def test_values_that_are_missing_more_often_moved(made):
    X = made.X.copy()
    model = few_trees().fit(X, made.y, made.groups)
    X[np.random.default_rng(0).random(len(X)) < 0.7, 3] = np.nan
    moved = shift_of(model, X, made.groups)
    assert [each.name for each in moved.features] == ["feature 3"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_scoring_warns_of_tables_that_differ_from_training(tmp_path, monkeypatch, capsys, suffix):
    monkeypatch.chdir(tmp_path)
    tables = {name: as_table(capsule(120, seed=k, **SHAPE)) for k, name in enumerate(["a", "b"])}
    column = tables["b"].column_names.index("redness")
    moved = pa.array(tables["b"]["redness"].to_numpy() + 4.0)
    tables["c"] = tables["b"].set_column(column, "redness", moved)
    for name, table in tables.items():
        write_table(table, Path(f"{name}.{suffix}"))
    cv = ["--cv", "--folds", "3", "--lams", "2"]
    assert main(["fit", f"a.{suffix}", *ROLES, *cv, "-o", "m.json"]) == 0
    for name, is_told in (("a", False), ("b", False), ("c", True)):
        capsys.readouterr()
        assert main(["score", "m.json", f"{name}.{suffix}", "-o", "s.parquet"]) == 0
        told = capsys.readouterr().err
        assert ("distributed differently from the training groups" in told) == is_told
        assert ("redness (higher) moved" in told) == is_told


def test_files_of_many_units_are_read_again_in_few_places(tmp_path):
    made = capsule(400, seed=0, **SHAPE)
    pq.write_table(as_table(made), tmp_path / "t.parquet", row_group_size=50)
    source = from_parquet(
        tmp_path / "t.parquet", group="frame", label="on_polyp", overlap="overlap", batch_rows=50
    )
    model: Any = GroupClassifier(0.9).fit(source)
    assert len(source.unit_ptr) - 1 > 60
    assert model.training_profile_.feature_cuts.shape == (13, 7)
    assert shift_of(model, source).sentence is None
    groups = source.index().groups
    assert groups is not None
    rows = draw_candidates(groups, 13, source.unit_ptr)
    units = np.unique(np.searchsorted(source.unit_ptr, rows, side="right") - 1)
    assert len(units) <= 2 * 32 < len(source.unit_ptr) - 1


def test_the_profile_is_saved_and_files_without_one_are_not_compared(made, tmp_path):
    model = fitted("linear", made)
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert shift(again, made) == shift(model, made)
    assert shift_of(load(V0_1 / "linear.json"), made.X[:, :5], made.groups) is None
    y = np.where(np.arange(len(made.y)) % 7 == 0, 2, made.y)
    three = GroupClassifier().fit(made.X, y, made.groups)
    assert shift_of(three, made.X, made.groups) is None
    content = json.loads((tmp_path / "m.json").read_text())
    profile = content["model"]["state"]["training_profile_"]["fields"]
    assert len(json.dumps(profile)) < 13 * 700


def test_the_rule_has_the_noise_that_chance_gives():
    """Of groups drawn again from one distribution, next to none is reported."""
    rng, n_told = np.random.default_rng(0), 0
    for _ in range(40):
        groups, y = np.arange(80), (np.arange(80) % 4 == 0) * 1
        model = GroupClassifier(0.9).fit(rng.normal(size=(80, 20)) + y[:, None], y, groups)
        fresh = rng.normal(size=(60, 20)) + (np.arange(60) % 4 == 0)[:, None]
        n_told += shift_of(model, fresh, np.arange(60)).sentence is not None
    assert n_told == 0


def test_scoring_warns_of_pictures_that_differ_from_training():
    train, fresh = (capsule(120, seed=seed, **SHAPE) for seed in (0, 1))
    model = fitted("cross-validated", train)
    found = model.group_scores(fresh.X, fresh.groups)
    place = Regions.of([Box(0, 0, 2, 2)], 4, 4)
    for by in (0.0, 3.0):
        pictures = PictureScores(probability=False, threshold=0.0, vote=False, category=None)
        for k, score in enumerate(found.score):
            drawn = fresh.X[np.flatnonzero(fresh.groups == found.group[k])[0]] + by
            pictures.add(
                ScoredPicture(str(k), 4, 4, score, None, score >= 0, 0, 0, 9, place, 1, drawn=drawn)
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ShiftWarning)
            pictures.shift_from_training(model)
        assert len(caught) == (by > 0)
    assert "13 features, " in str(caught[0].message)


def test_a_page_gets_no_threshold_that_its_slider_cannot_show(tmp_path):
    model = deepcopy(picture_model.fitted())
    notes = picture_model.saved_model().notes
    for threshold, shown in ((0.5, 0.5), (np.inf, None)):
        save(model.set_threshold(threshold), tmp_path / "m.json", notes=notes)
        assert read_picture_model(tmp_path / "m.json").threshold == shown
