"""Intervals and paired comparisons, against naive loops, SciPy, DeLong and the truth."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import scipy.stats
from scored import group_maxima, patients_with_frames
from sklearn.metrics import roc_auc_score

from groupcm.metrics import (
    METRICS,
    FewClustersWarning,
    bootstrap_interval,
    compare,
    group_roc_auc,
    group_roc_curve,
    roc_band,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.comparison import normal_p_value
from groupcm.metrics.intervals import auc_bounds
from groupcm.metrics.resampling import Resampling


def delong_parts(y, scores):
    """The area, and what each positive and each negative adds to its variance (DeLong 1988)."""
    positives, negatives = scores[y][:, None], scores[~y]
    wins = (positives > negatives) + 0.5 * (positives == negatives)
    return wins.mean(), wins.mean(axis=1), wins.mean(axis=0)


def delong_error(of_positives, of_negatives):
    return math.sqrt(
        np.var(of_positives, ddof=1) / len(of_positives)
        + np.var(of_negatives, ddof=1) / len(of_negatives)
    )


def ct_ratings():
    """Hanley and McNeil (1982): 109 CT images, rated from 1, definitely normal, to 5."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    ratings = np.arange(1, 6)
    scores = np.concatenate([np.repeat(ratings, normal), np.repeat(ratings, abnormal)])
    return np.repeat([False, True], [58, 51]), scores


