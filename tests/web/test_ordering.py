"""What to annotate next: by the formula, and by what it buys."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier
from groupcm.metrics import group_roc_auc
from groupcm.web.annotate.ordering import HIGH_NEGATIVE, NO_SCORE, UNCERTAIN, annotation_order


def made_pictures(n: int = 1_000, seed: int = 0):
    """Scores of a middling model, who has looked, and what the person said: 5 % miss an object."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    scores = np.where(truth, rng.normal(1.0, 1.0, n), rng.normal(-2.0, 1.0, n))
    done = rng.random(n) < 0.4
    missed = truth & (rng.random(n) < 0.3)
    return scores, done, done & truth & ~missed, truth


def test_to_do_pictures_come_by_their_distance_from_the_threshold():
    scores, done, positive, _ = made_pictures()
    order = annotation_order(scores.tolist(), done, positive, threshold=0.3)
    uncertain = [each.picture for each in order if each.why == UNCERTAIN]
    assert sorted(uncertain) == np.flatnonzero(~done).tolist()
    assert (np.diff(np.abs(scores[uncertain] - 0.3)) >= 0).all()


def test_negatives_that_score_high_come_highest_first_one_in_four():
    scores, done, positive, _ = made_pictures()
    order = annotation_order(scores.tolist(), done, positive, threshold=0.3)
    negatives = [each.picture for each in order if each.why == HIGH_NEGATIVE]
    assert sorted(negatives) == np.flatnonzero(done & ~positive & (scores >= 0.3)).tolist()
    assert (np.diff(scores[negatives]) <= 0).all()
    assert [each.why for each in order[:8]] == [*[UNCERTAIN] * 3, HIGH_NEGATIVE] * 2
    assert len({each.picture for each in order}) == len(order)


def test_done_positives_and_confirmed_negatives_are_left_out():
    order = annotation_order(
        [5.0, 4.0, 3.0, -4.0], [True] * 4, [True, False, False, False], looked_at_again={2}
    )
    assert [(each.picture, each.why) for each in order] == [(1, HIGH_NEGATIVE)]


def test_pictures_without_score_keep_their_order_at_the_end():
    order = annotation_order([None, 3.0, float("nan"), -1.0], [False] * 4, [False] * 4)
    assert [each.picture for each in order] == [3, 1, 0, 2]
    assert [each.why for each in order[2:]] == [NO_SCORE] * 2


def test_bad_arguments():
    with pytest.raises(ValueError, match="1 scores, 2 values of done"):
        annotation_order([0.0], [True, False], [False])
    with pytest.raises(ValueError, match="one_in is 1"):
        annotation_order([0.0], [True], [False], one_in=1)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_hundred_are_worth_more_than_those_of_the_listing(seed):
    # A label changes a machine with margins only where its term is active: inside the margin for
    # a new picture, on the wrong side for one whose label is wrong.
    scores, done, positive, truth = made_pictures(seed=seed)
    worth = np.where(done, truth & ~positive, np.abs(scores) < 1.0)
    order = annotation_order(scores.tolist(), done, positive, threshold=0.0)
    by_model = [each.picture for each in order][:100]
    by_listing = np.flatnonzero(~done)[:100]
    assert worth[by_model].sum() >= 2 * worth[by_listing].sum()
    found = (done & truth & ~positive)[by_model].sum()
    assert found >= 10


def groups_of(rng, n_groups: int):
    """Groups of five candidates; in the few positive ones, one stands out in two features."""
    rows = rng.normal(size=(n_groups, 5, 8))
    positive = rng.random(n_groups) < 0.03
    rows[positive, 0, :2] += 1.7, 1.2
    return rows, positive


def trained(rows, positive) -> GroupClassifier:
    labels = np.zeros(rows.shape[:2], dtype=int)
    labels[positive, 0] = 1
    groups = np.repeat(np.arange(len(rows)), 5)
    return GroupClassifier(0.9, tol=1e-3).fit(rows.reshape(-1, 8), labels.ravel(), groups)


def scores_of(model, rows):
    return model.decision_function(rows.reshape(-1, 8)).reshape(len(rows), 5).max(axis=1)


def test_a_hundred_annotations_in_this_order_make_a_better_model():
    areas = {"order": [], "listing": []}
    for seed in range(100, 112):
        rng = np.random.default_rng(seed)
        rows, positive = groups_of(rng, 1_200)
        test_rows, test_positive = groups_of(rng, 1_500)
        done = np.arange(1_200) < 200
        scores = scores_of(trained(rows[done], positive[done]), rows)
        order = annotation_order(scores.tolist(), done, done & positive)
        chosen = {
            "order": [each.picture for each in order if each.why == UNCERTAIN][:100],
            "listing": range(200, 300),
        }
        for name, more in chosen.items():
            both = [*range(200), *more]
            model = trained(rows[both], positive[both])
            areas[name].append(group_roc_auc(test_positive, scores_of(model, test_rows)))
    gain = np.subtract(areas["order"], areas["listing"])
    assert gain.mean() > 0.01
    assert (gain > 0).sum() >= 8


def test_without_a_threshold_it_is_a_high_score_of_negatives():
    scores, done, positive, _ = made_pictures()
    order = annotation_order(scores.tolist(), done, positive)
    exceeding = np.flatnonzero(done & ~positive)
    exceeding = exceeding[np.argsort(-scores[exceeding])][: len(exceeding) // 20]
    again = [each.picture for each in order if each.why == HIGH_NEGATIVE]
    assert again[:-1] == exceeding.tolist()  # the last has the threshold itself
    assert abs(scores[order[0].picture] - scores[again[-1]]) < 0.1
