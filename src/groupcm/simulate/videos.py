"""Synthetic videos: patients, their videos, the frames of these, and polyps seen in several frames.

    a patient has polyps with probability ``share_with_polyps``, then one to three
    a polyp is seen in one video, in 2 + Geometric frames one after another
    a frame shows at most one polyp; its candidates are those of `groupcm.simulate.world`

Frames of a polyp share its effect V and its conspicuity, and all frames of a patient share P, so
that they resemble one another as frames of a video do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.simulate.definition import World, world_of
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import FEATURE_NAMES, N_FEATURES, Plan, require_whole

__all__ = ["Videos", "videos"]

_MOST_POLYPS = 3
_CHUNK_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class Videos:
    """Candidates of the frames of videos; rows of a frame, a video and a patient are contiguous.

    Attributes
    ----------
    X : ndarray of shape (n, 13), float32
        The features of every candidate.
    y : ndarray of shape (n,), int8
        1 where the candidate shows a polyp, else 0.
    groups : ndarray of shape (n,), int32
        The frame.
    overlap : ndarray of shape (n,), float32
        How well the candidate fits the annotation; 0 off the polyp.
    polyp : ndarray of shape (n,), int32
        The polyp seen in the frame, for all candidates of the frame; -1 where there is none.
    video, patient : ndarray of shape (n,), int32
        A video belongs to one patient, a frame to one video.
    feature_names : list of str

    Examples
    --------
    >>> from groupcm.simulate import videos
    >>> data = videos(4, frames_per_video=5, group_size=3)
    >>> len(set(data.video)), len(set(data.groups))
    (8, 40)
    """

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    groups: NDArray[np.int32]
    overlap: NDArray[np.float32]
    polyp: NDArray[np.int32]
    video: NDArray[np.int32]
    patient: NDArray[np.int32]
    feature_names: list[str]

    def __len__(self) -> int:
        return len(self.y)

    @property
    def levels(self) -> dict[str, NDArray[np.int32]]:
        """The levels above the frame, as `groupcm.evaluation.evaluate` takes them.

        Examples
        --------
        >>> from groupcm.simulate import videos
        >>> list(videos(2, frames_per_video=3, group_size=2).levels)
        ['video', 'patient']
        """
        return {"video": self.video, "patient": self.patient}

    def to_table(self) -> pa.Table:
        """Return a table: the features, then frame, label, overlap, polyp, video and patient.

        The column ``polyp`` gives the label away; it is not a feature.

        Examples
        --------
        >>> from groupcm.simulate import videos
        >>> videos(2, frames_per_video=3, group_size=2).to_table().column_names[-3:]
        ['polyp', 'video', 'patient']
        """
        columns = {name: self.X[:, j] for j, name in enumerate(self.feature_names)}
        columns |= {"frame": self.groups, "label": self.y, "overlap": self.overlap}
        columns |= {"polyp": self.polyp, "video": self.video, "patient": self.patient}
        return pa.table({name: pa.array(np.ascontiguousarray(v)) for name, v in columns.items()})


def videos(
    n_patients: int = 60,
    *,
    videos_per_patient: int = 2,
    frames_per_video: int = 40,
    group_size: int = 20,
    share_with_polyps: float = 0.4,
    frames_per_polyp: float = 6.0,
    seed: int = 0,
    world: int = 2,
) -> Videos:
    """Simulate videos of patients, with polyps that are seen in several frames.

    Parameters
    ----------
    n_patients : int
    videos_per_patient, frames_per_video : int
    group_size : int
        Mean number of candidates per frame.
    share_with_polyps : float
        The share of the patients with polyps; at least one has some, and at least one none.
    frames_per_polyp : float
        In how many frames a polyp is seen, on average; at least 2.
    seed : int
        The same seed gives the same bits.
    world : int
        The version of the synthetic candidates; see `groupcm.simulate.capsule`.

    Returns
    -------
    Videos

    Examples
    --------
    >>> data = videos(10, frames_per_video=20, group_size=5, seed=1)
    >>> seen = [len(set(data.groups[data.polyp == p])) for p in set(data.polyp) - {-1}]
    >>> min(seen) >= 2, 0 < len({*data.patient[data.y == 1]}) < 10
    (True, True)
    """
    require_whole("n_patients", n_patients, 2)
    require_whole("videos_per_patient", videos_per_patient, 1)
    require_whole("frames_per_video", frames_per_video, 2)
    require_whole("group_size", group_size, 1)
    require_whole("seed", seed, 0)
    if not 0.0 <= share_with_polyps <= 1.0:
        raise ParameterError(
            Argument("share_with_polyps", share_with_polyps), " is not a share, between 0 and 1."
        )
    if not frames_per_polyp >= 2.0:
        raise ParameterError(
            Argument("frames_per_polyp", frames_per_polyp), " is not valid; it must be at least 2."
        )
    plan_seed, rows_seed = np.random.SeedSequence(seed).spawn(2)
    rng = np.random.default_rng(plan_seed)
    n_ill = min(max(1, round(share_with_polyps * n_patients)), n_patients - 1)
    ill = rng.choice(n_patients, n_ill, replace=False)
    owners = np.repeat(ill, rng.integers(1, _MOST_POLYPS + 1, n_ill))
    polyp = _place(rng, owners, n_patients, videos_per_patient, frames_per_video, frames_per_polyp)
    frames_of_patient = videos_per_patient * frames_per_video
    patient = np.repeat(np.arange(n_patients, dtype=np.int32), frames_of_patient)
    plan = _plan(
        world_of(world), rng, rows_seed, patient, polyp, n_patients, len(owners), group_size
    )
    pieces = [draw_chunk(plan, chunk)[0] for chunk in range(plan.n_chunks)]
    groups = np.concatenate([piece.groups for piece in pieces]).astype(np.int32)
    return Videos(
        X=np.concatenate([piece.X for piece in pieces]),
        y=np.concatenate([piece.y for piece in pieces]),
        groups=groups,
        overlap=np.concatenate([piece.overlap for piece in pieces]),
        polyp=np.concatenate([piece.polyp for piece in pieces]),
        video=(groups // frames_per_video).astype(np.int32),
        patient=np.concatenate([piece.patient for piece in pieces]),
        feature_names=list(FEATURE_NAMES),
    )


def _place(
    rng: np.random.Generator,
    owners: NDArray[np.intp],
    n_patients: int,
    n_videos: int,
    n_frames: int,
    frames_per_polyp: float,
) -> NDArray[np.int32]:
    """Return the polyp that each frame shows, -1 for none; each polyp is in two frames or more."""
    shown = np.full((n_patients, n_videos, n_frames), -1, dtype=np.int32)
    for number, patient in enumerate(owners):
        length = 2
        if frames_per_polyp > 2.0:
            length += int(rng.geometric(1.0 / (frames_per_polyp - 1.0))) - 1
        video = int(rng.integers(n_videos))
        length = min(length, n_frames)
        first = int(rng.integers(n_frames - length + 1))
        place = shown[patient, video, first : first + length]
        place[place < 0] = number  # a polyp that is in view stays the one that is seen
    kept, count = np.unique(shown[shown >= 0], return_counts=True)
    # A polyp that others hide in all frames but one is not seen at all.
    number_of = np.full(len(owners) + 1, -1, dtype=np.int32)
    number_of[kept[count >= 2]] = np.arange(np.count_nonzero(count >= 2))
    return number_of[shown].ravel()


def _plan(
    world: World,
    rng: np.random.Generator,
    rows_seed: np.random.SeedSequence,
    patient: NDArray[np.int32],
    polyp: NDArray[np.int32],
    n_patients: int,
    n_polyps: int,
    group_size: int,
) -> Plan:
    """Return the plan of the frames, from which their candidates are drawn."""

    def effects(spread: float, n: int) -> NDArray[np.float32]:
        return np.float32(spread) * rng.standard_normal((n, N_FEATURES), dtype=np.float32)

    m, shape = len(patient), world.size_shape
    sizes = 1 + rng.poisson((group_size - 1) * rng.standard_gamma(shape, m) / shape)
    frames_a_chunk = max(1, _CHUNK_ROWS // group_size)
    return Plan(
        world=world,
        row_ptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        patient=patient,
        polyp=polyp,
        patient_effects=effects(world.patient_spread, n_patients),
        polyp_effects=effects(world.polyp_spread, n_polyps),
        fold_effects=effects(world.fold_spread, n_patients),
        conspicuity=rng.uniform(*world.conspicuity, n_polyps).astype(np.float32),
        chunk_seeds=rows_seed.spawn(-(-m // frames_a_chunk)),
        frames_a_chunk=frames_a_chunk,
    )