def test_the_published_area_and_its_error():
    y, scores = ct_ratings()
    area, of_positives, of_negatives = delong_parts(y, scores)
    error = delong_error(of_positives, of_negatives)
    assert (round(area, 3), round(error, 4)) == (0.893, 0.0307)
    found = bootstrap_interval(y, scores, n_resamples=4000)
    assert found.estimate == pytest.approx(area, abs=1e-12)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def naive_resamples(y, scores, groups, patients, n_resamples, seed):
    """Groups of the drawn patients, one after another."""
    ids = list(dict.fromkeys(patients))
    blocks = np.random.SeedSequence(seed).spawn(-(-n_resamples // 16))
    for k in range(n_resamples):
        if k % 16 == 0:
            generator = np.random.default_rng(blocks[k // 16])
        draws = generator.integers(len(ids), size=len(ids), dtype=np.int32)
        rows = [np.flatnonzero(patients == ids[d]) for d in draws]
        copies = np.repeat(np.arange(len(draws)), [len(r) for r in rows])
        rows = np.concatenate(rows)
        yield y[rows], scores[rows], copies * len(groups) + groups[rows]


def test_an_interval_is_that_of_the_naive_loop():
    y, scores, frame, patient = patients_with_frames(0, n_patients=15)
    order = np.random.default_rng(1).permutation(len(y))
    y, scores, frame, patient = y[order], np.round(scores[order], 1), frame[order], patient[order]
    values = [
        roc_auc_score(*group_maxima(*resample))
        for resample in naive_resamples(y, scores, frame, patient, 100, seed=7)
    ]
    found = bootstrap_interval(
        y, scores, frame, clusters=patient, level=0.8, n_resamples=100, random_state=7
    )
    few = min(len(set(patient[positive])) for positive in split_by_group(y, frame))
    reach = scipy.stats.t.ppf(0.9, few - 1) * math.sqrt(few / (few - 1))
    tail = scipy.stats.norm.cdf(-reach)
    assert 0.05 < tail < 0.1
    assert found == pytest.approx(
        (group_roc_auc(y, scores, frame), *np.quantile(values, [tail, 1 - tail]))
    )


def split_by_group(y, groups):
    """The rows of positive groups, and those of negative ones."""
    is_positive = np.isin(groups, groups[y.astype(bool)])
    return is_positive, ~is_positive


def test_many_clusters_have_the_plain_percentiles():
    values = np.random.default_rng(0).standard_normal(500)
    resampling = Resampling(level=0.9, n_resamples=500, random_state=0)
    plain = np.quantile(values, [0.05, 0.95])
    np.testing.assert_allclose(resampling.bounds(values), plain, rtol=1e-12)
    np.testing.assert_allclose(resampling.bounds(values, 10_000), plain, atol=0.01)
    low, high = resampling.bounds(values, 4)
    assert low < plain[0] - 0.3
    assert high > plain[1] + 0.3


def test_a_class_of_few_patients_is_warned_of():
    patient, scores = np.repeat(np.arange(40), 5), np.arange(200.0)
    options = {"clusters": patient, "n_resamples": 50}
    y = patient < 9
    said = "9 clusters, such as patients, hold positive groups and 31 hold negative.* too narrow"
    with pytest.warns(FewClustersWarning, match=said):
        bootstrap_interval(y, scores, **options)
    with pytest.warns(FewClustersWarning, match="31 clusters.* and 9 hold negative ones"):
        compare(~y, scores, -scores, **options)
    bootstrap_interval(patient < 10, scores, **options)


def test_few_clusters_make_a_difference_less_sure():
    differences = np.random.default_rng(0).normal(0.3, 0.1, 400)
    error = np.std(differences, ddof=1)
    for n_clusters in (2, 5, 30):
        t = 0.3 / error / math.sqrt(n_clusters / (n_clusters - 1))
        expected = 2 * scipy.stats.t.sf(t, n_clusters - 1)
        assert normal_p_value(0.3, differences, n_clusters) == pytest.approx(expected)
    assert normal_p_value(0.3, differences) == pytest.approx(2 * scipy.stats.norm.sf(0.3 / error))


def test_intervals_over_five_patients_hold_the_truth_more_often():
    """Every patient has habits of their own, one in each class."""
    truth = scipy.stats.norm.cdf(0.5)
    rng = np.random.default_rng(5)
    patient, y = np.repeat(np.arange(5), 12), np.tile(np.arange(12) < 4, 5)
    holds = 0
    for _ in range(200):
        habit = rng.standard_normal((5, 2))[patient, y.astype(int)]
        scores = y + habit + rng.standard_normal(60)
        with pytest.warns(FewClustersWarning, match="5 clusters"):
            found = bootstrap_interval(y, scores, clusters=patient, n_resamples=300)
        holds += found.low <= truth <= found.high
    assert holds / 200 > 0.9


def test_groups_drawn_alone_give_scipys_interval():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 3 == 0
    scores = y + rng.standard_normal(200)
    theirs = scipy.stats.bootstrap(
        (np.arange(200),),
        lambda rows: delong_parts(y[rows], scores[rows])[0],
        method="percentile",
        vectorized=False,
        n_resamples=1000,
        rng=rng,
    ).confidence_interval
    ours = bootstrap_interval(y, scores, n_resamples=4000)
    assert ours[1:] == pytest.approx(tuple(theirs), abs=0.01)


@pytest.mark.parametrize("name", METRICS)
def test_any_callable_gives_what_the_named_metric_gives(name):
    y, scores, frame, patient = patients_with_frames(1, n_patients=20)
    options = {"clusters": patient, "n_resamples": 60}
    named = bootstrap_interval(y, scores, frame, metric=name, **options)
    metric = METRICS[name]
    slow = bootstrap_interval(y, scores, frame, metric=lambda *a: metric(*a), **options)
    assert named == pytest.approx(slow)
    assert named == bootstrap_interval(y, scores, frame, metric=metric, **options)
    assert named.low < named.estimate < named.high


def test_a_callable_works_without_groups_too():
    y, scores, _, patient = patients_with_frames(2, n_patients=20)
    options = {"clusters": patient, "n_resamples": 60}
    slow = bootstrap_interval(y, scores, metric=lambda y, s, _: roc_auc_score(y, s), **options)
    assert bootstrap_interval(y, scores, **options) == pytest.approx(slow)


def test_parameters_of_a_partial_are_kept():
    y, scores, frame, _ = patients_with_frames(3)
    at = {
        s: bootstrap_interval(
            y, scores, frame, metric=partial(sensitivity_at_specificity, specificity=s)
        )
        for s in (0.5, 0.95)
    }
    assert at[0.5].low > at[0.95].high
    assert at[0.5].estimate == sensitivity_at_specificity(y, scores, frame, specificity=0.5)


def test_sensitivity_at_a_threshold_varies_as_a_share_does():
    y = np.repeat([False, True], [500, 400])
    scores = np.where(np.arange(900) % 4 == 0, 1.0, 0.0)
    found = bootstrap_interval(y, scores, metric=partial(sensitivity_at_threshold, threshold=0.5))
    assert found.estimate == 0.25
    half_width = 1.96 * math.sqrt(0.25 * 0.75 / 400)
    assert found.high - found.low == pytest.approx(2 * half_width, rel=0.08)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    y, scores, frame, patient = patients_with_frames(4)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("GROUPCM_NUM_THREADS", threads)
        found.append(
            (
                bootstrap_interval(y, scores, frame, clusters=patient, n_resamples=200),
                compare(y, scores, -scores, frame, clusters=patient, n_resamples=200),
                roc_band(y, scores, frame, clusters=patient, n_resamples=200).low.tolist(),
            )
        )
    assert found[0] == found[1]


def test_the_seed_changes_the_resamples():
    y, scores, frame, _ = patients_with_frames(5)
    first, again, other, drawn = (
        bootstrap_interval(y, scores, frame, n_resamples=50, random_state=seed)
        for seed in (1, 1, 2, np.random.default_rng(1))
    )
    assert first == again
    assert len({first, other, drawn}) == 3
    assert first.estimate == other.estimate == drawn.estimate


def test_names_and_order_of_clusters_do_not_matter():
    y, scores, frame, patient = patients_with_frames(6)
    alone = bootstrap_interval(y, scores, frame, n_resamples=100)
    assert bootstrap_interval(y, scores, frame, clusters=frame, n_resamples=100) == alone
    named = np.array([f"frame {f}" for f in frame], dtype=object)
    assert bootstrap_interval(y, scores, named, clusters=named, n_resamples=100) == alone
    together = bootstrap_interval(y, scores, frame, clusters=patient, n_resamples=100)
    assert together != alone
    monotone = bootstrap_interval(y, np.exp(scores), frame, clusters=patient, n_resamples=100)
    assert monotone == together


def test_the_band_holds_the_curve_and_the_interval_at_each_specificity():
    y, scores, frame, patient = patients_with_frames(7, n_patients=100)
    grid = np.array([0.0, 0.1, 0.25, 0.5, 1.0])
    band = roc_band(y, scores, frame, fpr=grid, clusters=patient, n_resamples=300)
    curve = group_roc_curve(y, scores, frame)
    estimate = np.array([max(curve.tpr[curve.fpr <= f]) for f in grid])
    assert np.all((band.low <= estimate) & (estimate <= band.high))
    for k, f in enumerate(grid):
        interval = bootstrap_interval(
            y,
            scores,
            frame,
            metric=partial(sensitivity_at_specificity, specificity=1 - f),
            clusters=patient,
            n_resamples=300,
        )
        assert (band.low[k], band.high[k]) == pytest.approx(interval[1:])
    assert len(roc_band(y, scores, frame, n_resamples=20).low) == 101


def test_comparing_agrees_with_delong_on_independent_groups():
    rng = np.random.default_rng(8)
    p_values = []
    for _ in range(12):
        y = rng.random(200) < 0.4
        shared = rng.standard_normal(200)
        a, b = (shift * y + shared + 0.7 * rng.standard_normal(200) for shift in (1.0, 0.7))
        (area_a, *parts_a), (area_b, *parts_b) = delong_parts(y, a), delong_parts(y, b)
        error = delong_error(parts_a[0] - parts_b[0], parts_a[1] - parts_b[1])
        z = (area_a - area_b) / error
        found = compare(y, a, b)
        assert found.difference.estimate == pytest.approx(area_a - area_b)
        p_values.append((2 * scipy.stats.norm.sf(abs(z)), found.p_value))
    theirs, ours = np.array(p_values).T
    assert np.min(theirs) < 0.05 < np.max(theirs)
    assert ours == pytest.approx(theirs, abs=0.04)


def test_comparing_is_paired_and_changes_its_sign_with_the_sides():
    y, scores, frame, patient = patients_with_frames(9)
    nearly = scores + 0.05 * np.random.default_rng(0).standard_normal(len(y))
    found = compare(y, scores, nearly, frame, clusters=patient)
    width = found.difference.high - found.difference.low
    assert width < 0.3 * (found.a.high - found.a.low)
    other = compare(y, nearly, scores, frame, clusters=patient)
    assert (other.a, other.b, other.p_value) == (found.b, found.a, found.p_value)
    assert other.difference.low == pytest.approx(-found.difference.high)
    assert found.a == bootstrap_interval(y, scores, frame, clusters=patient)
    assert (found.n_resamples, found.metric) == (2000, "group_roc_auc")


def test_equal_scores_do_not_differ():
    y, scores, frame, _ = patients_with_frames(10)
    for same in (scores, 2 * scores + 1):
        found = compare(y, scores, same, frame, n_resamples=50)
        assert found.difference == (0, 0, 0)
        assert found.p_value == 1


def test_a_difference_that_never_varies_is_as_unlikely_as_the_resamples_can_tell():
    y = np.arange(40) % 2 == 0
    found = compare(y, y * 1.0, -1.0 * y, n_resamples=99)
    assert (found.difference.estimate, found.p_value) == (1.0, 0.01)


def test_ties_everywhere_are_one_half_for_sure():
    y = np.arange(20) % 2
    assert bootstrap_interval(y, np.zeros(20), n_resamples=50) == (0.5, 0.5, 0.5)
    assert compare(y, np.zeros(20), np.ones(20), n_resamples=50).p_value == 1


def test_one_positive_group_has_an_estimate_and_no_interval():
    y, scores = np.array([0, 1, 0, 0, 0]), np.array([0.1, 0.9, 0.3, 0.2, 0.0])
    with pytest.warns(FewClustersWarning, match="the only positive group is in one cluster"):
        found = bootstrap_interval(y, scores)
    assert found.estimate == 1.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    with pytest.warns(FewClustersWarning, match="bounds are NaN"):
        band = roc_band(y, scores, fpr=[0.0, 0.5])
    assert np.isnan(band).all()
    with pytest.warns(FewClustersWarning, match="bounds are NaN"):
        compared = compare(y, scores, -scores)
    assert compared.difference.estimate == 1.0
    assert math.isnan(compared.p_value)
    assert compared.n_resamples == 0


def test_patients_of_one_class_only_are_counted():
    y = np.array([1, 1, 0, 0, 0, 0])
    with pytest.warns(FewClustersWarning, match="all 4 negative groups are in one cluster"):
        bootstrap_interval(y, y * 1.0, clusters=[1, 2, 3, 3, 3, 3])


def test_a_metric_of_candidates_counts_candidates():
    y, groups = np.array([1, 1, 1, 0, 0, 0]), [1, 1, 1, 2, 2, 3]
    with pytest.warns(FewClustersWarning, match="all 3 positive candidates are in one cluster"):
        bootstrap_interval(y, y * 1.0, groups, metric="candidate_roc_auc")


def test_many_resamples_of_one_class_are_left_out_and_counted():
    y, scores = np.repeat([1, 0], [2, 30]), np.arange(32.0)
    with pytest.warns(FewClustersWarning, match=r"\d+ of 1000 resamples hold one class") as caught:
        found = bootstrap_interval(y, scores, n_resamples=1000)
    left_out = int(str(caught[0].message).split()[0])
    # A resample misses both positives with probability (30/32)^32.
    assert left_out == pytest.approx(1000 * (30 / 32) ** 32, abs=50)
    assert 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"clusters": list("ppqrst")},
            "group a belongs to two clusters, p and q .*; all",
        ),
        ({"clusters": list("pq")}, r"clusters must hold .* shape \(6,\) to match y; got .*\(2,\)"),
        ({"clusters": [1, 1, 1, 2, np.nan, 3]}, "clusters has no id at row 4"),
        ({"level": 95}, "level=95 is not valid"),
        ({"n_resamples": 1}, "n_resamples=1 must be a whole number, at least 2"),
        ({"n_resamples": 2.5}, "n_resamples=2.5 must be"),
        ({"metric": "auc"}, "'auc' is not a metric"),
    ],
)
def test_bad_input_gets_one_sentence(options, message):
    given = ([1, 0, 0, 0, 1, 0], np.arange(6.0), list("abacde"))
    for call in (bootstrap_interval, lambda y, s, g, **o: compare(y, s, s, g, **o)):
        with pytest.raises(ValueError, match=message) as caught:
            call(*given, **options)
        assert ". " not in str(caught.value)


