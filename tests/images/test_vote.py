"""The vote of a picture's best candidates, against its formula written out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from groupcm.images.regions import Regions
from groupcm.images.scoring.vote import refine, vote

HEIGHT, WIDTH = 12, 16


def slow_vote(regions: Regions, scores, kind: str, temperature: float, among: int) -> int:
    """The formula, in exact fractions once the shares are known."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:among]
    share = {
        i: Fraction(float(np.exp((scores[i] - scores[order[0]]) / temperature))) for i in order
    }

    def overlap(i: int, j: int) -> Fraction:
        if kind == "iou":
            a, b = regions.mask(i), regions.mask(j)
            return Fraction(int((a & b).sum()), int((a | b).sum()))
        (x, y, r, b), (x2, y2, r2, b2) = (map(Fraction, regions.edges[k].tolist()) for k in (i, j))
        wide, high = min(r, r2) - max(x, x2), min(b, b2) - max(y, y2)
        shared = max(wide, Fraction()) * max(high, Fraction())
        return shared / ((r - x) * (b - y) + (r2 - x2) * (b2 - y2) - shared)

    expected = {i: sum(share[j] * overlap(i, j) for j in order) for i in order}
    return max(order, key=lambda i: expected[i])


def random_regions(rng: np.random.Generator, n: int) -> Regions:
    masks = np.zeros((n, HEIGHT, WIDTH), dtype=bool)
    for mask in masks:
        top, left = rng.integers(HEIGHT - 3), rng.integers(WIDTH - 3)
        mask[top : top + rng.integers(2, 8), left : left + rng.integers(2, 9)] = True
        mask &= rng.random(mask.shape) < 0.8
        mask[top, left] = True
    return Regions.from_masks(masks)


@pytest.mark.parametrize("kind", ["iou", "box_iou"])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_formula(kind, seed):
    rng = np.random.default_rng(seed)
    regions = random_regions(rng, 30)
    scores = rng.normal(size=30)
    for temperature, among in ((0.05, 30), (0.25, 12), (2.0, 500)):
        found = vote(regions, scores, overlap=kind, temperature=temperature, among=among)
        assert found == slow_vote(regions, scores, kind, temperature, among)


def test_one_that_others_agree_with_beats_a_lonely_winner():
    boxes = [[0, 0, 3, 3], [6, 4, 12, 10], [6, 4, 12, 9], [7, 4, 12, 10]]
    regions = Regions.from_boxes(boxes, HEIGHT, WIDTH)
    scores = [1.0, 0.9, 0.8, 0.7]
    assert vote(regions, scores) == 1
    assert vote(regions, scores, temperature=0.02) == 0
    assert vote(regions, scores, among=1) == 0
    # Far below the best, agreement counts for nothing.
    assert vote(regions, [1.0, -9.0, -9.0, -9.0]) == 0


def test_ties_go_to_the_larger_score_and_then_to_the_earlier():
    same = Regions.from_boxes([[1, 1, 5, 5]] * 3, HEIGHT, WIDTH)
    assert vote(same, [0.1, 0.3, 0.2]) == 1
    assert vote(same, [0.2, 0.2, 0.2]) == 0
    # Two pairs of equal scores that agree alike: their sums have other orders and must be equal.
    apart = Regions.from_boxes(
        [[0, 0, 4, 3], [8, 0, 12, 3], [1, 0, 4, 3], [9, 0, 12, 3], [0, 0, 3, 3], [8, 0, 11, 3]],
        HEIGHT,
        WIDTH,
    )
    scores = np.array([0.1, 0.1, 0.3, 0.3, 0.7, 0.7])
    for order in (np.arange(6), np.arange(6).reshape(3, 2)[:, ::-1].ravel()):
        found = vote(apart.take(order), scores[order], temperature=0.7)
        assert found % 2 == 0


