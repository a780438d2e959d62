"""Subgroups of an evaluation, and predictive values at a named prevalence."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from groupcm import metrics
from groupcm.data.groups import index_groups
from groupcm.errors import ParameterError
from groupcm.evaluation.listed import EmptyGroups
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.subgroups import MOST_VALUES, NOT_KNOWN, subgroups_of
from groupcm.metrics import Interval, predictive_values

quick = partial(subgroups_of, n_resamples=40)
SITE = np.array(["Bern", "Oslo", "Rome"])


def scored(n_groups=240, **columns) -> ScoredCandidates:
    """Make groups of two candidates; the first is positive in every fourth group."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(n_groups), 2)
    positive = (group % 4 == 0) & (np.arange(2 * n_groups) % 2 == 0)
    return ScoredCandidates(
        index_groups(group),
        score=2.0 * positive + rng.normal(size=2 * n_groups),
        is_positive=positive,
        rows=lambda rows: np.zeros((len(rows), 1)),
        columns=columns,
    )


def test_a_column_of_groups_splits_them():
    data = scored()
    site = SITE[data.index.codes % 3]
    (found,) = quick(replace(data, columns={"site": site}), 1.0)
    assert not found.is_of_objects
    assert [row.value for row in found.rows] == ["Bern", "Oslo", "Rome"]
    for at, row in enumerate(found.rows):
        inside = np.arange(data.n_groups) % 3 == at
        positive, score = data.group_positive[inside], data.group_score[inside]
        assert row.auc is not None
        assert row.sensitivity is not None
        assert row.specificity is not None
        assert row.auc.estimate == pytest.approx(roc_auc_score(positive, score))
        assert row.sensitivity.estimate == np.mean(score[positive] >= 1.0)
        assert row.specificity.estimate == np.mean(score[~positive] < 1.0)
        assert (row.n_positive, row.n_negative) == (positive.sum(), (~positive).sum())
        assert not row.is_small


def test_a_column_of_objects_splits_the_positive_groups():
    data = scored()
    size = np.where(data.is_positive, 1.0 + data.index.codes % 3, np.nan)
    (found,) = quick(replace(data, columns={"size": size}), 1.0)
    assert found.is_of_objects
    assert [row.value for row in found.rows] == ["1", "2", "3"]
    assert sum(row.n_positive for row in found.rows) == data.n_positive
    assert {row.n_negative for row in found.rows} == {data.n_groups - data.n_positive}
    positive = data.group_positive & (np.arange(data.n_groups) % 3 == 1)
    kept = positive | ~data.group_positive
    second = found.rows[1].auc
    assert second is not None
    assert second.estimate == pytest.approx(roc_auc_score(positive[kept], data.group_score[kept]))


def test_a_group_has_the_value_of_its_best_positive_candidate():
    index = index_groups(np.repeat(np.arange(24), 2))
    positive = index.codes < 12
    score = np.tile([0.0, 1.0], 24) + index.codes / 100
    kind = np.tile(["small", "large"], 24)
    data = ScoredCandidates(
        index, score, positive, lambda rows: np.zeros((len(rows), 1)), columns={"kind": kind}
    )
    (by_score,) = quick(data, 0.5)
    assert [(row.value, row.n_positive) for row in by_score.rows] == [("large", 12)]
    overlap = np.tile([0.9, 0.1], 24)
    (by_overlap,) = quick(replace(data, overlap=overlap), 0.5)
    assert [(row.value, row.n_positive) for row in by_overlap.rows] == [("small", 12)]


def test_many_numbers_are_split_at_their_quartiles():
    data = scored()
    age = (data.index.codes * 7 % 120).astype(float)
    (found,) = quick(replace(data, columns={"age": age}), 1.0)
    assert [row.value for row in found.rows] == [
        "up to 29",
        "above 29 up to 59",
        "above 59 up to 89",
        "above 89",
    ]
    sizes = [row.n_positive + row.n_negative for row in found.rows]
    assert sum(sizes) == data.n_groups
    assert max(sizes) - min(sizes) < 12


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_missing_values_are_a_subgroup_of_their_own(missing):
    data = scored()
    values = np.array(["Bern", missing], dtype=object)[(data.index.codes % 3 == 0).astype(int)]
    (found,) = quick(replace(data, columns={"site": values}), 1.0)
    assert [row.value for row in found.rows] == ["Bern", NOT_KNOWN]
    assert found.rows[1].n_positive == 20


