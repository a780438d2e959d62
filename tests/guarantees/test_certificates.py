"""A certificate is that of the weights which the user is given, on awkward data too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from oracle import GroupProblem
from sklearn.exceptions import ConvergenceWarning

from groupcm import GroupClassifier, MISVMClassifier
from groupcm.errors import CertificateError
from groupcm.features import Polynomial, scaling
from groupcm.features.scaling import Scaling, measure_scaling
from groupcm.kernels.maxima import soft_minima
from groupcm.kernels.rows import stored_moments
from groupcm.objective.problem import Problem
from groupcm.objective.terms import NO_ORDER, Groups
from groupcm.solvers import lbfgs, newton_system, solution, streamed, working_set
from groupcm.sources import from_npy, from_parquet
from groupcm.sources.rows.space import MappedSpace

N_ROWS = 200
GROUPS = np.repeat(np.arange(40), 5)
Y = ((np.arange(N_ROWS) % 5 == 0) & (GROUPS % 2 == 0)).astype(int)


def make_rows(seed: int = 0, d: int = 4) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(N_ROWS, d))
    X[:, 0] += 1.5 * Y
    return X


def check_returned(model, X, rtol: float = 1e-9, **settings) -> None:
    """The objective of the coefficients is the one reported, and the bound is below it."""
    problem = GroupProblem(X, Y, GROUPS, positive_label=1, **settings)
    returned = problem.objective_of(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(returned, rel=rtol)
    assert model.lower_bound_ <= problem.solve().value * (1 + 1e-7)
    assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / model.objective_)


# Sparse rows


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_constant_column_of_a_sparse_matrix_is_set_aside(dtype):
    X = make_rows().astype(dtype)
    X[:, 3] = 1e4
    with pytest.warns(
        UserWarning, match="1 of 4 features are constant up to rounding and get weight 0: 3"
    ):
        sparse = GroupClassifier(0.9).fit(sp.csr_array(X), Y, GROUPS)
    with pytest.warns(UserWarning, match="constant"):
        dense = GroupClassifier(0.9).fit(X, Y, GROUPS)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8)
    check_returned(sparse, X, lam=0.9)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sparse_columns_far_from_zero_are_solved_as_dense_ones(dtype):
    X = make_rows()
    X[:, 1] += 1e4
    X[:, 2] = np.where(X[:, 2] > 0.5, X[:, 2] + 100.0, 0.0)  # most entries are absent
    X = X.astype(dtype)
    sparse = GroupClassifier(0.9, tol=1e-6).fit(sp.csr_array(X), Y, GROUPS)
    dense = GroupClassifier(0.9, tol=1e-6).fit(X, Y, GROUPS)
    assert sparse.gap_ <= 1e-6
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    check_returned(sparse, X, lam=0.9)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_sparse_column_with_one_absent_entry_is_solved_as_a_dense_one(standardize):
    X = make_rows()
    X[:, 1] += 1e4
    X[7, 1] = 0.0
    settings = {"lam": 0.9, "standardize": standardize}
    sparse = GroupClassifier(**settings, tol=1e-6).fit(sp.csr_array(X), Y, GROUPS)
    dense = GroupClassifier(**settings, tol=1e-6).fit(X, Y, GROUPS)
    assert sparse.gap_ <= 1e-6
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    check_returned(sparse, X, **settings)


def test_a_column_that_is_constant_in_the_sample_is_measured_whole(monkeypatch):
    monkeypatch.setattr(scaling, "SAMPLE_VALUES", 4)
    X = np.random.default_rng(0).normal(size=(50_000, 2))
    groups = np.repeat(np.arange(5_000), 10)
    y = ((np.arange(50_000) % 10 == 0) & (groups % 2 == 0)).astype(int)
    measured = scaling.rows_to_measure(50_000, 2, Groups(np.arange(0, 50_001, 10), NO_ORDER))
    X[:, 1] *= 1e8
    X[measured, 1] = 3.0
    model = GroupClassifier(0.9).fit(X, y, groups)
    assert model.gap_ <= 1e-4
    assert np.abs(model.coef_[0, 1]) < 1e-6


def test_a_fit_that_is_stopped_early_is_no_worse_than_no_model(monkeypatch):
    monkeypatch.setattr(working_set, "mean_difference", lambda task: np.array([9.0, 0, 0, 0, 9.0]))
    with pytest.warns(ConvergenceWarning):
        model = GroupClassifier(0.9, max_time=1e-9).fit(make_rows(), Y, GROUPS)
    assert model.objective_ <= 2 * 0.9 * 0.5
    check_returned(model, make_rows(), lam=0.9)


def test_duplicate_entries_of_a_sparse_matrix_are_summed():
    X = make_rows()
    X[:, 1] += 50.0
    whole = sp.csr_array(X)
    parts = (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2)
    split = sp.csr_array(parts, shape=whole.shape)
    expected = GroupClassifier(0.9, random_state=0).fit(whole, Y, GROUPS)
    model = GroupClassifier(0.9, random_state=0).fit(split, Y, GROUPS)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert split.nnz == 2 * whole.nnz  # the user's matrix is as it was


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sparse_moments_are_those_of_the_dense_matrix(dtype):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 6)) < 0.4, 0.0, 1e3 + rng.normal(size=(500, 6))).astype(dtype)
    X[:, 5] = 7.0 + rng.normal(size=500)
    found = measure_scaling(sp.csr_array(X), np.arange(0), all_rows=True)
    wide = X.astype(np.float64)
    np.testing.assert_allclose(found.scale, wide.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.mean, [0, 0, 0, 0, 0, wide[:, 5].mean()], rtol=1e-12)


def test_stored_moments_is_its_slow_twin():
    rng = np.random.default_rng(0)
    data, indices, shift = rng.normal(size=50), rng.integers(0, 4, 50), rng.normal(size=4)
    total, square = np.zeros((2, 4))
    count = np.zeros(4, dtype=np.int64)
    stored_moments(data, indices, shift, total, square, count)
    for j in range(4):
        z = data[indices == j] - shift[j]
        assert count[j] == len(z)
        assert total[j] == pytest.approx(z.sum())
        assert square[j] == pytest.approx((z * z).sum())


# Constant features


def nearly_constant() -> np.ndarray:
    """The last column differs by one unit in the last place between the classes."""
    X = make_rows()
    X[:, 3] = np.where(Y == 1, np.nextafter(1e3, 2e3), 1e3)
    return X


@pytest.mark.parametrize("kind", ["dense", "csr", "stream", "polynomial"])
def test_a_column_that_is_constant_up_to_rounding_is_set_aside_and_named(kind, tmp_path):
    X, settings = nearly_constant(), {"lam": 0.9}
    given = {"y": Y, "groups": GROUPS}
    if kind == "stream":
        names = [f"f{j}" for j in range(4)]
        table = pa.table({**dict(zip(names, X.T, strict=True)), "group": GROUPS, "label": Y})
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=20)
        rows = from_parquet(tmp_path / "a.parquet", group="group", label="label")
        settings["memory"], given = "1kB", {}
    else:
        rows = sp.csr_array(X) if kind == "csr" else X
    if kind == "polynomial":
        settings["feature_map"] = Polynomial(2)
    with pytest.warns(UserWarning, match="constant up to rounding and get weight 0: (3|f3|x3)"):
        model = GroupClassifier(**settings).fit(rows, **given)
    assert model.coef_[0, 3] == 0.0
    assert np.max(np.abs(model.coef_)) < 1e3
    assert model.gap_ <= 1e-4
    if kind != "polynomial":
        check_returned(model, X, lam=0.9)


def test_features_too_large_to_be_squared_are_refused_by_name():
    X = make_rows()
    X[:, 2] *= 1e200
    with pytest.raises(ValueError, match="feature 2 are too large to be squared"):
        GroupClassifier().fit(X, Y, GROUPS)


# The certificate of what is returned


def test_the_objective_is_that_of_the_rounded_intercept():
    """A mean of 1e12 deviations leaves four digits to the intercept that undoes it."""
    X = make_rows()
    X[:, 3] = 1e3 + 1e-9 * (X[:, 3] + 2.0 * Y)
    model = GroupClassifier(0.9).fit(X, Y, GROUPS)
    coef, intercept = model.coef_[0], Fraction(float(model.intercept_[0]))
    exact = [
        float(intercept + sum(Fraction(w) * Fraction(x) for w, x in zip(coef, row, strict=True)))
        for row in X
    ]
    problem = GroupProblem(X, Y, GROUPS, positive_label=1, lam=0.9)
    loss = sum(
        t.weight * problem.loss(t.sign * np.take(exact, t.rows)).max() for t in problem.terms
    )
    returned = problem.rho * problem.penalty(coef * problem.scale) + loss
    assert model.objective_ == pytest.approx(returned, rel=1e-9)
    assert model.solution_.stop == "converged"


def test_a_model_that_its_units_cannot_carry_says_so():
    X = make_rows()
    X[:, 3] = 1e6 + 1e-6 * (X[:, 3] + 2.0 * Y)
    with pytest.warns(ConvergenceWarning, match="feature 3 are so far from zero"):
        model = GroupClassifier(0.9, loss="hinge", tol=1e-8).fit(X, Y, GROUPS)
    assert model.solution_.stop == "rounding"
    assert model.gap_ > 1e-8


def test_the_objective_of_a_stream_is_that_of_the_rounded_intercept(tmp_path):
    X = make_rows()
    X[:, 3] = 1e6 + 1e-6 * (X[:, 3] + 2.0 * Y)
    np.save(tmp_path / "X.npy", X)
    source = from_npy(tmp_path / "X.npy", group=GROUPS, label=Y, batch_rows=20)
    settings = {"loss": "hinge", "tol": 1e-8, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="feature 3 are so far from zero"):
        streamed_model = GroupClassifier(0.9, memory="1kB", **settings).fit(source)
    exact = X.astype(np.longdouble) @ streamed_model.coef_[0] + streamed_model.intercept_[0]
    problem = GroupProblem(X, Y, GROUPS, positive_label=1, lam=0.9, loss="hinge")
    terms = [t.weight * problem.loss(t.sign * exact[list(t.rows)]).max() for t in problem.terms]
    penalty = problem.penalty(streamed_model.coef_[0] * problem.scale)
    assert streamed_model.objective_ == pytest.approx(
        float(problem.rho * penalty + sum(terms)), rel=1e-7
    )


def test_outputs_of_a_map_far_from_zero_are_centred_before_they_are_weighed():
    X = make_rows()
    X[:, 3] = 1e6 + 1e-3 * X[:, 3]
    space = MappedSpace(Polynomial(2).fit(X), *_moments_of(Polynomial(2).fit_transform(X)))
    theta = np.random.default_rng(0).normal(size=space.n_features + 1)
    np.testing.assert_allclose(space.score(X, theta), space.vectors(X) @ theta, rtol=1e-12)


def _moments_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return rows.mean(axis=0), rows.std(axis=0)


def test_units_there_and_back_lose_no_digit():
    rng = np.random.default_rng(0)
    units = Scaling(1e8 * rng.normal(size=5), rng.uniform(1, 2, 5), np.zeros(5, dtype=bool))
    coef = rng.normal(size=5)
    theta = units.from_units(coef, -float(coef @ units.mean))
    pairs = zip(coef.tolist(), units.mean.tolist(), strict=True)
    total = sum(Fraction(c) * Fraction(m) for c, m in pairs)
    assert theta[-1] == float(total - Fraction(float(coef @ units.mean)))


def test_a_bound_above_the_objective_is_an_internal_error(monkeypatch):
    monkeypatch.setattr(Problem, "lower_bound", lambda *_: 10.0)
    with pytest.raises(CertificateError, match=r"internal error.*exceeds the objective"):
        GroupClassifier(0.9).fit(make_rows(), Y, GROUPS)


@pytest.mark.parametrize("penalty", ["huber", "l2", "l1"])
@pytest.mark.parametrize("loss", ["smoothed_hinge", "hinge"])
def test_features_on_any_scale_without_standardisation(loss, penalty):
    X = make_rows() * np.array([1e-6, 1.0, 1e4, 1e7]) + np.array([0.0, 1e3, 0.0, 1e8])
    settings = {"lam": 0.9, "loss": loss, "penalty": penalty, "standardize": False}
    model = GroupClassifier(**settings).fit(X, Y, GROUPS)
    assert model.gap_ <= 1e-4
    problem = GroupProblem(X, Y, GROUPS, positive_label=1, **settings)
    returned = problem.objective_of(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(returned, rel=1e-6)
    np.testing.assert_array_equal(model.solution_.weights, model.coef_[0])


# Streams of several classes


@pytest.mark.parametrize("memory", ["1kB", "4kB", None])
def test_several_classes_from_a_stream_with_groups_of_one(memory, tmp_path):
    """The negative groups of class "a" all have one row, those of the others do not."""
    X = np.random.default_rng(0).normal(size=(26, 3))
    groups = np.concatenate([np.arange(16), np.repeat(np.arange(16, 21), 2)])
    y = np.array(["c"] * 6 + ["b"] * 10 + ["a"] * 10)
    np.save(tmp_path / "X.npy", X)
    source = from_npy(tmp_path / "X.npy", group=groups, label=y, batch_rows=4)
    streamed_model = GroupClassifier(memory=memory, random_state=0).fit(source)
    model = GroupClassifier(random_state=0).fit(X, y, groups)
    assert np.all(streamed_model.gap_ <= 1e-4)
    np.testing.assert_allclose(streamed_model.objective_, model.objective_, rtol=2e-4)


# Bounded work


def test_work_on_rows_in_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(solution, "_FEWEST_ROWS", 1e5)
    with pytest.warns(ConvergenceWarning, match="raise max_passes or tol"):
        model = GroupClassifier(0.9, loss="hinge", max_passes=3, tol=1e-9).fit(
            make_rows(), Y, GROUPS
        )
    assert model.solution_.stop == "work"
    assert 0.0 < model.gap_ < 1.0
    check_returned(model, make_rows(), lam=0.9, loss="hinge")


@pytest.mark.parametrize("solver", ["working_set", "lbfgs"])
def test_a_fit_ends_when_its_time_is_up(solver):
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 was used up"):
        model = GroupClassifier(0.9, max_time=1e-9, solver=solver).fit(make_rows(), Y, GROUPS)
    assert model.solution_.stop == "time"
    check_returned(model, make_rows(), lam=0.9)


def test_max_time_is_a_number_above_zero():
    with pytest.raises(ValueError, match="max_time must be None or a number above 0; got 0"):
        GroupClassifier(max_time=0).fit(make_rows(), Y, GROUPS)


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"standardize": False}, "rescale them or leave out standardize=False"),
        ({"lam": 0.9999}, "lower lam or raise tol"),
        ({}, "no more progress was made, so raise tol"),
        ({"solver": "lbfgs"}, 'winners of groups change, so use solver="working_set"'),
        ({"solver": "lbfgs", "max_passes": 2}, 'raise max_passes, or use solver="working_set"'),
    ],
)
def test_advice_fits_the_cause(settings, advice):
    with pytest.warns(ConvergenceWarning, match=advice):
        GroupClassifier(**{"lam": 0.9, "tol": 1e-17} | settings).fit(1e6 * make_rows(), Y, GROUPS)


def test_a_newton_matrix_of_nothing_but_rounding_is_solved():
    system = newton_system._Direct([], np.zeros(2))
    object.__setattr__(system, "matrix", np.array([[-1e-25, -3e-21], [-3e-21, -1e-16]]))
    assert np.all(np.isfinite(system.solve(np.array([0.5, 0.5]), 0.0)))


# Interrupts


def interrupt(monkeypatch, module, name: str, calls: int) -> None:
    """From the given call on, Ctrl-C."""
    real, count = getattr(module, name), iter(range(10**6))

    def call(*given, **named):
        if next(count) >= calls:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(module, name, call)


def test_lbfgs_returns_its_best_model_when_interrupted(monkeypatch):
    interrupt(monkeypatch, lbfgs, "_evaluate", 4)
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        model = GroupClassifier(0.9, solver="lbfgs").fit(make_rows(), Y, GROUPS)
    assert model.solution_.stop == "interrupted"
    check_returned(model, make_rows(), lam=0.9)


def test_an_interrupt_before_the_first_pass_says_what_a_checkpoint_would_keep(monkeypatch):
    interrupt(monkeypatch, working_set, "whole_objective", 0)
    with pytest.raises(KeyboardInterrupt, match="nothing is kept; with a checkpoint file"):
        GroupClassifier(0.9).fit(make_rows(), Y, GROUPS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["working_set", "lbfgs"])
def test_classes_solved_before_an_interrupt_are_kept_in_the_checkpoint(
    solver, monkeypatch, tmp_path
):
    X, path = make_rows(), tmp_path / "c.json"
    y = np.array(["a", "b", "c"])[Y + (GROUPS % 3 == 0)]
    settings = {"lam": 0.9, "solver": solver, "checkpoint": path, "tol": 1e-2}
    module = {"working_set": working_set, "lbfgs": lbfgs}[solver]
    starts = []
    with monkeypatch.context() as broken:
        interrupt(broken, module, "solve", 1)
        with pytest.raises(KeyboardInterrupt, match=r"c\.json keeps its state"):
            GroupClassifier(**settings).fit(X, y, GROUPS)
    real = module.solve
    monkeypatch.setattr(
        module, "solve", lambda task, start=None, **more: starts.append(start) or real(task, start)
    )
    GroupClassifier(**settings).fit(X, y, GROUPS)
    assert [start is None for start in starts] == [False, True, True]
    assert not path.exists()


def test_a_stream_interrupted_before_its_first_pass_says_so(monkeypatch, tmp_path):
    np.save(tmp_path / "X.npy", make_rows())
    source = from_npy(tmp_path / "X.npy", group=GROUPS, label=Y, batch_rows=20)
    interrupt(monkeypatch, streamed, "_pass", 0)
    with pytest.raises(KeyboardInterrupt, match="before it had a model"):
        GroupClassifier(0.9, memory="1kB").fit(source)


# The same bits


def test_the_soft_minimum_has_the_same_bits_wherever_its_arrays_lie():
    rng = np.random.default_rng(0)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 40, 60))])
    n = int(ptr[-1])
    values = rng.normal(size=n) * 0.1
    found = set()
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]):
        for gap in (0, 1, 5, 64):
            memory = np.empty(4 * (n + gap))
            margin, share, soft, hard = (memory[k * (n + gap) :][:n] for k in order)
            margin[:] = values
            soft, hard = soft[:60], hard[:60]
            soft_minima(margin, ptr, 0.1, soft, hard, share)
            found.add((soft.tobytes(), hard.tobytes(), share.tobytes()))
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["gcm", "none", "misvm", "csr", "polynomial"])
def test_a_fit_has_the_same_bits_again_and_for_any_number_of_threads(kind, monkeypatch):
    rng = np.random.default_rng(1)
    n = 60_000 if kind == "gcm" else 2_000
    groups = np.repeat(np.arange(n // 10), 10)
    y = ((np.arange(n) % 10 == 0) & (groups % 3 == 0)).astype(int)
    X = rng.normal(size=(n, 9)) + y[:, None]
    estimator = GroupClassifier(0.9, random_state=0)
    if kind == "misvm":
        estimator, y = MISVMClassifier(0.9, max_iter=5), (groups % 3 == 0).astype(int)
    elif kind == "none":
        estimator.set_params(grouping="none")
    elif kind == "polynomial":
        estimator.set_params(feature_map=Polynomial(2))
    rows = sp.csr_array(np.where(X > 0.2, X, 0.0)) if kind == "csr" else X
    found, junk = set(), []
    for threads in ("1", "2", "3", "2", "1"):
        monkeypatch.setenv("GROUPCM_NUM_THREADS", threads)
        junk.append(np.empty(int(rng.integers(1, 100_000))))  # arrays lie elsewhere each time
        model = estimator.fit(rows, y, groups)
        found.add((model.coef_.tobytes(), model.intercept_.tobytes(), model.lower_bound_))
    assert len(found) == 1
