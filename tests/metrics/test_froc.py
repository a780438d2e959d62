"""Objects found against false alarms: an example by hand, and the definition word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scored import grouped_scores, repeatable

from groupcm.metrics import candidate_roc_curve, froc_curve

# Frames a and b see polyp 1 (b twice), frame b also polyp 2; c and d see none.
GROUPS = list("aaabbbbccdd")
Y = np.array([1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0])
OBJECTS = [1, None, None, 1, 2, 1, None, None, None, None, None]
SCORES = np.array([0.3, 0.8, 0.1, 0.9, 0.4, 0.5, 0.2, 0.7, 0.4, 0.6, 0.05])


def test_an_example_by_hand():
    """Alarms in falling order: 0.9 polyp 1; 0.8 false in a; 0.7 false in c; 0.6 false in d;
    0.5 polyp 1 again; 0.4 polyp 2 and false in c; 0.3 polyp 1 again; 0.2, 0.1, 0.05 false."""
    curve = froc_curve(Y, SCORES, GROUPS, OBJECTS)
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.6, 0.4, 0.05]
    assert curve.sensitivity.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.false_alarms.tolist() == [0, 0, 3 / 4, 4 / 4, 7 / 4]


def test_false_alarms_of_negative_groups_by_hand():
    """Of c and d alone: false at 0.7, 0.6, 0.4, 0.05, over two frames."""
    curve = froc_curve(Y, SCORES, GROUPS, OBJECTS, false_alarms_in="negative")
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.6, 0.4, 0.05]
    assert curve.sensitivity.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.false_alarms.tolist() == [0, 0, 2 / 2, 3 / 2, 4 / 2]


def test_without_objects_every_positive_group_is_one():
    """Frame b is found at 0.9, frame a by its positive candidate at 0.3."""
    curve = froc_curve(Y, SCORES, GROUPS)
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.4, 0.3, 0.05]
    assert curve.sensitivity.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.false_alarms.tolist() == [0, 0, 4 / 4, 4 / 4, 7 / 4]


@repeatable
@given(grouped_scores())
def test_every_point_is_the_definition(problem):
    y, scores, groups, rng = problem
    objects = rng.integers(0, 4, len(y))
    for only_negative in (False, True):
        positive_groups = set(groups[y])
        counted = ~y & (~np.isin(groups, list(positive_groups)) | (not only_negative))
        n_groups = len(set(groups)) - (len(positive_groups) if only_negative else 0)
        where = "negative" if only_negative else "all"
        curve = froc_curve(y, scores, groups, objects, false_alarms_in=where)
        for false_alarms, sensitivity, threshold in zip(*curve, strict=True):
            found = {o for o in objects[y] if any(scores[y & (objects == o)] >= threshold)}
            assert sensitivity == len(found) / len(set(objects[y]))
            assert false_alarms == np.sum(counted & (scores >= threshold)) / n_groups
        assert curve.sensitivity[-1] == 1
        assert curve.false_alarms[-1] == np.sum(counted) / n_groups


@repeatable
@given(grouped_scores())
def test_a_candidate_an_object_is_the_roc_of_candidates(problem):
    y, scores, groups, _ = problem
    curve = froc_curve(y, scores, groups, objects=np.arange(len(y)))
    roc = candidate_roc_curve(y, scores)
    assert np.array_equal(curve.sensitivity, roc.tpr)
    assert curve.false_alarms == pytest.approx(roc.fpr * np.sum(~y) / len(set(groups)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objects": [1, 2]}, r"objects must hold .* shape \(11,\) to match y; got shape \(2,\)"),
        ({"objects": [1] * 4 + [None] * 7}, "objects has no id at row 4; every positive"),
        ({"false_alarms_in": "positive"}, 'false_alarms_in=.positive. is not known; use "all"'),
        ({"groups": ["a"] * 11, "false_alarms_in": "negative"}, "every group is positive"),
        ({"scores": np.full(11, np.inf)}, "scores is infinite at row 0"),
    ],
)
def test_bad_input_gets_one_sentence(options, message):
    given = {"scores": SCORES, "groups": GROUPS, **options}
    with pytest.raises(ValueError, match=message):
        froc_curve(Y, **given)
