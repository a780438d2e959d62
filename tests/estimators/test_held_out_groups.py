"""Scores of groups by models that have not seen them, with all that is known of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupcm import CalibratedGroupClassifier, GroupClassifier
from groupcm.data.folds import annotated_folds
from groupcm.estimators.adapters import takes, takes_missing
from groupcm.utils.progress import listening

N_GROUPS, SIZE = 36, 5


def made(seed: int = 0) -> dict[str, Any]:
    """Every other group is positive, and every third of these annotated; two groups a patient."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    X = rng.normal(size=(len(groups), 3))
    shows = (groups % 2 == 0) & (np.arange(len(groups)) % SIZE == 1)
    X[shows] += 3.0
    annotated = groups % 6 == 0
    y = np.where(annotated, shows, groups % 2 == 0).astype(int)
    annotated = annotated | (groups % 2 == 1)
    objects = np.arange(len(groups)) % SIZE
    overlap = np.where(y == 1, rng.uniform(0.4, 1.0, len(groups)), 0.0)
    return {
        "X": X,
        "y": y,
        "groups": groups,
        "overlap": overlap,
        "patients": groups // 2,
        "annotated": annotated,
        "objects": objects,
    }


class Watched(ClassifierMixin, BaseEstimator):
    """Remembers what it is fitted with; scores a candidate by its first feature."""

    def __init__(self, heard: Any = None) -> None:
        self.heard = heard

    def fit(self, X, y, groups=None, annotated=None, objects=None) -> Watched:
        self.classes_ = np.unique(y)
        self.heard.calls.append(
            {"X": X, "y": y, "groups": groups, "annotated": annotated, "objects": objects}
        )
        return self

    def decision_function(self, X):
        return X[:, 0]


class Calls:
    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __deepcopy__(self, memo) -> Calls:  # clones speak to the same
        return self


def test_every_fold_gets_its_part_of_what_the_estimator_takes():
    data, heard = made(), Calls()
    model = CalibratedGroupClassifier(Watched(heard), cv=3).fit(**data)
    *folds, last = heard.calls
    assert len(folds) == 3
    for name in ("X", "y", "groups", "annotated", "objects"):
        np.testing.assert_array_equal(last[name], data[name])
    for call in folds:
        rows = np.flatnonzero(np.isin(data["groups"], call["groups"]))
        for name in ("X", "y", "groups", "annotated", "objects"):
            np.testing.assert_array_equal(call[name], data[name][rows])
        assert 0 < len(rows) < len(data["y"])
    left_out = [set(range(N_GROUPS)) - set(call["groups"]) for call in folds]
    assert sorted(group for part in left_out for group in part) == list(range(N_GROUPS))
    expected = [data["X"][data["groups"] == group, 0].max() for group in range(N_GROUPS)]
    np.testing.assert_array_equal(model.held_out_scores_, expected)
    np.testing.assert_array_equal(model.held_out_labels_, np.arange(N_GROUPS) % 2 == 0)


def test_every_fold_trains_on_annotated_groups_and_splits_no_patient():
    data, heard = made(), Calls()
    # One annotated positive group a patient, and only three of these: chance would miss some.
    data["annotated"] |= data["y"] == 0
    data["annotated"][(data["groups"] % 2 == 0) & (data["groups"] > 12)] = False
    CalibratedGroupClassifier(Watched(heard), cv=3).fit(**data)
    for call in heard.calls[:-1]:
        annotated = set(call["groups"][call["annotated"] & (call["y"] == 1)])
        assert len(annotated) == 2
        left_out = np.setdiff1d(np.arange(N_GROUPS), call["groups"])
        assert not set(left_out // 2) & set(call["groups"] // 2)


def test_the_models_are_those_that_see_the_marks():
    data = made()
    model = CalibratedGroupClassifier(GroupClassifier(), cv=3).fit(**data)
    alone = GroupClassifier().fit(
        *(data[name] for name in ("X", "y", "groups", "overlap", "annotated", "objects"))
    )
    np.testing.assert_allclose(model.estimator_.coef_, alone.coef_, rtol=1e-6)
    np.testing.assert_array_equal(model.estimator_.witnesses_, alone.witnesses_)
    assert len(alone.witnesses_) == 12
    blind = {**data, "annotated": None, "objects": None}
    other = CalibratedGroupClassifier(GroupClassifier(), cv=3).fit(**blind)
    assert not np.allclose(model.estimator_.coef_, other.estimator_.coef_)
    assert not np.allclose(model.held_out_scores_, other.held_out_scores_)


def test_a_pipeline_hands_the_marks_on():
    data = made()
    pipeline = make_pipeline(StandardScaler(), GroupClassifier())
    piped = CalibratedGroupClassifier(pipeline, cv=3).fit(**data)
    assert len(piped.estimator_[-1].witnesses_) == 12
    assert takes(piped.estimator, "annotated")
    assert not takes(piped.estimator, "patients")


def test_an_estimator_that_takes_no_marks_needs_no_annotated_groups():
    data = made()
    data["annotated"][:] = False
    data["objects"] = None

    class Plain(Watched):
        def fit(self, X, y) -> Plain:
            self.classes_ = np.unique(y)
            return self

    model = CalibratedGroupClassifier(Plain(), cv=3).fit(**data)
    assert np.all(np.isfinite(model.held_out_scores_))
    with pytest.raises(ValueError, match=r"there are annotated positive groups of 0 patients"):
        CalibratedGroupClassifier(GroupClassifier(), cv=3).fit(**data)


def test_folds_are_announced_and_their_steps_are_not():
    data = made()
    stages, steps, of_the_last = [], [], []
    with listening(steps.append, stage=stages.append):
        CalibratedGroupClassifier(GroupClassifier(), cv=2).fit(**data)
    assert stages == ["fold 1 of 2", "fold 2 of 2", "all groups"]
    del data["patients"]
    with listening(of_the_last.append):
        GroupClassifier().fit(**data)
    assert len(steps) == len(of_the_last) > 0


@pytest.mark.parametrize("name", ["annotated", "objects", "overlap"])
def test_a_mark_of_another_length_is_refused(name):
    data = made()
    data[name] = data[name][:-1]
    with pytest.raises(ValueError, match=f"X has 180 rows but {name} has 179"):
        CalibratedGroupClassifier(GroupClassifier(), cv=2).fit(**data)


def test_what_is_missing_is_taken_where_the_estimator_takes_it():
    assert not takes_missing(CalibratedGroupClassifier(GroupClassifier()))
    watched = Watched()
    assert not takes_missing(watched)
    boosting = pytest.importorskip("groupcm.boosting.classifier")
    assert takes_missing(CalibratedGroupClassifier(boosting.GroupBoostingClassifier()))


@pytest.mark.parametrize(
    ("n_annotated", "patient", "sentence"),
    [
        (1, None, "there is 1 annotated positive group, fewer than the 3 folds; annotate more"),
        (2, None, "there are 2 annotated positive groups, .*; use cv=2 or fewer, or annotate"),
        (4, "shared", "annotated positive groups of 2 patients, fewer than the 3 folds; use cv=2"),
    ],
)
def test_too_few_annotated_groups(n_annotated, patient, sentence):
    positive = np.arange(20) < 10
    of_patient = None if patient is None else np.arange(20) // 2
    with pytest.raises(ValueError, match=sentence):
        annotated_folds(3, positive, np.arange(n_annotated, 10), of_patient)