def test_groups_without_candidates_have_the_value_that_the_list_has():
    data = scored()
    site = SITE[data.index.codes % 3]
    empty = EmptyGroups(np.array([900, 901]), np.array([True, True]))
    with pytest.warns(UserWarning, match="1 subgroup with fewer than 10 positive"):
        (found,) = quick(replace(data, columns={"site": site}, empty=empty), 1.0)
    assert (found.rows[-1].value, found.rows[-1].n_positive) == (NOT_KNOWN, 2)
    empty = replace(empty, columns={"site": np.array(["Oslo", "Oslo"])})
    (found,) = quick(replace(data, columns={"site": site}, empty=empty), 1.0)
    assert [row.n_positive for row in found.rows] == [20, 22, 20]


def test_small_subgroups_are_named_in_one_warning():
    data = scored()
    site = np.where(data.index.codes < 20, "Bern", "Oslo")
    device = np.where(data.index.codes < 12, "new", "old")
    data = replace(data, columns={"site": site, "device": device})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = quick(data, 1.0)
    (warned,) = caught
    assert "negative groups (site Bern and device new)" in str(warned.message)
    assert [row.is_small for each in found for row in each.rows] == [True, False, True, False]


def test_patients_make_a_subgroup_small():
    data = scored()
    data = replace(data, by_patient=index_groups(data.index.codes // 30))
    site = np.repeat("Bern", data.index.n_rows)
    with pytest.warns(UserWarning, match="fewer than 10 negative patients"):
        (found,) = quick(replace(data, columns={"site": site}), 1.0)
    assert found.rows[0].is_small
    assert found.rows[0].n_patients == 8


def test_a_subgroup_of_one_class_has_no_auc():
    data = scored()
    kind = np.where(data.group_positive[data.index.codes], "ill", "well")
    with pytest.warns(UserWarning, match="2 subgroups"):
        (found,) = quick(replace(data, columns={"kind": kind}), 1.0)
    ill, well = found.rows
    assert ill.auc is None
    assert well.auc is None
    assert ill.specificity is None
    assert well.sensitivity is None
    assert ill.sensitivity is not None
    assert well.specificity is not None


def test_a_column_of_ids_is_refused():
    data = scored()
    ids = np.array([f"id{code}" for code in data.index.codes])
    with pytest.raises(ValueError, match=f"has 240 values; at most {MOST_VALUES} form subgroups"):
        quick(replace(data, columns={"case": ids}), 1.0)


@given(
    n_found=st.integers(1, 40),
    n_missed=st.integers(0, 40),
    n_quiet=st.integers(1, 40),
    n_false=st.integers(0, 40),
)
def test_at_their_own_prevalence_predictive_values_are_those_of_the_counts(
    n_found, n_missed, n_quiet, n_false
):
    y = [1] * (n_found + n_missed) + [0] * (n_quiet + n_false)
    scores = [1] * n_found + [0] * n_missed + [0] * n_quiet + [1] * n_false
    point = metrics.at_threshold(y, scores, threshold=0.5)
    found = predictive_values(point.sensitivity, point.specificity, np.mean(y))
    assert found.precision.estimate == pytest.approx(point.precision)
    assert found.negative.estimate == pytest.approx(n_quiet / (n_quiet + n_missed))


@given(prevalence=st.floats(0.001, 0.999))
def test_bounds_of_predictive_values_contain_the_estimate(prevalence):
    found = predictive_values(Interval(0.9, 0.8, 0.95), Interval(0.97, 0.9, 0.99), prevalence)
    for value in found:
        assert 0.0 <= value.low <= value.estimate <= value.high <= 1.0


@pytest.mark.parametrize("prevalence", [0.0, 1.0, -0.5, float("nan"), "0.1", True])
def test_a_prevalence_is_a_share(prevalence):
    with pytest.raises(
        ParameterError, match=r"prevalence is .*; it is the share of positive groups"
    ):
        predictive_values(0.9, 0.9, prevalence)
