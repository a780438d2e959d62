"""Two descriptions of one problem give one model, and the losses are what the paper says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import GROUPINGS, LOSSES, PENALTIES, make_data
from sklearn.exceptions import ConvergenceWarning

from groupcm import GroupClassifier
from groupcm.estimators.training.input import read_training_data
from groupcm.objective.losses import SmoothedHinge, make_loss
from groupcm.objective.penalties import Huber, Norm1, SquaredNorm, make_penalty
from groupcm.sources import from_npy

TOL = 1e-8


def fit(X, y=None, groups=None, overlap=None, **params) -> GroupClassifier:
    # The squared norm makes the weights unique, so models can be compared and not only objectives.
    params = {"penalty": "l2", "tol": TOL, "random_state": 0} | params
    return GroupClassifier(**params).fit(X, y, groups=groups, overlap=overlap)


def assert_same_model(one: GroupClassifier, two: GroupClassifier, *, atol: float = 1e-3) -> None:
    """Each is optimal for the other's problem, and the weights agree."""
    slack = 1e-9 * one.objective_
    assert one.lower_bound_ <= two.objective_ + slack
    assert two.lower_bound_ <= one.objective_ + slack
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=3 * TOL)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=atol)
    if one.loss != "hinge":  # the hinge is flat on both sides of 1: its intercept may be free
        np.testing.assert_allclose(one.intercept_, two.intercept_, atol=5 * atol)


def data(seed: int, *, with_overlap: bool = False):
    X, y, groups, overlap = make_data(np.random.default_rng(seed), with_overlap=with_overlap)
    labels = np.unique(y, return_inverse=True)[1]
    return X, labels, np.unique(groups, return_inverse=True)[1], overlap


seeds = pytest.mark.parametrize("seed", range(4))


@seeds
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("grouping", ["negative", "both"])
def test_groups_of_one_equal_no_grouping(seed, loss, grouping):
    X, y, _, _ = data(seed)
    alone = fit(X, y, loss=loss, grouping="none")
    assert_same_model(fit(X, y, np.arange(len(X)), loss=loss, grouping=grouping), alone)
    assert_same_model(fit(X, y, loss=loss, grouping=grouping), alone)


