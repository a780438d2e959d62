"""The routes of the review page, and the identity of the files that it shows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcm import __version__
from groupcm.annotations.files import sniff
from groupcm.errors import InputError
from groupcm.web.review.session import Review
from groupcm.web.server.app import page_app
from groupcm.web.server.guarded_file import stamp_of
from groupcm.web.server.requests import (
    PICTURE_ROUTE,
    finite_number,
    input_errors_refused,
    integer_parameter,
    json_body,
    number_parameter,
    picture_number,
)

__all__ = ["ReviewProject", "review_app"]


def review_app(
    review: Review,
    *,
    model: str | os.PathLike[str],
    annotations: str | os.PathLike[str] | None = None,
    token: str,
    port: int,
) -> Starlette:
    """Build the application: pictures, scores, explanations, flags and the exported list.

    Parameters
    ----------
    review
        The review, which is started and stopped with the server.
    model, annotations
        The files of the model and of the annotations.
    token, port
        See `groupcm.web.server.app.page_app`.
    """
    project = ReviewProject(
        review.library.folder,
        Path(model),
        review.flags.path,
        None if annotations is None else Path(annotations),
    )
    routes = ReviewRoutes(review, project).routes()
    return page_app(
        "review",
        routes,
        review.library,
        token=token,
        port=port,
        on_start=review.start,
        on_stop=review.stop,
    )


@dataclass(frozen=True)
class ReviewProject:
    """The files of a review, as the user named them.

    Attributes
    ----------
    folder
        The pictures.
    model
        The model file.
    flags
        The file of pictures to correct.
    annotations
        The annotations, or None.

    Examples
    --------
    >>> project = ReviewProject(Path("frames"), Path("model.json"), Path("frames/review.csv"))
    >>> project.annotate_command()
    ['groupcm', 'annotate', 'frames', '--first', 'frames/review.csv']
    >>> project.id(["a.png"]) == project.id(["b.png"])
    False
    """

    folder: Path
    model: Path
    flags: Path
    annotations: Path | None = None

    def id(self, names: Sequence[str]) -> str:
        """Return an id that differs if the number of a picture would mean another picture.

        Another start with the same files and pictures has the same id.

        Parameters
        ----------
        names
            The names of the pictures, in the order of their numbers.
        """
        read = [self.model] if self.annotations is None else [self.model, self.annotations]
        known = [
            [os.path.realpath(path) for path in (self.folder, self.flags, *read)],
            [stamp_of(path) for path in read],
            list(names),
        ]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]

    def annotate_command(self) -> list[str]:
        """Return the command that corrects the flagged pictures in the same annotations.

        Annotations in another format than COCO cannot be edited in place, so they are imported.
        """
        return [
            *("groupcm", "annotate", str(self.folder)),
            *self._annotations_option(),
            *("--first", str(self.flags)),
        ]

    def _annotations_option(self) -> list[str]:
        if self.annotations is None:
            return []
        if os.path.realpath(self.annotations) == os.path.realpath(self.folder / "annotations.json"):
            return []
        return [
            "--annotations" if _is_coco(self.annotations) else "--import",
            str(self.annotations),
        ]


class ReviewRoutes:
    """The routes of the page, one method each."""

    def __init__(self, review: Review, project: ReviewProject) -> None:
        self.review = review
        self._files = project
        self._project = project.id(review.library.names)
        self._annotate_command = project.annotate_command()

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/api/project", self.project),
            Route("/api/pictures", self.pictures),
            Route("/api/changes", self.changes),
            Route("/api/export", self.export, methods=["GET"]),
            Route("/api/export", self.export_some, methods=["POST"]),
            Route(PICTURE_ROUTE, self.details),
            Route(f"{PICTURE_ROUTE}/explanation", self.explanation),
            Route(f"{PICTURE_ROUTE}/mark", self.flag, methods=["PUT"]),
            Route(f"{PICTURE_ROUTE}/mark", self.unflag, methods=["DELETE"]),
        ]

    def project(self, _request: Request) -> Response:
        review = self.review
        truth = review.truth.truth
        categories: list[str] = []
        if truth is not None:
            categories = list(truth.categories or truth.marked.categories)
        return JSONResponse(
            {
                "page": "review",
                "project": self._project,
                "folder": review.library.folder.resolve().name,
                "model": self._files.model.name,
                "annotate": self._annotate_command,
                "threshold": review.scorer.threshold,
                "truth": truth is not None,
                "categories": categories,
                "set_aside": review.library.set_aside,
                "version": __version__,
            }
        )

    def pictures(self, _request: Request) -> Response:
        # Read before the results: a result in between is sent again with the changes.
        revision = self.review.feed.revision
        return JSONResponse(
            {
                "project": self._project,
                "revision": revision,
                "names": list(self.review.library.names),
                "results": self.review.results(),
                **self._counts(),
            }
        )

    def changes(self, request: Request) -> Response:
        is_scoring = self.review.scores.running  # before the results, so that none is missed
        changes = self.review.feed.changed_since(integer_parameter(request, "since", 0))
        return JSONResponse(
            {
                "project": self._project,
                "revision": changes.revision,
                "results": changes.results,
                **self._counts(),
                "scoring": is_scoring,
            }
        )

    def details(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        return JSONResponse(self.review.details(number, request.query_params.get("known", "")))

    def explanation(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        candidate = integer_parameter(request, "candidate", 0)
        try:
            return JSONResponse(self.review.explanation(number, candidate))
        except IndexError:
            raise HTTPException(404, f"The picture has no candidate {candidate}.") from None

    async def flag(self, request: Request) -> Response:
        number, body = await self._intended(request)
        threshold = body.get("threshold")
        if threshold is not None:
            threshold = finite_number(threshold, "threshold")
        return await self._changed(self.review.flag, number, body.get("note", ""), threshold)

    async def unflag(self, request: Request) -> Response:
        number, _ = await self._intended(request)
        return await self._changed(self.review.unflag, number)

    def export(self, request: Request) -> Response:
        threshold = number_parameter(request, "threshold", self.review.scorer.threshold)
        return _csv(self.review.export(threshold))

    async def export_some(self, request: Request) -> Response:
        """Export the pictures of a body ``{"pictures": [3, 1], "threshold": 0.5}``."""
        body = await json_body(request)
        threshold, pictures = body.get("threshold"), body.get("pictures")
        threshold = None if threshold is None else finite_number(threshold, "threshold")
        known = range(len(self.review.library))
        if not isinstance(pictures, list) or not all(
            type(each) is int and each in known for each in pictures
        ):
            raise HTTPException(
                400, f"pictures must be a list of numbers from 0 to {len(known) - 1}."
            )
        return _csv(await run_in_threadpool(self.review.export, threshold, pictures))

    async def _intended(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Return the number and body of a change; refuse a page that shows another project."""
        number = request.path_params["number"]
        body = await json_body(request)
        names = self.review.library.names
        is_same = body.get("project") == self._project and number < len(names)
        if not is_same or body.get("name") != names[number]:
            files = self._files
            raise HTTPException(
                412,
                f"groupcm now shows {files.folder.resolve().name} scored by {files.model.name} "
                "here, and this page something else; nothing is saved, reload the page.",
            )
        return number, body

    async def _changed(self, change: Callable[..., int], *arguments: Any) -> Response:
        with input_errors_refused():
            return JSONResponse({"revision": await run_in_threadpool(change, *arguments)})

    def _counts(self) -> dict[str, Any]:
        scores = self.review.scores
        return {"scored": scores.n_scored, "failed": scores.n_failed}


def _csv(content: str) -> Response:
    headers = {"Content-Disposition": 'attachment; filename="review-list.csv"'}
    return Response(content, media_type="text/csv", headers=headers)


def _is_coco(path: Path) -> bool:
    try:
        return sniff(path) == "coco"
    except InputError:
        return False
