"""A fit that was given no groups, although its rows look like candidates of groups."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    errors,
    metrics,
)
from groupcm.errors import GroupsWarning
from groupcm.estimators.path import lambda_path
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.sources import from_arrays, from_parquet

MODELS: dict[str, Any] = {
    "linear": GroupClassifier(tol=0.1),
    "cv": GroupClassifierCV([0.5], cv=2, tol=0.1),
    "misvm": MISVMClassifier(tol=0.1),
    "trees": GroupBoostingClassifier(3, early_stopping=False, min_child_samples=5),
    "calibrated": CalibratedGroupClassifier(GroupClassifier(tol=0.1), cv=2),
    "calibrated foreign": CalibratedGroupClassifier(LogisticRegression(), cv=2),
}


def rows(n: int, every: int = 2):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % every == 0).astype(int)
    return rng.normal(size=(n, 2)) + y[:, None], y, np.arange(n) // 4


def caught_in(call) -> list[str]:
    errors._SHOWN.clear()  # as in a fresh interpreter
    with warnings.catch_warnings(record=True, action="default") as caught:
        call()
    return [str(warning.message) for warning in caught if warning.category is GroupsWarning]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("n", "every"), [(500, 2), (60, 15)])
def test_a_fit_without_groups_warns_once(kind, n, every):
    X, y, _ = rows(n, every)
    with warnings.catch_warnings(record=True, action="always") as caught:
        clone(MODELS[kind]).fit(X, y)
    assert [warning.category for warning in caught].count(GroupsWarning) == 1
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_that_says_none_does_not_warn(kind):
    X, y, _ = rows(500)
    silent, loud = clone(MODELS[kind]), clone(MODELS[kind])
    silent.fit(X, y, groups="none")
    with pytest.warns(GroupsWarning, match='groups="none" where that is meant'):
        loud.fit(X, y)
    np.testing.assert_array_equal(silent.decision_function(X), loud.decision_function(X))


@pytest.mark.parametrize("kind", MODELS)
def test_few_rows_do_not_warn(kind):
    X, y, _ = rows(48, 12)
    clone(MODELS[kind]).fit(X, y)
    X, y, _ = rows(200, 4)
    clone(MODELS[kind]).fit(X, y)


def test_no_grouping_needs_no_groups():
    X, y, _ = rows(600)
    GroupClassifier(grouping="none").fit(X, y)
    GroupClassifierCV([0.5], cv=2, grouping="none").fit(X, y)
    CalibratedGroupClassifier(GroupClassifier(grouping="none"), cv=2).fit(X, y)


def test_many_fits_of_one_line_warn_once():
    X, y, _ = rows(900)
    assert len(caught_in(lambda: [GroupClassifier().fit(X, y) for _ in range(3)])) == 1
    assert len(caught_in(lambda: cross_val_score(GroupClassifier(), X, y, cv=3))) == 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_groups_that_scikit_learn_keeps_warn_on_few_rows_too(wrapped):
    X, y, groups = rows(40)
    model: Any = GroupClassifier()
    model = make_pipeline(StandardScaler(), model) if wrapped else model
    (told,) = caught_in(lambda: cross_val_score(model, X, y, groups=groups, cv=GroupKFold(2)))
    for remedy in (
        "sklearn.set_config(enable_metadata_routing=True)",
        "set_fit_request(groups=True)",
        'params={"groups": groups}',
    ):
        assert remedy in told
    grid = GridSearchCV(
        model,
        {"groupclassifier__lam": [0.5]} if wrapped else {"lam": [0.5]},
        cv=GroupKFold(2),
        refit=False,
    )
    assert len(caught_in(lambda: grid.fit(X, y, groups=groups))) == 1
    assert len(caught_in(lambda: learning_curve(model, X, y, groups=groups, cv=GroupKFold(2)))) == 1


def test_the_remedy_of_the_warning_works():
    X, y, groups = rows(600)
    y[groups % 3 > 0] = 0
    model = GroupClassifier()
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True)
        found = cross_val_score(model, X, y, params={"groups": groups}, cv=GroupKFold(2))
    train, test = next(GroupKFold(2).split(X, y, groups))
    expected = GroupClassifier().fit(X[train], y[train], groups[train])
    assert found[0] == expected.score(X[test], y[test], groups[test])


def test_rows_without_groups_in_scikit_learn_do_not_warn():
    X, y, _ = rows(40)
    cross_val_score(GroupClassifier(), X, y, cv=2)
    GridSearchCV(GroupClassifier(), {"lam": [0.5]}, cv=2).fit(X, y)


def test_sources_without_groups(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y, _ = rows(600)
    source = from_arrays(X, label=y)
    with pytest.warns(GroupsWarning):
        GroupClassifier().fit(source)
    GroupClassifier().fit(source, groups="none")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), path)
    GroupClassifier().fit(from_parquet(path, group=None, label="y"))  # None had to be said
    with pytest.warns(GroupsWarning):
        GroupClassifier().fit(path, "y")
    model = GroupClassifier().fit(path, "y", groups="none")
    assert model.score(path, "y", groups="none") > 0.5
    assert len(model.group_scores(path, groups="none").score) == 600


def test_everything_that_takes_groups_takes_none():
    X, y, _ = rows(80)
    model = GroupClassifier().fit(X, y, groups="none")
    calibrated = CalibratedGroupClassifier(model, cv="prefit").fit(X, y, groups="none")
    scores = model.decision_function(X)
    for fitted in (model, calibrated):
        assert fitted.score(X, y, groups="none") == fitted.score(X, y)
        np.testing.assert_allclose(fitted.group_scores(X, "none").score, scores)
        assert len(fitted.predict_groups(X, "none")) == len(y)
    assert calibrated.predict_proba_groups(X, "none").shape == (len(y), 2)
    assert metrics.group_roc_auc_scorer(model, X, y, groups="none") > 0.5
    for name in ("group_roc_auc", "group_average_precision", "group_roc_curve", "operating_point"):
        metric = getattr(metrics, name)
        assert repr(metric(y, scores, "none")) == repr(metric(y, scores))
    interval = metrics.bootstrap_interval(y, scores, "none", n_resamples=50)
    assert repr(interval) == repr(metrics.bootstrap_interval(y, scores, n_resamples=50))
    compared = metrics.compare(y, scores, X[:, 0], "none", n_resamples=50)
    assert repr(compared) == repr(metrics.compare(y, scores, X[:, 0], n_resamples=50))
    band = metrics.roc_band(y, scores, "none", n_resamples=50)
    assert repr(band) == repr(metrics.roc_band(y, scores, n_resamples=50))
    alone = metrics.froc_curve(y, scores, np.arange(len(y)))
    assert repr(metrics.froc_curve(y, scores, "none")) == repr(alone)
    p = calibrated.predict_proba_groups(X, "none")[:, 1]
    assert metrics.group_brier_score(y, p, "none") == metrics.group_brier_score(y, p)
    found = evaluate(model, X, y, "none", n_resamples=50)
    assert found.data.n_positive_groups == 40
    assert lambda_path(X, y, "none", lams=[0.5]).coef.shape == (1, 2)


def test_a_comparison_without_groups_warns():
    X, y, _ = rows(500)
    options: dict[str, Any] = {"models": ["gcm-none"], "cv": 2, "n_settings": 1, "learning": False}
    with pytest.warns(GroupsWarning):
        found = compare_models(X, y, n_resamples=20, **options)
    again = compare_models(X, y, "none", n_resamples=20, **options)
    assert repr(again.models[0].group_roc.auc) == repr(found.models[0].group_roc.auc)
