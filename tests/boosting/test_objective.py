"""The group objective for trees: its kernel, its limits, its derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.boosting import GroupEvaluation, GroupObjective
from groupcm.boosting.objective import BoostingTerms
from groupcm.boosting.power_loss import Groupwise, PowerLoss
from groupcm.objective.losses import SmoothedHinge

LOSSES = ("logistic", "smoothed_hinge")


def loss_of(name: str, t: float) -> float:
    """``L(t)``, one margin at a time."""
    if name == "logistic":
        return math.log1p(math.exp(-t)) if t > -30.0 else -t
    return float(SmoothedHinge(0.5).value(t))


def slow_value(objective: GroupObjective, scores, y, groups, *, weight_of=None) -> float:
    """The objective, group by group, of data where positive candidates share their group."""
    loss = objective.group_loss
    labels = {g: max(y[groups == g]) for g in dict.fromkeys(groups.tolist())}
    n = {sign: sum(1 for v in labels.values() if v == sign) for sign in (0, 1)}
    total = 0.0
    for g, label in labels.items():
        inside = groups == g
        weight = 0.5 * len(labels) / n[label]
        if label:
            each = [loss_of(loss.loss, s) for s in scores[inside & (y == 1)]]
            total += weight * sum(each) / len(each)
        else:
            each = [loss_of(loss.loss, -s) for s in scores[inside]]
            power = loss.power
            norm = max(each) if power == math.inf else sum(v**power for v in each) ** (1 / power)
            total += weight * norm
    return total


@st.composite
def problems(draw: Any):
    n = draw(st.integers(4, 25))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, draw(st.integers(2, 6)), n)
    y = np.zeros(n, dtype=int)
    positive = groups == groups[0]
    y[rng.permutation(np.flatnonzero(positive))[: rng.integers(1, positive.sum() + 1)]] = 1
    if positive.all():
        groups[-1], y[-1] = groups[0] + 7, 0
        y[0] = 1
    scores = rng.normal(scale=draw(st.sampled_from([0.3, 2.0, 8.0])), size=n)
    power = draw(st.sampled_from([1.0, 1.5, 3.0, 10.0, math.inf]))
    return scores, y, groups, draw(st.sampled_from(LOSSES)), power


@settings(deadline=None)
@given(problems())
def test_value_is_the_formula(problem):
    scores, y, groups, loss, power = problem
    objective = GroupObjective(y, groups, loss=loss, power=power)
    expected = slow_value(objective, scores, y, groups)
    assert objective.derivatives(scores).value == pytest.approx(expected, rel=1e-5, abs=1e-9)


@settings(deadline=None)
@given(problems())
def test_gradient_is_the_slope_of_the_value(problem):
    scores, y, groups, loss, power = problem
    objective = GroupObjective(y, groups, loss=loss, power=power)
    gradient = objective.derivatives(scores).gradient
    step = 1e-6
    for i in range(len(scores)):
        moved = [scores.copy() for _ in range(2)]
        moved[0][i] += step
        moved[1][i] -= step
        up, down = (slow_value(objective, each, y, groups) for each in moved)
        here = slow_value(objective, scores, y, groups)
        forward, backward = (up - here) / step, (here - down) / step
        # Within the subdifferential, where the largest changes hands.
        low, high = min(forward, backward) - 1e-4, max(forward, backward) + 1e-4
        assert low <= gradient[i] <= high


@settings(deadline=None)
@given(problems(), st.floats(0.0, 1.0))
def test_objective_is_convex_in_the_scores(problem, share):
    scores, y, groups, loss, power = problem
    objective = GroupObjective(y, groups, loss=loss, power=power)
    other = np.random.default_rng(0).normal(scale=2.0, size=len(scores))
    at = [objective.derivatives(each).value for each in (scores, other)]
    between = objective.derivatives(share * scores + (1 - share) * other).value
    assert between <= share * at[0] + (1 - share) * at[1] + 1e-4 * max(at)


@settings(deadline=None)
@given(problems())
def test_order_of_candidates_means_nothing(problem):
    scores, y, groups, loss, power = problem
    order = np.random.default_rng(1).permutation(len(y))
    straight = GroupObjective(y, groups, loss=loss, power=power).derivatives(scores)
    mixed = GroupObjective(y[order], groups[order], loss=loss, power=power)
    found = mixed.derivatives(scores[order])
    assert found.value == pytest.approx(straight.value, rel=1e-9)
    np.testing.assert_allclose(found.hessian, straight.hessian[order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.gradient, straight.gradient[order], rtol=1e-9, atol=1e-12)


def example(seed: int = 0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(20), 6)
    y = ((groups < 8) & (np.arange(120) % 6 < 2)).astype(int)
    return rng.normal(size=120), y, groups


def test_power_one_without_groups_is_the_log_loss():
    scores, y, _ = example()
    y = (np.arange(len(y)) % 2 == 0).astype(int)  # balanced already
    gradient, hessian = GroupObjective(y, power=1.0)(scores)
    p = 1.0 / (1.0 + np.exp(-scores))
    np.testing.assert_allclose(gradient, p - y, rtol=1e-6)
    np.testing.assert_allclose(hessian, p * (1 - p), rtol=1e-6)


def test_infinite_power_is_the_objective_of_the_classifier():
    from groupcm import GroupClassifier

    scores, y, groups = example()
    X = scores[:, None] + 2.0 * y[:, None]
    model = GroupClassifier(lam=0.5, standardize=False).fit(X, y, groups)
    s = model.decision_function(X)
    found = GroupObjective(y, groups, loss="smoothed_hinge", power=math.inf).derivatives(s)
    w = abs(model.coef_[0, 0])
    penalty = 0.5 * (w**2 / 2 if w <= 1 else w - 0.5)
    # Here a group weighs half the groups of both classes over those of its own.
    assert found.value / (0.5 * 20) * 0.5 + penalty == pytest.approx(model.objective_, rel=1e-6)


def test_large_power_is_nearly_the_largest_loss():
    scores, y, groups = example()
    largest = GroupObjective(y, groups, power=math.inf).derivatives(scores).value
    values = [GroupObjective(y, groups, power=p).derivatives(scores).value for p in (1, 4, 60)]
    assert values[0] > values[1] > values[2] > largest
    assert values[2] == pytest.approx(largest, rel=0.01)


def test_best_candidate_stands_for_its_group_and_objects_share():
    scores, y, groups = example()
    overlap = np.where(y == 1, np.arange(len(y)) % 6 + 1.0, 0.0)
    best = GroupObjective(y, groups, overlap).derivatives(scores).gradient
    in_positive = np.flatnonzero(groups < 8)
    assert set(np.flatnonzero(best[in_positive])) == {6 * k + 1 for k in range(8)}
    each = GroupObjective(y, groups, overlap, objects=np.arange(len(y))).derivatives(scores)
    both = GroupObjective(y, groups).derivatives(scores)
    np.testing.assert_allclose(each.gradient, both.gradient)


def test_background_is_one_more_negative_group():
    scores, y, groups = example()
    renamed = np.where((groups < 8) & (y == 0), groups + 100, groups)
    apart = GroupObjective(y, renamed).derivatives(scores)
    within = GroupObjective(y, groups, background="negative").derivatives(scores)
    np.testing.assert_allclose(within.gradient, apart.gradient)


def test_unannotated_group_counts_by_its_winner_once_it_may():
    rows = Groupwise(np.array([4, 5]), np.array([0, 2]), np.ones(1))
    terms = BoostingTerms(
        np.array([0]),
        np.array([1.0]),
        Groupwise(np.arange(1, 4), np.array([0, 3]), np.ones(1)),
        rows,
    )
    objective = GroupObjective.of_terms(6, terms, PowerLoss())
    scores = np.array([0.0, 0.0, 0.0, 0.0, 0.1, 0.2])
    assert not objective.derivatives(scores).gradient[4:].any()
    objective.chooses = True
    before, (first, second) = objective.derivatives(scores).gradient[0], objective(scores)[0][4:]
    assert first == 0.0
    assert second < 0.0
    assert before == pytest.approx(-0.75 * 0.5)  # three groups, of which two are positive


def test_threads_do_not_change_the_sum(monkeypatch):
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, 300, 120_000))
    y = ((groups % 10 == 0) & (rng.random(len(groups)) < 0.1)).astype(int)
    scores = rng.normal(size=len(groups))
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("GROUPCM_NUM_THREADS", threads)
        found.append(GroupObjective(y, groups).derivatives(scores))
    assert len(Groupwise.of_rows(np.arange(120_000)).pieces()) == 2
    np.testing.assert_array_equal(found[0].gradient, found[1].gradient)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"power": 0.5}, "power must be a number of at least 1; got 0.5"),
        ({"loss": "square"}, "loss must be one of 'logistic', 'smoothed_hinge'; got 'square'"),
        ({"delta": 0.0}, "delta must be a number above 0"),
        ({"groups": [1, 2]}, "y has 120 rows but groups has 2"),
    ],
)
def test_mistakes_get_a_sentence(arguments, sentence):
    _, y, groups = example()
    with pytest.raises(ValueError, match=sentence):
        GroupObjective(y, **{"groups": groups, **arguments})


def test_scores_of_other_candidates_are_refused():
    _, y, groups = example()
    with pytest.raises(ValueError, match="made for 120 candidates and received 10 scores"):
        GroupObjective(y, groups)(np.zeros(10))


def test_huge_powers_are_the_largest_loss():
    y, groups = np.array([1, 0, 0, 0]), np.array([0, 1, 1, 1])
    scores = np.array([0.0, -409.9, -101.7, -495.1])
    for power in (1e3, 1e8, 1e300):
        found = GroupObjective(y, groups, power=power).derivatives(scores)
        assert found.value == pytest.approx(math.log(2.0))


def watched() -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 5)
    y = ((groups % 2 == 0) & (np.arange(300) % 5 == 1)).astype(int)
    return rng.normal(size=(300, 4)) + 1.5 * y[:, None], y, groups


def test_lightgbm_takes_objective_and_metric():
    lightgbm: Any = pytest.importorskip("lightgbm")
    X, y, groups = watched()
    data, seen = lightgbm.Dataset(X, y), {}
    lightgbm.train(
        {
            "objective": GroupObjective(y, groups),
            "metric": "none",
            "verbosity": -1,
            "num_threads": 1,
        },
        data,
        10,
        valid_sets=[data],
        feval=GroupEvaluation(y, groups).lightgbm,
        callbacks=[lightgbm.record_evaluation(seen)],
    )
    curve = seen["training"]["group_roc_auc"]
    assert curve[-1] > max(curve[0], 0.9)


def test_xgboost_takes_objective_and_metric():
    xgboost: Any = pytest.importorskip("xgboost")
    X, y, groups = watched()
    data, seen = xgboost.DMatrix(X, y), {}
    xgboost.train(
        {"disable_default_eval_metric": 1, "nthread": 1, "base_score": 0.0},
        data,
        10,
        evals=[(data, "training")],
        obj=GroupObjective(y, groups),
        custom_metric=GroupEvaluation(y, groups).xgboost,
        evals_result=seen,
        verbose_eval=False,
    )
    curve = seen["training"]["group_roc_auc"]
    assert curve[-1] > max(curve[0], 0.9)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_scikit_learn_estimators_of_both_take_the_objective(library):
    module: Any = pytest.importorskip(library)
    X, y, groups = watched()
    objective = GroupObjective(y, groups)
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=10, objective=objective, n_jobs=1, verbosity=-1)
        scores = model.fit(X, y).predict(X, raw_score=True)
    else:
        model = module.XGBClassifier(n_estimators=10, objective=objective, n_jobs=1, base_score=0.5)
        scores = model.fit(X, y).predict(X, output_margin=True)
    assert GroupEvaluation(y, groups)(scores) > 0.95


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_scikit_learn_estimators_of_both_watch_scores_not_labels(library):
    module: Any = pytest.importorskip(library)
    X, y, groups = watched()
    wrong = np.random.default_rng(0).permutation(y)
    watch, shown = GroupEvaluation(y, groups), [(X, y)]
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=3, n_jobs=1, verbosity=-1)
        model.fit(X, wrong, eval_set=shown, eval_metric=watch.lightgbm)
        (value,) = model.evals_result_["valid_0"]["group_roc_auc"][-1:]
    else:
        model = module.XGBClassifier(n_estimators=3, n_jobs=1, eval_metric=watch.cost)
        model.fit(X, wrong, eval_set=shown, verbose=False)
        value = 1.0 - model.evals_result()["validation_0"]["cost"][-1]
        model.set_params(eval_metric=watch.xgboost)
        with pytest.raises(TypeError, match="pass the method `cost` as eval_metric"):
            model.fit(X, wrong, eval_set=shown, verbose=False)
    assert value == pytest.approx(watch(model.predict_proba(X)[:, 1]), abs=1e-6)
    assert value < 0.9


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"background": "Negative"}, "background must be one of 'ignore', 'negative'"),
        ({"power": "a"}, "power must be a number of at least 1; got 'a'"),
        ({"delta": 0.0}, "delta must be a number above 0; got 0.0"),
        ({"min_overlap": "a"}, "min_overlap must be a number; got 'a'"),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'smoothed_hinge'"),
    ],
)
def test_impossible_options_are_told(options, told):
    _, y, groups = watched()
    with pytest.raises(ValueError, match=told):
        GroupObjective(y, groups, **options)


@pytest.mark.parametrize("made", [GroupObjective, GroupEvaluation])
def test_groups_of_another_length_are_told(made):
    with pytest.raises(ValueError, match="y has 2 rows but groups has 1"):
        made([0, 1], groups=[0])
