"""How many objects a setting of proposals finds, and how that is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from groupcm.images.proposals import Proposals, Recall, Windows, proposal_recall
from groupcm.images.proposals.recall import best_of_objects
from groupcm.images.regions import Regions
from groupcm.images.view import View


def boxes(*edges: tuple[float, ...]) -> Regions:
    return Regions.from_boxes(list(edges), height=10, width=10)


def test_each_object_counts_once_by_its_best_candidate():
    candidates = boxes((0, 0, 4, 4), (0, 0, 4, 2), (6, 6, 10, 10))
    objects = boxes((0, 0, 4, 3), (8, 8, 10, 10))
    np.testing.assert_allclose(best_of_objects(candidates, objects), [3 / 4, 1 / 4])
    found = proposal_recall([(candidates, objects), (boxes((0, 0, 1, 1)), boxes((0, 0, 2, 1)))])
    assert found == Recall(3, pytest.approx(0.5), pytest.approx(2 / 3), 2.0)


def test_an_overlap_of_just_a_half_is_found():
    assert Recall.of(np.array([0.5, np.nextafter(0.5, 0)]), 1.0).share_half == 0.5


def test_the_kind_of_overlap_is_the_one_asked_for():
    ring = np.ones((1, 10, 10), dtype=bool)
    ring[0, 1:9, 1:9] = False
    pair = [(Regions.from_masks(ring), boxes((0, 0, 10, 10)))]
    assert proposal_recall(pair).mean_best == 1
    assert proposal_recall(pair, "iou").mean_best == pytest.approx(0.36)


def test_pictures_without_candidates_or_objects_count_as_they_should():
    none = boxes()
    found = proposal_recall([(none, boxes((0, 0, 1, 1))), (boxes((0, 0, 1, 1)), none)])
    assert found == Recall(1, 0.0, 0.0, 0.5)
    for nothing in (proposal_recall([]), proposal_recall([(none, none)])):
        assert nothing.n_objects == 0
        assert math.isnan(nothing.mean_best)
        assert str(nothing) == "0 objects; 0 candidates per picture"


def test_pictures_are_looked_at_one_by_one():
    held = []

    def pictures():
        for _ in range(3):
            held.append(len(held))
            yield boxes((0, 0, 2, 2)), boxes((0, 0, 2, 2))

    assert proposal_recall(pictures()) == Recall(3, 1.0, 1.0, 1.0)
    assert held == [0, 1, 2]


def test_it_is_said_in_a_sentence():
    assert str(Recall(1, 0.4, 0.0, 1200.0)) == (
        "1 object: best overlap 0.40 on average; 0.00 of them 0.5 or better; "
        "1,200 candidates per picture"
    )


def test_more_windows_never_find_less():
    view = View(np.zeros((10, 10, 3), dtype=np.float32))
    objects = boxes((1, 1, 6, 5), (5, 2, 9, 9), (0, 0, 3, 3))
    found = [
        proposal_recall([(Proposals((Windows(),), at_most=most).propose(view), objects)])
        for most in (1, 10, 100)
    ]
    best = [each.mean_best for each in found]
    assert best == sorted(best)
    assert found[-1].share_half > found[0].share_half


def test_centres_are_inside_their_object_or_at_a_distance_from_its_centre():
    from groupcm.images.tables.labelling import Labelling

    boxes = [[0, 0, 4, 4], [2, 0, 10, 4], [6, 6, 8, 8]]
    candidates = Regions.from_boxes(boxes, 10, 10)
    labels = Labelling().of(candidates, Regions.from_boxes([[0, 0, 4, 6]], 10, 10))
    assert labels.centre_inside.tolist() == [1, 0, 0]
    assert labels.centre_distance[0] == pytest.approx(1.0)
    assert labels.centre_distance[1] == pytest.approx(np.hypot(4.0, 1.0))
    assert np.isnan(labels.centre_distance[2])
    # The centre of a ring is not inside it.
    ring = np.ones((10, 10), dtype=int)
    ring[2:8, 2:8] = 0
    whole = Regions.from_boxes([[0, 0, 10, 10]], 10, 10)
    labels = Labelling().of(whole, Regions.from_labels(ring))
    assert labels.centre_inside.tolist() == [0]
    assert labels.centre_distance.tolist() == [0.0]