@pytest.mark.parametrize("fpr", [[0.5, 0.1], [-0.1, 0.5], [0.5, 1.1], [[0.5]], [np.nan]])
def test_a_band_needs_rising_rates(fpr):
    with pytest.raises(ValueError, match="fpr must hold rising numbers between 0 and 1"):
        roc_band([0, 1], [0.0, 1.0], fpr=fpr)


def test_the_score_interval_of_an_area_solves_its_equation():
    """Newcombe (2006), method 5: the bounds are t standard errors, at the bound, from the area."""

    def deviations(area, theta, m, n):
        more = (m + n) / 2 - 1
        spread = 1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (area - theta) / math.sqrt(theta * (1 - theta) * spread / (m * n))

    for area, m, n, t in [(1.0, 18, 100, 1.96), (0.9, 12, 7, 2.4), (0.5, 30, 30, 1.6)]:
        low, high = auc_bounds(area, m, n, t)
        assert low < area <= high
        assert deviations(area, low, m, n) == pytest.approx(t)
        if area < 1:
            assert deviations(area, high, m, n) == pytest.approx(-t)
        assert auc_bounds(1 - area, m, n, t) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    "metric",
    [
        *METRICS,
        partial(sensitivity_at_threshold, threshold=0.5),
        partial(specificity_at_threshold, threshold=0.5),
    ],
)
def test_a_separation_without_errors_still_has_an_interval(metric):
    y = np.repeat([True, False], [18, 100])
    scores = y + 0.1 * np.random.default_rng(0).random(118)
    found = bootstrap_interval(y, scores, metric=metric, n_resamples=50)
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert 0.6 < found.low < 0.97
    # More groups say more; groups of few patients do not.
    many = bootstrap_interval(
        np.repeat(y, 10), np.repeat(scores, 10), metric=metric, n_resamples=50
    )
    assert found.low + 0.01 < many.low < 1.0
    patients = np.repeat(np.arange(118), 10)
    same = bootstrap_interval(
        np.repeat(y, 10), np.repeat(scores, 10), clusters=patients, metric=metric, n_resamples=50
    )
    assert same == pytest.approx(found)
    assert bootstrap_interval(y, scores, metric=metric, level=0.8, n_resamples=50).low > found.low


