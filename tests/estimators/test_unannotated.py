"""Positive groups nobody annotated: the choice in them, and what it must never change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from oracle import GroupProblem, Term
from sklearn.exceptions import ConvergenceWarning

from groupcm import GroupClassifier, GroupClassifierCV, load, save, sources
from groupcm.estimators.cross_validation import TrainingGroups
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule
from groupcm.solvers import alternating


def made(seed=0, n_groups=40, size=6, d=4, lift=3.0):
    """Every other group is positive, one candidate of it shifted; every third of them is marked."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), d))
    on = 2 * size * np.arange(n_groups // 2) + rng.integers(size, size=n_groups // 2)
    X[on] += lift / np.sqrt(d)
    y = np.zeros(len(groups), dtype=int)
    y[on] = 1
    return X, y, groups, groups % 6 == 0, on


def group_labels(y, groups):
    return np.isin(groups, groups[y == 1]).astype(int)


def half_told(y, groups, annotated):
    """The labels of candidates in annotated groups, of groups elsewhere."""
    return np.where(annotated, y, group_labels(y, groups))


# ---- what it must not change ------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"grouping": "none"}, {"solver": "lbfgs"}])
@pytest.mark.parametrize("told", ["all", "negatives only are not", "as numbers"])
def test_where_all_are_annotated_the_model_is_the_same(settings, told):
    X, y, groups, _, _ = made()
    annotated = {
        "all": np.ones(len(y), dtype=bool),
        "negatives only are not": group_labels(y, groups) == 1,
        "as numbers": np.ones(len(y)),
    }[told]
    plain = GroupClassifier(0.8, random_state=0, **settings).fit(X, y, groups)
    model = GroupClassifier(0.8, random_state=0, **settings).fit(X, y, groups, annotated=annotated)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-9)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert (len(model.witnesses_), model.outcome_, model.n_rounds_) == (0, None, 1)


def test_groups_of_equal_candidates_leave_nothing_to_choose():
    X, y, groups, annotated, _ = made(1)
    for g in np.unique(groups[(group_labels(y, groups) == 1) & ~annotated]):
        X[groups == g] = X[(groups == g) & (y == 1)]
    known = GroupClassifier(0.8, tol=1e-7).fit(X, y, groups)
    model = GroupClassifier(0.8, tol=1e-7).fit(X, y, groups, annotated=annotated)
    assert model.objective_ == pytest.approx(known.objective_, rel=1e-6)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-3)
    assert model.outcome_ == "settled"


def test_which_candidates_of_such_a_group_carry_the_label_does_not_matter():
    X, y, groups, annotated, _ = made(2)
    one = GroupClassifier(0.8).fit(X, y, groups, annotated=annotated)
    all_of_them = GroupClassifier(0.8).fit(
        X, half_told(y, groups, annotated), groups, annotated=annotated
    )
    np.testing.assert_allclose(one.coef_, all_of_them.coef_, rtol=1e-9)
    np.testing.assert_array_equal(one.witnesses_, all_of_them.witnesses_)


def test_nothing_is_random():
    made_ = capsule(80, n_positive=40, group_size=40, seed=4)
    annotated = made_.groups % 4 == 0
    models = [
        GroupClassifier(0.8, random_state=seed).fit(
            made_.X, made_.y, made_.groups, made_.overlap, annotated=annotated
        )
        for seed in (None, 1)
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9)
    np.testing.assert_array_equal(models[0].witnesses_, models[1].witnesses_)


def test_rows_in_any_order_give_the_same_choices():
    X, y, groups, annotated, _ = made(5)
    order = np.random.default_rng(0).permutation(len(y))
    one = GroupClassifier(0.7, tol=1e-6).fit(X, y, groups, annotated=annotated)
    other = GroupClassifier(0.7, tol=1e-6).fit(
        X[order], y[order], groups[order], annotated=annotated[order]
    )
    assert set(order[other.witnesses_]) == set(one.witnesses_)
    # in order of first appearance
    appear = [g for g in dict.fromkeys(groups[order]) if g in set(groups[one.witnesses_])]
    assert groups[order][other.witnesses_].tolist() == appear


