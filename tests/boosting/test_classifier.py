"""Trees on the group objective, as an estimator."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import groupcm
from groupcm import CalibratedGroupClassifier, GroupBoostingClassifier
from groupcm.boosting import GroupObjective
from groupcm.boosting.validation import groups_held_out
from groupcm.metrics import group_roc_auc, group_roc_auc_scorer
from groupcm.report.model_card import best_validation
from groupcm.simulate import capsule

pytest.importorskip("lightgbm")


def few_trees(**parameters: Any) -> GroupBoostingClassifier:
    given = {"n_estimators": 30, "early_stopping": False, "n_jobs": 1, "n_annealed": 10}
    return GroupBoostingClassifier(**{**given, **parameters})


@pytest.fixture(scope="module")
def data():
    return capsule(120, n_positive=50, group_size=12, seed=1)


@pytest.fixture(scope="module")
def unseen():
    return capsule(120, n_positive=50, group_size=12, seed=2)


# A weight is a repetition only where LightGBM's counts of candidates (of leaves and bins) play no
# part, and where no two features split 9 candidates alike, which rounding would decide.
ONE_FEATURE_A_TREE = few_trees(
    num_leaves=2,
    min_child_samples=1,
    colsample_bytree=0.03,
    lightgbm_params={"min_data_in_bin": 1},
)


@parametrize_with_checks([ONE_FEATURE_A_TREE])
def test_scikit_learn_checks(estimator, check):
    if "sample_weight_equivalence" in str(check):
        # Of the 15 rows and three classes of this check, rounding decides splits of other trees.
        estimator = estimator.set_params(n_estimators=4)
    check(estimator)


def auc(model: Any, on: Any) -> float:
    return group_roc_auc(on.y, model.decision_function(on.X), on.groups)


def test_it_learns_groups_it_has_not_seen(data, unseen):
    model = few_trees().fit(data.X, data.y, data.groups, data.overlap)
    assert auc(model, unseen) > 0.8


def test_it_minimises_the_group_objective(data):
    model = few_trees(subsample=1.0).fit(data.X, data.y, data.groups, data.overlap)
    objective = GroupObjective(data.y, data.groups, data.overlap, power=model.power)
    values = [
        objective.derivatives(model.boosters_[0].predict(data.X, num_iteration=n)).value
        for n in (1, 10, 20, 30)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.7 * objective.derivatives(np.zeros(len(data.y))).value


def test_same_seed_same_trees_another_seed_others(data):
    arguments = (data.X, data.y, data.groups, data.overlap)
    first, again = (few_trees().fit(*arguments) for _ in range(2))
    other = few_trees(random_state=7).fit(*arguments)
    assert first.trees_ == again.trees_
    assert first.trees_ != other.trees_


def test_the_number_of_trees_is_that_of_the_best_validation(data):
    model = few_trees(early_stopping=True, n_estimators=60, n_iter_no_change=10)
    model.fit(data.X, data.y, data.groups, data.overlap)
    assert model.n_trees_ == 1 + int(np.argmax(model.validation_curve_))
    assert model.boosters_[0].num_trees() == model.n_trees_


def test_no_patient_is_both_grown_on_and_left_out(data, monkeypatch):
    from groupcm.boosting import validation

    seen, best_number = [], validation.best_number

    def watched(rows, folds, *more):
        seen.extend(folds)
        return best_number(rows, folds, *more)

    monkeypatch.setattr(validation, "best_number", watched)
    patients = data.groups // 5
    few_trees(early_stopping=True).fit(data.X, data.y, data.groups, patients=patients)
    assert len(seen) == 3
    for fold in seen:
        assert not set(patients[fold.terms.rows]) & set(patients[fold.held_out])
        # A group that is left out is scored by all its candidates.
        assert set(np.flatnonzero(np.isin(data.groups, data.groups[fold.held_out]))) == set(
            fold.held_out
        )


def test_a_share_of_the_groups_may_validate(data):
    model = few_trees(early_stopping=True, validation=0.25)
    model.fit(data.X, data.y, data.groups, data.overlap)
    assert len(model.validation_curve_) <= 30


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6])
@pytest.mark.parametrize("by_patient", [False, True])
def test_the_share_held_out_is_that_share(share, by_patient):
    positive = np.arange(200) % 5 == 0
    patient = np.arange(200) // 4 if by_patient else None
    ((train, test),) = groups_held_out(share, positive, np.array([0]), patient, seed=3)
    assert len(test) / 200 == pytest.approx(share, abs=0.03)
    assert positive[test].mean() == pytest.approx(0.2, abs=0.05)
    assert len(np.union1d(train, test)) == 200
    if patient is not None:
        assert not set(patient[train]) & set(patient[test])


def test_unannotated_groups_take_part_in_the_trees_that_are_chosen(data):
    positive = np.unique(data.groups[data.y == 1])
    for n_annotated in (2, 5):
        annotated = ~np.isin(data.groups, positive[n_annotated:])
        model = few_trees(n_estimators=40, early_stopping=True, n_warm_up=20, n_iter_no_change=3)
        model.fit(data.X, data.y, data.groups, data.overlap, annotated=annotated)
        assert model.n_trees_ > 20
    with pytest.raises(ValueError, match="lower n_warm_up or raise n_estimators"):
        few_trees(n_warm_up=30).fit(data.X, data.y, data.groups, annotated=annotated)
    # One annotated group cannot be both grown on and held out.
    annotated = ~np.isin(data.groups, positive[1:])
    with pytest.warns(UserWarning, match="all 40 trees are grown"):
        model.fit(data.X, data.y, data.groups, annotated=annotated)


def test_parameters_of_lightgbm_by_any_name(data):
    arguments = (data.X, data.y, data.groups, data.overlap)
    plain = few_trees().fit(*arguments).decision_function(data.X)
    for more in ({"max_bin": 15}, {"min_child_weight": 5.0}, {"force_col_wise": True}):
        scores = few_trees(lightgbm_params=more).fit(*arguments).decision_function(data.X)
        assert np.array_equal(scores, plain) == ("force_col_wise" in more)
    for alias in ("eta", "sub_feature", "objective", "num_rounds", "early_stopping_rounds"):
        with pytest.raises(ValueError, match=f"lightgbm_params has '{alias}'"):
            few_trees(lightgbm_params={alias: 1}).fit(*arguments)


def test_changing_a_booster_changes_no_model(data):
    model = few_trees().fit(data.X, data.y, data.groups)
    before = model.decision_function(data.X)
    model.boosters_[0].set_leaf_output(0, 0, 99.0)
    np.testing.assert_array_equal(model.decision_function(data.X), before)


def test_saved_and_loaded_it_scores_the_same(data, tmp_path):
    model = few_trees().fit(data.X, data.y, data.groups, data.overlap)
    groupcm.save(model, tmp_path / "trees.json")
    for same in (groupcm.load(tmp_path / "trees.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(
            same.decision_function(data.X), model.decision_function(data.X)
        )
        assert same.get_params() == model.get_params()


def test_probabilities_of_groups(data, unseen):
    model = CalibratedGroupClassifier(few_trees(), cv=3)
    model.fit(data.X, data.y, data.groups, data.overlap)
    p = model.predict_proba_groups(unseen.X, unseen.groups)[:, 1]
    scores = model.group_scores(unseen.X, unseen.groups).score
    order = np.argsort(scores)
    assert np.all(np.diff(p[order]) >= 0)


def test_groups_and_overlap_are_routed(data):
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = Pipeline([("scale", StandardScaler()), ("trees", few_trees())])
        found = cross_val_score(
            pipeline,
            data.X,
            data.y,
            cv=3,
            scoring=group_roc_auc_scorer,
            params={"groups": data.groups, "overlap": data.overlap},
        )
    assert np.all(found > 0.6)


def test_missing_values_are_split_upon(data):
    X = data.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = few_trees().fit(X, data.y, data.groups, data.overlap)
    assert np.all(np.isfinite(model.decision_function(X)))
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="row 3, column 2"):
        model.decision_function(X)
    with pytest.raises(ValueError, match="row 3, column 2"):
        few_trees().fit(X, data.y, data.groups)


def test_groups_without_annotation_add_what_they_know():
    data, unseen = (capsule(60, n_positive=40, group_size=12, seed=s) for s in (1, 2))
    positive = np.unique(data.groups[data.y == 1])
    annotated = ~np.isin(data.groups, positive[8:])
    known = ~np.isin(data.groups, positive[8:])
    label = np.where(annotated, data.y, 1)
    trees = few_trees(n_estimators=120, n_warm_up=40)
    few = clone(trees).fit(data.X[known], data.y[known], data.groups[known], data.overlap[known])
    more = clone(trees).fit(data.X, label, data.groups, data.overlap, annotated=annotated)
    assert len(more.witnesses_) == len(positive) - 8
    assert np.mean(data.y[more.witnesses_] == 1) > 0.5  # by chance 1 in 12
    assert auc(more, unseen) > auc(few, unseen)
    everything = clone(trees).fit(data.X, data.y, data.groups, data.overlap)
    said = clone(trees).fit(
        data.X, data.y, data.groups, data.overlap, annotated=np.ones(len(data.y), dtype=bool)
    )
    assert said.trees_ == everything.trees_


def test_nothing_annotated_names_the_model_for_that(data):
    with pytest.raises(ValueError, match="MISVMClassifier"):
        few_trees().fit(data.X, data.y, data.groups, annotated=np.zeros(len(data.y), dtype=bool))


def test_one_object_a_group_changes_nothing(data):
    plain = few_trees().fit(data.X, data.y, data.groups, data.overlap)
    objects = few_trees().fit(data.X, data.y, data.groups, data.overlap, objects=data.groups)
    assert plain.trees_ == objects.trees_


def test_frames_name_their_features(data):
    names = [f"f{k}" for k in range(data.X.shape[1])]
    frame = pd.DataFrame(data.X, columns=names)
    model = few_trees().fit(frame, data.y, data.groups)
    assert model.feature_names_in_.tolist() == names
    unnamed = few_trees().fit(data.X, data.y, data.groups)
    np.testing.assert_array_equal(model.decision_function(frame), unnamed.decision_function(data.X))


def test_one_positive_group_grows_all_trees_and_says_so(data):
    only = (data.y == 0) | (data.groups == data.groups[np.argmax(data.y)])
    y = np.where(only, data.y, 0)
    with pytest.warns(UserWarning, match="all 30 trees are grown"):
        model = few_trees(early_stopping=True).fit(data.X, y, data.groups)
    assert model.n_trees_ == 30


@pytest.mark.parametrize("X", [np.ones((60, 2)), np.tile([[0.0], [1.0], [2.0]], (20, 1))])
def test_features_that_tell_nothing_score_all_groups_alike(X):
    y, groups = np.arange(60) % 6 == 0, np.repeat(np.arange(20), 3)
    with pytest.warns(UserWarning, match="no tree could split 60 candidates"):
        model = few_trees(early_stopping=True, min_child_samples=40).fit(X, y, groups)
    assert len(np.unique(model.group_scores(X, groups).score)) == 1


def test_one_huge_group(data):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2)).astype(np.float32)
    groups = np.zeros(len(X), dtype=int)
    groups[:40] = np.repeat(np.arange(1, 21), 2)
    y = np.zeros(len(X), dtype=int)
    y[:40:2] = 1
    X[:40:2] += 6.0
    model = few_trees(n_estimators=10, min_child_samples=5, subsample=1.0).fit(X, y, groups)
    assert model.group_scores(X, groups).winner[0] in range(2)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1; got 0"),
        ({"subsample": 1.5}, "subsample must be a share above 0, at most 1; got 1.5"),
        ({"first_power": np.inf}, "first_power must be finite"),
        ({"n_jobs": 0}, "n_jobs must be None, or a whole number other than 0"),
        ({"extra_trees": "y"}, "extra_trees must be True or False; got 'y'"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False; got 'yes'"),
        ({"verbose": "x"}, "verbose must be a whole number; got 'x'"),
        ({"lightgbm_params": 3}, "lightgbm_params must be a dict"),
        ({"lightgbm_params": {"nonsense": 1}}, "has 'nonsense', which LightGBM does not know"),
        ({"lightgbm_params": {"cat_feature": [0]}}, "which is the parameter categorical_features"),
        ({"lightgbm_params": {"linear_trees": True}}, "has 'linear_trees', but a leaf is one"),
        ({"power": 0.9}, "power must be a number of at least 1; got 0.9"),
        ({"power": np.inf}, "set n_annealed=0 with power=inf"),
        ({"validation": 1}, "validation must be a number of folds from 2"),
        ({"scoring": "beauty"}, "beauty"),
        ({"background": "grey"}, "background must be one of 'ignore', 'negative'; got 'grey'"),
    ],
)
def test_mistakes_get_a_sentence(data, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        few_trees(**parameters).fit(data.X, data.y, data.groups)


def test_missing_lightgbm_names_the_command():
    code = (
        "import sys; sys.modules['lightgbm'] = None\n"
        "from groupcm import GroupBoostingClassifier\n"
        "try: GroupBoostingClassifier().fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith('install it with: pip install "groupcm[boosting]"')


def test_the_validation_told_is_that_of_the_number_chosen():
    """The best of all may lie before unannotated groups take part, where none is chosen."""
    curve = np.array([0.7, 0.9, 0.6, 0.8, 0.7])
    told = best_validation(SimpleNamespace(scoring="x", validation_curve_=curve, n_trees_=4))
    assert told is not None
    assert (told.value, told.most) == (0.8, 5)


def test_patients_of_another_length_are_told(data):
    with pytest.raises(ValueError, match="rows but patients has 2"):
        few_trees().fit(data.X, data.y, data.groups, data.overlap, patients=[1, 2])
