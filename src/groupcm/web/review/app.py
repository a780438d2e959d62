"""The routes of the page that reviews what a model makes of pictures.

What a review is of: which files, what to tell them apart by, and how the work goes on.
"""

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
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm import __version__
from groupcm.annotations.files import sniff
from groupcm.errors import InputError
from groupcm.web.review.session import Review
from groupcm.web.server.app import Answer, Refusal, json_body, page_app, picture_number
from groupcm.web.server.file_stamp import ChangedOnDisk, stamp_of
from groupcm.web.server.requests import finite_number, number_asked, whole_asked

__all__ = ["ReviewProject", "review_app"]


@dataclass(frozen=True)
class ReviewProject:
    """The files of a review, as the user named them.

    Attributes
    ----------
    folder
        The pictures.
    model
        The model file.
    marks
        Where pictures to correct are kept.
    annotations
        The truth; None where nobody has looked.

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
    marks: Path
    annotations: Path | None = None

    def id(self, names: Sequence[str]) -> str:
        """Return what differs where a page would mean something else by a picture's number.

        Another start with the same files and pictures has the same one.

        Parameters
        ----------
        names
            The pictures, by their numbers.
        """
        read = [self.model] if self.annotations is None else [self.model, self.annotations]
        known = [
            [os.path.realpath(path) for path in (self.folder, self.marks, *read)],
            [stamp_of(path) for path in read],
            list(names),
        ]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]

    def annotate_command(self) -> list[str]:
        """Return the words of the command that corrects what was marked, in the same annotations.

        A file of another format than COCO cannot be worked in: what it holds is taken over.
        """
        return [
            *("groupcm", "annotate", str(self.folder)),
            *self._option_of_annotations(),
            *("--first", str(self.marks)),
        ]

    def _option_of_annotations(self) -> list[str]:
        if self.annotations is None:
            return []
        if os.path.realpath(self.annotations) == os.path.realpath(self.folder / "annotations.json"):
            return []
        return [
            "--annotations" if _is_coco(self.annotations) else "--import",
            str(self.annotations),
        ]


def _is_coco(path: Path) -> bool:
    try:
        return sniff(path) == "coco"
    except InputError:
        return False


def review_app(
    review: Review,
    *,
    model: str | os.PathLike[str],
    annotations: str | os.PathLike[str] | None = None,
    token: str,
    port: int,
) -> Starlette:
    """Make the application: pictures, scores, explanations, marks and the list.

    Parameters
    ----------
    review
        The folder under review; it is started and stopped with the server.
    model, annotations
        The files that the model and the truth were read from.
    token, port
        See `groupcm.web.server.app.page_app`.
    """
    project = ReviewProject(
        review.library.folder,
        Path(model),
        review.marks.path,
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


class ReviewRoutes:
    """What the page may ask, a method each."""

    def __init__(self, review: Review, project: ReviewProject) -> None:
        self.review = review
        self._files = project
        self._project = project.id(review.library.names)
        self._annotate_command = project.annotate_command()

    def routes(self) -> list[Route]:
        """Return all of them."""
        one = "/api/pictures/{number:short}"
        return [
            Route("/api/project", self.project),
            Route("/api/pictures", self.pictures),
            Route("/api/changes", self.changes),
            Route("/api/export", self.export, methods=["GET"]),
            Route("/api/export", self.export_some, methods=["POST"]),
            Route(one, self.details),
            Route(f"{one}/explanation", self.explanation),
            Route(f"{one}/mark", self.mark, methods=["PUT"]),
            Route(f"{one}/mark", self.unmark, methods=["DELETE"]),
        ]

    def project(self, _request: Request) -> Response:
        review = self.review
        truth = review.truth.truth
        categories: list[str] = []
        if truth is not None:
            categories = list(truth.categories or truth.marked.categories)
        return Answer(
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
        # The revision first: what comes meanwhile is told again by the changes.
        revision = self.review.told.revision
        return Answer(
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
        changes = self.review.told.changed_since(whole_asked(request, "since", 0))
        return Answer(
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
        return Answer(self.review.details(number, request.query_params.get("known", "")))

    def explanation(self, request: Request) -> Response:
        number = picture_number(request, self.review.library)
        candidate = whole_asked(request, "candidate", 0)
        try:
            return Answer(self.review.explanation(number, candidate))
        except IndexError:
            raise Refusal(404, f"The picture has no candidate {candidate}.") from None

    async def mark(self, request: Request) -> Response:
        number, body = await self._meant(request)
        threshold = body.get("threshold")
        if threshold is not None:
            threshold = finite_number(threshold, "threshold")
        return await self._changed(self.review.mark, number, body.get("note", ""), threshold)

    async def unmark(self, request: Request) -> Response:
        number, _ = await self._meant(request)
        return await self._changed(self.review.unmark, number)

    def export(self, request: Request) -> Response:
        threshold = number_asked(request, "threshold", self.review.scorer.threshold)
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
            raise Refusal(400, f"pictures must be a list of numbers from 0 to {len(known) - 1}.")
        return _csv(await run_in_threadpool(self.review.export, threshold, pictures))

    async def _meant(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Number and body of a change, or a refusal where the page shows something else."""
        number = request.path_params["number"]
        body = await json_body(request)
        names = self.review.library.names
        is_same = body.get("project") == self._project and number < len(names)
        if not is_same or body.get("name") != names[number]:
            files = self._files
            raise Refusal(
                412,
                f"groupcm now shows {files.folder.resolve().name} scored by {files.model.name} "
                "here, and this page something else; nothing is saved, reload the page.",
            )
        return number, body

    async def _changed(self, change: Callable[..., int], *arguments: Any) -> Response:
        try:
            return Answer({"revision": await run_in_threadpool(change, *arguments)})
        except ChangedOnDisk as error:
            raise Refusal(409, str(error)) from error
        except InputError as error:
            raise Refusal(400, str(error)) from error

    def _counts(self) -> dict[str, Any]:
        scores = self.review.scores
        return {"scored": scores.n_scored, "failed": scores.n_failed}


def _csv(content: str) -> Response:
    headers = {"Content-Disposition": 'attachment; filename="review-list.csv"'}
    return Response(content, media_type="text/csv", headers=headers)