# ---- what it does -----------------------------------------------------------------------------


def last_problem(X, y, groups, annotated, witnesses, **settings):
    """The convex problem with the witnesses, spelled out for an independent solver."""
    told = y.copy()
    told[~annotated] = 0
    told[witnesses] = 1
    problem = GroupProblem(X, told, groups, positive_label=1, **settings)
    n = len(np.unique(groups[told == 1]))
    if settings.get("C") is None:
        assert [t.weight for t in problem.terms if t.sign > 0] == [settings["lam"] / n] * n
    return problem


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{"lam": 0.8}, {"lam": 0.5, "C": 2.0, "penalty": "l2"}])
def test_the_last_problem_is_solved_and_its_winners_are_the_witnesses(seed, settings):
    X, y, groups, annotated, _ = made(seed, n_groups=24)
    model = GroupClassifier(**settings, tol=1e-7).fit(
        X, half_told(y, groups, annotated), groups, annotated=annotated
    )
    problem = last_problem(X, y, groups, annotated, model.witnesses_, **settings)
    assert model.outcome_ == "settled"
    assert model.objective_ == pytest.approx(problem.solve().value, rel=1e-6)
    found = model.group_scores(X, groups)
    unknown = np.unique(groups[(group_labels(y, groups) == 1) & ~annotated])
    assert groups[model.witnesses_].tolist() == unknown.tolist()
    np.testing.assert_array_equal(model.witnesses_, found.winner[unknown])


def test_the_choices_are_those_of_exact_solves():
    X, y, groups, annotated, _ = made(3, n_groups=24)
    unknown = np.unique(groups[(group_labels(y, groups) == 1) & ~annotated])
    known = np.isin(groups, unknown)
    lam = 0.8
    problem = GroupProblem(
        X[~known], y[~known], groups[~known], positive_label=1, lam=lam, standardize=False
    )
    found, chosen = problem.solve(), None
    for _ in range(20):
        score = X @ found.w + found.b
        best = [int(np.flatnonzero(groups == g)[np.argmax(score[groups == g])]) for g in unknown]
        if best == chosen:
            break
        chosen = best
        problem = last_problem(
            X, y, groups, annotated, np.array(chosen), lam=lam, standardize=False
        )
        found = problem.solve()
    model = GroupClassifier(lam, standardize=False, tol=1e-7).fit(X, y, groups, annotated=annotated)
    assert model.witnesses_.tolist() == chosen


@pytest.mark.parametrize("background", ["ignore", "negative"])
@pytest.mark.parametrize("lam", [0.2, 0.9])
def test_the_objective_never_rises(monkeypatch, lam, background):
    X, y, groups, _, _ = made(6, n_groups=120, d=12)
    annotated = groups < 8
    real, solutions, problems = alternating.working_set.solve, [], []

    def watched(task, *arguments, **options):
        solutions.append(real(task, *arguments, **options))
        problems.append(task)
        return solutions[-1]

    monkeypatch.setattr(alternating.working_set, "solve", watched)
    model = GroupClassifier(lam, background=background).fit(X, y, groups, annotated=annotated)
    assert model.n_rounds_ == len(solutions) > 3
    joint = [solution.objective for solution in solutions[1:]]
    assert np.all(np.diff(joint) <= 0.0)
    total = [sum(part.total_weight for part in task.terms) for task in problems]
    np.testing.assert_allclose(total, 2 * lam)
    assert model.objective_ == joint[-1]
    assert model.gap_ <= 1e-4


def test_more_groups_help_where_candidates_can_be_told_apart():
    X, y, groups, _, on = made(7, n_groups=400, d=12, lift=3.5)
    unseen, truth, of_group, _, _ = made(8, n_groups=400, d=12, lift=3.5)
    annotated = groups < 12
    rows = annotated | (group_labels(y, groups) == 0)

    def auc(model):
        return group_roc_auc(truth, model.decision_function(unseen), of_group)

    few = GroupClassifier(0.5).fit(X[rows], y[rows], groups[rows])
    with_others = GroupClassifier(0.5).fit(X, y, groups, annotated=annotated)
    known = GroupClassifier(0.5).fit(X, y, groups)
    assert auc(few) + 0.02 < auc(with_others) <= auc(known) + 0.01
    assert np.mean(with_others.witnesses_ == on[~annotated[on]]) > 0.9


