"""``groupcm annotate``: a page in the browser to mark objects in the pictures of a folder."""

from __future__ import annotations

import argparse
import socket
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.cli.output import counted, mistakes, plain_warnings, print_line
from groupcm.errors import InputError
from groupcm.utils.extras import WEB

if TYPE_CHECKING:
    from groupcm.annotations.reading import Unannotated
    from groupcm.web.annotate.store import AnnotationStore
    from groupcm.web.server.library import PictureLibrary

__all__ = ["run"]

_LONGEST_HEADER = 200


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and say what was saved."""
    WEB.require()
    from groupcm.web.annotate.changes import new_name, refuse_duplicates
    from groupcm.web.annotate.store import AnnotationStore
    from groupcm.web.server.library import PictureLibrary
    from groupcm.web.server.serve import listening

    with plain_warnings(), mistakes():
        refuse_duplicates([new_name(name) for name in arguments.categories], "--categories")
        library = PictureLibrary(arguments.folder)
        file = arguments.annotations or library.folder / "annotations.json"
        # The port is taken before anything is written: an import is told once and is served.
        with (
            closing(
                AnnotationStore(library, file, arguments.categories, arguments.unannotated)
            ) as store,
            listening(arguments.port) as door,
        ):
            _serve(arguments, library, store, door)
        print_line(_what_was_saved(library, store))
    return 0


def _serve(
    arguments: argparse.Namespace,
    library: PictureLibrary,
    store: AnnotationStore,
    door: socket.socket,
) -> None:
    from groupcm.web.annotate.app import annotate_app
    from groupcm.web.server.serve import serve_at

    scorer = _scorer(arguments)
    scores = suggestions = None
    if scorer is not None:
        from groupcm.web.server.background import BackgroundScores

        scores = BackgroundScores(library, scorer)
    if not arguments.no_suggestions:
        from groupcm.web.annotate.suggestions import Suggestions

        suggestions = Suggestions(library, scorer=scorer)
    first = _first(arguments, library)
    print_line(_what_is_there(library, store))
    if store.n_elsewhere:
        print_line(
            f"of {store.path}, not in {library.folder}: {counted(store.n_elsewhere, 'picture')}; "
            "what is marked there is kept"
        )
    _decide_listed(arguments, store)
    if arguments.import_from is not None:
        _import(arguments.import_from, library, store, arguments.unannotated)
    try:
        serve_at(
            door,
            lambda token, port: annotate_app(
                library,
                store,
                suggestions=suggestions,
                scores=scores,
                first=first,
                token=token,
                port=port,
            ),
            open_browser=not arguments.no_browser,
            say=print_line,
        )
    finally:
        if suggestions is not None:
            suggestions.stop()


def _decide_listed(arguments: argparse.Namespace, store: AnnotationStore) -> None:
    """Record and report what pictures are that the file lists without objects and a state."""
    listed = f"of {store.path}, listed without an annotation: {counted(store.undecided, 'picture')}"
    if arguments.unannotated != "negative":
        if store.undecided:
            print_line(
                f"{listed}, still to do; --unannotated negative takes them to show no object"
            )
        return
    if store.undecided:
        store.keep_states()
        print_line(f"{listed}, now recorded as verified empty, as --unannotated negative asks")
    if store.n_to_do_by_record:
        print_line(
            f"of {store.path}, already recorded as to do: "
            f"{counted(store.n_to_do_by_record, 'picture')}, which --unannotated negative does not "
            "change"
        )


def _scorer(arguments: argparse.Namespace):
    if arguments.model is None:
        return None
    from groupcm.web.server.scored_pictures import read_picture_model

    return read_picture_model(arguments.model, command="annotate")


def _first(arguments: argparse.Namespace, library: PictureLibrary) -> dict[int, str]:
    """Return the numbers of the pictures to correct, each with the note of the reviewer."""
    if arguments.first is None:
        return {}
    from groupcm.web.review.flags import read_flags

    _refuse_no_list(arguments.first)
    marks = read_flags(arguments.first)
    notes = {n: mark.note for name, mark in marks.items() for n in library.numbers([name])}
    if len(notes) < len(marks):
        missing = counted(len(marks) - len(notes), "picture")
        print_line(f"of {arguments.first}, not in {library.folder}: {missing}")
    return notes


def _refuse_no_list(path: str) -> None:
    """Refuse a file that is something else altogether, whose first line may be of any length."""
    from groupcm.web.review.flags import COLUMNS, OLD_COLUMNS

    with open(path, encoding="utf-8-sig", errors="replace") as file:
        header = file.read(_LONGEST_HEADER).partition("\n")[0]
    if header.split(",") not in (COLUMNS, OLD_COLUMNS):
        raise InputError(
            f"{path} is no list of pictures to correct; --first takes the review.csv that "
            "groupcm review wrote, not a list that its page exports"
        )


def _import(
    path: str, library: PictureLibrary, store: AnnotationStore, unannotated: Unannotated
) -> None:
    from groupcm.web.annotate.exchange import import_file

    brought = import_file(store, library, Path(path), unannotated)
    objects, pictures = counted(brought.objects, "object"), counted(brought.pictures, "picture")
    states = brought.states
    in_progress = f"{brought.in_progress:,} in progress, " if brought.in_progress else ""
    print_line(
        f"from {path}: {objects} in {pictures} ({states.annotated:,} annotated, "
        f"{states.verified_empty:,} verified empty, {in_progress}"
        f"{states.todo - brought.in_progress:,} to do)"
    )
    for sentence in brought.skipped:
        print_line(f"  {sentence}")


def _what_is_there(library: PictureLibrary, store: AnnotationStore) -> str:
    return f"{_progress(library, store)}; saved at every change in {store.path}"


def _what_was_saved(library: PictureLibrary, store: AnnotationStore) -> str:
    what = store.changed_elsewhere()
    if what is not None:
        return (
            f"{store.path} was {what} by another program since groupcm read or saved it last, "
            "and was left so"
        )
    if not store.path.exists():
        return f"nothing was marked, so {store.path} was not made"
    return f"saved in {store.path}: {_progress(library, store)}"


def _progress(library: PictureLibrary, store: AnnotationStore) -> str:
    totals = store.totals()
    objects = counted(totals.objects, "object")
    in_progress = f", {totals.in_progress:,} in progress" if totals.in_progress else ""
    n_unreadable = library.problems.n_pictures
    unreadable = f", {n_unreadable:,} unreadable" if n_unreadable else ""
    readable = counted(len(library) - n_unreadable, "picture")
    return f"{totals.done:,} of {readable} done{in_progress}, {objects}{unreadable}"
