"""Evaluations on groups of which nobody annotated some positive ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from groupcm import GroupClassifier, metrics, simulate
from groupcm.cli.summaries import evaluation_rows
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.outcomes import localisation_of
from groupcm.evaluation.results import Evaluation
from groupcm.evaluation.scoring import score_candidates

quick = partial(evaluate, n_resamples=40, threshold=0.3)


@pytest.fixture(scope="module")
def made():
    return simulate.capsule(90, n_positive=30, n_polyps=20, n_patients=60, group_size=12, seed=1)


@pytest.fixture(scope="module")
def unknown(made):
    """The rows of every third positive group."""
    return np.isin(made.groups, np.unique(made.groups[made.y == 1])[::3])


@pytest.fixture(scope="module")
def model():
    train = simulate.capsule(80, n_positive=25, n_patients=20, group_size=12, seed=0)
    return GroupClassifier(0.9).fit(train.X, train.y, train.groups, train.overlap)


def evaluated(model, made, unknown, seed: int) -> Evaluation:
    """With labels, overlaps and objects of unknown candidates that say nothing true."""
    rng = np.random.default_rng(seed)
    y, overlap, objects = made.y.copy(), made.overlap.copy(), made.polyp.copy()
    y[unknown] = rng.integers(0, 2, unknown.sum())
    _, first = np.unique(made.groups[unknown], return_index=True)
    y[np.flatnonzero(unknown)[first]] = 1
    overlap[unknown] = rng.random(unknown.sum())
    objects[unknown] = rng.integers(100, 200, unknown.sum())
    return quick(
        model,
        made.X,
        y,
        made.groups,
        patients=made.patient,
        objects=objects,
        overlap=overlap,
        annotated=~unknown,
    )


@pytest.fixture(scope="module")
def found(model, made, unknown):
    return evaluated(model, made, unknown, seed=0)


def test_nothing_said_of_unknown_candidates_matters(found, model, made, unknown):
    other = evaluated(model, made, unknown, seed=1)
    assert evaluation_rows(found) == evaluation_rows(other)
    assert found.lowest_positives == other.lowest_positives
    assert found.highest_positives == other.highest_positives
    assert found.froc is not None
    assert other.froc is not None
    np.testing.assert_array_equal(found.froc.curve.sensitivity, other.froc.curve.sensitivity)
    np.testing.assert_array_equal(found.froc.curve.false_alarms, other.froc.curve.false_alarms)


def test_numbers_of_groups_have_them(found, model, made):
    score = model.decision_function(made.X)
    auc = metrics.group_roc_auc(made.y, score, made.groups)
    assert found.group_roc.auc.estimate == pytest.approx(auc)
    assert (found.data.n_positive_groups, found.n_unannotated) == (30, 10)
    point = metrics.operating_point(made.y, score, made.groups, threshold=0.3)
    counts = ("true_positives", "false_positives", "sensitivity", "specificity")
    for name in counts:
        assert getattr(found.decision.point, name) == getattr(point, name)


def test_numbers_of_candidates_are_those_of_the_others(found, model, made, unknown):
    known = ~unknown
    alone = quick(
        model,
        made.X[known],
        made.y[known],
        made.groups[known],
        patients=made.patient[known],
        objects=made.polyp[known],
        overlap=made.overlap[known],
    )
    assert found.candidate_roc is not None
    assert alone.candidate_roc is not None
    assert found.candidate_roc.auc == alone.candidate_roc.auc
    assert found.localisation == alone.localisation
    assert found.data.n_objects == alone.data.n_objects
    mine, theirs = found.froc, alone.froc
    assert mine is not None
    assert theirs is not None
    assert replace(mine, curve=theirs.curve) == theirs
    np.testing.assert_array_equal(mine.curve.false_alarms, theirs.curve.false_alarms)
    assert found.decision.n_winners_on_object == alone.decision.n_winners_on_object
    assert found.decision.n_judged == alone.decision.point.true_positives
    assert found.decision.n_judged < found.decision.point.true_positives


def test_winners_of_unknown_groups_are_not_judged(found, made, unknown):
    names = set(map(str, made.groups[unknown]))
    cases = {case.group: case for case in (*found.lowest_positives, *found.highest_positives)}
    assert names & set(cases)
    assert set(cases) - names
    for name, case in cases.items():
        assert (case.is_winner_positive is None) == (name in names)
        assert (case.winner_overlap is None) == (name in names)


def test_it_is_said(found):
    rows = dict(evaluation_rows(found))
    assert rows["not annotated"].startswith("10 of 30 positive groups; metrics of groups include")
    assert " of 20 annotated positive groups, with an overlap" in rows["winner on the object"]
    assert " annotated positive groups found, by a positive candidate" in rows["winners right"]
    assert found.notes["Not annotated"] == rows["not annotated"]


def test_where_no_positive_group_is_annotated(model, made):
    negative = ~np.isin(made.groups, made.groups[made.y == 1])
    found = quick(model, made.X, made.y, made.groups, overlap=made.overlap, annotated=negative)
    assert found.candidate_roc is None
    assert found.froc is None
    assert found.localisation is None
    rows = dict(evaluation_rows(found))
    assert "winners right" not in rows
    assert rows["not annotated"].startswith("30 of 30")


def test_groups_that_are_annotated_in_part(model, made, unknown):
    known = ~unknown
    known[np.flatnonzero(unknown)[0]] = True
    with pytest.raises(ValueError, match="annotated is True for some candidates of the positive"):
        score_candidates(model, made.X, made.y, made.groups, annotated=known)
    whole = score_candidates(model, made.X, made.y, made.groups, overlap=made.overlap)
    assert whole.n_unannotated == 0
    same = score_candidates(
        model, made.X, made.y, made.groups, overlap=made.overlap, annotated=np.ones(len(made.y))
    )
    assert localisation_of(whole) == localisation_of(same)