def test_objects_and_unannotated_groups_go_together():
    X, y, groups, annotated, on = made(8, n_groups=24)
    second = np.where(on % 6 < 5, on + 1, on - 1)
    y[second] = 1
    objects = np.zeros(len(y), dtype=object)
    objects[second] = "second"
    objects[~annotated] = None  # nobody knows
    model = GroupClassifier(0.8, tol=1e-7).fit(X, y, groups, annotated=annotated, objects=objects)
    problem = GroupProblem(X, y, groups, positive_label=1, lam=0.8)
    c = 0.8 / 12
    rows = np.flatnonzero((y == 1) & annotated)
    problem.terms = [term for term in problem.terms if term.sign < 0]
    problem.terms += [Term(c / 2, 1, (int(row),)) for row in rows]
    problem.terms += [Term(c, 1, (int(row),)) for row in model.witnesses_]
    assert model.objective_ == pytest.approx(problem.solve().value, rel=1e-6)


def test_sparse_rows_are_the_same_as_dense_ones():
    X, y, groups, annotated, _ = made(9)
    X[np.abs(X) < 0.5] = 0.0
    dense = GroupClassifier(0.7, tol=1e-6).fit(X, y, groups, annotated=annotated)
    sparse = GroupClassifier(0.7, tol=1e-6).fit(sp.csr_array(X), y, groups, annotated=annotated)
    np.testing.assert_array_equal(sparse.witnesses_, dense.witnesses_)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-5)


def test_where_the_annotated_groups_tell_nothing_single_negatives_choose():
    # With so small a λ the annotated problem's solution is w = 0, where all candidates tie.
    X, y, groups, annotated, on = made(10, n_groups=60, size=40, d=3, lift=6.0)
    model = GroupClassifier(0.005, penalty="l1").fit(X, y, groups, annotated=annotated)
    assert model.outcome_ == "settled"
    unknown = on[~annotated[on]]
    assert np.mean(model.witnesses_ == unknown) > 0.8


def test_without_groups_there_is_nothing_to_choose():
    X, y, _, _, _ = made(11)
    annotated = np.arange(len(y)) % 12 != 0
    plain = GroupClassifier(0.7, tol=1e-7).fit(X, y, "none")
    model = GroupClassifier(0.7, tol=1e-7).fit(X, y, "none", annotated=annotated)
    assert model.witnesses_.tolist() == np.flatnonzero((y == 1) & ~annotated).tolist()
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_a_source_that_fits_in_memory_takes_it_as_an_array(tmp_path):
    X, y, groups, annotated, _ = made(12)
    np.save(tmp_path / "X.npy", X)
    source = sources.from_npy(tmp_path / "X.npy", group=groups, label=y)
    read = GroupClassifier(0.7).fit(source, annotated=annotated)
    held = GroupClassifier(0.7).fit(X, y, groups, annotated=annotated)
    np.testing.assert_array_equal(read.witnesses_, held.witnesses_)


def test_a_saved_model_knows_its_witnesses(tmp_path):
    X, y, groups, annotated, _ = made(13)
    for model in (GroupClassifier(0.7), GroupClassifierCV([0.3, 0.7], cv=3)):
        model.fit(X, y, groups, annotated=annotated)
        save(model, tmp_path / "m.json")
        back = load(tmp_path / "m.json")
        np.testing.assert_array_equal(back.witnesses_, model.witnesses_)
        assert (back.outcome_, back.n_rounds_) == ("settled", model.n_rounds_)
        np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


def test_a_model_fitted_again_forgets_its_witnesses():
    X, y, groups, annotated, _ = made(13)
    model = GroupClassifier(0.7).fit(X, y, groups, annotated=annotated)
    assert len(model.witnesses_) == 13
    model.fit(X, y, groups)
    assert (len(model.witnesses_), model.outcome_, model.n_rounds_) == (0, None, 1)


