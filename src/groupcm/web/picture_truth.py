"""What people marked in the pictures of a library, beside what a model finds there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from groupcm.errors import InputError
from groupcm.evaluation.localisation import LEAST_OVERLAP
from groupcm.images.overlap import overlap
from groupcm.images.parallel_pictures import Unreadable
from groupcm.images.regions import Regions
from groupcm.images.truth import Truth, object_regions
from groupcm.web.background import Result
from groupcm.web.picture_result import PictureResult
from groupcm.web.records import object_to_json

__all__ = ["PictureTruth"]


class PictureTruth:
    """Annotations by the names of pictures.

    Parameters
    ----------
    truth
        What people marked; None where nobody has looked.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture
    >>> box = AnnotatedObject("polyp", Box(1, 1, 4, 4))
    >>> truth = PictureTruth(Truth(Annotations([Picture("a.png", 9, 9, [box])]), "marks.json"))
    >>> truth.is_positive("a.png"), truth.is_positive("b.png")
    (True, None)
    >>> others = PictureTruth(Truth(truth.truth.marked, "marks.json", unmarked="negative"))
    >>> others.is_positive("b.png"), others.objects("b.png")
    (False, [])
    >>> truth.beside("a.png", PictureResult(0.5, None, (1.0, 1.0, 4.0, 4.0), 9, 9))["on_object"]
    True
    """

    def __init__(self, truth: Truth | None) -> None:
        self.truth = truth

    def is_positive(self, name: str) -> bool | None:
        """Whether there is an object; None where nobody knows."""
        marked = None if self.truth is None else self.truth.of(name)
        return None if marked is None else bool(marked.objects)

    def objects(self, name: str) -> list[dict[str, Any]] | None:
        """Objects of a picture as JSON; None where nobody has looked."""
        if self.truth is None or self.truth.of(name) is None:
            return None
        if name not in self.truth.marked:
            return []
        wanted = self.truth.categories
        return [
            object_to_json(replace(marked, id=place if marked.id is None else marked.id))
            for place, marked in enumerate(self.truth.marked[name].objects)
            if wanted is None or marked.category in wanted
        ]

    def beside(self, name: str, found: Result | None) -> dict[str, Any]:
        """What a page is told of a picture, but for its mark; it may not be scored yet."""
        told: dict[str, Any] = dict.fromkeys(
            ("score", "probability", "winner", "width", "height", "on_object", "error")
        )
        told["truth"] = self.is_positive(name)
        if isinstance(found, Unreadable):
            return told | {"error": found.reason}
        if found is None:
            return told
        told |= {"width": found.width, "height": found.height}
        try:
            is_on_object = self._is_on_object(name, found)
        except InputError as error:  # annotations of another picture
            return told | {"error": str(error)}
        return told | {
            "score": found.score,
            "probability": found.probability,
            "winner": list(found.winner),
            "on_object": is_on_object,
        }

    def _is_on_object(self, name: str, found: PictureResult) -> bool | None:
        """Whether the winner lies on an object; None where there is none or nobody knows."""
        marked = None if self.truth is None else self.truth.of(name)
        if self.truth is None or marked is None:
            return None
        objects = object_regions(name, marked, found.height, found.width, self.truth.where)
        if not len(objects):
            return None
        left, top, width, height = found.winner
        winner = Regions.from_boxes(
            [[left, top, left + width, top + height]], found.height, found.width
        )
        return bool(overlap(winner, objects, "box_iou").max() >= LEAST_OVERLAP)