@seeds
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("to", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_row_order_does_not_matter(seed, grouping, to):
    X, y, groups, overlap = data(seed, with_overlap=True)
    overlap = overlap + np.arange(len(X)) * 1e-6  # no ties: a tie goes to the first row
    order = np.argsort(groups, kind="stable")
    shuffled = fit(to(X), y, groups, overlap, grouping=grouping)
    together = fit(to(X[order]), y[order], groups[order], overlap[order], grouping=grouping)
    assert_same_model(shuffled, together)


@seeds
def test_group_ids_may_be_strings_or_any_integers(seed):
    X, y, groups, _ = data(seed)
    model = fit(X, y, groups)
    assert_same_model(fit(X, y, np.array([f"frame-{g}" for g in groups])), model)
    assert_same_model(fit(X, y, np.array([f"frame-{g}" for g in groups], dtype=object)), model)
    assert_same_model(fit(X, y, list(groups)), model)
    # Ids that a detour through float64 would confuse with one another.
    assert_same_model(fit(X, y, 2**53 + groups.astype(np.int64)), model)


def test_huge_group_ids_stay_apart():
    X = np.array([[2.0], [1.0], [-1.0]])
    groups = np.array([2**53, 2**53 + 1, 2**53 + 2])
    scores = fit(X, [1, 0, 0], groups).group_scores(X, groups)
    np.testing.assert_array_equal(scores.group, groups)


@seeds
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_solvers_agree(seed, grouping):
    X, y, groups, overlap = data(seed, with_overlap=True)
    exact = fit(X, y, groups, overlap, grouping=grouping)
    with warnings.catch_warnings():
        # The largest loss of a group has kinks, on which a quasi-Newton method may get stuck.
        warnings.simplefilter("error" if grouping == "none" else "ignore", ConvergenceWarning)
        other = fit(X, y, groups, overlap, grouping=grouping, solver="lbfgs", tol=1e-5)
    assert exact.lower_bound_ <= other.objective_ * (1 + 1e-9)
    assert other.lower_bound_ <= exact.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(
        other.objective_, exact.objective_, rtol=1e-5 if grouping == "none" else 1e-2
    )


@seeds
def test_units_of_a_feature_do_not_matter_when_standardised(seed):
    X, y, groups, _ = data(seed)
    scale = 10.0 ** np.arange(-3, X.shape[1] - 3)
    shift = np.arange(X.shape[1]) - 2.0
    before, after = fit(X, y, groups), fit(X * scale + shift, y, groups)
    np.testing.assert_allclose(
        before.decision_function(X), after.decision_function(X * scale + shift), atol=2e-3
    )
    np.testing.assert_allclose(before.coef_, after.coef_ * scale, atol=1e-3)


@seeds
@pytest.mark.parametrize("loss", LOSSES)
def test_a_repeated_candidate_of_a_negative_group_changes_nothing(seed, loss):
    X, y, groups, _ = data(seed)
    positive_groups = np.unique(groups[y == 1])
    spare = np.flatnonzero(~np.isin(groups, positive_groups))[0]
    once = fit(X, y, groups, loss=loss, standardize=False)
    more = (np.vstack([X, X[[spare]]]), np.r_[y, y[spare]], np.r_[groups, groups[spare]])
    assert_same_model(fit(*more, loss=loss, standardize=False), once)


@seeds
def test_a_candidate_that_takes_no_part_changes_nothing(seed):
    """Without background, the rest of a positive group is not read by the objective."""
    X, y, groups, _ = data(seed)
    positive_group = groups[y == 1][0]
    extra = (np.vstack([X, 100 + X[[0]]]), np.r_[y, 0], np.r_[groups, positive_group])
    model = fit(X, y, groups, standardize=False)
    assert_same_model(fit(*extra, standardize=False), model)
    counted = fit(*extra, standardize=False, background="negative")
    assert counted.objective_ != pytest.approx(model.objective_, rel=1e-3)


@seeds
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_float32_equals_float64(seed, grouping):
    X, y, groups, _ = data(seed)
    X32 = X.astype(np.float32)
    assert_same_model(
        fit(X32, y, groups, grouping=grouping),
        fit(X32.astype(np.float64), y, groups, grouping=grouping),
    )


@seeds
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("n_copies", [1, 30])  # narrow and wide rows have solvers of their own
def test_float16_equals_float64(seed, grouping, n_copies, tmp_path):
    X, y, groups, _ = data(seed)
    in_order = np.argsort(groups, kind="stable")
    X, y, groups = X[in_order], y[in_order], groups[in_order]
    X16 = np.ascontiguousarray(np.tile(X, n_copies).astype(np.float16))
    assert read_training_data(GroupClassifier(), X16, y, groups).X is X16
    expected = fit(X16.astype(np.float64), y, groups, grouping=grouping)
    assert_same_model(fit(X16, y, groups, grouping=grouping), expected)
    np.save(tmp_path / "X.npy", X16)
    for memory in ("1GB", "1kB"):
        source = from_npy(tmp_path / "X.npy", group=groups, label=y)
        assert_same_model(fit(source, grouping=grouping, memory=memory), expected)


@seeds
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("standardize", [True, False])
def test_csr_equals_dense(seed, grouping, standardize):
    X, y, groups, _ = data(seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, 0.0, X)
    dense = fit(X, y, groups, grouping=grouping, standardize=standardize)
    sparse = fit(sp.csr_matrix(X), y, groups, grouping=grouping, standardize=standardize)
    assert_same_model(sparse, dense)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=5e-3
    )


@seeds
@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only", "integer", "list"])
def test_memory_layout_does_not_matter(seed, layout):
    X, y, groups, _ = data(seed)
    if layout == "integer":
        X = (10 * X).round()
    plain = fit(X, y, groups)
    if layout == "fortran":
        other = np.asfortranarray(X)
    elif layout == "strided":
        other = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "read-only":
        other = X.copy()
        other.flags.writeable = False
    elif layout == "integer":
        other = X.astype(np.int32)
    else:
        other = X.tolist()
    assert_same_model(fit(other, y, groups), plain)