# ---- its ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_ctrl_c_ends_the_fit(monkeypatch, problem):
    data = capsule(60, n_positive=45, group_size=25, seed=6)
    real, calls = alternating.working_set.solve, []

    def interrupted(*arguments, **options):
        calls.append(real(*arguments, **options))
        return replace(calls[-1], interrupted=len(calls) == problem, converged=False)

    monkeypatch.setattr(alternating.working_set, "solve", interrupted)
    fit = {"groups": data.groups, "annotated": data.groups % 9 == 0}
    if problem == 1:
        with pytest.raises(KeyboardInterrupt):
            GroupClassifier(0.9).fit(data.X, data.y, **fit)
    else:
        with pytest.warns(ConvergenceWarning, match="it was interrupted"):
            model = GroupClassifier(0.9).fit(data.X, data.y, **fit)
        assert model.outcome_ == "interrupted"
    assert len(calls) == problem


def test_a_cycle_ends_and_is_said(monkeypatch):
    X, y, groups, annotated, _ = made(8)
    unknown = np.unique(groups[(group_labels(y, groups) == 1) & ~annotated])
    first = 6 * unknown
    turns = iter([first + 1, first, first + 1, first])
    monkeypatch.setattr(alternating, "_better", lambda *a: next(turns))
    monkeypatch.setattr(alternating, "_is_trivial", lambda *a: False)
    with pytest.warns(ConvergenceWarning, match=r"groups without annotation stopped.*cycle"):
        model = GroupClassifier(0.5).fit(X, y, groups, annotated=annotated)
    assert model.outcome_ == "cycled"


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"grouping": "none"}, r"13 positive groups are not annotated.*grouping=\"negative\""),
        ({"grouping": "both"}, r"needs grouping=\"negative\"; got grouping=\"both\""),
        ({"solver": "lbfgs"}, r"needs solver=\"working_set\""),
        ({"checkpoint": "fit.npz"}, r"needs checkpoint=None"),
    ],
)
def test_settings_that_cannot_choose(settings, sentence):
    X, y, groups, annotated, _ = made()
    with pytest.raises(ValueError, match=sentence):
        GroupClassifier(**settings).fit(X, y, groups, annotated=annotated)


def test_a_group_is_annotated_or_not():
    X, y, groups, annotated, _ = made()
    names = np.array([f"frame {g}" for g in groups])
    annotated[6 * 8 + 2] = True
    with pytest.raises(ValueError, match=r"some candidates of the positive group frame 8 and"):
        GroupClassifier().fit(X, y, names, annotated=annotated)
    annotated[6 * 8 + 2] = False
    annotated[6 * 9 + 2] = True  # of a negative group it means nothing
    GroupClassifier().fit(X, y, names, annotated=annotated)


def test_no_annotated_group_at_all():
    X, y, groups, _, _ = made()
    with pytest.raises(ValueError, match=r"20 positive groups are not annotated.*MISVMClassifier"):
        GroupClassifier().fit(X, y, groups, annotated=np.zeros(len(y), dtype=bool))


def test_three_classes():
    X, y, groups, annotated, _ = made()
    y = np.where((y == 1) & (groups % 4 == 0), 2, y)
    GroupClassifier().fit(X, y, groups, annotated=np.ones(len(y), dtype=bool))
    with pytest.raises(ValueError, match="chosen for two classes only; y has 3"):
        GroupClassifier().fit(X, y, groups, annotated=annotated)


def test_candidates_that_do_not_fit_in_memory(tmp_path):
    data = capsule(200, n_positive=20, group_size=100, seed=1)
    np.save(tmp_path / "X.npy", data.X)
    source = sources.from_npy(tmp_path / "X.npy", group=data.groups, label=data.y, memory="500KB")
    with pytest.raises(ValueError, match=r"candidates in memory, and they do not fit"):
        GroupClassifier().fit(source, annotated=data.groups % 2 == 0)


