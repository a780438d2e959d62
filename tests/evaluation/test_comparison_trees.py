"""Trees among the models that are compared."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from groupcm.errors import InputError
from groupcm.evaluation.comparison import contenders as tree_contenders
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.evaluation.comparison.contender import Budget
from groupcm.evaluation.comparison.contenders import DEFAULT_NAMES, contenders
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule
from groupcm.utils.extras import is_installed

pytest.importorskip("lightgbm")
TREES = ["trees", "lightgbm", "lightgbm-ranker", "xgboost"]


@pytest.fixture(scope="module")
def made():
    return capsule(60, n_positive=20, n_patients=40, group_size=12, seed=2)


@pytest.fixture(scope="module")
def data(made):
    return LabelledCandidates.check(made.X, made.y, made.groups, made.overlap)


def test_trees_are_compared_where_lightgbm_is_installed():
    assert DEFAULT_NAMES == ("svm", "misvm", "gcm-none", "gcm", "trees")


def test_models_of_trees_have_as_many_settings():
    budget = Budget(6, None, 0)
    for settings in (budget.trees, budget.group_trees):
        assert len({tuple(setting.items()) for setting in settings}) == 6
        assert all(isinstance(setting["num_leaves"], int) for setting in settings)
        assert len({setting["num_leaves"] for setting in settings}) > 3
    assert len({setting["power"] for setting in budget.group_trees}) == 6


@pytest.mark.parametrize("name", TREES)
def test_every_model_grows_as_many_trees_as_the_others(name, data):
    if name == "xgboost":
        pytest.importorskip("xgboost")
    (contender,) = contenders([name], 2)
    model = contender.fit(contender.settings[0], data)
    if name == "trees":
        n_trees = model.n_trees_
    elif name == "lightgbm-ranker":
        assert model.ranker_.booster_.num_trees() > 100  # it ends where nothing is left to split
        n_trees = model.ranker_.n_estimators
    elif name == "lightgbm":
        n_trees = model.estimator_[-1].booster_.num_trees()
    else:
        n_trees = model.estimator_[-1].get_booster().num_boosted_rounds()
    assert n_trees == 200
    again = contender.fit(contender.settings[0], data)
    scores = model.decision_function(data.X)
    np.testing.assert_array_equal(again.decision_function(data.X), scores)
    other = contender.fit(contender.settings[1], data).decision_function(data.X)
    assert not np.array_equal(other, scores)


@pytest.mark.filterwarnings("ignore::groupcm.metrics.clusters.FewClustersWarning")
def test_they_tell_unseen_groups_apart(made):
    models = [name for name in TREES if name != "xgboost" or is_installed("xgboost")]
    found = compare_models(
        made.X,
        made.y,
        made.groups,
        made.overlap,
        made.patient,
        models=[*models, "gcm"],
        cv=2,
        n_settings=1,
        learning=False,
        n_resamples=50,
    )
    for model in found.models:
        assert model.group_roc.auc.estimate > 0.7, model.name
    assert found.models[0].name == "Group boosting"
    assert [pair.a for pair in found.pairs] == ["GCM"] * len(models)


def test_the_ranker_learns_from_positive_groups_alone(data):
    (contender,) = contenders(["lightgbm-ranker"], 1)
    setting = contender.settings[0]
    scores = contender.fit(setting, data).decision_function(data.X)
    table = np.isin(data.groups, np.unique(data.groups[data.y == 1]))
    one_negative = data.groups == data.groups[~table][0]
    few = data.take(np.flatnonzero(table | one_negative))
    np.testing.assert_array_equal(contender.fit(setting, few).decision_function(data.X), scores)
    assert group_roc_auc(data.y[table], scores[table], np.arange(table.sum())) > 0.9
    assert "teach it nothing" in contender.about


def test_the_ranker_does_not_mind_the_order_of_rows(data):
    (contender,) = contenders(["lightgbm-ranker"], 1)
    setting = contender.settings[0]
    scores = contender.fit(setting, data).decision_function(data.X)
    by_place = np.argsort(np.arange(len(data.y)) % 12, kind="stable")  # groups fall apart
    mixed = contender.fit(setting, data.take(by_place)).decision_function(data.X)
    assert np.corrcoef(mixed, scores)[0, 1] > 0.9


def test_what_the_ranker_cannot_learn_from(data, monkeypatch):
    (contender,) = contenders(["lightgbm-ranker"], 1)
    positive = np.isin(data.groups, np.unique(data.groups[data.y == 1]))
    of_groups = LabelledCandidates.check(data.X, positive, data.groups)
    with pytest.raises(ValueError, match="a ranker learns from nothing else"):
        contender.fit(contender.settings[0], of_groups)
    monkeypatch.setattr("groupcm.evaluation.comparison.candidate_models._LARGEST_QUERY", 3)
    with pytest.raises(ValueError, match="LightGBM ranks at most 3 at once"):
        contender.fit(contender.settings[0], data)


@pytest.mark.parametrize("name", ["trees", "lightgbm", "lightgbm-ranker"])
def test_a_missing_lightgbm_is_one_sentence(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match=r'pip install "groupcm\[boosting\]"'):
        contenders([name])


def test_a_missing_xgboost_is_one_sentence(monkeypatch):
    monkeypatch.setattr(tree_contenders, "is_installed", lambda package: False)
    with pytest.raises(InputError, match="pip install xgboost"):
        contenders(["xgboost"])
