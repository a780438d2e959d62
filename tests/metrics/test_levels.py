"""Levels above the group: nesting, aggregation, equivalences; and the yield curve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.metrics import group_roc_auc, level_scores, read_levels, yield_curve


def frames(seed, n_patients=6):
    """Make candidates of frames of videos of patients."""
    rng = np.random.default_rng(seed)
    frame = np.sort(rng.integers(0, 8 * n_patients, 200))
    video, patient = frame // 4, frame // 8
    y = (rng.random(200) < 0.1) & (patient % 2 == 0)
    y[0], y[-1] = True, False
    return y, rng.integers(0, 30, 200).astype(float), frame, video, patient


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5))
def test_scores_of_units_are_those_of_their_definition(seed, k):
    y, scores, frame, video, patient = frames(seed)
    levels = {"frame": frame, "video": video, "patient": patient}
    found = {
        rule: level_scores(y, scores, levels, aggregate=rule, k=k)
        for rule in ("max", "kth_largest", "top_mean")
    }
    for name, ids in levels.items():
        for at, unit in enumerate(found["max"][name].ids):
            winners = [scores[frame == f].max() for f in np.unique(frame[ids == unit])]
            falling = sorted(winners, reverse=True)
            assert found["max"][name].scores[at] == falling[0]
            assert found["max"][name].is_positive[at] == y[ids == unit].any()
            if name == "frame":
                continue
            kth = falling[k - 1] if len(falling) >= k else -np.inf
            assert found["kth_largest"][name].scores[at] == kth
            assert found["top_mean"][name].scores[at] == pytest.approx(np.mean(falling[:k]))


def test_a_level_of_one_group_each_equals_the_level_below():
    y, scores, frame, _, _ = frames(1)
    for rule in ("max", "kth_largest", "top_mean"):
        found = level_scores(y, scores, {"frame": frame, "copy": frame}, aggregate=rule)
        np.testing.assert_array_equal(found["frame"].scores, found["copy"].scores)


def test_a_level_serves_any_metric():
    y, scores, frame, video, patient = frames(2)
    found = level_scores(y, scores, {"frame": frame, "video": video, "patient": patient})
    patients = found["patient"]
    by_group = group_roc_auc(y, scores, patient)
    assert group_roc_auc(patients.is_positive, patients.scores) == by_group
    np.testing.assert_array_equal(
        patients.ids[found["video"].cluster], [v // 2 for v in found["video"].ids]
    )


def test_a_group_without_candidates_does_not_lower_the_mean_of_the_others():
    found = level_scores(
        [1, 0, 0],
        [2.0, -np.inf, -np.inf],
        {"frame": [1, 2, 3], "patient": ["p", "p", "q"]},
        aggregate="top_mean",
        k=2,
    )
    assert found["patient"].scores.tolist() == [2.0, -np.inf]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_levels({"frame": [1, 1], "patient": ["p", "q"]}), "belongs to two units"),
        (lambda: read_levels({"frame": [1, 1], "patient": ["p"]}), "one id per candidate"),
        (lambda: read_levels({}), "empty"),
        (lambda: level_scores([0, 1], [1, 2], {"f": [1, 2]}, aggregate="median"), "not known"),
        (lambda: level_scores([0, 1], [1, 2], {"f": [1, 2]}, k=0), "at least 1"),
        (lambda: yield_curve([0, 1], [1, 2], [1, 2]).at_yield(0.9, "videos"), "not known"),
        (lambda: yield_curve([0, 1], [1, 2], [1, 2]).at_yield(95), "between 0 and 1"),
        (lambda: yield_curve([1, 1, 0], [1, 2, 3], [1, 2, 2]), "negative group"),
    ],
)
def test_bad_input_is_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_yield_is_what_a_reader_of_the_shown_frames_finds(seed):
    y, scores, frame, video, patient = frames(seed)
    polyp = np.where(y, video, -1)  # a polyp is seen in several frames of its video
    curve = yield_curve(
        y, scores, frame, objects=polyp, levels={"video": video, "patient": patient}
    )
    winner = {f: scores[frame == f].max() for f in np.unique(frame)}
    for at, t in enumerate(curve.thresholds):
        shown = {f for f, score in winner.items() if score >= t}
        assert curve.shown[at] == pytest.approx(len(shown) / len(winner))
        seen = np.isin(frame, list(shown)) & y
        for name, ids in {"objects": polyp, "video": video, "patient": patient}.items():
            expected = len(np.unique(ids[seen])) / len(np.unique(ids[y]))
            assert curve.found[name][at] == pytest.approx(expected)
    everything = curve.at_yield(1.0, "patient")
    assert everything.found == 1.0
    assert curve.at_yield(0.5, "patient").shown <= everything.shown
    saved = curve.time_saved(1.0, "patient", groups_per_second=5)
    assert saved == pytest.approx((1 - everything.shown) * len(winner) / 5)


def test_an_object_without_a_candidate_can_never_be_shown():
    curve = yield_curve([1, 1, 0], [-np.inf, 1.0, 0.5], [1, 2, 3])
    point = curve.at_yield(1.0)
    assert np.isnan(point.threshold)
    assert point.found == 0.5
