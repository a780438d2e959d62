"""MI-SVM: the alternation, its solutions against an independent solver, and its ends."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupcm import GroupClassifier, MISVMClassifier, load, save
from groupcm.objective.losses import LOSSES
from groupcm.simulate import capsule
from groupcm.solvers import alternating
from groupcm.solvers import alternating as group_means


def made(seed=0, n_groups=24, size=6, d=4, lift=3.0):
    """Half of the groups are positive: one candidate each is shifted."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), d))
    positive = np.arange(n_groups) % 2 == 0
    on = np.flatnonzero(positive) * size + rng.integers(size, size=positive.sum())
    X[on] += lift / np.sqrt(d)
    return X, positive[groups].astype(int), groups, on


def convex_optimum(Z_positive, X, y, groups, C):
    """``min Σ w² + C (Σ positive hinge + Σ group hinge)``, the first guess given as rows."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    losses = [cp.pos(1 - (z @ w + b)) for z in Z_positive]
    losses += [cp.pos(1 + cp.max(X[groups == g] @ w + b)) for g in np.unique(groups[y == 0])]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) + C * sum(losses)))
    return float(problem.solve(solver=cp.CLARABEL))


def slow_twin(X, y, groups, C, max_rounds=50):
    """The alternation as it is written, each problem solved by cvxpy."""
    positive = np.unique(groups[y == 1])
    Z = np.stack([X[groups == g].mean(axis=0) for g in positive])
    chosen = None
    for _ in range(max_rounds):
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        losses = [cp.pos(1 - (Z @ w + b))]
        losses += [cp.pos(1 + cp.max(X[groups == g] @ w + b)) for g in np.unique(groups[y == 0])]
        cp.Problem(cp.Minimize(cp.sum_squares(w) + C * sum(cp.sum(loss) for loss in losses))).solve(
            solver=cp.CLARABEL
        )
        score = X @ w.value + b.value
        best = [int(np.flatnonzero(groups == g)[np.argmax(score[groups == g])]) for g in positive]
        if best == chosen:
            return np.array(chosen)
        chosen, Z = best, X[best]
    raise AssertionError("did not settle")


@pytest.mark.parametrize("seed", range(4))
def test_the_choices_are_those_of_the_alternation_with_exact_solves(seed):
    # With a smaller C the means say nothing, w = 0, and every choice is a matter of rounding.
    X, y, groups, _ = made(seed, n_groups=12, size=4, d=3, lift=6.0)
    model = MISVMClassifier(C=10.0, standardize=False, tol=1e-7).fit(X, y, groups)
    assert model.outcome_ == "settled"
    np.testing.assert_array_equal(model.witnesses_, slow_twin(X, y, groups, 10.0))


def test_the_last_problem_is_solved_to_its_certificate():
    X, y, groups, _ = made(1)
    model = MISVMClassifier(C=0.7, standardize=False, tol=1e-6).fit(X, y, groups)
    best = convex_optimum(X[model.witnesses_], X, y, groups, 0.7)
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    assert model.lower_bound_ <= best * (1 + 1e-7)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_lam_is_the_group_classifier_on_the_witnesses(loss):
    X, y, groups, _ = made(2)
    model = MISVMClassifier(lam=0.8, loss=loss, tol=1e-6).fit(X, y, groups)
    chosen = np.zeros(len(y), dtype=int)
    chosen[model.witnesses_] = 1
    same = GroupClassifier(lam=0.8, loss=loss, penalty="l2", tol=1e-6).fit(X, chosen, groups)
    assert model.objective_ == pytest.approx(same.objective_, rel=1e-5)


def test_groups_of_one_need_no_choice():
    X, y, _, _ = made(3, n_groups=40, size=1, lift=2.0)
    model = MISVMClassifier(lam=0.6, tol=1e-6).fit(X, y)
    plain = GroupClassifier(lam=0.6, loss="hinge", penalty="l2", tol=1e-6).fit(X, y)
    assert model.n_iter_ == 2
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    np.testing.assert_array_equal(model.witnesses_, np.flatnonzero(y == 1))


def test_witnesses_are_the_winners_of_their_groups_and_mostly_the_true_ones():
    X, y, groups, on = made(4, n_groups=60, lift=6.0)
    model = MISVMClassifier(lam=0.9).fit(X, y, groups)
    found = model.group_scores(X, groups)
    np.testing.assert_array_equal(model.witnesses_, found.winner[::2])
    assert np.mean(model.witnesses_ == on) > 0.9
    assert model.score(X, y, groups) > 0.9


def test_rows_in_any_order_give_the_same_choices():
    X, y, groups, _ = made(5)
    order = np.random.default_rng(0).permutation(len(y))
    one = MISVMClassifier(lam=0.7, tol=1e-6).fit(X, y, groups)
    other = MISVMClassifier(lam=0.7, tol=1e-6).fit(X[order], y[order], groups[order])
    assert set(order[other.witnesses_]) == set(one.witnesses_)
    again = MISVMClassifier(lam=0.7, tol=1e-6).fit(X, y, groups)
    np.testing.assert_allclose(again.coef_, one.coef_, rtol=1e-9)


def test_sparse_rows_are_the_same_as_dense_ones():
    X, y, groups, _ = made(6)
    X[np.abs(X) < 0.5] = 0.0
    dense = MISVMClassifier(lam=0.7, tol=1e-6).fit(X, y, groups)
    sparse = MISVMClassifier(lam=0.7, tol=1e-6).fit(sp.csr_array(X), y, groups)
    np.testing.assert_array_equal(sparse.witnesses_, dense.witnesses_)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-5)


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_means_of_groups_do_not_depend_on_the_blocks(block):
    X, y, groups, _ = made(7, size=5)

    class Rows:
        rows_per_block = block

        def take(self, rows):
            return np.column_stack([X[rows], np.ones(len(rows))])

    start = np.flatnonzero(np.diff(groups, prepend=-1))[::2]
    terms = alternating.Terms(-1, start, start + 5, np.empty(0, dtype=int), 1.0, alone=False)
    means = group_means._group_means(Rows(), terms)
    expected = [X[groups == g].mean(axis=0) for g in np.unique(groups[y == 1])]
    np.testing.assert_allclose(means[:, :-1], expected)
    np.testing.assert_allclose(means[:, -1], 1.0)


def test_too_few_rounds_are_said():
    data = capsule(40, n_positive=20, group_size=30, seed=2)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 problems.*raise max_iter"):
        model = MISVMClassifier(lam=0.9, max_iter=2).fit(data.X, _group_label(data), data.groups)
    assert model.outcome_ == "exhausted"


def test_a_problem_that_is_not_solved_is_said():
    data = capsule(40, n_positive=20, group_size=30, seed=2)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* raise max_passes"):
        model = MISVMClassifier(lam=0.9, max_passes=1e-3).fit(
            data.X, _group_label(data), data.groups
        )
    assert not model.solution_.converged


def test_passes_are_counted_in_each_problem():
    data = capsule(60, n_positive=40, group_size=60, seed=2)
    model = MISVMClassifier(lam=0.9, max_passes=12).fit(data.X, _group_label(data), data.groups)
    assert model.n_passes_ > 12  # of all problems together, and none of them stopped short
    assert model.gap_ <= 1e-4


@pytest.mark.parametrize("problem", [1, 2, 3, 4])
def test_ctrl_c_ends_the_fit(monkeypatch, problem):
    data = capsule(40, n_positive=20, group_size=30, seed=2)
    real, calls = alternating.working_set.solve, []

    def interrupted(*arguments, **options):
        calls.append(real(*arguments, **options))
        return replace(calls[-1], interrupted=len(calls) == problem, converged=False)

    monkeypatch.setattr(alternating.working_set, "solve", interrupted)
    model = MISVMClassifier(lam=0.9)
    if problem <= 2:  # The problem of the means, whose weights are 0, and the one instead of it.
        with pytest.raises(KeyboardInterrupt):
            model.fit(data.X, _group_label(data), data.groups)
    else:
        with pytest.warns(ConvergenceWarning, match="it was interrupted"):
            model.fit(data.X, _group_label(data), data.groups)
        assert model.outcome_ == "interrupted"
    assert len(calls) == problem


def test_a_cycle_ends_and_is_said(monkeypatch):
    X, y, groups, _ = made(8)
    first = np.flatnonzero(np.diff(groups, prepend=-1))[::2]
    turns = iter([first + 1, first, first + 1, first])
    monkeypatch.setattr(alternating, "_better", lambda *a: next(turns))
    monkeypatch.setattr(alternating, "_is_trivial", lambda *a: False)
    with pytest.warns(ConvergenceWarning, match="cycle"):
        model = MISVMClassifier(lam=0.5).fit(X, y, groups)
    assert model.outcome_ == "cycled"
    assert model.n_iter_ <= 4


def _group_label(data):
    positive = np.unique(data.groups[data.y == 1])
    return np.isin(data.groups, positive).astype(int)


def test_where_the_means_tell_nothing_single_negatives_choose():
    # The mean of every positive group lies among the candidates of the negative ones.
    X, y, groups, on = made(10, n_groups=60, size=40, d=3, lift=6.0)
    first = alternating.working_set.solve
    points = []

    def watched(task, *arguments, **options):
        points.append(first(task, *arguments, **options))
        return points[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternating.working_set, "solve", watched)
        model = MISVMClassifier(lam=0.1, tol=1e-6).fit(X, y, groups)
    assert np.abs(points[0].weights).max() < 1e-5
    assert np.mean(model.witnesses_ == on) > 0.8
    loose = MISVMClassifier(lam=0.1, tol=1e-3).fit(X, y, groups)
    np.testing.assert_array_equal(loose.witnesses_, model.witnesses_)


def test_only_the_labels_of_groups_matter():
    data = capsule(40, n_positive=20, group_size=10, seed=3)
    marked = MISVMClassifier(lam=0.5).fit(data.X, data.y, data.groups)
    told = MISVMClassifier(lam=0.5).fit(data.X, _group_label(data), data.groups)
    np.testing.assert_array_equal(marked.witnesses_, told.witnesses_)


def test_a_saved_model_knows_its_witnesses(tmp_path):
    X, y, groups, _ = made(9)
    model = MISVMClassifier(lam=0.7).fit(X, y, groups)
    save(model, tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    np.testing.assert_array_equal(back.witnesses_, model.witnesses_)
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"max_iter": 1}, "max_iter must be at least 2"),
        ({"lam": 1.5}, "lam must be a number between 0 and 1"),
    ],
)
def test_wrong_parameters(change, sentence):
    X, y, groups, _ = made()
    with pytest.raises(ValueError, match=sentence):
        MISVMClassifier(**change).fit(X, y, groups)


def test_three_classes_are_refused():
    X, y, groups, _ = made()
    with pytest.raises(ValueError, match="y has 3 classes; make one of them against the rest"):
        MISVMClassifier().fit(X, y + 2 * (groups == 3), groups)


def test_a_value_that_is_not_finite_is_named():
    X, y, groups, _ = made()
    X[17, 2] = np.nan
    with pytest.raises(ValueError, match="row 17, column 2"):
        MISVMClassifier().fit(X, y, groups)


@parametrize_with_checks([MISVMClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
