"""What is kept of a picture that was scored: enough for a wall of ten thousand."""

from __future__ import annotations

from dataclasses import dataclass

from groupcm.errors import InputError
from groupcm.images.parallel_pictures import PictureTask, Unreadable
from groupcm.images.reading import Pixels
from groupcm.images.score import PictureScorer
from groupcm.web.candidate_json import box_of
from groupcm.web.measuring import MeasuredPicture, measure_picture

__all__ = ["NumberedPicture", "PictureResult", "ResultOfPicture", "result_of"]


@dataclass(frozen=True)
class PictureResult:
    """A picture's score and where its winner is.

    Attributes
    ----------
    score, probability
        See `groupcm.images.score.PictureScore`.
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