@seeds
def test_zero_overlap_everywhere_picks_the_first_positive(seed):
    X, y, groups, _ = data(seed)
    first = [np.flatnonzero((y == 1) & (groups == g))[0] for g in np.unique(groups[y == 1])]
    kept = np.isin(np.arange(len(X)), first) | (y == 0)
    tied = fit(X, y, groups, np.zeros(len(X)), standardize=False)
    assert_same_model(tied, fit(X[kept], y[kept], groups[kept], standardize=False))


def test_left_out_groups_are_counted_and_left_out_whole():
    X = np.array([[3.0], [2.0], [5.0], [4.0], [1.0], [-1.0], [0.0]])
    y = np.array([1, 0, 1, 1, 0, 0, 0])
    groups = np.array(["a", "a", "b", "c", "d", "d", "e"])
    overlap = np.array([0.2, 0.0, 0.9, 0.1, 0.0, 0.0, 0.0])
    params = {"min_overlap": 0.5, "background": "negative", "standardize": False}
    with pytest.warns(UserWarning, match=r"\b2\b"):
        model = fit(X, y, groups, overlap, **params)
    stays = np.isin(groups, ["b", "d", "e"])
    assert_same_model(model, fit(X[stays], y[stays], groups[stays], overlap[stays], **params))


def three_classes(seed: int):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(15), 4)
    y = np.full(60, "background", dtype=object)
    X = rng.normal(size=(60, 3))
    for k, name in enumerate(["crack", "stain"]):
        rows = np.arange(20 * k, 20 * k + 20, 4) + k
        y[rows], X[rows, k] = name, X[rows, k] + 2.5
    y[23] = "crack"  # a group that holds two kinds
    return X, y, groups


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_multiclass_equals_one_against_the_rest(grouping):
    X, y, groups = three_classes(0)
    y[8:12] = "crack"  # a group without background, so that every class is a problem
    model = fit(X, y, groups, grouping=grouping)
    assert list(model.classes_) == ["background", "crack", "stain"]
    assert model.coef_.shape == (3, 3)
    assert model.intercept_.shape == (3,)
    assert len(model.solution_) == 3
    for k, label in enumerate(model.classes_):
        binary = fit(X, (y == label).astype(int), groups, grouping=grouping)
        np.testing.assert_allclose(model.objective_[k], binary.objective_, rtol=1e-7)
        np.testing.assert_allclose(model.gap_[k], binary.gap_, atol=TOL)
        assert model.lower_bound_[k] <= binary.objective_ * (1 + 1e-9)
        np.testing.assert_allclose(model.coef_[k], binary.coef_[0], atol=1e-3)
        np.testing.assert_allclose(model.intercept_[k], binary.intercept_[0], atol=5e-3)


def test_a_class_that_every_group_holds_has_a_constant_score():
    X, y, groups = three_classes(1)
    model = fit(X, y, groups)
    np.testing.assert_array_equal(model.coef_[0], 0.0)
    assert model.intercept_[0] == 0.0
    assert np.abs(model.coef_[1:]).max(axis=1).min() > 0
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores[:, 0], 0.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


@seeds
def test_group_scores_are_the_largest_scores(seed):
    X, y, groups, _ = data(seed)
    model = fit(X, y, groups)
    scores, found = model.decision_function(X), model.group_scores(X, groups)
    first_seen = list(dict.fromkeys(groups))
    np.testing.assert_array_equal(found.group, first_seen)
    for k, g in enumerate(first_seen):
        assert groups[found.winner[k]] == g
        np.testing.assert_allclose(found.score[k], scores[groups == g].max(), rtol=1e-12)
        np.testing.assert_allclose(scores[found.winner[k]], found.score[k], rtol=1e-12)
    np.testing.assert_array_equal(
        model.predict_groups(X, groups), model.classes_[(found.score > 0).astype(int)]
    )
    truth = np.array([y[groups == g].max() for g in first_seen])
    share = np.mean(model.predict_groups(X, groups) == truth)
    assert model.score(X, y, groups=groups) == pytest.approx(share)
    assert model.score(X, y) == pytest.approx(np.mean(model.predict(X) == y))


def test_group_scores_of_many_classes_have_a_column_a_class():
    X, y, groups = three_classes(2)
    model = fit(X, y, groups)
    scores, found = model.decision_function(X), model.group_scores(X, groups)
    assert found.score.shape == found.winner.shape == (15, 3)
    for g in range(15):
        np.testing.assert_allclose(found.score[g], scores[groups == g].max(axis=0), rtol=1e-12)
        for k in (1, 2):
            assert scores[found.winner[g, k], k] == pytest.approx(found.score[g, k], rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("l1_ratio", "end"), [(0.0, "l2"), (1.0, "l1")])
