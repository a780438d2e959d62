"""Where the best candidates of a picture agree that the object is.

`vote` chooses the candidate that the best ones agree with; `refine` joins a candidate with those
that agree with it, and trims it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.images.overlap import overlap as overlap_of
from groupcm.images.regions import Regions
from groupcm.utils.typing import Index, Vector

__all__ = ["AMONG", "TEMPERATURE", "refine", "vote"]

TEMPERATURE = 0.25
AMONG = 50
REFINE_TEMPERATURE = 0.1
AGREEMENT = 0.4
_LEAST_SHARE = 0.05  # of the best: the pixels of others are left out


def vote(
    regions: Regions,
    scores: ArrayLike,
    *,
    overlap: str = "box_iou",
    temperature: float = TEMPERATURE,
    among: int = AMONG,
) -> int:
    r"""Return the candidate of largest expected overlap with the object.

    ::

        argmax_i  Σ_j p_j o(i, j),      p_j = exp(s_j / T) / Σ_k exp(s_k / T)

    If candidate j were exactly the object with probability p_j, the sum is the overlap that
    candidate i can expect. i, j and k run over the ``among`` candidates of largest score s.

    The sums are rounded once, whatever the order of their terms, so that candidates in the same
    position are truly equal. Of equal ones the larger score wins, then the earlier candidate.

    Parameters
    ----------
    regions
        Candidates of one picture.
    scores
        Their scores, shape (n,).
    overlap
        o: a kind of `groupcm.images.overlap`.
    temperature
        T, in units of the scores: towards 0 the winner alone decides, and the more the larger T.
    among
        How many candidates vote and can be voted for.

    Examples
    --------
    The winner overlaps no other; the next three agree.

    >>> boxes = [[0, 0, 2, 2], [4, 4, 8, 8], [4, 4, 8, 9], [4, 4, 9, 8]]
    >>> regions = Regions.from_boxes(boxes, height=10, width=10)
    >>> vote(regions, [1.0, 0.9, 0.9, 0.9])
    1
    >>> vote(regions, [1.0, 0.9, 0.9, 0.9], temperature=0.01)
    0
    """
    s = np.asarray(scores, dtype=np.float64)
    _check(s, len(regions), temperature, among)
    best = np.argsort(-s, kind="stable")[:among]
    share = np.exp((s[best] - s[best[0]]) / temperature)
    chosen = regions.take(best)
    expected = share * overlap_of(chosen, chosen, overlap)
    # The candidates are in order of their scores: the first of equal sums is the one to take.
    return int(best[np.argmax([math.fsum(row) for row in expected.tolist()])])


def refine(
    regions: Regions,
    scores: ArrayLike,
    located: int,
    *,
    temperature: float = REFINE_TEMPERATURE,
    among: int = AMONG,
    agreement: float = AGREEMENT,
) -> Regions:
    r"""Return the region of a candidate, joined with and trimmed by others that agree with it.

    ::

        B = Σ_j p_j B_j / Σ_j p_j  over the j with o(i, j) ≥ a,      p_j = exp(s_j / T)

    i is the candidate, B_j are the edges of the box around candidate j, o is the IoU of boxes, and
    j runs over the ``among`` candidates of largest score s and over i. The region is what those
    candidates cover within B.

    Parameters
    ----------
    regions
        Candidates of one picture.
    scores
        Their scores, shape (n,).
    located
        The candidate i.
    temperature
        T, in units of the scores. It is lower than for `vote`: where objects are long, as cracks
        are, the mean of many boxes is worse than the best one.
    among
        See `vote`.
    agreement
        a: the overlap from which a candidate takes part.

    Returns
    -------
    Regions
        One region.

    Examples
    --------
    >>> boxes = [[0, 0, 4, 2], [0, 0, 8, 2], [6, 6, 9, 9]]
    >>> regions = Regions.from_boxes(boxes, height=10, width=10)
    >>> refine(regions, [1.0, 1.0, 0.9], 0).edges.tolist()
    [[0.0, 0.0, 6.0, 2.0]]
    """
    s = np.asarray(scores, dtype=np.float64)
    _check(s, len(regions), temperature, among)
    best = np.argsort(-s, kind="stable")[:among]
    best = best if located in best else np.append(best, located)
    around = overlap_of(regions.take([located]), regions.take(best), "box_iou")[0]
    members = best[(around >= agreement) | (best == located)]
    if len(members) == 1:
        return regions.take(members)
    share = np.exp((s[members] - s[members].max()) / temperature)
    box = share @ regions.edges[members] / share.sum()
    return _within(regions, members[share >= _LEAST_SHARE], box)


def _within(regions: Regions, members: Index, box: Vector) -> Regions:
    """Return what some regions cover within a box; the box itself where all of them are boxes."""
    if regions.is_box[members].all():
        return Regions.from_boxes(box[None], regions.height, regions.width)
    covered = regions.mask(int(members[0]))
    for each in members[1:].tolist():
        covered |= regions.mask(each)
    left, top, right, bottom = (int(edge) for edge in (*np.floor(box[:2]), *np.ceil(box[2:])))
    inside = np.zeros_like(covered)
    inside[top:bottom, left:right] = covered[top:bottom, left:right]
    if not inside.any():
        return regions.take(members[:1])
    return Regions.from_masks(inside[None])


def _check(s: NDArray[np.float64], n: int, temperature: float, among: int) -> None:
    if s.shape != (n,):
        raise ValueError(f"scores have the shape {s.shape}; they need one for each of {n} regions")
    if not n:
        raise ValueError("there is no candidate to vote for; give one region or more")
    if not np.isfinite(s).all():
        raise ValueError(f"score {int(np.flatnonzero(~np.isfinite(s))[0])} is not finite")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0")
    if among < 1:
        raise ValueError(f"among is {among}; it must be 1 or more")
