"""Pictures scored by a model: the candidates with their features, and the result that is kept.

`read_picture_model` reads the model of a page, `measure_picture` scores one picture, and
`PictureResult` is the small part of that which a page keeps of each of ten thousand pictures.
`candidates_to_json` turns candidates into the JSON of the pages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.runs import Runs, from_edges
from groupcm.errors import Argument, InputError
from groupcm.images.parallel import PictureTask, Unreadable
from groupcm.images.proposals import Given
from groupcm.images.reading import Pixels
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore, PictureScorer
from groupcm.persistence.model_file import read

__all__ = [
    "MeasuredPicture",
    "NumberedPicture",
    "PictureResult",
    "ScorePicture",
    "box_of",
    "candidates_to_json",
    "measure_picture",
    "read_picture_model",
    "runs_of",
]

_MOST_RUNS = 120_000  # about half a megabyte of JSON


def read_picture_model(
    path: str | os.PathLike[str], *, threshold: float | None = None, command: str = "review"
) -> PictureScorer:
    """Read a model that finds its candidates in pictures by itself.

    Parameters
    ----------
    path
        The model file.
    threshold
        A picture whose score is at least this raises an alarm; by default that of the model.
    command
        The command that needs the model, for the error message.
    """
    if threshold is not None and not isfinite(threshold):
        raise InputError(Argument("threshold"), f" is {threshold}; it must be a number")
    path = os.fspath(path)
    scorer = PictureScorer.of_saved(read(path), path, threshold=threshold)
    if scorer.threshold is not None and not isfinite(scorer.threshold):
        scorer.threshold = None  # the slider of the page cannot show it
    if any(isinstance(part, Given) for part in scorer.recipe.proposals.parts):
        raise InputError(
            f"{path} was trained on candidates of a detector; {command} needs a model that finds "
            "its own candidates"
        )
    return scorer


@dataclass(frozen=True, eq=False)
class MeasuredPicture:
    """The candidates of a picture with their scores and features.

    Attributes
    ----------
    found
        The candidates and their scores.
    rows
        Their features, in the order of the model.
    """

    found: PictureScore
    rows: NDArray[np.float32]


def measure_picture(scorer: PictureScorer, pixels: Pixels, name: str = "") -> MeasuredPicture:
    """Score a picture, and keep the features of its candidates.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> from groupcm.images.recipe import Recipe
    >>> class Lightest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> frame = next(make_frames(1, height=48, width=64))
    >>> measured = measure_picture(PictureScorer(Lightest(), Recipe()), frame.pixels)
    >>> bool(np.all(measured.rows[:, 0] == measured.found.scores))
    True
    """
    regions, rows = scorer.candidates(pixels)
    return MeasuredPicture(scorer.of_candidates(regions, rows, name), rows)


@dataclass(frozen=True)
class PictureResult:
    """The score of a picture and the position of its winner.

    Attributes
    ----------
    score, probability
        See `groupcm.images.scoring.score.PictureScore`.
    winner
        Left, top, width and height of the bounding box of the winner, or of the region that a
        place model chose.
    width, height
        The size of the picture.
    """

    score: float
    probability: float | None
    winner: tuple[float, float, float, float]
    width: int
    height: int

    @classmethod
    def of(cls, measured: MeasuredPicture) -> PictureResult:
        """Return the result of a picture that was measured."""
        found = measured.found
        if found.winner < 0:
            raise InputError("nothing was proposed in it, so that there is no winner to show")
        left, top, width, height = box_of(found.place, 0)
        return cls(
            score=found.score,
            probability=found.probability,
            winner=(left, top, width, height),
            width=found.regions.width,
            height=found.regions.height,
        )


@dataclass(frozen=True)
class NumberedPicture:
    """A picture to score, with its number in the library.

    Attributes
    ----------
    number
        The number of the picture.
    picture
        The source of its pixels.
    stamp
        The stamp of the file that is scored; it changes when the file does.
    """

    number: int
    picture: PictureTask
    stamp: str = ""

    @property
    def name(self) -> str:
        """The name of the picture."""
        return self.picture.name

    def read(self) -> Pixels:
        """Read the pixels."""
        return self.picture.read()


@dataclass(frozen=True)
class ScorePicture:
    """Score a picture; the function can be sent to other processes.

    A picture that cannot be scored gives an `Unreadable` with a sentence, so that the others are
    still scored.
    """

    scorer: PictureScorer

    def __call__(self, task: NumberedPicture, pixels: Pixels) -> PictureResult | Unreadable:
        try:
            return PictureResult.of(measure_picture(self.scorer, pixels, task.name))
        except Exception as error:
            reason = str(error) or type(error).__name__
            return Unreadable(task.name, f"the picture {task.name} cannot be scored: {reason}")


def candidates_to_json(
    regions: Regions,
    order: Iterable[int],
    scores: NDArray[np.float64] | None = None,
    *,
    most_runs: int = _MOST_RUNS,
) -> list[dict[str, Any]]:
    """Return candidates as JSON, each with its bounding box, the runs of its mask and its score.

    Parameters
    ----------
    regions, scores
        The candidates; without scores each score is None.
    order
        The positions of the candidates to return.
    most_runs
        The largest number of runs in the answer, which keeps it small: further masks are left
        out, so that only their boxes are returned.

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
    """Return left, top, width and height of one region, to a thousandth of a pixel.

    Examples
    --------
    >>> box_of(Regions.from_boxes([[1, 2, 4, 9]], height=10, width=10), 0)
    [1.0, 2.0, 3.0, 7.0]
    """
    left, top, right, bottom = regions.edges[place].tolist()
    return [round(value, 3) for value in (left, top, right - left, bottom - top)]


def runs_of(regions: Regions, place: int) -> Runs:
    """Return the runs of one mask, column by column; see `groupcm.annotations.runs`.

    They are computed from the strips of the region. Masks of the whole picture would take seconds
    for the hundreds of candidates of a large picture.

    Examples
    --------
    >>> runs_of(Regions.from_labels([[1, 1, 2], [0, 2, 2]]), 0)
    array([0, 1, 1, 1, 3])
    """
    strips = slice(regions.strip_ptr[place], regions.strip_ptr[place + 1])
    start = regions.column[strips] * regions.height
    edges = np.concatenate([start + regions.top[strips], start + regions.bottom[strips]])
    return from_edges(edges, regions.height * regions.width)
