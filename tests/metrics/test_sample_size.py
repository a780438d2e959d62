"""The number of patients for a width or a power: promises kept, properties, bad input."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from groupcm.metrics import (
    FewClustersWarning,
    SampleSize,
    bootstrap_interval,
    compare,
    sample_size,
    sensitivity_at_threshold,
)
from groupcm.metrics.sample_size import _smooth_widths

FRAMES = 4


def drawn(n, seed, shift=1.5):
    """Return labels, scores of two models and patients."""
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(n), FRAMES)
    y = (patients % 3 == 0) & (rng.random(n * FRAMES) < 0.7)
    effect = rng.standard_normal(n)[patients]
    a, b = rng.standard_normal((2, n * FRAMES))
    return y, shift * y + effect + a, 0.6 * shift * y + effect + b, patients


@pytest.fixture(scope="module")
def pilot():
    return drawn(2000, 0)


def test_studies_of_the_planned_size_have_the_promised_width(pilot):
    y, scores, _, patients = pilot
    found = sample_size(y, scores, clusters=patients, width=0.12, n_studies=400)
    widths = []
    for seed in range(30):
        y, scores, _, patients = drawn(found.n_patients, 100 + seed)
        one = bootstrap_interval(y, scores, clusters=patients, n_resamples=300)
        widths.append(one.high - one.low)
    assert np.mean(widths) == pytest.approx(0.12, rel=0.08)


def test_studies_of_the_planned_size_have_the_promised_power(pilot):
    y, a, b, patients = pilot
    found = sample_size(y, a, other=b, clusters=patients, power=0.7, n_studies=400)
    hits = 0
    for seed in range(80):
        y, a, b, patients = drawn(found.n_patients, 200 + seed)
        hits += compare(y, a, b, clusters=patients, n_resamples=200).p_value < 0.05
    assert hits / 80 == pytest.approx(0.7, abs=0.15)


def test_four_times_the_patients_halve_the_width(pilot):
    y, scores, _, patients = pilot
    options = {"clusters": patients, "n_studies": 300}
    wide = sample_size(y, scores, width=0.12, **options)
    narrow = sample_size(y, scores, width=0.06, **options)
    assert narrow.n_patients / wide.n_patients == pytest.approx(4.0, rel=0.25)


def test_a_smaller_difference_needs_more_patients(pilot):
    y, a, b, patients = pilot
    options = {"other": b, "clusters": patients, "n_studies": 200, "power": 0.8}
    n = [sample_size(y, a, difference=d, **options).n_patients for d in (0.1, 0.05)]
    assert n[1] > 2 * n[0]
    same = sample_size(y, b, **{**options, "other": a}, difference=-0.1)
    assert same.n_patients == pytest.approx(n[0], rel=0.05)


def test_a_sensitivity_at_a_threshold_needs_what_its_binomial_does():
    """One frame per patient: the width is 2 · 1.96 √(p (1 − p) / (n share))."""
    rng = np.random.default_rng(1)
    y = np.arange(2000) % 2 == 0
    scores = rng.random(2000)
    metric = partial(sensitivity_at_threshold, threshold=0.3)
    found = sample_size(y, scores, metric=metric, width=0.1, n_studies=500)
    p = np.mean(scores[y] >= 0.3)
    assert found.n_patients == pytest.approx(2 * p * (1 - p) * (2 * 1.96 / 0.1) ** 2, rel=0.1)


def test_a_metric_of_the_users_own_is_planned_on_rebuilt_rows(pilot):
    y, scores, _, patients = pilot

    def mean_of_positives(y, scores, _):
        return float(np.mean(scores[y == 1]))

    found = sample_size(
        y, scores, clusters=patients, metric=mean_of_positives, width=0.6, n_studies=60
    )
    assert found.metric == "mean_of_positives"
    assert found.n_patients > 30


def test_a_goal_out_of_reach_is_said_and_is_plain_json(pilot):
    y, scores, _, patients = pilot
    found = sample_size(y, scores, clusters=patients, width=0.01, most=200, n_studies=50)
    assert found.n_patients is None
    assert found.words.startswith("more than 200 patients for a 95 % confidence interval")
    assert SampleSize(**json.loads(json.dumps(found.to_dict()))) == found


def test_at_least_ten_patients_of_each_class_are_planned(pilot):
    y, scores, _, patients = pilot
    found = sample_size(y, scores, clusters=patients, width=0.9, n_studies=50)
    share = found.share_positive
    assert found.n_patients == found.sizes[0] == int(np.ceil(10 / share))


def test_few_patients_in_the_pilot_warn_and_one_is_refused():
    y, scores, _, patients = drawn(12, 5)
    with pytest.warns(FewClustersWarning, match="4 clusters"):
        sample_size(y, scores, clusters=patients, width=0.2, n_studies=50)
    with pytest.raises(ValueError, match="all in one cluster"):
        sample_size([0, 1, 1], [0.1, 0.5, 0.3], clusters=[1, 2, 2], width=0.2)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "give one goal"),
        ({"width": 0.1, "power": 0.8}, "give one goal"),
        ({"width": 1.5}, "between 0 and 1"),
        ({"power": 0.8}, "that of a comparison"),
        ({"width": 0.1, "difference": 0.1}, "give it"),
        ({"width": 0.1, "n_studies": 3}, "at least 20"),
    ],
)
def test_bad_input_is_one_sentence(wanted, message):
    with pytest.raises(ValueError, match=message):
        sample_size([0, 1] * 20, np.arange(40.0), **wanted)


def test_equal_scores_differ_by_nothing():
    scores = np.arange(40.0)
    with pytest.raises(ValueError, match="the difference to find is 0"):
        sample_size([0, 1] * 20, scores, other=scores, power=0.8)


def test_widths_next_to_the_edge_do_not_bend_the_curve():
    """A few patients less, and the interval reaches 1 and is several times as wide."""
    sizes = 25.0 * 1.25 ** np.arange(6)
    widths = 0.6 / np.sqrt(sizes)
    at_edge = np.array([True, *[False] * 5])
    widened = np.where(at_edge, 4.0 * widths, widths)
    of_size = _smooth_widths(sizes, widened, at_edge)
    assert of_size(sizes) == pytest.approx(widened, rel=1e-6)
    every = np.arange(25.0, 76.0)
    assert np.all(np.diff(of_size(every)) < 0)


def test_a_plan_names_its_metric_in_words():
    y, scores, _, patients = drawn(80, 3)
    metric = partial(sensitivity_at_threshold, threshold=0.123456)
    found = sample_size(y, scores, clusters=patients, metric=metric, width=0.2, n_studies=50)
    assert found.metric == "sensitivity_at_threshold(threshold=0.123456)"
    assert "interval of the sensitivity at the threshold 0.1235 (" in found.words
    assert np.all(np.diff(found.values) <= 0)