@pytest.mark.parametrize("seed", range(20))
def test_ties_are_exact_whatever_the_order_of_the_sums(seed):
    rng = np.random.default_rng(seed)
    corner = rng.integers(0, 4, (7, 2))
    boxes = np.hstack([corner, corner + rng.integers(2, 5, (7, 2))])
    again = rng.permutation(boxes) + np.array([8, 0, 8, 0])  # the same beside it, in another order
    regions = Regions.from_boxes(np.vstack([boxes, again]), HEIGHT, WIDTH)
    assert vote(regions, np.zeros(14)) < 7


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_candidates_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    regions, scores = random_regions(rng, 20), rng.normal(size=20)
    order = rng.permutation(20)
    assert order[vote(regions.take(order), scores[order])] == vote(regions, scores)


def test_huge_and_tiny_scores_are_no_trouble():
    regions = Regions.from_boxes([[0, 0, 3, 3], [5, 5, 9, 9]], HEIGHT, WIDTH)
    assert vote(regions, [1e9, -1e9]) == 0
    assert vote(regions, [-1e9, -1e9 + 1]) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"scores": [1.0]}, "one for each of 2 regions"),
        ({"scores": [1.0, np.nan]}, "score 1 is not finite"),
        ({"temperature": 0.0}, "temperature is 0.0; it must be above 0"),
        ({"among": 0}, "among is 0"),
        ({"overlap": "nearness"}, "'nearness' is not one of"),
    ],
)
def test_mistakes(change, sentence):
    arguments = {"scores": [1.0, 2.0], **change}
    regions = Regions.from_boxes([[0, 0, 3, 3], [5, 5, 9, 9]], HEIGHT, WIDTH)
    with pytest.raises(ValueError, match=sentence):
        vote(regions, **arguments)


def test_no_candidates():
    with pytest.raises(ValueError, match="no candidate"):
        vote(Regions.from_boxes([], HEIGHT, WIDTH), [])


def slow_refine(boxes, scores, located, temperature, among, agreement):
    """The mean edges of the boxes that overlap one of them, box by box."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:among]

    def iou(a, b):
        wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        shared = max(wide, 0) * max(high, 0)
        areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
        return shared / (sum(areas) - shared)

    total, weights = np.zeros(4), 0.0
    for j in {*order, located}:
        if j == located or iou(boxes[j], boxes[located]) >= agreement:
            total += np.exp(scores[j] / temperature) * np.array(boxes[j])
            weights += np.exp(scores[j] / temperature)
    return total / weights


@pytest.mark.parametrize("seed", range(8))
def test_refining_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 5, (25, 2))
    edges = np.concatenate([corner, corner + rng.uniform(3, 7, (25, 2))], axis=1)
    regions = Regions.from_boxes(edges, HEIGHT, WIDTH)
    scores = rng.normal(size=25)
    for temperature, among, agreement in ((0.5, 25, 0.2), (1.0, 12, 0.5), (2.0, 50, 0.7)):
        options = {"temperature": temperature, "among": among, "agreement": agreement}
        found = refine(regions, scores, seed, **options)
        wanted = slow_refine(regions.edges.tolist(), scores, seed, *options.values())
        assert found.edges[0] == pytest.approx(wanted)


def test_masks_are_joined_within_the_mean_box_and_a_lonely_one_stays():
    masks = np.zeros((3, HEIGHT, WIDTH), dtype=bool)
    masks[0, 2:5, 1:6], masks[1, 2:5, 1:10] = True, True
    masks[0, 3, 3] = masks[1, 4, 9] = False
    masks[2, 9:11, 12:15] = True
    regions, scores = Regions.from_masks(masks), [1.0, 1.0, 0.5]
    joined = refine(regions, scores, 0)
    wanted = masks[0] | masks[1]
    wanted[:, 8:] = False
    assert np.array_equal(joined.mask(0), wanted)
    assert np.array_equal(refine(regions, scores, 2).mask(0), masks[2])
