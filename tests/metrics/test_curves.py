"""Curves and operating points, against scikit-learn and against what must not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import group_maxima, grouped_scores, repeatable
from sklearn.metrics import (
    auc,
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)

from groupcm.metrics import (
    candidate_roc_curve,
    froc_curve,
    group_average_precision,
    group_precision_recall_curve,
    group_roc_auc,
    group_roc_curve,
    operating_point,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0])


def without_inner_points(x, y, thresholds):
    """Leave out, one by one, the points inside a horizontal or vertical stretch."""
    points = list(zip(x, y, thresholds, strict=True))
    kept = [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if not any(before[k] == here[k] == after[k] for k in (0, 1))
    ]
    return np.array([points[0], *kept, points[-1]]).T


@repeatable
@given(grouped_scores())
def test_roc_curve_is_sklearns_on_group_maxima(problem):
    y, scores, groups, _ = problem
    every = roc_curve(*group_maxima(y, scores, groups), drop_intermediate=False)
    curve = group_roc_curve(y, scores, groups)
    assert np.array_equal(np.array(curve), without_inner_points(*every))
    assert auc(curve.fpr, curve.tpr) == pytest.approx(group_roc_auc(y, scores, groups))


@repeatable
@given(grouped_scores())
def test_candidate_roc_curve_is_sklearns(problem):
    y, scores, _, _ = problem
    every = roc_curve(y, scores, drop_intermediate=False)
    assert np.array_equal(np.array(candidate_roc_curve(y, scores)), without_inner_points(*every))


@repeatable
@given(grouped_scores())
def test_precision_and_recall_are_sklearns_on_group_maxima(problem):
    y, scores, groups, _ = problem
    group_y, group_scores = group_maxima(y, scores, groups)
    precision, recall, thresholds = precision_recall_curve(group_y, group_scores)
    expected = dict(zip(thresholds, zip(precision[:-1], recall[:-1], strict=True), strict=True))
    curve = group_precision_recall_curve(y, scores, groups)
    assert [p[0] for p in curve] == [1.0, 0.0, math.inf]
    assert np.all(np.diff(curve.thresholds) < 0)
    for p, r, t in zip(*(values[1:] for values in curve), strict=True):
        assert (p, r) == pytest.approx(expected[t])
    ap = group_average_precision(y, scores, groups)
    assert ap == pytest.approx(average_precision_score(group_y, group_scores))
    assert ap == pytest.approx(np.sum(np.diff(curve.recall) * curve.precision[1:]))


@repeatable
@given(grouped_scores())
def test_order_of_rows_and_monotone_transformations_change_no_curve(problem):
    y, scores, groups, rng = problem
    order = rng.permutation(len(y))
    moved = np.exp(0.5 * scores.astype(np.float64)) - 7
    for curve_of in (group_roc_curve, group_precision_recall_curve, froc_curve):
        curve = curve_of(y, scores, groups)
        for same in (
            curve_of(y[order], scores[order], groups[order]),
            curve_of(y, moved, groups),
            curve_of(np.where(y, "cancer", "no"), scores, groups.astype(str), pos_label="cancer"),
        ):
            assert np.array_equal(same[0], curve[0])
            assert np.array_equal(same[1], curve[1])
        transformed = np.exp(0.5 * curve.thresholds) - 7
        assert curve_of(y, moved, groups).thresholds == pytest.approx(transformed)


@repeatable
@given(grouped_scores(), SHARES)
def test_operating_point_at_a_specificity_is_the_most_sensitive_one(problem, specificity):
    y, scores, groups, _ = problem
    point = operating_point(y, scores, groups, specificity=specificity)
    fpr, tpr, thresholds = roc_curve(*group_maxima(y, scores, groups), drop_intermediate=False)
    allowed = 1 - fpr >= specificity - 1e-12
    best = allowed & (tpr == max(tpr[allowed]))
    assert point.threshold == max(thresholds[best])
    assert point.sensitivity == max(tpr[allowed])
    assert point.specificity == pytest.approx(1 - min(fpr[best]))
    assert point.specificity >= specificity
    assert sensitivity_at_specificity(y, scores, groups, specificity=specificity) == max(
        tpr[allowed]
    )
    curve = group_roc_curve(y, scores, groups)
    assert max(curve.tpr[1 - curve.fpr >= specificity - 1e-12]) == max(tpr[allowed])


@repeatable
@given(grouped_scores(), SHARES)
def test_operating_point_at_a_sensitivity_is_the_most_specific_one(problem, sensitivity):
    y, scores, groups, _ = problem
    point = operating_point(y, scores, groups, sensitivity=sensitivity)
    fpr, tpr, thresholds = roc_curve(*group_maxima(y, scores, groups), drop_intermediate=False)
    allowed = tpr >= sensitivity
    assert point.threshold == max(thresholds[allowed])
    assert point.specificity == pytest.approx(1 - min(fpr[allowed]))


@repeatable
@given(grouped_scores())
def test_youden_is_the_choice_without_a_wish_and_its_counts_are_sklearns(problem):
    y, scores, groups, _ = problem
    group_y, group_scores = group_maxima(y, scores, groups)
    point = operating_point(y, scores, groups)
    fpr, tpr, _ = roc_curve(group_y, group_scores)
    assert point.sensitivity + point.specificity - 1 == pytest.approx(max(tpr - fpr))
    assert np.isfinite(point.threshold)
    table = confusion_matrix(group_y, group_scores >= point.threshold).ravel()
    assert (
        point.true_negatives,
        point.false_positives,
        point.false_negatives,
        point.true_positives,
    ) == tuple(table)
    assert point.precision == pytest.approx(table[3] / (table[1] + table[3]))
    assert point.at(y, scores, groups) == point
    at = {"threshold": point.threshold}
    assert operating_point(y, scores, groups, **at) == point
    assert sensitivity_at_threshold(y, scores, groups, **at) == point.sensitivity
    assert specificity_at_threshold(y, scores, groups, **at) == point.specificity


@pytest.mark.parametrize("n_negative", [10, 20, 30, 50, 70, 1000])
@pytest.mark.parametrize("specificity", [0.7, 0.8, 0.9])
def test_a_specificity_that_is_just_reached_counts(n_negative, specificity):
    y = np.repeat([False, True], [n_negative, 1])
    # The positive group is just below the negative ones that may be false alarms.
    n_alarms = round((1 - specificity) * n_negative)
    scores = np.append(np.arange(n_negative), n_negative - n_alarms - 0.5)
    point = operating_point(y, scores, specificity=specificity)
    assert point.false_positives == round((1 - specificity) * n_negative)


def test_no_false_alarm_is_raised_that_finds_nothing():
    y, scores = np.repeat([0, 1], 20), np.arange(40.0)
    point = operating_point(y, scores, specificity=0.9)
    assert (point.threshold, point.sensitivity, point.specificity) == (20.0, 1.0, 1.0)
    y = np.repeat([1, 0], [1, 20])
    assert operating_point(y, np.arange(21.0), specificity=0.9).threshold == math.inf


def test_a_specificity_out_of_reach_makes_nothing_an_alarm():
    point = operating_point([0, 1, 0], [3.0, 2.0, 1.0], specificity=0.9)
    assert (point.threshold, point.sensitivity, point.specificity) == (math.inf, 0.0, 1.0)
    assert math.isnan(point.precision)
    elsewhere = point.at([0, 1], [9.0, 9.0])
    assert (elsewhere.true_negatives, elsewhere.false_negatives) == (1, 1)


def test_a_threshold_between_two_float32_scores_is_not_rounded_to_one():
    scores = np.array([0.1, 0.2], dtype=np.float32)
    just_above = float(np.nextafter(np.float64(scores[1]), 1.0))
    assert sensitivity_at_threshold([0, 1], scores, threshold=just_above) == 0.0
    assert sensitivity_at_threshold([0, 1], scores, threshold=float(scores[1])) == 1.0


def test_ties_everywhere_tell_nothing():
    y, scores = np.array([0, 1, 0, 1]), np.zeros(4)
    curve = group_roc_curve(y, scores)
    assert (curve.fpr.tolist(), curve.tpr.tolist()) == ([0, 1], [0, 1])
    assert group_roc_auc(y, scores) == 0.5
    assert group_average_precision(y, scores) == 0.5
    assert sensitivity_at_specificity(y, scores) == 0.0
    assert operating_point(y, scores).threshold == 0.0


def test_a_single_positive_group_is_enough():
    y, scores, groups = np.array([0, 1, 0, 0]), np.array([0.2, 0.5, 0.7, 0.1]), [0, 0, 1, 2]
    assert group_roc_auc(y, scores, groups) == 0.5
    assert group_average_precision(y, scores, groups) == 0.5
    assert operating_point(y, scores, groups, sensitivity=1.0).specificity == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"specificity": 1.5}, "specificity=1.5 is not a share"),
        ({"sensitivity": -0.1}, "sensitivity=-0.1 is not a share"),
        ({"threshold": math.nan}, "threshold is NaN"),
        ({"specificity": 0.5, "sensitivity": 0.5}, "specificity and sensitivity are both given"),
    ],
)
def test_bad_wishes_get_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        operating_point([0, 1], [0.0, 1.0], **options)


@pytest.mark.parametrize("of", [group_roc_curve, group_precision_recall_curve, operating_point])
def test_thresholds_need_finite_scores(of):
    with pytest.raises(ValueError, match="scores is infinite at row 1; a threshold needs finite"):
        of([0, 1, 0], [1.0, np.inf, 2.0])
