"""The routes of the page that reviews what a model makes of pictures."""

from __future__ import annotations

import math
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.web.app_parts import Answer, Refusal, json_body, page_app, picture_number
from groupcm.web.marks_file import ChangedOnDisk
from groupcm.web.review import Review

__all__ = ["review_app"]


def review_app(review: Review, *, model: str, token: str, port: int) -> Starlette:
    """Make the application: pictures, scores, explanations, marks and the list.

    Parameters
    ----------
    review
        The folder under review; it is started and stopped with the server.
    model
        Name of the model file, to show.
    token, port
        See `groupcm.web.app_parts.page_app`.
    """
    routes = ReviewRoutes(review, model).routes()
    return page_app(
        "review",
        routes,
        review.library,
        token=token,
        port=port,
        on_start=review.start,
        on_stop=review.stop,
    )


class ReviewRoutes:
    """What the page may ask, a method each."""

    def __init__(self, review: Review, model: str) -> None:
        self.review, self.model = review, model

    def routes(self) -> list[Route]:
        """Return all of them."""
        one = "/api/pictures/{number:int}"
        return [
            Route("/api/project", self.project),
            Route("/api/pictures", self.pictures),
            Route("/api/changes", self.changes),
            Route("/api/export", self.export),
            Route(one, self.details),
            Route(f"{one}/explanation", self.explanation),
            Route(f"{one}/mark", self.mark, methods=["PUT"]),
            Route(f"{one}/mark", self.unmark, methods=["DELETE"]),
        ]

    def project(self, _request: Request) -> Response:
        review = self.review
        truth = review.truth
        categories: list[str] = []
        if truth is not None:
            categories = list(truth.categories or truth.marked.categories)
        return Answer(
            {
                "page": "review",
                "folder": review.library.folder.resolve().name,
                "path": str(review.library.folder),
                "marks": str(review.marks.path),
                "model": self.model,
                "threshold": review.scorer.threshold,
                "truth": truth is not None,
                "categories": categories,
                "version": __version__,
            }
        )

    def pictures(self, _request: Request) -> Response:
        # The revision first: what comes meanwhile is told again by the changes.
        revision = self.review.revision
        return Answer(
            {
                "revision": revision,
                "names": list(self.review.library.names),
                "results": self.review.results(),
                **self._counts(),
            }
        )

    def changes(self, request: Request) -> Response:
        is_scoring = self.review.scores.running  # before the results, so that none is missed
        changes = self.review.changed_since(_whole(request, "since", 0))
        return Answer(
            {
                "revision": changes.revision,
                "results": changes.results,
                **self._counts(),
                "scoring": is_scoring,
            }
        )

    def details(self, request: Request) -> Response:
        return Answer(self.review.details(picture_number(request, self.review.library)))

    def explanation(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        candidate = _whole(request, "candidate", 0)
        try:
            return Answer(self.review.explanation(number, candidate))
        except IndexError:
            raise Refusal(404, f"The picture has no candidate {candidate}.") from None

    async def mark(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        body = await json_body(request)
        try:
            revision = await run_in_threadpool(self.review.mark, number, body.get("note", ""))
        except ChangedOnDisk as error:
            raise Refusal(409, str(error)) from error
        except InputError as error:
            raise Refusal(400, str(error)) from error
        return Answer({"revision": revision})

    def unmark(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        try:
            return Answer({"revision": self.review.unmark(number)})
        except ChangedOnDisk as error:
            raise Refusal(409, str(error)) from error

    def export(self, request: Request) -> Response:
        threshold = _number(request, "threshold", self.review.scorer.threshold)
        return Response(
            self.review.export(threshold),
            media_type="text/csv",
            headers={"Content-Disposition": 'attachment; filename="review-list.csv"'},
        )

    def _counts(self) -> dict[str, Any]:
        scores = self.review.scores
        return {"scored": scores.n_scored, "failed": scores.n_failed}


def _whole(request: Request, name: str, default: int) -> int:
    told = request.query_params.get(name, str(default))
    try:
        return int(told)
    except ValueError:
        raise Refusal(400, f"{name} is {told!r}; it must be a whole number.") from None


def _number(request: Request, name: str, default: float | None) -> float | None:
    told = request.query_params.get(name)
    if told is None:
        return default
    try:
        value = float(told)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refusal(400, f"{name} is {told!r}; it must be a number.")
    return value
