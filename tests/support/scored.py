"""Made labels, scores and groups, and groups taken one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

repeatable = settings(derandomize=True, deadline=None, max_examples=60)


@st.composite
def grouped_scores(draw):
    """Labels, scores with many ties, and groups; at least one group of each class."""
    n = draw(st.integers(2, 60))
    n_groups = draw(st.integers(2, n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    y = rng.random(n) < draw(st.sampled_from([0.05, 0.5]))
    y[groups == 0] = False
    y[groups == 1] = True
    scores = rng.integers(-4, 5, n).astype(draw(st.sampled_from([np.float32, np.float64])))
    order = rng.permutation(n)
    return y[order], scores[order], groups[order], rng


def group_maxima(y, scores, groups):
    """Label and score of every group, group by group."""
    ids = list(dict.fromkeys(groups))
    return (
        np.array([max(y[groups == g]) for g in ids]),
        np.array([max(scores[groups == g]) for g in ids]),
    )


def patients_with_frames(seed, *, n_patients=40, frames=4, candidates=3, shift=1.0, habit=0.7):
    """Frames of patients who differ by a habit of their own; about half the frames positive."""
    rng = np.random.default_rng(seed)
    n_frames = n_patients * frames
    frame = np.repeat(np.arange(n_frames), candidates)
    patient = frame // frames
    is_positive_frame = rng.random(n_frames) < 0.4
    is_positive_frame[:2] = True
    is_positive_frame[-2:] = False
    y = is_positive_frame[frame] & (np.arange(len(frame)) % candidates == 1)
    scores = shift * y + habit * rng.standard_normal(n_patients)[patient]
    return y, scores + rng.standard_normal(len(frame)), frame, patient
