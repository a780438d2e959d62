"""The result of scoring one picture: its scores, its winner, its overlay and its annotations.

Candidates that score at least the threshold can be written as annotations for other programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.annotations import AnnotatedObject, Annotations, Picture, Region, write
from groupcm.errors import InputError
from groupcm.images.overlap import overlap
from groupcm.images.overlay import draw_overlay, write_overlay
from groupcm.images.parallel import PictureTask
from groupcm.images.reading import Pixels, has_small_range
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore, PictureScorer
from groupcm.images.scoring.vote import vote
from groupcm.images.tables.table import row_regions
from groupcm.images.truth import MarkedPicture, object_regions

__all__ = ["ScoredPicture", "Scoring", "ScoringTask", "marks_of", "write_marks"]


@dataclass(frozen=True)
class ScoringTask:
    """A picture to score.

    Attributes
    ----------
    picture
        Where its pixels are.
    marked
        The annotated objects in it; None where it is unannotated.
    given
        What a detector found in it, if the recipe uses it.
    overlay
        Where to write the picture with what was found; None for nowhere.
    """

    picture: PictureTask
    marked: MarkedPicture | None = None
    given: tuple[Region, ...] | None = None
    overlay: Path | None = None

    @property
    def name(self) -> str:
        """Name of the picture."""
        return self.picture.name

    def read(self) -> Pixels:
        """Read the pixels."""
        return self.picture.read()


@dataclass(frozen=True, eq=False)
class ScoredPicture:
    """A picture's result without its many candidates, so that many fit into memory.

    Attributes
    ----------
    name, height, width
        Of the picture.
    score, probability, alarm, winner, located, drawn
        See `groupcm.images.scoring.score.PictureScore`.
    n_candidates
        How many there were.
    place
        The region that locates the object, alone; none where nothing was proposed.
    n_marked
        How many candidates score at least the threshold; None without one.
    marks, mark_scores
        Those candidates, if they were requested.
    is_positive
        Whether an object is annotated in it; None where it is unannotated.
    winner_overlap, vote_overlap
        Largest overlap (IoU of boxes) of the region that locates the object (the winner, unless the
        scorer votes, refines or has a place model), and of the candidate that the best ones vote
        for, with an object; None where there is no object.
    has_small_range
        See `groupcm.images.reading.has_small_range`; False where no pixels were read.
    """

    name: str
    height: int
    width: int
    score: float
    probability: float | None
    alarm: bool | None
    winner: int
    located: int
    n_candidates: int
    place: Regions
    n_marked: int | None = None
    marks: Regions | None = None
    mark_scores: NDArray[np.float64] | None = None
    is_positive: bool | None = None
    winner_overlap: float | None = None
    vote_overlap: float | None = None
    drawn: NDArray[np.float32] | None = None
    has_small_range: bool = False


@dataclass(frozen=True)
class Scoring:
    """Score a picture, draw what was found, and compare it with what people marked.

    It is called in processes of its own by `groupcm.images.parallel.map_pictures`.

    Parameters
    ----------
    scorer
        Scores a picture.
    where
        What an error calls the annotations.
    keep_marks
        Whether to keep all candidates that score at least the threshold.
    """

    scorer: PictureScorer
    where: str = "the annotations"
    keep_marks: bool = False

    def prepare(self) -> None:
        """Load what the first picture would wait for."""
        self.scorer.recipe.prepare()

    def __call__(self, task: ScoringTask, pixels: Pixels) -> ScoredPicture:
        height, width = pixels.shape[:2]
        objects = None
        if task.marked is not None:
            objects = object_regions(task.name, task.marked, height, width, self.where)
        try:
            found = self.scorer(pixels, task.name, task.given)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the picture {task.name}: {error}") from error
        if task.overlay is not None:
            write_overlay(draw_overlay(pixels, found, truth=objects), task.overlay)
        return replace(self._kept(found, objects), has_small_range=has_small_range(pixels))

    def rows(self, name: str, rows: pa.Table, marked: MarkedPicture | None = None) -> ScoredPicture:
        """Score a picture by its rows in a table of candidates, without its pixels."""
        regions = row_regions(rows)
        objects = None
        if marked is not None:
            objects = object_regions(name, marked, regions.height, regions.width, self.where)
        columns = [np.asarray(rows.column(each), dtype=np.float32) for each in self.scorer.features]
        return self._kept(
            self.scorer.of_candidates(regions, np.stack(columns, axis=1), name), objects
        )

    def _kept(self, found: PictureScore, objects: Regions | None) -> ScoredPicture:
        """Return what is kept of a picture's score."""
        on_objects = (None, None) if not objects else _overlaps(found, objects)
        marked = found.marked
        return ScoredPicture(
            name=found.name,
            height=found.regions.height,
            width=found.regions.width,
            score=found.score,
            probability=found.probability,
            alarm=found.alarm,
            winner=found.winner,
            located=found.located,
            n_candidates=len(found.regions),
            place=found.place,
            n_marked=None if found.threshold is None else len(marked),
            marks=found.regions.take(marked) if self.keep_marks else None,
            mark_scores=found.scores[marked] if self.keep_marks else None,
            is_positive=None if objects is None else len(objects) > 0,
            winner_overlap=on_objects[0],
            vote_overlap=on_objects[1],
            drawn=found.drawn,
        )


def _overlaps(found: PictureScore, objects: Regions) -> tuple[float, float]:
    if found.winner < 0:
        return 0.0, 0.0
    scores = found.scores if found.place_scores is None else found.place_scores
    voted = found.regions.take([vote(found.regions, scores)])
    both = Regions.joined([found.place, voted])
    place, vote_overlap = overlap(both, objects, "box_iou").max(axis=1).tolist()
    return place, vote_overlap


def marks_of(
    name: str, regions: Regions, scores: NDArray[np.float64], category: str = "object"
) -> Picture:
    """Return a picture with candidates as its objects, each with its score.

    No person has looked at them, so the picture is to do.

    Examples
    --------
    >>> regions = Regions.from_boxes([[1, 1, 4, 3]], height=10, width=10)
    >>> marks_of("a.png", regions, np.array([0.5])).objects[0].region
    Box(x=1.0, y=1.0, width=3.0, height=2.0)
    """
    objects = [
        AnnotatedObject(category, regions.region(place), score=float(score))
        for place, score in enumerate(scores)
    ]
    return Picture(name, regions.width, regions.height, tuple(objects), done=False)


def write_marks(
    pictures: Iterable[Picture], path: str | os.PathLike[str], category: str = "object"
) -> None:
    """Write marked pictures in COCO's format, whole or not at all."""
    write(Annotations(tuple(pictures), (category,)), path, "coco")