def test_the_wrong_way_round_is_the_other_edge():
    y = np.repeat([True, False], [18, 100])
    right, wrong = (bootstrap_interval(y, sign * y, n_resamples=50) for sign in (1.0, -1.0))
    assert wrong == pytest.approx((0.0, 0.0, 1 - right.low))


def test_few_errors_near_the_edge_are_no_surer_than_none():
    y = np.repeat([True, False], [18, 100])
    scores = y + 0.1 * np.random.default_rng(0).random(118)
    without = bootstrap_interval(y, scores, n_resamples=300)
    scores[0] = np.sort(scores[~y])[-1] - 1e-9  # one positive group is below one negative group
    one_pair = bootstrap_interval(y, scores, n_resamples=300)
    assert one_pair.estimate < 1
    assert one_pair.low < without.low


def test_a_band_at_the_edge_does_not_collapse():
    y = np.repeat([True, False], [18, 100])
    band = roc_band(y, y * 1.0, fpr=[0.0, 0.1, 0.9, 1.0], n_resamples=50)
    assert (band.high == 1).all()
    assert band.low[0] == band.low[1] == pytest.approx(0.8, abs=0.02)
    assert band.low[2] == 0.9  # what guessing finds
    assert band.low[3] == 1.0


def test_models_that_make_no_error_may_still_differ():
    y = np.repeat([True, False], [18, 100])
    rng = np.random.default_rng(0)
    a, b = (y + 0.1 * rng.random(118) for _ in range(2))
    found = compare(y, a, b, n_resamples=50)
    assert (found.difference.estimate, found.p_value) == (0.0, 1.0)
    assert found.difference.low == pytest.approx(found.a.low - 1)
    assert found.difference.high == pytest.approx(1 - found.b.low)
    assert compare(y, a, 2 * a, n_resamples=50).difference == (0.0, 0.0, 0.0)
    # Against a model that errs, the interval is no narrower than what is open of both.
    erring = compare(y, a, y + rng.standard_normal(118), n_resamples=50)
    assert erring.difference.low < erring.difference.estimate - (1 - erring.a.low)


