"""What is kept of a picture that was scored: enough for a wall of ten thousand.

A picture's score together with the features that gave it.

Candidates of a picture as the page reads them.

A model file that a page is opened with.
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
    "ResultOfPicture",
    "box_of",
    "candidates_to_json",
    "measure_picture",
    "read_picture_model",
    "result_of",
    "runs_of",
]


@dataclass(frozen=True, eq=False)
class MeasuredPicture:
    """What a model finds in a picture.

    Attributes
    ----------
    found
        Candidates and their scores.
    rows
        Their features, in the order of the model's.
    """

    found: PictureScore
    rows: NDArray[np.float32]


def measure_picture(scorer: PictureScorer, pixels: Pixels, name: str = "") -> MeasuredPicture:
    """Score a picture, and keep the features that the model was given.

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
    model = _Attentive(scorer.model)
    attentive = PictureScorer(model, scorer.recipe, vote=scorer.vote, threshold=scorer.threshold)
    found = attentive(pixels, name)
    return MeasuredPicture(found, model.rows)


class _Attentive:
    """A model that remembers what it scored last."""

    rows: NDArray[np.float32]

    def __init__(self, model: Any) -> None:
        self._model = model
        self.rows = np.empty((0, 0), dtype=np.float32)  # where there is nothing to score

    def decision_function(self, X: NDArray[np.float32], /) -> NDArray[np.float64]:
        self.rows = X
        return self._model.decision_function(X)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


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


@dataclass(frozen=True)
class PictureResult:
    """A picture's score and where its winner is.

    Attributes
    ----------
    score, probability
        See `groupcm.images.scoring.score.PictureScore`.
    winner
        Left, top, width and height of the winner's box.
    width, height
        Of the picture.
    """

    score: float
    probability: float | None
    winner: tuple[float, float, float, float]
    width: int
    height: int


@dataclass(frozen=True)
class NumberedPicture:
    """A picture to score, and its number.

    Attributes
    ----------
    number
        Its place in the library.
    picture
        Where its pixels are.
    stamp
        Tells whether the file is still the one that was scored.
    """

    number: int
    picture: PictureTask
    stamp: str = ""

    @property
    def name(self) -> str:
        """Name of the picture."""
        return self.picture.name

    def read(self) -> Pixels:
        """Read the pixels."""
        return self.picture.read()


@dataclass(frozen=True)
class ResultOfPicture:
    """Score a picture; it can be sent to other processes.

    A picture that cannot be scored gives an `Unreadable` with a sentence, so that the others go
    on.
    """

    scorer: PictureScorer

    def __call__(self, task: NumberedPicture, pixels: Pixels) -> PictureResult | Unreadable:
        try:
            measured = measure_picture(self.scorer, pixels, task.name)
            return result_of(measured)
        except Exception as error:
            told = str(error) or type(error).__name__
            return Unreadable(task.name, f"the picture {task.name} cannot be scored: {told}")


def result_of(measured: MeasuredPicture) -> PictureResult:
    """Return what is kept of a picture that was measured."""
    found = measured.found
    if found.winner < 0:
        raise InputError("nothing was proposed in it, so that there is no winner to show")
    left, top, width, height = box_of(found.regions, found.winner)
    return PictureResult(
        score=found.score,
        probability=found.probability,
        winner=(left, top, width, height),
        width=found.regions.width,
        height=found.regions.height,
    )


def read_picture_model(
    path: str | os.PathLike[str], *, threshold: float | None = None, command: str = "review"
) -> PictureScorer:
    """Read a model that scores pictures by itself.

    Parameters
    ----------
    path
        The model file.
    threshold
        A picture whose score is at least this raises an alarm; left out, the model's own.
    command
        What an error calls the work that needs the model.
    """
    if threshold is not None and not isfinite(threshold):
        raise InputError(Argument("threshold"), f" is {threshold}; it must be a number")
    path = os.fspath(path)
    scorer = PictureScorer.of_saved(read(path), path, threshold=threshold)
    if scorer.threshold is not None and not isfinite(scorer.threshold):
        scorer.threshold = None  # the page needs one that its slider can show
    if any(isinstance(part, Given) for part in scorer.recipe.proposals.parts):
        raise InputError(
            f"{path} was trained on candidates of a detector; {command} needs a model that finds "
            "its own candidates"
        )
    return scorer
