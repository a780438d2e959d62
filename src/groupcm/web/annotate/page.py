"""The page on which objects are marked in the pictures of a folder."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from groupcm.annotations.reading import Unannotated
from groupcm.errors import Argument, FileName, InputError
from groupcm.utils.text import counted
from groupcm.web.annotate.app import annotate_app
from groupcm.web.annotate.changes import new_name, refuse_duplicates
from groupcm.web.annotate.exchange import import_file
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.annotate.suggestions import Suggestions
from groupcm.web.review.flags import COLUMNS, OLD_COLUMNS, read_flags
from groupcm.web.server.background import BackgroundScores
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import read_picture_model
from groupcm.web.server.serve import listening, serve_at

__all__ = ["annotate_folder"]

_LONGEST_HEADER = 200
_PORT = 8765
_Path = str | os.PathLike[str]


def annotate_folder(
    folder: _Path,
    annotations: _Path | None = None,
    *,
    categories: Sequence[str] = (),
    unannotated: Unannotated = "todo",
    import_from: _Path | None = None,
    model: _Path | None = None,
    first: _Path | None = None,
    suggestions: bool = True,
    port: int = _PORT,
    open_browser: bool = True,
    say: Callable[[str], object] = print,
) -> Path:
    """Serve the annotation page of a folder until Ctrl-C; ``groupcm annotate`` calls this function.

    Parameters
    ----------
    folder : path
        Pictures, also in folders within it.
    annotations : path, optional
        The file of the work, in COCO's format; by default ``annotations.json`` in the folder.
    categories : sequence of str
        The categories of objects, in addition to those of the file.
    unannotated : {"todo", "negative"}
        What pictures are that the file lists without objects and without a state: still to do, or
        without an object.
    import_from : path, optional
        Annotations of any format to take over first, for pictures that have none yet.
    model : path, optional
        A model file: the pictures that it would learn most from come first.
    first : path, optional
        The list of pictures to correct that `groupcm.web.review.page.review_folder` wrote, which
        come first.
    suggestions : bool
        Whether to propose regions that can be accepted with a click.
    port : int
        The port of the page, which only this computer reaches; 0 takes any that is free.
    open_browser : bool
        Whether to open the page in the browser.
    say : callable
        Is given every line to show, the address of the page among them.

    Returns
    -------
    Path
        The file of the work.

    Examples
    --------
    >>> annotate_folder("no such folder", open_browser=False)
    Traceback (most recent call last):
    groupcm.errors.InputError: the folder of pictures no such folder does not exist
    """
    refuse_duplicates([new_name(name) for name in categories], Argument("categories"))
    library = PictureLibrary(folder)
    file = annotations or library.folder / "annotations.json"
    # The port is taken before anything is written: an import is reported once and is served.
    with (
        closing(AnnotationStore(library, file, list(categories), unannotated)) as store,
        listening(port) as door,
    ):
        scorer = None if model is None else read_picture_model(model, command="annotate")
        page = _Page(
            library,
            store,
            None if scorer is None else BackgroundScores(library, scorer),
            Suggestions(library, scorer=scorer) if suggestions else None,
            {} if first is None else _notes_of(first, library, say),
        )
        _report_start(library, store, unannotated, say)
        if import_from is not None:
            _import(Path(import_from), library, store, unannotated, say)
        page.serve(door, open_browser, say)
    say(_what_was_saved(library, store))
    return store.path


@dataclass(frozen=True)
class _Page:
    library: PictureLibrary
    store: AnnotationStore
    scores: BackgroundScores | None
    suggestions: Suggestions | None
    first: dict[int, str]

    def serve(self, door: socket.socket, open_browser: bool, say: Callable[[str], object]) -> None:
        try:
            serve_at(
                door,
                lambda token, port: annotate_app(
                    self.library,
                    self.store,
                    suggestions=self.suggestions,
                    scores=self.scores,
                    first=self.first,
                    token=token,
                    port=port,
                ),
                open_browser=open_browser,
                say=say,
            )
        finally:
            if self.suggestions is not None:
                self.suggestions.stop()


def _report_start(
    library: PictureLibrary,
    store: AnnotationStore,
    unannotated: Unannotated,
    say: Callable[[str], object],
) -> None:
    """Report what is done already, and record the state of listed pictures where it is given."""
    say(f"{_progress(library, store)}; saved at every change in {store.path}")
    if store.n_elsewhere:
        say(
            f"of {store.path}, not in {library.folder}: {counted(store.n_elsewhere, 'picture')}; "
            "what is marked there is kept"
        )
    listed = f"of {store.path}, listed without an annotation: {counted(store.undecided, 'picture')}"
    if unannotated != "negative":
        if store.undecided:
            say(f"{listed}, still to do; --unannotated negative takes them to show no object")
        return
    if store.undecided:
        store.keep_states()
        say(f"{listed}, now recorded as verified empty because of --unannotated negative")
    if store.n_to_do_by_record:
        say(
            f"of {store.path}, already recorded as to do: "
            f"{counted(store.n_to_do_by_record, 'picture')}, which --unannotated negative does not "
            "change"
        )


def _notes_of(path: _Path, library: PictureLibrary, say: Callable[[str], object]) -> dict[int, str]:
    """Return the numbers of the pictures to correct, each with the note of the reviewer."""
    _require_flags(path)
    flags = read_flags(path)
    notes = {n: flag.note for name, flag in flags.items() for n in library.numbers([name])}
    if len(notes) < len(flags):
        missing = counted(len(flags) - len(notes), "picture")
        say(f"of {path}, not in {library.folder}: {missing}")
    return notes


def _require_flags(path: _Path) -> None:
    """Refuse a file that is something else altogether, whose first line may be of any length."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        header = file.read(_LONGEST_HEADER).partition("\n")[0]
    if header.split(",") not in (COLUMNS, OLD_COLUMNS):
        raise InputError(
            FileName(path),
            " is not a list of pictures to correct; ",
            Argument("first"),
            " takes the review.csv that groupcm review wrote, not a list that its page exports",
        )


def _import(
    path: Path,
    library: PictureLibrary,
    store: AnnotationStore,
    unannotated: Unannotated,
    say: Callable[[str], object],
) -> None:
    brought = import_file(store, library, path, unannotated)
    objects, pictures = counted(brought.objects, "object"), counted(brought.pictures, "picture")
    states = brought.states
    in_progress = f"{brought.in_progress:,} in progress, " if brought.in_progress else ""
    say(
        f"from {path}: {objects} in {pictures} ({states.annotated:,} annotated, "
        f"{states.verified_empty:,} verified empty, {in_progress}"
        f"{states.todo - brought.in_progress:,} to do)"
    )
    for sentence in brought.skipped:
        say(f"  {sentence}")


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
