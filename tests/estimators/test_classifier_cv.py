"""λ by folds: the same as by hand, with no group and no patient on both sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupcm import GroupClassifier, GroupClassifierCV, load, save, sources
from groupcm.data.folds import group_folds
from groupcm.errors import LambdaAtEndWarning
from groupcm.estimators import cross_validation
from groupcm.estimators.path import lambda_grid
from groupcm.estimators.training.fit import Training
from groupcm.metrics import group_roc_auc, sensitivity_at_specificity
from groupcm.simulate import capsule

LAMS = [0.2, 0.6, 0.95]
# Three values that are given often have their best at an end.
pytestmark = pytest.mark.filterwarnings("ignore::groupcm.errors.LambdaAtEndWarning")


@pytest.fixture(scope="module")
def data():
    return capsule(120, n_positive=40, n_patients=60, group_size=12, seed=4)


def by_hand(data, folds, lams, **parameters):
    """The mean group AUC of each λ and fold, each model fitted on its own rows."""
    scores = np.empty((len(folds), len(lams)))
    for k, (train, test) in enumerate(folds):
        for j, lam in enumerate(lams):
            model = GroupClassifier(lam=lam, tol=1e-8, **parameters)
            model.fit(data.X[train], data.y[train], data.groups[train], data.overlap[train])
            s = model.decision_function(data.X[test])
            scores[k, j] = group_roc_auc(data.y[test], s, data.groups[test])
    return scores


@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_the_scores_are_those_of_fits_by_hand(data, grouping):
    # Without standardisation a fit on a fold's rows is the same problem exactly.
    parameters = {"grouping": grouping, "standardize": False}
    model = GroupClassifierCV(lams=LAMS, cv=3, tol=1e-8, **parameters)
    model.fit(data.X, data.y, data.groups, data.overlap)
    folds = group_folds(data.y, data.groups, n_splits=3)
    expected = by_hand(data, folds, LAMS, **parameters)
    np.testing.assert_allclose(model.scores_, expected, atol=2e-3)
    assert model.lam_ == LAMS[int(np.argmax(model.scores_.mean(axis=0)))]
    assert model.best_score_ == pytest.approx(model.scores_.mean(axis=0).max())


@pytest.mark.parametrize(
    "options", [{}, {"loss": "logistic", "penalty": "elasticnet", "l1_ratio": 0.3}]
)
def test_the_final_model_is_the_one_of_the_chosen_lam(data, options):
    options = options | {"tol": 1e-7}
    model = GroupClassifierCV(lams=LAMS, **options).fit(
        data.X, data.y, data.groups, data.overlap, patients=data.patient
    )
    alone = GroupClassifier(model.lam_, **options).fit(data.X, data.y, data.groups, data.overlap)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    np.testing.assert_allclose(
        model.decision_function(data.X), alone.decision_function(data.X), atol=1e-3
    )


def test_held_out_scores_come_from_models_that_did_not_see_the_group(data):
    folds = group_folds(data.y, data.groups, data.patient, n_splits=4)
    model = GroupClassifierCV(lams=[0.5], cv=4, tol=1e-8, standardize=False).fit(
        data.X, data.y, data.groups, data.overlap, patients=data.patient
    )
    for train, test in folds:
        assert not set(data.patient[train]) & set(data.patient[test])
        seen = GroupClassifier(0.5, tol=1e-8, standardize=False).fit(
            data.X[train], data.y[train], data.groups[train], data.overlap[train]
        )
        expected = seen.group_scores(data.X[test], data.groups[test])
        numbers = np.asarray(expected.group)
        np.testing.assert_allclose(model.held_out_scores_[numbers], expected.score, atol=1e-2)
    positive = np.isin(np.arange(data.n_groups), data.groups[data.y == 1])
    np.testing.assert_array_equal(model.held_out_labels_, positive.astype(int))


def test_a_parquet_source_gives_the_scores_of_arrays(data, tmp_path):
    from groupcm.simulate import FEATURE_NAMES, capsule_to_parquet

    path = tmp_path / "frames.parquet"
    capsule_to_parquet(path, n_negative=120, n_positive=40, n_patients=60, group_size=12, seed=4)
    source = sources.from_parquet(
        path, group="frame", label="label", overlap="overlap", features=list(FEATURE_NAMES)
    )
    arrays = GroupClassifierCV(lams=LAMS, tol=1e-6).fit(
        data.X, data.y, data.groups, data.overlap, patients=data.patient
    )
    for memory in ("1GB", "10kB"):  # in memory, and as a stream
        stream = GroupClassifierCV(lams=LAMS, tol=1e-6, memory=memory)
        stream.fit(source, patients=data.patient)
        np.testing.assert_allclose(stream.scores_, arrays.scores_, atol=2e-3)
        assert stream.lam_ == arrays.lam_


def test_folds_may_overlap_and_leave_groups_out(data):
    repeated = StratifiedShuffleSplit(4, test_size=0.4, random_state=0)
    positive = np.isin(np.arange(data.n_groups), data.groups[data.y == 1])
    parts = list(repeated.split(np.zeros((data.n_groups, 1)), positive))
    model = GroupClassifierCV(lams=LAMS, cv=repeated, tol=1e-6).fit(data.X, data.y, data.groups)
    every = np.zeros((len(parts), data.n_groups))
    for k, (train, test) in enumerate(parts):
        rows = tuple(np.flatnonzero(np.isin(data.groups, side)) for side in (train, test))
        alone = GroupClassifierCV(lams=LAMS, cv=[rows], tol=1e-6)
        alone.fit(data.X, data.y, data.groups)
        np.testing.assert_allclose(model.scores_[k], alone.scores_[0], atol=2e-3)
        every[k, test] = 1
    np.testing.assert_array_equal(np.isnan(model.held_out_scores_), every.sum(axis=0) == 0)


def test_splitters_of_groups_need_no_patients(data):
    model = GroupClassifierCV(lams=LAMS, cv=GroupKFold(3)).fit(data.X, data.y, data.groups)
    assert model.scores_.shape == (3, 3)


def test_a_fold_that_is_interrupted_ends_the_search(data, monkeypatch):
    real = Training.solve_path

    def interrupted(*arguments):
        return [replace(solution, interrupted=True) for solution in real(*arguments)]

    monkeypatch.setattr(Training, "solve_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GroupClassifierCV(lams=LAMS).fit(data.X, data.y, data.groups, data.overlap)


def test_rows_in_any_order(data):
    order = np.random.default_rng(1).permutation(len(data))
    folds = GroupKFold(3)
    one = GroupClassifierCV(lams=LAMS, cv=3, tol=1e-6).fit(data.X, data.y, data.groups)
    other = GroupClassifierCV(lams=LAMS, cv=3, tol=1e-6).fit(
        data.X[order], data.y[order], data.groups[order]
    )
    assert one.scores_.shape == other.scores_.shape
    given = GroupClassifierCV(lams=LAMS, cv=folds, tol=1e-6)
    given.fit(data.X, data.y, data.groups, patients=data.patient)
    assert given.scores_.shape == (3, 3)


def test_folds_of_row_numbers(data):
    folds = group_folds(data.y, data.groups, n_splits=3)
    told = GroupClassifierCV(lams=LAMS, cv=folds).fit(data.X, data.y, data.groups, data.overlap)
    counted = GroupClassifierCV(lams=LAMS, cv=3).fit(data.X, data.y, data.groups, data.overlap)
    np.testing.assert_allclose(told.scores_, counted.scores_, atol=1e-9)


def test_any_metric_of_groups(data):
    def at_95(y, scores, groups):
        assert groups is None
        return sensitivity_at_specificity(y, scores, specificity=0.95)

    model = GroupClassifierCV(lams=LAMS, scoring=at_95).fit(data.X, data.y, data.groups)
    assert np.all((model.scores_ >= 0) & (model.scores_ <= 1))
    with pytest.raises(ValueError, match="metric of groups"):
        GroupClassifierCV(scoring="candidate_roc_auc").fit(data.X, data.y, data.groups)
    with pytest.raises(ValueError, match='use "group_roc_auc"'):
        GroupClassifierCV(scoring="auc").fit(data.X, data.y, data.groups)


def test_a_metric_that_gives_nan_chooses_no_lam(data):
    """Before, the first NaN was the best."""
    n_calls = 0

    def first_is_nan(y, scores, groups):
        nonlocal n_calls
        n_calls += 1
        return np.nan if n_calls % len(LAMS) == 1 else group_roc_auc(y, scores)

    model = GroupClassifierCV(lams=LAMS, scoring=first_is_nan)
    model.fit(data.X, data.y, data.groups)
    assert np.isnan(model.scores_[:, 0]).all()
    means = model.scores_[:, 1:].mean(axis=0)
    assert (model.lam_, model.best_score_) == (LAMS[1 + np.argmax(means)], max(means))
    with pytest.raises(ValueError, match="scoring gives NaN for every λ, in 5 of 5 folds"):
        GroupClassifierCV(lams=LAMS, scoring=lambda *_: np.nan).fit(data.X, data.y, data.groups)


def test_bad_input_is_one_sentence(data):
    two = np.where(np.arange(len(data)) % 2 == 0, 1, 2)
    with pytest.raises(ValueError, match="belongs to two patients, 1 and 2"):
        GroupClassifierCV().fit(data.X, data.y, data.groups, patients=two)
    single = np.where(data.groups == data.groups[data.y == 1][0], data.y, 0)
    with pytest.raises(ValueError, match="there is 1 positive group, fewer than the 5 folds"):
        GroupClassifierCV().fit(data.X, single, data.groups)
    with pytest.raises(ValueError, match="make one of them against the rest"):
        GroupClassifierCV().fit(data.X, data.y + (data.groups == 3) * 2, data.groups)


def test_ties_everywhere_take_the_smallest_lam(data):
    with pytest.warns(UserWarning, match="constant"):
        model = GroupClassifierCV(lams=LAMS).fit(np.ones((len(data), 2)), data.y, data.groups)
    np.testing.assert_array_equal(model.scores_, 0.5)
    assert model.lam_ == LAMS[0]


def test_saved_and_loaded(data, tmp_path):
    model = GroupClassifierCV(lams=LAMS).fit(data.X, data.y, data.groups, data.overlap)
    save(model, tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    assert back.lam_ == model.lam_
    np.testing.assert_array_equal(back.scores_, model.scores_)
    np.testing.assert_array_equal(back.decision_function(data.X), model.decision_function(data.X))


@parametrize_with_checks([GroupClassifierCV(lams=2, cv=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def best_at(lam_of_best, monkeypatch):
    """Let the scores of groups fall with the distance of log odds from those of a λ."""

    def scored(self, lams, side):
        odds = np.log(lams / (1 - lams)) - np.log(lam_of_best / (1 - lam_of_best))
        return [np.tile(-np.abs(odds), (len(test), 1)) for _, test in self._folds]

    def mean(y, scores, groups):
        return float(np.mean(scores))

    monkeypatch.setattr(cross_validation.LambdaSearch, "_train", scored)
    return mean


@pytest.mark.parametrize(("best", "n"), [(3e-4, 10), (2e-5, 10), (0.997, 10), (5e-4, 3)])
def test_a_grid_is_extended_where_the_best_is_at_its_end(data, monkeypatch, best, n):
    metric = best_at(best, monkeypatch)
    model = GroupClassifierCV(lams=n, cv=3, scoring=metric, tol=0.1)
    model.fit(data.X, data.y, data.groups)
    assert n < len(model.lams_) <= n + 6
    assert model.scores_.shape == (3, len(model.lams_))
    assert (np.diff(model.lams_) > 0).all()
    assert set(lambda_grid(n)) <= set(model.lams_)
    odds = model.lams_ / (1 - model.lams_)
    ratios = odds[1:] / odds[:-1]
    if n == 10:  # steps of the same ratio
        np.testing.assert_allclose(ratios, ratios[3], rtol=1e-9)
    else:
        assert (ratios[: len(model.lams_) - n] <= 10 + 1e-9).all()
    nearest = np.argmin(np.abs(np.log(odds) - np.log(best / (1 - best))))
    assert model.lam_ == model.lams_[nearest]
    assert 0 < nearest < len(model.lams_) - 1


def test_a_grid_whose_best_is_inside_or_shared_is_not_extended(data, monkeypatch):
    metric = best_at(0.3, monkeypatch)
    inside = GroupClassifierCV(lams=5, cv=3, scoring=metric, tol=0.1)
    assert len(inside.fit(data.X, data.y, data.groups).lams_) == 5
    same = GroupClassifierCV(lams=5, cv=3, scoring=lambda y, s, g: 1.0, tol=0.1)
    assert len(same.fit(data.X, data.y, data.groups).lams_) == 5


def test_what_remains_at_the_end_is_said(data, monkeypatch):
    metric = best_at(1e-9, monkeypatch)
    said = "the chosen λ = .* is the smallest of the 15 values tried.* not tried within the budget"
    model = GroupClassifierCV(cv=3, scoring=metric, tol=0.1)
    with pytest.warns(LambdaAtEndWarning, match=said):
        model.fit(data.X, data.y, data.groups)
    assert (model.lam_, len(model.lams_)) == (model.lams_[0], 15)
    # Without time for more, none is tried.
    monkeypatch.setattr(cross_validation.LambdaSearch, "_has_time", lambda self, n: False)
    with pytest.warns(LambdaAtEndWarning, match="smallest of the 10 values"):
        model.fit(data.X, data.y, data.groups)
    assert len(model.lams_) == 10


def test_given_values_are_never_extended(data, monkeypatch):
    metric = best_at(0.9999, monkeypatch)
    model = GroupClassifierCV(lams=LAMS, cv=3, scoring=metric, tol=0.1)
    with pytest.warns(LambdaAtEndWarning, match="is the largest of the 3 .*; give larger ones"):
        model.fit(data.X, data.y, data.groups)
    assert model.lams_.tolist() == LAMS
    # Of two, one end is always best.
    model.set_params(lams=LAMS[:2]).fit(data.X, data.y, data.groups)


def test_extended_values_are_trained_like_the_others(data):
    """Warm starts from the end of the grid give the scores of a path of its own."""
    prefer_small = GroupClassifierCV(
        3, cv=3, tol=1e-8, scoring=lambda y, s, g: -float(np.ptp(s)), max_passes=1e4
    )
    with pytest.warns(LambdaAtEndWarning):
        prefer_small.fit(data.X, data.y, data.groups)
    assert len(prefer_small.lams_) > 3
    given = clone(prefer_small).set_params(lams=prefer_small.lams_)
    given.fit(data.X, data.y, data.groups)
    np.testing.assert_allclose(given.scores_, prefer_small.scores_, atol=1e-5)
