"""Displays draw what the metrics compute, into the axes that they are given."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    metrics,
)
from groupcm.evaluation import feature_weights
from groupcm.plots import (
    AfrocDisplay,
    FrocDisplay,
    GroupRocDisplay,
    LambdaPathDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ScoreDistributionDisplay,
    WeightsDisplay,
    YieldDisplay,
)
from groupcm.simulate import capsule
from groupcm.utils.extras import MissingExtra

RESAMPLED = [GroupRocDisplay, FrocDisplay, PrecisionRecallDisplay]
CURVES = [*RESAMPLED, AfrocDisplay, YieldDisplay]


@dataclass(frozen=True)
class Case:
    data: Any
    model: Any

    @property
    def args(self) -> tuple[Any, ...]:
        return self.data.X, self.data.y, self.data.groups

    @property
    def predictions(self) -> tuple[Any, ...]:
        return self.data.y, self.model.decision_function(self.data.X), self.data.groups


@cache
def case() -> Case:
    data = capsule(80, n_positive=30, n_patients=40, group_size=6)
    return Case(data, GroupClassifier().fit(data.X, data.y, data.groups))


@cache
def trees() -> GroupBoostingClassifier:
    data = case().data
    return GroupBoostingClassifier(8, early_stopping=False).fit(data.X, data.y, data.groups)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def axes() -> Any:
    return Figure().add_subplot()


def curve_of(display: Any) -> tuple[Any, Any]:
    """The data of the only curve that is no line of chance and no marked point."""
    (line,) = [each for each in display.ax_.get_lines() if each.get_gid() == "groupcm-curve"]
    return line.get_xdata(), line.get_ydata()


def labels(display: Any) -> list[str]:
    return display.ax_.get_legend_handles_labels()[1]


def test_the_roc_curve_is_that_of_the_metrics():
    display = GroupRocDisplay.from_predictions(*case().predictions, ax=axes(), name="GCM")
    expected = metrics.group_roc_curve(*case().predictions)
    x, y = curve_of(display)
    assert_array_equal(x, expected.fpr)
    assert_array_equal(y, expected.tpr)
    auc = metrics.group_roc_auc(*case().predictions)
    assert display.auc == auc
    assert labels(display) == [f"GCM: AUC {auc:.3f}"]
    assert display.ax_.get_aspect() == 1.0


def test_the_froc_curve_is_that_of_the_metrics():
    display = FrocDisplay.from_predictions(*case().predictions, ax=axes())
    expected = metrics.froc_curve(*case().predictions)
    x, y = curve_of(display)
    assert_allclose(x, np.maximum(expected.false_alarms, 1e-9))
    assert_array_equal(y, expected.sensitivity)
    assert display.ax_.get_ylabel() == "Positive groups found (share of all)"
    assert display.ax_.get_xscale() == "log"


def test_the_afroc_curve_is_that_of_the_metrics():
    data, rows = case().data, case().predictions
    for weighted in (False, True):
        options = {"objects": data.polyp, "weighted": weighted}
        display = AfrocDisplay.from_predictions(*rows, **options, threshold=0.0, ax=axes())
        curve = metrics.afroc_curve(*rows, **options)
        x, y = curve_of(display)
        # The last point, which no threshold reaches, is drawn by another line.
        assert_array_equal(x, curve.false_positive_fraction[:-1])
        assert_array_equal(y, curve.sensitivity[:-1])
        assert display.auc == metrics.afroc_auc(*rows, **options)
        negative = [
            group for group in np.unique(data.groups) if not np.any(data.y[data.groups == group])
        ]
        alarms = [np.any(rows[1][data.groups == group] >= 0.0) for group in negative]
        (point,) = [each for each in display.ax_.get_lines() if each.get_marker() == "o"]
        assert point.get_xdata()[0] == pytest.approx(np.mean(alarms))
    display = AfrocDisplay.from_predictions(*rows, clusters=data.patient, ax=axes())
    assert display.auc == metrics.afroc_interval(*rows, clusters=data.patient)


def test_the_yield_curve_marks_the_smallest_share_that_keeps_a_yield():
    data, rows = case().data, case().predictions
    levels = {"patient": data.patient}
    display = YieldDisplay.from_predictions(
        *rows, objects=data.polyp, levels=levels, unit="frame", threshold=0.0, ax=axes()
    )
    curve = metrics.yield_curve(*rows, objects=data.polyp, levels=levels)
    lines = [each for each in display.ax_.get_lines() if each.get_gid() == "groupcm-curve"]
    assert len(lines) == 2
    for line, found in zip(lines, curve.found.values(), strict=True):
        at = np.searchsorted(display.curve.shown, curve.shown, side="right") - 1
        assert_array_equal(line.get_ydata()[at], found)
        assert line.get_drawstyle() == "steps-post"
        assert line.get_ydata()[-1] == found[-1]
    for share in (0.95, 0.99, 1.0):
        shown = curve.at_yield(share).shown
        assert any(f"{100 * shown:.3g} % shown" in label for label in labels(display))
    assert display.ax_.get_xlabel() == "Frames shown (share of all)"
    log = YieldDisplay.from_predictions(*rows, objects=data.polyp, log=True, ax=axes())
    assert log.ax_.get_xscale() == "log"


def test_the_precision_recall_curve_is_that_of_the_metrics():
    display = PrecisionRecallDisplay.from_predictions(*case().predictions, ax=axes())
    expected = metrics.group_precision_recall_curve(*case().predictions)
    x, y = curve_of(display)
    is_found = expected.recall > 0  # no line up to the precision of no alarm
    assert not is_found.all()
    assert_array_equal(x, expected.recall[is_found])
    assert_array_equal(y, expected.precision[is_found])
    assert display.positive_share == pytest.approx(30 / 110)


@pytest.mark.parametrize("kind", RESAMPLED)
def test_an_estimator_and_its_predictions_are_drawn_alike(kind):
    options = {"threshold": 0.2, "clusters": case().data.patient, "n_resamples": 50}
    by_estimator = kind.from_estimator(case().model, *case().args, ax=axes(), **options)
    by_predictions = kind.from_predictions(*case().predictions, ax=axes(), **options)
    assert_array_equal(curve_of(by_estimator), curve_of(by_predictions))
    assert by_estimator.point == by_predictions.point
    assert by_estimator.name == "GroupClassifier"
    assert by_predictions.name is None


@pytest.mark.parametrize("kind", [*CURVES, ScoreDistributionDisplay])
def test_given_axes_are_used_and_no_figure_is_opened(kind):
    own = axes()
    display = kind.from_predictions(*case().predictions, ax=own)
    assert display.ax_ is own
    assert display.figure_ is own.figure
    assert pyplot.get_fignums() == []
    again = display.plot()
    assert again is display
    assert display.ax_ is not own
    assert len(pyplot.get_fignums()) == 1


def test_the_operating_point_is_marked_where_it_is_counted():
    point = metrics.at_threshold(*case().predictions, threshold=0.2)
    places = {
        GroupRocDisplay: (1 - point.specificity, point.sensitivity),
        FrocDisplay: (point.false_alarms, point.objects_found / point.n_objects),
        PrecisionRecallDisplay: (point.sensitivity, point.precision),
    }
    for kind, place in places.items():
        display = kind.from_predictions(*case().predictions, threshold=0.2, ax=axes())
        (marked,) = [e for e in display.ax_.get_lines() if e.get_label() == "threshold 0.2"]
        assert_allclose((marked.get_xdata()[0], marked.get_ydata()[0]), place)


def test_the_threshold_of_the_estimator_can_be_marked():
    data, model = case().data, GroupClassifier().fit(*case().args).set_threshold(0.25)
    display = ScoreDistributionDisplay.from_estimator(
        model, data.X, data.y, data.groups, threshold="estimator", ax=axes()
    )
    assert display.threshold == 0.25
    assert "threshold 0.25" in labels(display)[-1]
    with pytest.raises(ValueError, match="use a number"):
        GroupRocDisplay.from_estimator(model, *case().args, threshold="model")


def test_clusters_give_bands_and_intervals():
    resampling = {"clusters": case().data.patient, "n_resamples": 60}
    roc = GroupRocDisplay.from_predictions(*case().predictions, ax=axes(), **resampling)
    band = metrics.roc_band(*case().predictions, fpr=roc.band.x, **resampling)
    assert_array_equal(roc.band.low, band.low)
    assert_array_equal(roc.band.high, band.high)
    assert roc.auc == metrics.bootstrap_interval(*case().predictions, **resampling)
    assert "95 % confidence band" in labels(roc)
    froc = FrocDisplay.from_predictions(*case().predictions, ax=axes(), **resampling)
    assert np.all(froc.band.low <= froc.band.high)
    assert len(froc.ax_.collections) == 1
    assert not FrocDisplay.from_predictions(*case().predictions, ax=axes()).ax_.collections


def test_the_band_of_a_froc_curve_contains_the_curve():
    y, scores, groups = case().predictions
    at = np.array([0.05, 0.2, 1.0])
    curve = metrics.froc_curve(y, scores, groups)
    estimate = [curve.sensitivity[curve.false_alarms <= each].max() for each in at]
    by_group = metrics.froc_sensitivity(y, scores, groups, false_alarms=at)
    assert np.all(by_group.low <= estimate)
    assert np.all(by_group.high >= estimate)
    objects = np.zeros(len(y), dtype=int)
    with pytest.raises(ValueError, match="two clusters"):
        metrics.froc_sensitivity(y, scores, groups, objects, false_alarms=at, clusters=groups)


def test_several_displays_share_axes_with_one_look_each():
    own = axes()
    for name in ("one", "two", "three"):
        GroupRocDisplay.from_predictions(*case().predictions, ax=own, name=name)
    drawn = [line for line in own.get_lines() if line.get_gid() == "groupcm-curve"]
    assert len({line.get_color() for line in drawn}) == 3
    assert [line.is_dashed() for line in drawn] == [False, True, True]
    assert len(own.get_lines()) == 4  # one line of chance
    mine = GroupRocDisplay.from_predictions(*case().predictions, ax=axes(), color="red", lw=3)
    assert mine.ax_.get_lines()[-1].get_color() == "red"


def test_scores_are_those_of_the_winners():
    y, scores, groups = case().predictions
    display = ScoreDistributionDisplay.from_predictions(y, scores, groups, ax=axes())
    winners = {g: scores[groups == g].max() for g in np.unique(groups)}
    positive = {g for g in winners if y[groups == g].any()}
    assert sorted(display.positive) == sorted(winners[g] for g in positive)
    assert labels(display) == ["80 negative", "30 positive"]


def test_reliability_is_that_of_the_metrics():
    data = case().data
    model = CalibratedGroupClassifier(GroupClassifier(), cv=2).fit(*case().args)
    display = ReliabilityDisplay.from_estimator(model, *case().args, n_bins=4, ax=axes())
    p = model.predict_proba_groups(data.X, data.groups)[:, 1]
    expected = metrics.reliability_curve(data.y, p, data.groups, n_bins=4)
    for drawn, computed in zip(display.curve, expected, strict=True):
        assert_array_equal(drawn, computed)
    x, y = curve_of(display)
    assert_array_equal(x, expected.predicted)
    assert_array_equal(y, expected.observed)
    assert display.brier == metrics.group_brier_score(data.y, p, data.groups)
    same = ReliabilityDisplay.from_predictions(data.y, p, data.groups, n_bins=4, ax=axes())
    assert_array_equal(curve_of(same), curve_of(display))
    with pytest.raises(ValueError, match="CalibratedGroupClassifier"):
        ReliabilityDisplay.from_estimator(case().model, *case().args)


def test_reliability_intervals_respect_clusters():
    data = case().data
    _, index = np.unique(data.groups, return_index=True)
    p = np.full(len(index), 0.3)
    alone = metrics.reliability_curve(data.y, p, data.groups, n_bins=1)
    patients = metrics.reliability_curve(data.y, p, data.groups, n_bins=1, clusters=data.groups % 6)
    assert_array_equal(patients.observed, alone.observed)
    assert patients.high[0] - patients.low[0] > alone.high[0] - alone.low[0]


def test_weights_are_drawn_by_size():
    (expected,) = feature_weights(case().model)
    display = WeightsDisplay.from_estimator(case().model, top=4, ax=axes())
    order = np.argsort(-np.abs(expected.trained))[:4]
    assert_allclose([bar.get_width() for bar in display.ax_.patches], expected.trained[order])
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert shown == [expected.names[j] for j in order]


def test_importances_of_trees_are_drawn():
    display = WeightsDisplay.from_estimator(trees(), top=3, ax=axes())
    largest = np.sort(trees().feature_importances_)[::-1][:3]
    assert_allclose([bar.get_width() for bar in display.ax_.patches], largest)
    assert "Importance" in display.ax_.get_xlabel()


def test_a_surrogate_finds_a_linear_score_and_is_labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.0]
    scores = 2 * X[:, 0] - 0.1 * X[:, 1]
    display = WeightsDisplay.from_predictions(X, scores, feature_names=list("abc"), ax=axes())
    deviation = X.std(axis=0)
    assert_allclose(display.values, [2 * deviation[0], -0.1 * deviation[1], 0.0], atol=1e-12)
    assert "linear surrogate" in display.ax_.get_xlabel()
    assert "R² 1.000" in display.ax_.get_xlabel()
    with pytest.raises(ValueError, match="2 names"):
        WeightsDisplay.from_predictions(X, scores, feature_names=["a", "b"])


def test_a_model_without_weights_is_refused():
    from sklearn.svm import SVC

    with pytest.raises(ValueError, match="from_predictions"):
        WeightsDisplay.from_estimator(SVC().fit([[0.0], [1.0]], [0, 1]))


def test_the_path_of_a_search_is_drawn():
    model = GroupClassifierCV(lams=[0.01, 0.5], cv=3).fit(*case().args)
    display = LambdaPathDisplay.from_estimator(model, ax=axes())
    x, y = curve_of(display)
    assert_array_equal(x, model.lams_)
    assert_allclose(y, model.scores_.mean(axis=0))
    assert display.chosen == model.lam_
    assert labels(display)[0] == "mean over 3 folds ± standard error"
    with pytest.raises(ValueError, match="GroupClassifierCV"):
        LambdaPathDisplay.from_estimator(case().model)


def test_the_path_of_scores_is_drawn_in_order():
    y, scores, groups = case().predictions
    display = LambdaPathDisplay.from_predictions(
        [0.9, 0.1], y, [scores, -scores], groups, clusters=groups, n_resamples=50, ax=axes()
    )
    auc = metrics.group_roc_auc(y, scores, groups)
    assert_array_equal(display.lams, [0.1, 0.9])
    assert display.values[1] == auc
    assert display.chosen == 0.9
    assert np.all(display.band.low <= display.values)


def test_the_users_parameters_stay():
    with matplotlib.rc_context({"font.size": 17.0}):
        before = dict(matplotlib.rcParams)
        GroupRocDisplay.from_predictions(*case().predictions)
        WeightsDisplay.from_estimator(case().model)
        assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install \"groupcm\[plots\]\""):
        GroupRocDisplay.from_predictions(*case().predictions)


def test_a_dollar_sign_in_a_name_is_a_dollar_sign():
    display = GroupRocDisplay.from_predictions(*case().predictions, name="$a$", ax=axes())
    display.figure_.canvas.draw()
    assert not display.ax_.get_legend().get_texts()[0].get_parse_math()


def test_another_positive_label_than_the_estimators_is_refused():
    with pytest.raises(ValueError, match="larger for 1"):
        GroupRocDisplay.from_estimator(case().model, *case().args, pos_label=0)
