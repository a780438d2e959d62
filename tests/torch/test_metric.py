"""The metric of torch: batches that split groups give what the whole gives."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torch
from groupcm.metrics import METRICS, candidate_roc_auc, sensitivity_at_specificity
from groupcm.torch import GroupMetric

OF_GROUPS = [name for name in METRICS if name != "candidate_roc_auc"]


def make_scored(seed: int):
    rng = np.random.default_rng(seed)
    groups = np.append(rng.integers(12, size=60), [12, 13])
    labels = ((groups < 5) & (rng.random(62) < 0.3)).astype(np.int64)
    labels[-1] = 1
    return rng.normal(size=62).round(1), labels, groups


@settings(derandomize=True, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 62), max_size=5))
@pytest.mark.parametrize("name", OF_GROUPS)
def test_batches_give_what_the_whole_gives(name, seed, cuts):
    scores, labels, groups = make_scored(seed)
    metric = GroupMetric(name)
    for rows in np.split(np.arange(62), sorted(cuts)):
        metric.update(*(torch.tensor(values[rows]) for values in (scores, labels, groups)))
    assert metric.compute() == METRICS[name](labels, scores, groups)


def entries_of(metric: GroupMetric) -> int:
    return sum(map(len, metric._ids))


def test_groups_in_many_batches_are_kept_once(monkeypatch):
    monkeypatch.setattr("groupcm.torch.metric._FEW_ENTRIES", 20)
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=3000), rng.integers(30, size=3000)
    labels = (groups < 9) & (rng.random(3000) < 0.01)
    metric, most = GroupMetric(), 0
    for rows in np.split(np.arange(3000), 1000):
        metric.update(scores[rows], labels[rows], [f"frame {g}" for g in groups[rows]])
        most = max(most, entries_of(metric))
    assert most <= 2 * 30 + 3
    assert metric.compute() == METRICS["group_roc_auc"](labels, scores, groups)
    metric.reset()
    metric.update([0.1, 0.9], [0, 1], [0, 1])
    assert metric.compute() == 1.0


def test_one_group_a_thousand_times_is_few_entries():
    metric = GroupMetric()
    for _ in range(3000):
        metric.update([0.5], [1], [7])
    assert entries_of(metric) <= 1000


def test_reset_forgets():
    metric = GroupMetric()
    metric.update([0.1, 0.9], [1, 0], [0, 1])
    assert metric.compute() == 0.0
    metric.reset()
    metric.update([0.1, 0.9], [0, 1], [0, 1])
    assert metric.compute() == 1.0


def test_a_callable_and_names_of_groups():
    metric = GroupMetric(partial(sensitivity_at_specificity, specificity=0.5))
    metric.update([0.1, 0.9, 0.5], [0, 0, 1], ["frame 1", "frame 10", "a"])
    metric.update([0.8], [0], ["frame 1"])
    assert metric.compute() == 0.0
    metric.update([0.85], [0], ["a"])
    assert metric.compute() == 1.0


def test_scores_that_carry_slopes_in_half_precision():
    metric = GroupMetric()
    scores = torch.tensor([0.25, 0.5], dtype=torch.bfloat16, requires_grad=True)
    metric.update(scores, torch.tensor([False, True]), torch.tensor([0, 1]))
    assert metric.compute() == 1.0


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (([0.1], [0, 1], [0, 1]), "scores must hold one number per candidate"),
        (([0.1, np.nan], [0, 1], [0, 1]), "scores is NaN at row 1"),
        (([0.1, 0.2], [0, 2], [0, 1]), "labels must hold one label per candidate, each 0 or 1"),
        (([0.1, 0.2], [0, 1], [0]), "labels has 2 rows but groups has 1"),
    ],
)
def test_mistakes_are_told(batch, message):
    with pytest.raises(ValueError, match=message):
        GroupMetric().update(*batch)


def test_too_little_to_tell_is_told():
    metric = GroupMetric()
    with pytest.raises(ValueError, match="no group has been seen"):
        metric.compute()
    metric.update([], [], [])
    metric.update([0.1, 0.2], [0, 0], [0, 1])
    with pytest.raises(ValueError, match="every group is negative"):
        metric.compute()


@pytest.mark.parametrize("metric", ["candidate_roc_auc", candidate_roc_auc])
def test_metrics_of_candidates_are_refused(metric):
    with pytest.raises(ValueError, match="take a metric of groups"):
        GroupMetric(metric)


def test_unknown_names_are_told():
    with pytest.raises(ValueError, match="'auc' is not a metric"):
        GroupMetric("auc")


def test_the_positive_label_may_be_any():
    scores, groups = [0.1, 0.9, 0.2, 0.7], [0, 1, 1, 2]
    expected = GroupMetric()
    expected.update(torch.tensor(scores), [0, 1, 0, 0], groups)
    for labels, pos_label in ((["no", "call", "no", "no"], "call"), ([1, 0, 1, 1], 0)):
        metric = GroupMetric(pos_label=pos_label)
        for rows in (slice(0, 1), slice(1, 4)):
            metric.update(torch.tensor(scores[rows]), labels[rows], groups[rows])
        assert metric.compute() == expected.compute()
        with pytest.raises(ValueError, match="pos_label is for two labels"):
            metric.update(torch.tensor([0.5]), ["other"], [3])
        metric.reset()
        metric.update(torch.tensor([0.5]), ["other"], [3])
    with pytest.raises(ValueError, match="pos_label must be None or a label"):
        GroupMetric(pos_label=["call"])
