"""``groupcm annotate``: a page in the browser to mark objects in the pictures of a folder."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.commands.display import mistakes, plain_warnings
from groupcm.commands.page_words import counted, say
from groupcm.web.extra import require_web

if TYPE_CHECKING:
    from groupcm.web.library import PictureLibrary
    from groupcm.web.store import AnnotationStore

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and say what was saved."""
    require_web()
    from groupcm.web.category_names import refuse_twins
    from groupcm.web.library import PictureLibrary
    from groupcm.web.store import AnnotationStore

    with plain_warnings(), mistakes():
        refuse_twins(arguments.categories, "--categories")
        library = PictureLibrary(arguments.folder)
        file = arguments.annotations or library.folder / "annotations.json"
        with closing(AnnotationStore(library, file, arguments.categories)) as store:
            _serve(arguments, library, store)
        say(_what_was_saved(library, store))
    return 0


def _serve(arguments: argparse.Namespace, library: PictureLibrary, store: AnnotationStore) -> None:
    from groupcm.web.annotate_app import annotate_app
    from groupcm.web.serve import serve

    scorer = _scorer(arguments)
    scores = suggestions = None
    if scorer is not None:
        from groupcm.web.background import BackgroundScores

        scores = BackgroundScores(library, scorer)
    if not arguments.no_suggestions:
        from groupcm.web.suggestions import Suggestions

        suggestions = Suggestions(library, scorer=scorer)
    first = _first(arguments, library)
    say(_what_is_there(library, store))
    if store.n_elsewhere:
        say(
            f"of {store.path}, not in {library.folder}: {counted(store.n_elsewhere, 'picture')}; "
            "what is marked there is kept"
        )
    if arguments.import_from is not None:
        _import(arguments.import_from, library, store)
    try:
        serve(
            lambda token, port: annotate_app(
                library,
                store,
                suggestions=suggestions,
                scores=scores,
                first=first,
                token=token,
                port=port,
            ),
            port=arguments.port,
            open_browser=not arguments.no_browser,
            say=say,
        )
    finally:
        if suggestions is not None:
            suggestions.stop()


def _scorer(arguments: argparse.Namespace):
    if arguments.model is None:
        return None
    from groupcm.web.picture_model import read_picture_model

    return read_picture_model(arguments.model, command="annotate")


def _first(arguments: argparse.Namespace, library: PictureLibrary) -> frozenset[int]:
    if arguments.first is None:
        return frozenset()
    from groupcm.web.marks_file import read_marks

    names = list(read_marks(arguments.first))
    found = library.numbers(names)
    if len(found) < len(names):
        missing = len(names) - len(found)
        say(f"of {arguments.first}, not in {library.folder}: {counted(missing, 'picture')}")
    return found


def _import(path: str, library: PictureLibrary, store: AnnotationStore) -> None:
    from groupcm.web.exchange import import_path

    brought = import_path(store, library, Path(path))
    objects, pictures = counted(brought.objects, "object"), counted(brought.pictures, "picture")
    say(f"from {path}: {objects} in {pictures}")
    for sentence in brought.skipped:
        say(f"  {sentence}")


def _what_is_there(library: PictureLibrary, store: AnnotationStore) -> str:
    return f"{_progress(library, store)}; saved at every change in {store.path}"


def _what_was_saved(library: PictureLibrary, store: AnnotationStore) -> str:
    if not store.path.exists():
        return f"nothing was marked, so {store.path} was not made"
    return f"saved in {store.path}: {_progress(library, store)}"


def _progress(library: PictureLibrary, store: AnnotationStore) -> str:
    totals = store.totals()
    objects = counted(totals.objects, "object")
    return f"{totals.done:,} of {counted(len(library), 'picture')} done, {objects}"
