"""Comparisons of models where nobody annotated some of the positive groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groupcm import GroupClassifier, MISVMClassifier
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.crossfit import crossfit, folds_of
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.metrics import candidate_roc_auc
from groupcm.simulate import capsule
from groupcm.utils.extras import is_installed

pytestmark = pytest.mark.filterwarnings("ignore::groupcm.metrics.clusters.FewClustersWarning")
TREES = ["trees", "lightgbm"] if is_installed("lightgbm") else []
MODELS = ["svm", "misvm", "gcm-none", "gcm", *TREES]


class Made:
    """Candidates of which every other positive group is not annotated."""

    def __init__(self) -> None:
        made = capsule(60, n_positive=20, n_polyps=18, n_patients=45, group_size=10, seed=2)
        self.X, self.groups, self.patient = made.X, made.groups, made.patient
        self.true_y, self.true_overlap = made.y, made.overlap
        positive = np.unique(made.groups[made.y == 1])
        self.unknown = np.isin(made.groups, positive[::2])
        self.objects = np.where(made.y == 1, np.arange(len(made.y)) % 2, -1)
        self.y, self.overlap = self.told(0)

    def told(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels and overlaps that say nothing true of candidates of unknown groups."""
        rng = np.random.default_rng(seed)
        y, overlap = self.true_y.copy(), self.true_overlap.copy()
        y[self.unknown] = rng.integers(0, 2, self.unknown.sum())
        _, first = np.unique(self.groups[self.unknown], return_index=True)
        y[np.flatnonzero(self.unknown)[first]] = 1
        overlap[self.unknown] = rng.random(self.unknown.sum())
        return y, overlap

    def data(self, **more: Any) -> LabelledCandidates:
        return LabelledCandidates.check(
            self.X, self.y, self.groups, self.overlap, annotated=~self.unknown, **more
        )


@pytest.fixture(scope="module")
def made():
    return Made()


def compared(made: Made, y, overlap, **options):
    return compare_models(
        made.X,
        y,
        made.groups,
        overlap,
        made.patient,
        annotated=~made.unknown,
        cv=2,
        n_settings=2,
        n_resamples=20,
        **options,
    )


@pytest.mark.parametrize("learning", [pytest.param(False, marks=pytest.mark.slow), True])
def test_nothing_said_of_candidates_nobody_annotated_matters(made, learning):
    models = ["svm", "gcm"] if learning else MODELS
    one, other = (
        compared(made, *made.told(seed), models=models, learning=learning) for seed in (0, 1)
    )
    for mine, theirs in zip(one.models, other.models, strict=True):
        assert mine.group_roc.auc == theirs.group_roc.auc, mine.name
        assert mine.candidate_roc is not None
        assert theirs.candidate_roc is not None
        assert mine.candidate_roc.auc == theirs.candidate_roc.auc, mine.name
        assert mine.chosen == theirs.chosen
    if learning:
        assert one.learning == other.learning
    assert (one.data.n_positive_groups, one.data.n_negative_groups) == (20, 60)


def test_what_each_model_trains_on(made):
    data, known = made.data(), ~made.unknown
    svm, misvm, ungrouped, gcm = contenders(["svm", "misvm", "gcm-none", "gcm"], 1)
    rows = svm.fit(svm.settings[0], data).rows_
    assert len(rows) == 10 + len(made.y) - np.isin(made.groups, made.groups[made.y == 1]).sum()
    alone = GroupClassifier(0.5, grouping="none", random_state=0)
    alone.fit(made.X[known], made.y[known], made.groups[known], made.overlap[known])
    found = ungrouped.fit(ungrouped.settings[0], data)
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-9)
    expected = MISVMClassifier(0.5, tol=1e-3).fit(made.X, made.y, made.groups)
    found = misvm.fit(misvm.settings[0], data)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    assert len(gcm.fit(gcm.settings[0], data).witnesses_) == 10
    for model in gcm.fit_every(data):  # a setting is chosen by annotated groups
        assert len(getattr(model, "witnesses_", ())) == 0


