"""The route that tells the page which picture to annotate next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm.web.app_parts import Answer
from groupcm.web.library import PictureLibrary
from groupcm.web.ordering import annotation_order

__all__ = ["routes"]


class Annotated(Protocol):
    """What is needed of the annotations: how far each picture is."""

    @property
    def revision(self) -> int: ...

    def summary(self, number: int, /) -> dict[str, Any]: ...


class Scored(Protocol):
    """What is needed of a model: what it makes of each picture."""

    @property
    def threshold(self) -> float | None: ...

    def score(self, number: int, /) -> float | None: ...


def routes(library: PictureLibrary, store: Annotated, scores: Scored) -> list[Route]:
    """Return ``GET /api/order``: ``{"order": [{"picture": 17, "why": "uncertain"}, …]}``.

    A negative that somebody changed or confirmed since the start is not offered again.

    Parameters
    ----------
    library
        The pictures.
    store
        Their annotations; see `groupcm.web.store.AnnotationStore`.
    scores
        See `groupcm.web.background.BackgroundScores`.
    """
    first = store.revision

    def order(_request: Request) -> Response:
        numbers = range(len(library))
        summaries = [store.summary(number) for number in numbers]
        ordered = annotation_order(
            [scores.score(number) for number in numbers],
            [each["done"] for each in summaries],
            [each["objects"] > 0 for each in summaries],
            scores.threshold,
            looked_at_again={n for n in numbers if summaries[n]["version"] > first},
        )
        return Answer({"order": [asdict(each) for each in ordered]})

    return [Route("/api/order", order)]