def test_the_ends_of_the_elastic_net_are_the_squared_norm_and_the_norm_1(l1_ratio, end, loss):
    X, y, groups, _ = make_data(np.random.default_rng(3))
    mixed = fit(X, y, groups, penalty="elasticnet", l1_ratio=l1_ratio, loss=loss)
    pure = fit(X, y, groups, penalty=end, loss=loss)
    np.testing.assert_allclose(mixed.coef_, pure.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(mixed.objective_, pure.objective_, rtol=1e-9)
    np.testing.assert_allclose(mixed.lower_bound_, pure.lower_bound_, rtol=1e-7)


# ---- the scalar functions -------------------------------------------------------------------


def test_the_papers_own_example_values():
    """With δ = ½ a margin of −½ costs 8 times a margin of ½; with the hinge 3 times."""
    assert float(SmoothedHinge(0.5).value(-0.5)) == 8 * float(SmoothedHinge(0.5).value(0.5))
    assert float(SmoothedHinge(0.0).value(-0.5)) == 3 * float(SmoothedHinge(0.0).value(0.5))


deltas = st.sampled_from([0.0, 0.1, 0.5, 1.0])
losses = st.one_of(deltas.map(SmoothedHinge), st.sampled_from([*map(make_loss, LOSSES)]))
shares = st.floats(0, 1)
numbers = st.floats(-5, 5)


@given(deltas, numbers)
def test_loss_is_its_own_maximum_over_alpha(delta, t):
    """L(t) = max over 0 ≤ α ≤ 1 of α(1 − t) − δα²."""
    best = 1.0 if delta == 0 else np.clip((1 - t) / (2 * delta), 0, 1)
    expected = max(0.0, best * (1 - t) - delta * best**2)
    np.testing.assert_allclose(SmoothedHinge(delta).value(t), expected, atol=1e-12)


@given(losses, numbers, shares)
def test_fenchel_young_of_the_losses(loss, t, share):
    """L(t) + L*(−a) ≥ −a t for all t and a, with equality where −a is a slope of L at t."""
    a = share * loss.steepest
    assert loss.value(t) + loss.conjugate(a) >= -a * t - 1e-12
    slope = loss.slope(t)
    assert -loss.steepest <= slope <= 0.0
    np.testing.assert_allclose(loss.value(t) + loss.conjugate(-slope), slope * t, atol=1e-12)


@given(losses, shares, shares)
def test_a_dual_that_shrinks_gains_what_the_loss_promises(loss, share, theta):
    a = share * loss.steepest
    gain, nothing = loss.dual_gain(a), loss.dual_gain(0.0)
    assert min(gain.linear, gain.square) >= 0.0
    np.testing.assert_allclose(gain.linear - gain.square, -loss.conjugate(a), atol=1e-15)
    promised = theta * gain.linear - theta**2 * gain.square
    assert -loss.conjugate(theta * a) >= promised - 1e-12
    assert (nothing.linear, nothing.square) == (0.0, 0.0)


@given(losses, numbers, st.floats(1e-9, 1.0))
def test_the_slope_of_a_loss_lies_between_those_of_its_chords(loss, t, step):
    before = (loss.value(t) - loss.value(t - step)) / step
    after = (loss.value(t + step) - loss.value(t)) / step
    rounding = 1e-14 / step
    assert before - rounding <= loss.slope(t) <= after + rounding


@given(losses, numbers)
def test_a_loss_is_zero_from_its_zero_margin_on_and_not_before(loss, t):
    assert (loss.value(t) == 0.0) == (t >= loss.zero_margin)


@given(losses, numbers)
def test_the_jet_of_a_loss_is_its_value_slope_and_curvature(loss, t):
    for dtype, rounding in ((np.float64, 1e-14), (np.float32, 1e-5)):
        margin = np.array([t], dtype)
        jet = loss.jet(margin)
        assert {part.dtype for part in (jet.value, jet.slope, jet.curvature)} == {margin.dtype}
        exact = margin.astype(np.float64)
        np.testing.assert_allclose(jet.value, loss.value(exact), rtol=rounding, atol=rounding)
        np.testing.assert_allclose(jet.slope, loss.slope(exact), rtol=rounding, atol=rounding)
    # Of a convex function the slopes rise, and a curvature is how fast they do.
    step = 1e-4
    slopes = loss.slope(np.array([t - step, t, t + step]))
    change = np.diff(slopes) / step
    slack = 1e-4 + 1e-10 / step
    assert change.min() - slack <= loss.curvature(t) <= change.max() + slack


@given(losses, st.lists(numbers, min_size=1, max_size=5))
def test_losses_work_on_arrays(loss, margins):
    np.testing.assert_array_equal(loss.value(np.array(margins)), [loss.value(t) for t in margins])
    np.testing.assert_array_equal(loss.slope(np.array(margins)), [loss.slope(t) for t in margins])


penalties = st.one_of(
    st.sampled_from([Huber(0.1), Huber(3.0)]), st.sampled_from([*map(make_penalty, PENALTIES)])
)
vectors = st.lists(numbers, min_size=1, max_size=4).map(np.array)


@given(penalties, vectors)
def test_gradient_of_the_penalty_matches_finite_differences(penalty, w):
    step, gradient = 1e-6, penalty.gradient(w)
    for j in range(len(w)):
        if min(abs(abs(w[j]) - kink) for kink in (0.0, 0.1, 1.0, 3.0)) > 2 * step:
            e = step * (np.arange(len(w)) == j)
            difference = (penalty.value(w + e) - penalty.value(w - e)) / (2 * step)
            np.testing.assert_allclose(gradient[j], difference, rtol=1e-6, atol=1e-6)


@given(penalties, vectors, st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_fenchel_young(penalty, w, u):
    """h(w) + h*(u) ≥ w·u for all w and u, with equality where u is a slope of h at w."""
    u = np.array(u[: len(w)])
    conjugate = float(penalty.conjugate(u))
    assert penalty.value(w) + conjugate >= w @ u - 1e-9
    slope = penalty.gradient(w)
    np.testing.assert_allclose(
        penalty.value(w) + penalty.conjugate(slope), w @ slope, rtol=1e-9, atol=1e-9
    )


@given(penalties, vectors, shares)
def test_the_conjugate_of_a_penalty_shrinks_as_the_certificate_expects(penalty, u, theta):
    """h*(θu) ≤ θ² h*(u), and h*(u) ≤ κ|u|² inside the box."""
    u = np.clip(u, -penalty.box, penalty.box)
    assert penalty.conjugate(theta * u) <= theta**2 * penalty.conjugate(u) + 1e-12
    assert penalty.conjugate(u) <= penalty.conjugate_factor * (u @ u) + 1e-12


@pytest.mark.parametrize("penalty", [Huber(0.5), Norm1()])
def test_conjugate_is_infinite_outside_the_box(penalty):
    assert np.isinf(float(penalty.conjugate(np.array([0.0, 1.01]))))
    assert np.isfinite(float(penalty.conjugate(np.array([-1.0, 1.0]))))


def test_penalty_values_are_those_of_the_design():
    w = np.array([0.5, -2.0])
    assert float(Huber(1.0).value(w)) == pytest.approx(0.125 + 1.5)
    assert float(SquaredNorm().value(w)) == pytest.approx(4.25)
    assert float(Norm1().value(w)) == pytest.approx(2.5)


# ---- random shapes --------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    penalty=st.sampled_from(PENALTIES),
    grouping=st.sampled_from(GROUPINGS),
)
def test_any_shuffle_and_any_relabelling_of_groups_has_one_optimum(seed, loss, penalty, grouping):
    rng = np.random.default_rng(seed)
    X, y, groups, _ = data(seed)
    order = rng.permutation(len(X))
    renamed = rng.permutation(100)[groups]
    params = {"loss": loss, "penalty": penalty, "grouping": grouping, "tol": 1e-6}
    one = fit(X, y, groups, **params)
    two = fit(X[order], y[order], renamed[order], **params)
    assert one.lower_bound_ <= two.objective_ * (1 + 1e-9)
    assert two.lower_bound_ <= one.objective_ * (1 + 1e-9)