def test_models_that_know_objects_are_given_them(made):
    known = ~made.unknown
    data = made.data(objects=made.objects)
    gcm, ungrouped = contenders(["gcm", "gcm-none"], 2)
    given = (made.X, made.y, made.groups, made.overlap)
    for setting, model in zip(gcm.settings, gcm.fit_every(data), strict=True):
        of_known = (each[known] for each in given)
        expected = GroupClassifier(**setting, random_state=0)
        expected.fit(*of_known, objects=made.objects[known])
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    whole = GroupClassifier(0.5, random_state=0)
    whole.fit(*given, annotated=known, objects=made.objects)
    found = gcm.fit({"lam": 0.5}, data)
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-9)
    assert not np.allclose(found.coef_, gcm.fit({"lam": 0.5}, made.data()).coef_, rtol=1e-3)
    assert len(ungrouped.fit_every(data)) == 2  # every candidate alone: no objects


def test_every_fold_trains_on_annotated_groups(made):
    positive = np.unique(made.groups[made.y == 1])
    few = np.isin(made.groups, positive[:3]) | ~np.isin(made.groups, positive)
    data = LabelledCandidates.check(made.X, made.y, made.groups, annotated=few)
    for seed in range(5):
        folds = folds_of(data, 3, seed)
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(made.y)))
        for _, test in folds:
            assert len(np.unique(made.groups[test][few[test] & (data.y[test] == 1)])) == 1
    with pytest.raises(ValueError, match="3 annotated positive groups, fewer than the 4 folds"):
        folds_of(data, 4)
    test = np.flatnonzero(np.isin(made.groups, positive[:3]) | (made.groups % 2 == 0))
    split = [(np.setdiff1d(np.arange(len(made.y)), test), test)]
    with pytest.raises(ValueError, match="fold 0 of cv trains on no annotated positive group"):
        crossfit(data, contenders(["gcm"], 1), cv=split)
    only_one = LabelledCandidates.check(
        made.X, made.y, made.groups, annotated=few & ~np.isin(made.groups, positive[:1])
    )
    with pytest.raises(ValueError, match="fold 0 has only one annotated positive group"):
        crossfit(only_one, contenders(["gcm"], 2), cv=2)


def test_a_setting_chosen_by_candidates_looks_at_annotated_ones(made):
    """Of two scores the one is right on annotated candidates, the other on those nobody knows."""
    y = made.y.astype(float)
    X = np.column_stack([np.where(made.unknown, -y, y), np.where(made.unknown, 9 * y, -y)])

    class OneColumn:
        def __init__(self, column: int) -> None:
            self.column = column

        def fit(self, X, y, groups=None):
            return self

        def decision_function(self, X):
            return X[:, self.column]

    column = Contender("one", "", [{"column": 1}, {"column": 0}], OneColumn)
    data = LabelledCandidates.check(X, made.y, made.groups, annotated=~made.unknown)
    (found,) = crossfit(data, [column], cv=2, scoring=candidate_roc_auc).results
    assert found.chosen == [1, 1]
    assert np.all(found.tuning[:, 1] == 1.0)


def test_the_comparison_says_so(made):
    found = compared(made, made.y, made.overlap, models=["svm", "gcm"], learning=False)
    assert found.notes[0].startswith("10 of 20 positive groups are not annotated: GCM chooses")
    assert found.notes[0].endswith("and SVM trains without them.")
    whole = compare_models(
        made.X, made.true_y, made.groups, models=["svm"], cv=2, n_settings=1, learning=False,
        n_resamples=20, annotated=np.ones(len(made.y), dtype=bool),
    )  # fmt: skip
    assert whole.notes == []


def test_no_curve_of_candidates_where_a_fold_has_no_annotated_positive(made):
    positive = np.unique(made.groups[made.y == 1])
    known = np.isin(made.groups, positive[:4]) | ~np.isin(made.groups, positive)
    test = np.flatnonzero((made.groups % 2 == 0) & ~np.isin(made.groups, positive[:4]))
    split = [(np.setdiff1d(np.arange(len(made.y)), test), test)]
    found = compare_models(
        made.X, made.y, made.groups, models=["gcm"], cv=split, n_settings=1, learning=False,
        n_resamples=20, annotated=known,
    )  # fmt: skip
    assert found.models[0].candidate_roc is None


def test_marks_that_cannot_be(made):
    mixed = ~made.unknown
    mixed[np.flatnonzero(made.unknown)[0]] = True
    name = made.groups[made.unknown][0]
    with pytest.raises(ValueError, match=f"candidates of the positive group {name} and False"):
        LabelledCandidates.check(made.X, made.y, made.groups, annotated=mixed)
    nobody = np.zeros(len(made.y), dtype=bool)
    with pytest.raises(ValueError, match="no positive group is annotated"):
        LabelledCandidates.check(made.X, made.y, made.groups, annotated=nobody)