def test_a_function_that_never_varies_has_an_unknown_interval():
    y = np.arange(20) % 2
    found = bootstrap_interval(y, y * 1.0, metric=lambda y, s, g: 0.7, n_resamples=20)
    assert found.estimate == 0.7
    assert np.isnan(found[1:]).all()


def test_intervals_of_nearly_perfect_scores_hold_the_truth():
    """Without the widening at the edge about two thirds of these intervals hold the true area."""
    n_positive, n_negative, n_studies = 15, 60, 200
    shift = 3.6
    truth = scipy.stats.norm.cdf(shift / math.sqrt(2))
    rng = np.random.default_rng(12)
    y = np.repeat([True, False], [n_positive, n_negative])
    holds, n_perfect = 0, 0
    for _ in range(n_studies):
        found = bootstrap_interval(y, shift * y + rng.standard_normal(75), n_resamples=100)
        n_perfect += found.estimate == 1
        holds += found.low <= truth <= found.high
    assert 0.2 < n_perfect / n_studies < 0.5
    assert holds / n_studies >= 0.93


@pytest.mark.slow
def test_intervals_over_patients_hold_the_truth_as_often_as_they_say():
    """Patients are positive or negative throughout, so the true area is that of two normals."""
    habit, shift, frames = 1.0, 1.0, 5
    truth = scipy.stats.norm.cdf(shift / math.sqrt(2 * (1 + habit**2)))
    rng = np.random.default_rng(11)
    patient = np.repeat(np.arange(80), frames)
    y = patient < 40
    holds = {"patients": 0, "frames": 0}
    for _ in range(200):
        scores = shift * y + habit * rng.standard_normal(80)[patient] + rng.standard_normal(400)
        for name, clusters in (("patients", patient), ("frames", None)):
            found = bootstrap_interval(y, scores, clusters=clusters, n_resamples=300)
            holds[name] += found.low <= truth <= found.high
    assert 0.90 <= holds["patients"] / 200 <= 0.99
    assert holds["frames"] / 200 < 0.85


def test_a_band_rises_with_the_false_positive_rate_where_resamples_reach_1():
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(36), 10)
    y = (patients % 3 == 0) & (rng.random(360) < 0.6)
    scores = 3.0 * y + rng.standard_normal(36)[patients] + rng.standard_normal(360)
    band = roc_band(y, scores, clusters=patients, n_resamples=100)
    assert band.high[50] == 1.0
    assert np.all(np.diff(band.low) >= 0)
    assert np.all(np.diff(band.high) >= 0)
