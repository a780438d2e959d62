"""`GroupLoss(objective="partial_auc")` is the loss of the engine, and its slopes are true."""

from __future__ import annotations

import numpy as np
import pytest

import torch
from groupcm import GroupClassifier
from groupcm.simulate import capsule
from groupcm.torch import GroupLoss


@pytest.fixture(scope="module")
def data():
    return capsule(40, n_positive=10, group_size=5)


@pytest.mark.parametrize("max_fpr", [1.0, 0.1])
def test_value_is_that_of_the_engine(data, max_fpr):
    model = GroupClassifier(objective="partial_auc", max_fpr=max_fpr, lam=0.5)
    model.fit(data.X, data.y, data.groups, data.overlap)
    scores = torch.tensor(model.decision_function(data.X))
    loss = GroupLoss(objective="partial_auc", max_fpr=max_fpr)
    value = loss(scores, data.y, data.groups, overlap=data.overlap)
    size = np.abs(model.solution_.weights)
    penalty = 0.5 / len(size) * np.where(size <= 1, size**2 / 2, size - 0.5).sum()
    assert 0.5 * float(value) + penalty == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("loss", ["smoothed_hinge", "logistic"])
@pytest.mark.parametrize("temperature", [None, 0.3])
def test_slopes_are_those_of_differences(data, loss, temperature):
    module = GroupLoss(
        objective="partial_auc", max_fpr=0.3, loss=loss, temperature=temperature, memory=4
    ).eval()
    module.recent = torch.tensor([0.4, 1.3, -0.2])
    scores = torch.randn(100, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = slice(0, 100)
    assert torch.autograd.gradcheck(
        lambda s: module(s, data.y[rows], data.groups[rows]), scores.requires_grad_()
    )


def test_memory_keeps_the_largest_scores_of_recent_groups():
    module = GroupLoss(objective="partial_auc", max_fpr=0.5, loss="hinge", memory=3)
    scores = torch.tensor([0.0, 2.0, 1.0], requires_grad=True)
    labels, groups = [1, 0, 0], [0, 1, 2]
    # The larger of the two negative groups: L(0 − 2) = 3, counted twice.
    assert module(scores, labels, groups).item() == 6.0
    # Now of four, two of them remembered, the two of score 2.
    value = module(scores, labels, groups)
    assert value.item() == 6.0
    value.backward()
    assert scores.grad.tolist() == [-2.0, 1.0, 0.0]
    assert sorted(module.recent.tolist()) == [-2.0, -2.0, -1.0]
    assert not module.state_dict()
    module.eval()(scores, labels, groups)
    assert len(module.recent) == 3


def test_batch_of_one_class_costs_nothing():
    module = GroupLoss(objective="partial_auc")
    scores = torch.tensor([0.5, 0.1], requires_grad=True)
    for labels in ([0, 0], [1, 1]):
        value = module(scores, labels, [0, 1])
        value.backward()
        assert value.item() == 0.0
    assert scores.grad.tolist() == [0.0, 0.0]
