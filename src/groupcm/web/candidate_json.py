"""Candidates of a picture as the page reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.runs import Runs, from_edges
from groupcm.images.regions import Regions

__all__ = ["box_of", "candidates_to_json", "runs_of"]

# About half a megabyte of text.
_MOST_RUNS = 120_000


def candidates_to_json(
    regions: Regions,
    order: Iterable[int],
    scores: NDArray[np.float64] | None = None,
    *,
    most_runs: int = _MOST_RUNS,
) -> list[dict[str, Any]]:
    """Return candidates in an order, each with box, runs of its mask and score.

    Parameters
    ----------
    regions, scores
        The candidates; without scores each has None.
    order
        Places of those that are wanted.
    most_runs
        Masks from there on, where all runs before them come to so many, are told by their box
        alone, so that the answer stays small.

    Examples
    --------
    >>> regions = Regions.from_labels([[1, 1, 2], [0, 2, 2]])
    >>> candidates_to_json(regions, [1, 0], np.array([0.5, 2.0]))
    [{'box': [1.0, 0.0, 2.0, 2.0], 'counts': [3, 3], 'score': 2.0},
     {'box': [0.0, 0.0, 2.0, 1.0], 'counts': [0, 1, 1, 1, 3], 'score': 0.5}]
    """
    found, n_runs = [], 0
    for place in order:
        counts = None
        if not regions.is_box[place] and n_runs < most_runs:
            counts = runs_of(regions, place).tolist()
            n_runs += len(counts)
            if n_runs > most_runs:
                counts = None
        score = None if scores is None else float(scores[place])
        found.append({"box": box_of(regions, place), "counts": counts, "score": score})
    return found


def box_of(regions: Regions, place: int) -> list[float]:
    """Left, top, width and height of one region, to a thousandth of a pixel.

    Examples
    --------
    >>> box_of(Regions.from_boxes([[1, 2, 4, 9]], height=10, width=10), 0)
    [1.0, 2.0, 3.0, 7.0]
    """
    left, top, right, bottom = regions.edges[place].tolist()
    return [round(value, 3) for value in (left, top, right - left, bottom - top)]


def runs_of(regions: Regions, place: int) -> Runs:
    """Runs of one mask, column by column, background first; see `groupcm.annotations.runs`.

    Made of its strips: a mask of the whole picture never is, which for hundreds of candidates of
    a large picture would take seconds.

    Examples
    --------
    >>> runs_of(Regions.from_labels([[1, 1, 2], [0, 2, 2]]), 0)
    array([0, 1, 1, 1, 3])
    """
    strips = slice(regions.strip_ptr[place], regions.strip_ptr[place + 1])
    start = regions.column[strips] * regions.height
    edges = np.concatenate([start + regions.top[strips], start + regions.bottom[strips]])
    return from_edges(edges, regions.height * regions.width)
