"""The routes of the annotate page."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcm import __version__
from groupcm.annotations import FORMATS
from groupcm.annotations.parsing import field
from groupcm.annotations.reading import Unannotated
from groupcm.web.annotate.changes import LONGEST_NEW_NAME
from groupcm.web.annotate.exchange import export, import_bytes
from groupcm.web.annotate.ordering import routes as ordering_routes
from groupcm.web.annotate.project import PROJECT_HEADER, Revisions, Seen, list_id, project_id
from groupcm.web.annotate.store import AnnotationStore, Conflict
from groupcm.web.server.app import STATIC, page_app
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.requests import (
    PICTURE_ROUTE,
    input_errors_refused,
    integer_parameter,
    json_body,
    picture_number,
)
from groupcm.web.server.security import IMPORT_LIMIT

if TYPE_CHECKING:
    from groupcm.web.annotate.suggestions import Suggestions
    from groupcm.web.server.background import BackgroundScores

__all__ = ["annotate_app"]


def annotate_app(
    library: PictureLibrary,
    store: AnnotationStore,
    *,
    suggestions: Suggestions | None = None,
    scores: BackgroundScores | None = None,
    first: Collection[int] = frozenset(),
    token: str,
    port: int,
    static: Path = STATIC,
) -> Starlette:
    """Build the application of the annotate page.

    Parameters
    ----------
    library, store
        The pictures and their annotations.
    suggestions
        Candidates that the user accepts with a click.
    scores
        Scores of a model, by which the pictures can be ordered.
    first
        Numbers of pictures to correct first; a mapping also has the note of the reviewer on each,
        which the page shows.
    token, port, static
        See `groupcm.web.server.app.page_app`.
    """
    page = _Page(library, store, suggestions, scores, first)
    ordering = [] if scores is None else ordering_routes(library, store, scores)

    def stop() -> None:
        if scores is not None:
            scores.stop()
        store.close()

    return page_app(
        "annotate",
        [*page.routes(), *ordering],
        library,
        token=token,
        port=port,
        on_start=scores.start if scores is not None else None,
        on_stop=stop,
        static=static,
    )


class _Page:
    """The routes of the page and their state."""

    def __init__(
        self,
        library: PictureLibrary,
        store: AnnotationStore,
        suggestions: Suggestions | None,
        scores: BackgroundScores | None,
        first: Collection[int],
    ) -> None:
        self._library = library
        self._store = store
        self._suggestions = suggestions
        self._scores = scores
        self._notes = dict(first) if isinstance(first, Mapping) else dict.fromkeys(first, "")
        self._revisions = Revisions()
        self._corrected: set[int] = set()
        self._project = project_id(store.path, library.folder)
        self._list = list_id(library.names)

    def routes(self) -> list[Route]:
        category = "/api/categories/{position:short}"
        return [
            Route("/api/project", self.project),
            Route("/api/pictures", self.pictures),
            Route("/api/changes", self.changes),
            Route(PICTURE_ROUTE, self.picture, methods=["GET"]),
            Route(PICTURE_ROUTE, self.put_picture, methods=["PUT"]),
            Route(f"{PICTURE_ROUTE}/candidates", self.candidates),
            Route("/api/categories", self.add_category, methods=["POST"]),
            Route(category, self.rename_category, methods=["PUT"]),
            Route(category, self.remove_category, methods=["DELETE"]),
            Route("/api/export", self.export),
            Route("/api/import", self.import_, methods=["POST"]),
        ]

    def project(self, _request: Request) -> Response:
        formats = [
            {"name": name, "title": each.title, "folder": each.folder}
            for name, each in FORMATS.items()
        ]
        return JSONResponse(
            {
                "page": "annotate",
                "project": self._project,
                "list": self._list,
                "folder": self._library.folder.resolve().name,
                "file": self._store.path.name,
                "categories": self._store.categories,
                "formats": formats,
                "suggestions": self._suggestions is not None,
                "model": self._scores is not None,
                "threshold": None if self._scores is None else self._scores.threshold,
                "set_aside": self._library.set_aside,
                "import_limit": IMPORT_LIMIT,
                "category_limit": LONGEST_NEW_NAME,
                "version": __version__,
            }
        )

    def pictures(self, _request: Request) -> Response:
        # Read before the summaries: a change in between is sent twice, not lost.
        revision = self._revision()
        names = self._library.names
        summaries = [self._summary(number) for number in range(len(names))]
        return JSONResponse({"revision": revision, "names": names, "summaries": summaries})

    def changes(self, request: Request) -> Response:
        since = self._revisions.known(integer_parameter(request, "since"))
        revision = self._revision()
        if since is None:
            changed = set(range(len(self._library)))
        else:
            changed = {
                *self._store.changed_since(since.store),
                *self._scored(since.scores)[1],
                *self._library.problems.changed_since(since.problems)[1],
            }
        return JSONResponse(
            {
                "project": self._project,
                "list": self._list,
                "revision": revision,
                "summaries": {str(number): self._summary(number) for number in sorted(changed)},
                "categories": self._store.categories,
                "scored": 0 if self._scores is None else self._scores.n_scored,
                "scoring": self._scores is not None and self._scores.running,
            }
        )

    def picture(self, request: Request) -> Response:
        return JSONResponse(self._picture(picture_number(request, self._library)))

    def _picture(self, number: int) -> dict[str, Any]:
        return {"project": self._project} | self._store.picture(number)

    async def put_picture(self, request: Request) -> Response:
        self._refuse_other_project(request)
        number = picture_number(request, self._library)
        body = await json_body(request)
        self._refuse_other_name(number, body)
        return await run_in_threadpool(self._put, number, body)

    def _refuse_other_project(self, request: Request) -> None:
        """Refuse a page that was opened for another folder or another annotation file."""
        if request.headers.get(PROJECT_HEADER) != self._project:
            raise HTTPException(
                412,
                f"groupcm now serves the folder {self._library.folder.resolve().name} with "
                f"{self._store.path.name} here, and this page is of something else; nothing is "
                "saved, reload the page.",
            )

    def _refuse_other_name(self, number: int, body: dict[str, Any]) -> None:
        """Refuse a page whose picture numbers belong to another list."""
        try:
            meant = field(body, "name", str)
        except ValueError as error:
            raise HTTPException(400, f"{error}.") from error
        name = self._library.names[number]
        if meant != name:
            raise HTTPException(
                412,
                f"The list of pictures has changed, and picture {number} is now {name}, not "
                f"{meant}; nothing is saved, reload the page.",
            )

    def _put(self, number: int, body: dict[str, Any]) -> Response:
        try:
            with input_errors_refused():
                saved = self._store.put(number, body)
        except Conflict:
            current = self._picture(number)
            sentence = f"{current['name']} was changed in another window; nothing is overwritten."
            return JSONResponse({"error": sentence, "picture": current}, 409)
        self._corrected.add(number)
        return JSONResponse({"version": saved.version, "revision": self._revision()})

    async def candidates(self, request: Request) -> Response:
        number = picture_number(request, self._library)
        if self._suggestions is None:
            return JSONResponse({"candidates": []})
        return JSONResponse({"candidates": await run_in_threadpool(self._suggestions.of, number)})

    async def add_category(self, request: Request) -> Response:
        body = await json_body(request)
        return await self._change_categories(request, self._store.add_category, body.get("name"))

    async def rename_category(self, request: Request) -> Response:
        body, position = await json_body(request), request.path_params["position"]
        return await self._change_categories(
            request, self._store.rename_category, position, body.get("name")
        )

    async def remove_category(self, request: Request) -> Response:
        position = request.path_params["position"]
        return await self._change_categories(request, self._store.remove_category, position)

    async def _change_categories(self, request: Request, change: Any, *arguments: Any) -> Response:
        self._refuse_other_project(request)
        with input_errors_refused():
            await run_in_threadpool(change, *arguments)
        return JSONResponse({"categories": self._store.categories})

    def export(self, request: Request) -> Response:
        format = request.query_params.get("format", "coco")
        with input_errors_refused():
            file = export(self._store, format, self._library.folder)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        if file.warnings:
            headers["X-Warnings"] = quote(json.dumps(file.warnings, ensure_ascii=False))
        return Response(file.content, media_type=file.media_type, headers=headers)

    async def import_(self, request: Request) -> Response:
        self._refuse_other_project(request)
        format = request.query_params.get("format", "auto")
        content = await request.body()
        with input_errors_refused():
            imported = await run_in_threadpool(
                import_bytes,
                self._store,
                self._library,
                content,
                None if format == "auto" else format,
                cast(Unannotated, request.query_params.get("unannotated", "todo")),
            )
        return JSONResponse(
            {
                "pictures": imported.pictures,
                "objects": imported.objects,
                "skipped": list(imported.skipped),
                **imported.states._asdict(),
                "in_progress": imported.in_progress,
            }
        )

    def _summary(self, number: int) -> dict[str, Any]:
        score = None if self._scores is None else self._scores.score(number)
        summary = self._store.summary(number)
        first = number in self._notes and number not in self._corrected
        note = self._notes[number] if first else ""
        error = self._library.problems.sentence(number)
        return summary | {"score": score, "first": first, "note": note, "error": error}

    def _revision(self) -> int:
        problems, _ = self._library.problems.changed_since(0)
        return self._revisions.of(Seen(self._store.revision, self._scored(0)[0], problems))

    def _scored(self, since: int) -> tuple[int, Mapping[int, float | None]]:
        return (0, {}) if self._scores is None else self._scores.changed_since(since)
