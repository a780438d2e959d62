"""The norm 1 gives weights that are zero, not nearly zero."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier


@pytest.mark.parametrize("loss", ["smoothed_hinge", "hinge"])
def test_norm_1_gives_exact_zeros_and_keeps_the_certificate(loss):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(120), 10)
    X = rng.normal(size=(len(groups), 12))
    y = ((np.arange(len(groups)) % 10 == 0) & (groups % 2 == 0)).astype(int)
    X[y == 1, :2] += 2.0
    tight = GroupClassifier(lam=0.3, loss=loss, penalty="l1", tol=1e-6, random_state=0)
    tight.fit(X, y, groups)
    assert tight.gap_ <= 1e-6
    zero = tight.coef_[0] == 0.0
    assert not zero[:2].any()
    assert zero[2:].sum() >= 5
    assert np.all(np.abs(tight.coef_[0][~zero]) > 1e-6)


def test_other_penalties_are_not_rounded():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    X[:, 5] *= 1e-9  # its weight per unit is large, per standard deviation small
    y = (X[:, 0] > 0.5).astype(int)
    for penalty in ("huber", "l2"):
        assert np.all(GroupClassifier(penalty=penalty, random_state=0).fit(X, y).coef_ != 0.0)
