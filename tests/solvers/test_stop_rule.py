"""A fit ends where its gap is small against the objective and against what weights gain."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from solver_tasks import make_task
from streams import Data, fit_stream, read

from groupcm import GroupClassifier
from groupcm.objective.penalties import Norm1
from groupcm.simulate import capsule
from groupcm.solvers import working_set
from groupcm.solvers.solution import Solution
from groupcm.solvers.stop_rule import StopRule

SMALL_LAM = 1e-6


@pytest.fixture(scope="module")
def data():
    made = capsule(200, n_positive=60, group_size=20, seed=1, world=2)
    return Data(made.X, made.y, made.groups, made.overlap)


@pytest.fixture(scope="module")
def source(data, tmp_path_factory):
    return read(data.write(tmp_path_factory.mktemp("stream") / "rows.parquet", row_group=500))


def test_the_gap_is_compared_with_the_objective_and_with_the_gain():
    rule = StopRule(1e-4, constant=1.0)
    assert rule.is_met(0.5, 0.5 - 4.9e-5)
    assert not rule.is_met(0.5, 0.5 - 5.1e-5)
    # Weights that gain 1e-5 of the objective need a gap of 1e-7.
    assert rule.is_met(1.0 - 1e-5, 1.0 - 1.009e-5)
    assert not rule.is_met(1.0 - 1e-5, 1.0 - 1.02e-5)
    assert replace(rule, share=0.1).allowed(0.5, 0.4) == pytest.approx(0.1 * rule.allowed(0.5, 0.4))
    # Without a gain the gap is compared with the objective alone, and weights that are worse than
    # none are as good as none.
    assert rule.is_met(1.0, 1.0 - 9e-10)
    assert not rule.is_met(1.0, 1.0 - 2e-8)
    assert rule.is_met(1.5, 1.0 - 9e-10)
    assert StopRule(1e-4).is_met(1.0, 1.0 - 9e-5)
    assert not StopRule(1e-4).is_met(np.inf, 1.0)
    assert rule.gains_nothing(1.0)
    assert not rule.gains_nothing(1.0 - 1e-8)


def ranks_like_the_optimum(model: GroupClassifier, reference: GroupClassifier, X) -> bool:
    found, best = X @ model.coef_[0], X @ reference.coef_[0]
    return np.corrcoef(found, best)[0, 1] > 0.995


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"penalty": "l2"},
        {"loss": "hinge"},
        {"loss": "logistic"},
        {"grouping": "none"},
        {"grouping": "both"},
        {"objective": "partial_auc", "max_fpr": 0.3},
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["memory", "stream"])
def test_weights_of_a_small_lam_rank_like_those_of_the_optimum(data, source, parameters, where):
    best = data.fit(lam=SMALL_LAM, tol=1e-8, **parameters)
    if where == "memory":
        model = data.fit(lam=SMALL_LAM, **parameters)
    else:
        model = fit_stream(source, "100kB", lam=SMALL_LAM, **parameters)
    assert model.solution_.converged
    assert model.gap_ <= 1e-4
    assert model.solution_.gap_of_gain <= 1e-2
    assert ranks_like_the_optimum(model, best, data.X)
    # The relative gap alone would accept weights of 0.
    constant = model.solution_.constant
    assert (constant - model.lower_bound_) / constant < 1e-4


def test_the_solver_of_wide_rows_and_the_quasi_newton_one_stop_by_the_same_rule(data):
    wide = np.tile(data.X, (1, 9)) + np.random.default_rng(0).normal(size=(len(data.y), 117))
    for parameters in ({}, {"solver": "lbfgs"}):
        best = data.but(X=wide).fit(lam=SMALL_LAM, tol=1e-8)
        model = data.but(X=wide).fit(lam=SMALL_LAM, **parameters)
        assert model.solution_.converged
        assert ranks_like_the_optimum(model, best, wide)


def test_where_no_weights_gain_anything_they_are_zero(data):
    model = data.fit(lam=1e-4, penalty="l1")
    assert model.solution_.converged
    assert not model.coef_.any()
    assert model.objective_ == model.solution_.constant
    assert model.gap_ <= 1e-9
    assert model.solution_.gap_of_gain == 0.0


def test_a_kept_part_of_the_terms_is_compared_with_the_whole():
    task = make_task(penalty=Norm1())
    positive = [terms for terms in task.terms if terms.sign > 0]
    part = replace(task, terms=positive, constant=task.best_constant())
    assert part.stop_rule == task.stop_rule
    assert replace(part, constant=None).stop_rule != task.stop_rule


def test_an_early_end_names_the_condition_that_does_not_hold(data):
    model = GroupClassifier(SMALL_LAM, max_passes=2)
    with pytest.warns(ConvergenceWarning, match="% of what weights can gain over an intercept"):
        model.fit(data.X, data.y, data.groups, data.overlap)
    assert model.gap_ <= model.tol
    assert not model.solution_.converged


def test_the_share_of_the_gain_is_unknown_of_an_earlier_version():
    found = Solution(np.zeros(2), 0.0, 0.5, 0.4, 1.0, True, [])
    assert found.gap_of_gain == 0.0
    assert replace(found, constant=0.9).gap_of_gain == pytest.approx(0.2)


def test_usual_values_of_lam_end_by_the_relative_gap_alone():
    task = make_task(tol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = working_set.solve(task)
    unknown = working_set.solve(replace(make_task(tol=1e-4), constant=(0.0, np.inf)))
    np.testing.assert_array_equal(found.point, unknown.point)
