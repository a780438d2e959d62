"""Areas under ROC curves, against scikit-learn and against what must not matter."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scored import group_maxima, grouped_scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupcm.metrics import (
    METRICS,
    GroupScorer,
    candidate_roc_auc,
    group_average_precision_scorer,
    group_partial_auc,
    group_partial_auc_scorer,
    group_roc_auc,
    group_roc_auc_scorer,
    index_groups,
    metric_name,
    metric_named,
    sensitivity_at_specificity,
    sensitivity_at_specificity_scorer,
)
from groupcm.metrics.registry import RESAMPLED, weighted_value
from groupcm.metrics.roc import rank


def slow_group_auc(y, scores, groups):
    """The definition, by scikit-learn on maxima taken group by group."""
    return roc_auc_score(*group_maxima(y, scores, groups))


@given(grouped_scores())
def test_group_auc_is_sklearns_on_group_maxima(problem):
    y, scores, groups, _ = problem
    expected = slow_group_auc(y, scores, groups)
    assert group_roc_auc(y, scores, groups) == pytest.approx(expected, abs=1e-12)
    by_group = np.argsort(groups, kind="stable")
    together = group_roc_auc(y[by_group], scores[by_group], groups[by_group])
    assert together == pytest.approx(expected, abs=1e-12)


@given(grouped_scores())
def test_candidate_auc_is_sklearns(problem):
    y, scores, _, _ = problem
    assert candidate_roc_auc(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert group_roc_auc(y, scores) == candidate_roc_auc(y, scores)
    assert group_roc_auc(y, scores, np.arange(len(y))) == candidate_roc_auc(y, scores)


@given(grouped_scores())
def test_order_of_rows_names_of_groups_and_scale_do_not_matter(problem):
    y, scores, groups, rng = problem
    auc = group_roc_auc(y, scores, groups)
    order = rng.permutation(len(y))
    assert group_roc_auc(y[order], scores[order], groups[order]) == auc
    assert group_roc_auc(y, np.exp(0.5 * scores) - 7, groups) == auc
    assert group_roc_auc(y, -scores, np.arange(len(y))) == pytest.approx(
        1 - candidate_roc_auc(y, scores), abs=1e-12
    )
    names = np.array([f"frame {g}" for g in groups])
    for other in (names, names.astype(object), groups * -1.5, groups.astype("M8[s]")):
        assert group_roc_auc(y, scores, other) == auc


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1, 2), (False, True), ("no", "yes")])
def test_the_larger_label_is_positive(labels):
    y = np.array(labels)[[0, 1, 0]]
    assert candidate_roc_auc(y, [0.0, 1.0, 0.5]) == 1.0


def test_infinite_scores_are_ordered_and_tie():
    assert candidate_roc_auc([0, 1, 0, 1], [-np.inf, np.inf, np.inf, 0.0]) == 0.625


def test_columns_of_data_frames_are_taken():
    y, scores, groups = [0, 1, 0, 0], [0.5, 1.0, 2.0, 0.1], ["b", "a", "b", "c"]
    for frame in (pd.Series, pl.Series):
        assert group_roc_auc(frame(y), frame(scores), frame(groups)) == 0.5


@pytest.mark.parametrize(
    ("y", "scores", "groups", "message"),
    [
        ([0, 0], [1, 2], None, "y holds only the label 0; these metrics need both classes"),
        (["a", "a"], [1, 2], None, "y holds only the label a; these metrics need both classes"),
        ([0, 1, 2], [1, 2, 3], None, "y holds more than two labels"),
        (["a", "b", "c"], [1, 2, 3], None, "y holds more than two labels"),
        ([0, 1], [1, 2], [5, 5], "every group is positive; .* one negative group"),
        ([0.0, np.nan], [1, 2], None, "y has no label at row 1"),
        ([], [], None, "y must hold one label per candidate"),
        ([0, 1], [1, np.nan], None, "scores is NaN at row 1"),
        ([0, 1], [[1], [2]], None, r"scores must .* shape \(2,\) to match y; got shape \(2, 1\)"),
        ([0, 1], [1, 2, 3], None, r"got shape \(3,\)"),
        ([0, 1], ["high", "low"], None, "scores must hold one number .* such as .*high"),
        ([0, 1], [1, 2], [1, 2, 3], "y has 2 rows but groups has 3"),
        ([0, 1], [1, 2], [[1, 2]], r"groups must hold one id per candidate.*\(1, 2\)"),
        ([0, 1], [1, 2], [1.0, np.nan], "groups has no id at row 1"),
        ([0, 1], [1, 2], ["a", None], "groups has no id at row 1"),
        ([0, 1], [1, 2], pd.array(["a", None], dtype="string"), "groups has no id at row 1"),
    ],
)
def test_bad_input_gets_one_sentence(y, scores, groups, message):
    with pytest.raises(ValueError, match=message) as caught:
        group_roc_auc(y, scores, groups)
    assert str(caught.value).endswith(".")
    assert ". " not in str(caught.value)


@given(grouped_scores())
def test_index_numbers_groups_by_appearance_and_finds_winners(problem):
    _, scores, groups, _ = problem
    index = index_groups(groups)
    assert index.ids.tolist() == list(dict.fromkeys(groups.tolist()))
    assert np.array_equal(index.ids[index.codes], groups)
    rows_of = [np.flatnonzero(groups == g) for g in index.ids]
    expected = [rows[np.argmax(scores[rows])] for rows in rows_of]
    assert index.winners(scores).tolist() == expected
    assert np.array_equal(index.maxima(scores), scores[expected])
    assert index.stand_together == all(np.all(np.diff(rows) == 1) for rows in rows_of)
    both = np.stack([scores, -scores], axis=1)
    assert np.array_equal(index.maxima(both)[:, 1], index.maxima(-scores))
    assert np.array_equal(index.winners(both)[:, 1], index.winners(-scores))


def test_index_takes_ids_of_mixed_types():
    index = index_groups(np.array(["a", 1, "a", (2, 3)], dtype=object))
    assert index.ids.tolist() == ["a", 1, (2, 3)]
    assert index.codes.tolist() == [0, 1, 0, 2]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def problem_with_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    X = rng.standard_normal((300, 3))
    y = ((np.arange(300) % 5 == 2) & (groups % 2 == 0)).astype(int)
    X[y == 1] += 1.0
    order = rng.permutation(300)
    return X[order], y[order], groups[order]


def by_hand(model, X, y, groups):
    scores = []
    for train, test in GroupKFold(3).split(X, y, groups):
        fitted = model.fit(X[train], y[train])
        scores.append(slow_group_auc(y[test], fitted.decision_function(X[test]), groups[test]))
    return scores


@pytest.mark.usefixtures("routing")
def test_scorer_works_in_cross_validation_with_any_pipeline():
    X, y, groups = problem_with_groups()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    routed = {"cv": GroupKFold(3), "params": {"groups": groups}}
    found = cross_val_score(model, X, y, scoring=group_roc_auc_scorer, **routed)
    assert found == pytest.approx(by_hand(model, X, y, groups))
    several = cross_validate(
        model, X, y, scoring={"group": group_roc_auc_scorer, "row": "roc_auc"}, **routed
    )
    assert several["test_group"] == pytest.approx(found)
    assert not np.allclose(several["test_row"], found)


@pytest.mark.usefixtures("routing")
def test_scorer_works_in_a_grid_search_and_under_another_name():
    X, y, groups = problem_with_groups()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.01, 1.0]}
    search = GridSearchCV(model, grid, scoring=group_roc_auc_scorer, cv=GroupKFold(3))
    search.fit(X, y, groups=groups)
    best = search.best_estimator_
    assert search.best_score_ == pytest.approx(np.mean(by_hand(best, X, y, groups)))
    renamed = group_roc_auc_scorer.set_score_request(groups="frame")
    found = cross_val_score(model, X, y, scoring=renamed, cv=3, params={"frame": groups})
    assert np.isfinite(found).all()
    assert group_roc_auc_scorer.get_metadata_routing().score.requests == {"groups": True}


def test_scorer_falls_back_to_probabilities_and_is_picklable():
    X, y, groups = problem_with_groups()
    forest = RandomForestClassifier(5, random_state=0).fit(X[:150], y[:150])
    scorer = pickle.loads(pickle.dumps(group_roc_auc_scorer))
    expected = slow_group_auc(y, forest.predict_proba(X)[:, 1], groups)
    assert scorer(forest, X, y, groups=groups) == pytest.approx(expected)


def test_scorer_without_groups_says_how_to_pass_them():
    X, y, _ = problem_with_groups()
    with pytest.raises(ValueError, match=r"got no groups; .*enable_metadata_routing=True"):
        group_roc_auc_scorer(LogisticRegression().fit(X, y), X, y)


def test_every_group_metric_has_a_scorer():
    X, y, groups = problem_with_groups()
    model = LogisticRegression().fit(X[:150], y[:150])
    scores = model.decision_function(X)
    group_y, group_scores = group_maxima(y, scores, groups)
    expected = {
        group_average_precision_scorer: average_precision_score(group_y, group_scores),
        sensitivity_at_specificity_scorer: sensitivity_at_specificity(y, scores, groups),
        GroupScorer(sensitivity_at_specificity, specificity=0.5): sensitivity_at_specificity(
            y, scores, groups, specificity=0.5
        ),
    }
    assert len(set(expected.values())) == 3
    for scorer, value in expected.items():
        copy = pickle.loads(pickle.dumps(scorer)).set_score_request(groups="frame")
        assert copy(model, X, y, groups=groups) == pytest.approx(value)
        assert copy.get_metadata_routing().score.requests == {"groups": "frame"}


def test_metrics_by_name():
    y, scores, groups = (
        np.array([0, 1, 0, 0]),
        np.array([0.5, 0.3, 0.4, 0.1]),
        np.array([0, 0, 1, 2]),
    )
    values = {name: metric_named(name)(y, scores, groups) for name in METRICS}
    assert values == {
        "group_roc_auc": 1.0,
        "candidate_roc_auc": pytest.approx(1 / 3),
        "group_average_precision": 1.0,
        "group_partial_auc": 1.0,
        "sensitivity_at_specificity": 1.0,
    }
    assert metric_named(group_roc_auc) is group_roc_auc
    assert metric_name(group_roc_auc) == metric_name("group_roc_auc") == "group_roc_auc"


@pytest.mark.parametrize("name", ["accuracy", 3, None])
def test_an_unknown_metric_is_told_the_names(name):
    with pytest.raises(ValueError, match=r"is not a metric; use \"group_roc_auc\", .*callable"):
        metric_named(name)


@pytest.mark.parametrize("module", ["groupcm.metrics", "groupcm.simulate"])
def test_importing_does_not_import_numba(module):
    code = f"import sys, {module}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(grouped_scores(), st.sampled_from([0.05, 0.1, 0.37, 1.0]))
def test_partial_auc_is_sklearns_on_group_maxima(problem, max_fpr):
    y, scores, groups, _ = problem
    maxima = group_maxima(y, scores, groups)
    expected = roc_auc_score(*maxima, max_fpr=max_fpr)
    assert group_partial_auc(y, scores, groups, max_fpr=max_fpr) == pytest.approx(expected)


def test_partial_auc_of_resamples_is_that_of_repeated_groups():
    rng = np.random.default_rng(0)
    y, scores = np.arange(60) % 3 == 0, rng.normal(size=60).round(1)
    ranking = rank(y, scores, np.arange(60), 60)
    count = rng.multinomial(60, np.full(60, 1 / 60))
    for max_fpr in (0.05, 0.1, 0.37, 1.0):
        by_counts = RESAMPLED[group_partial_auc](ranking, max_fpr=max_fpr)(count)
        often = np.repeat(np.arange(60), count)
        expected = roc_auc_score(y[often], scores[often], max_fpr=max_fpr)
        assert by_counts == pytest.approx(expected)
        metric = partial(group_partial_auc, max_fpr=max_fpr)
        assert weighted_value(metric, y, scores, count + 1e-300) == pytest.approx(expected)


def test_partial_auc_has_a_scorer_and_refuses_impossible_rates():
    assert repr(GroupScorer(group_partial_auc, max_fpr=0.05)) == (
        "group_partial_auc_scorer(max_fpr=0.05)"
    )
    assert repr(group_partial_auc_scorer) == "group_partial_auc_scorer"
    with pytest.raises(ValueError, match="max_fpr must be a share above 0, at most 1; got 0"):
        group_partial_auc([0, 1], [0.1, 0.2], max_fpr=0)
