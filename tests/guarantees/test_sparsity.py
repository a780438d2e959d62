"""The norm 1 gives weights that are zero, not nearly zero."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier
from groupcm.objective.losses import LOSSES, make_loss


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", LOSSES)
def test_norm_1_gives_exact_zeros_and_keeps_the_certificate(loss, penalty):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(120), 10)
    X = rng.normal(size=(len(groups), 12))
    y = ((np.arange(len(groups)) % 10 == 0) & (groups % 2 == 0)).astype(int)
    X[y == 1, :2] += 2.0
    own = {"l1_ratio": 0.9} if penalty == "elasticnet" else {}
    tight = GroupClassifier(lam=0.3, loss=loss, penalty=penalty, **own, tol=1e-6)
    tight.set_params(random_state=0).fit(X, y, groups)
    assert tight.gap_ <= 1e-6
    zero = tight.coef_[0] == 0.0
    assert not zero[:2].any()
    assert zero[2:].sum() >= 5
    assert np.all(np.abs(tight.coef_[0][~zero]) > 1e-6)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("lam", [1e-4, 1e-3, 1e-2])
def test_a_model_that_is_only_an_intercept_has_exact_zeros(lam, penalty):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(len(groups), 8))
    y = ((np.arange(len(groups)) % 5 == 0) & (groups % 2 == 0)).astype(int)
    X[y == 1, :2] += 1.0
    model = GroupClassifier(lam, penalty=penalty, random_state=0).fit(X, y, groups)
    assert np.all(model.coef_ == 0.0)
    assert model.gap_ <= 1e-4


@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("loss", ["smoothed_hinge", "logistic"])
def test_the_elastic_net_fulfils_the_conditions_of_its_optimum(loss, l1_ratio):
    """v_j = ρ (r sign(w_j) + 2 (1 − r) w_j) where w_j ≠ 0, and |v_j| ≤ ρ r where w_j = 0.

    ``v`` is minus the gradient of the losses; ``b`` is free, so the slopes of both sides balance.
    """
    rng = np.random.default_rng(2)
    y = (rng.random(200) < 0.4).astype(int)
    X = rng.normal(size=(200, 8)) + y[:, None] * np.array([1.0, 0.7, 0.3, 0.1, 0, 0, 0, 0])
    lam, settings = 0.2, {"loss": loss, "penalty": "elasticnet", "l1_ratio": l1_ratio}
    model = GroupClassifier(lam, **settings, grouping="none", standardize=False, tol=1e-11)
    w, s = model.fit(X, y).coef_[0], model.decision_function(X)
    assert model.gap_ <= 1e-11
    sign = 2 * y - 1
    weight = np.where(y == 1, lam / np.sum(y == 1), lam / np.sum(y == 0))
    pull = -weight * sign * make_loss(loss).slope(sign * s)
    v, rho = X.T @ pull, (1 - lam) / 8
    assert abs(np.sum(pull)) < 1e-5
    zero = w == 0.0
    assert 0 < np.sum(zero) < 8 or l1_ratio == 0.1
    slope = rho * (l1_ratio * np.sign(w) + 2 * (1 - l1_ratio) * w)
    np.testing.assert_allclose(v[~zero], slope[~zero], atol=1e-5 * rho)
    assert np.all(np.abs(v[zero]) <= rho * l1_ratio * (1 + 1e-5))


def test_other_penalties_are_not_rounded():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    X[:, 5] *= 1e-9  # its weight per unit is large, per standard deviation small
    y = (X[:, 0] > 0.5).astype(int)
    for penalty in ("huber", "l2"):
        assert np.all(GroupClassifier(penalty=penalty, random_state=0).fit(X, y).coef_ != 0.0)