@pytest.mark.parametrize(
    ("annotated", "sentence"),
    [
        (np.zeros(3, dtype=bool), "X has 240 rows but annotated has 3"),
        (np.zeros((240, 1), dtype=bool), r"got shape \(240, 1\)"),
        (np.full(240, "yes"), "got 'yes' at row 0"),
        (np.arange(240), "got 2 at row 2"),
        (np.r_[1.0, np.nan, np.ones(238)], "annotated has no value at row 1"),
    ],
)
def test_what_is_not_true_or_false(annotated, sentence):
    X, y, groups, _, _ = made()
    with pytest.raises(ValueError, match=sentence):
        GroupClassifier().fit(X, y, groups, annotated=annotated)


# ---- λ by folds -------------------------------------------------------------------------------


def test_folds_train_on_annotated_groups_and_score_all():
    X, y, groups, annotated, _ = made(14, n_groups=60)
    model = GroupClassifierCV([0.2, 0.8], cv=3, tol=1e-7, standardize=False)
    model.fit(X, y, groups, annotated=annotated)
    assert np.all(np.isfinite(model.held_out_scores_))
    # Every fold's models are those of its annotated and negative groups.
    trains = annotated | (group_labels(y, groups) == 0)
    np.testing.assert_array_equal(model.held_out_labels_ == 1, np.arange(60) % 2 == 0)
    alone = GroupClassifierCV([model.lam_], cv=3, tol=1e-7, standardize=False)
    alone.fit(X[trains], y[trains], groups[trains])
    numbers = np.unique(groups[trains])
    np.testing.assert_allclose(model.held_out_scores_[numbers], alone.held_out_scores_, atol=1e-3)
    # The last fit chooses.
    last = GroupClassifier(model.lam_, tol=1e-7, standardize=False)
    last.fit(X, y, groups, annotated=annotated)
    np.testing.assert_array_equal(model.witnesses_, last.witnesses_)
    assert model.objective_ == pytest.approx(last.objective_, rel=1e-6)
    assert model.outcome_ == "settled"


@pytest.mark.filterwarnings("ignore::groupcm.errors.LambdaAtEndWarning")
def test_the_labels_of_unannotated_groups_count_for_the_choice_of_lam():
    X, y, groups, annotated, _ = made(15, n_groups=60)
    lams = [0.05, 0.5, 0.95]
    everywhere = GroupClassifierCV(lams, cv=3).fit(X, y, groups, annotated=annotated)
    trains = annotated | (group_labels(y, groups) == 0)
    known = GroupClassifierCV(lams, cv=3).fit(X[trains], y[trains], groups[trains])
    assert everywhere.scores_.shape == known.scores_.shape
    assert not np.allclose(everywhere.scores_, known.scores_)


def test_no_patient_is_on_both_sides_of_a_fold(monkeypatch):
    X, y, groups, annotated, _ = made(16, n_groups=72)
    # Patients with annotated groups, with others only, and with both.
    patients = np.where(groups < 36, groups // 6, 100 + groups)
    real, cuts = TrainingGroups.folds, []

    def watched(self, *arguments):
        cuts.append(real(self, *arguments))
        return cuts[-1]

    monkeypatch.setattr(TrainingGroups, "folds", watched)
    model = GroupClassifierCV([0.5], cv=3).fit(X, y, groups, annotated=annotated, patients=patients)
    assert np.all(np.isfinite(model.held_out_scores_))
    (folds,) = cuts
    patient, is_annotated = patients[::6], annotated[::6] & (np.arange(72) % 2 == 0)
    for train, test in folds:
        assert not set(patient[train]) & set(patient[test])
        assert sorted([*train, *test]) == list(range(72))
        assert is_annotated[train].any()
        assert is_annotated[test].any()
        # The others are dealt evenly, too.
        assert 6 <= np.sum((test % 2 == 0) & ~is_annotated[test]) <= 10


def test_a_fold_without_an_annotated_group_is_named():
    X, y, groups, _, _ = made(17)
    annotated = groups < 4
    cv = [(np.flatnonzero(groups >= 10), np.flatnonzero(groups < 10))]
    with pytest.raises(ValueError, match="fold 0 of cv trains on no annotated positive group"):
        GroupClassifierCV([0.5], cv=cv).fit(X, y, groups, annotated=annotated)
    with pytest.raises(ValueError, match="use cv=2 or fewer"):
        GroupClassifierCV([0.5], cv=5).fit(X, y, groups, annotated=annotated)
