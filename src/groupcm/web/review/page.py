"""The page that shows what a model makes of the pictures of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from groupcm.errors import Argument, InputError
from groupcm.images.truth import Truth, read_truth
from groupcm.utils.files import check_output
from groupcm.utils.text import counted
from groupcm.web.review.app import review_app
from groupcm.web.review.flags import FlagFile
from groupcm.web.review.score_cache import cache_next_to
from groupcm.web.review.session import Review
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import read_picture_model
from groupcm.web.server.serve import listening, serve_at

__all__ = ["review_folder"]

_MARKS = "review.csv"
_PORT = 8765
_Path = str | os.PathLike[str]


def review_folder(
    model: _Path,
    folder: _Path,
    *,
    annotations: _Path | None = None,
    category: Sequence[str] | None = None,
    unmarked: str = "leave_out",
    marks: _Path | None = None,
    threshold: float | None = None,
    workers: int | None = None,
    port: int = _PORT,
    open_browser: bool = True,
    say: Callable[[str], object] = print,
) -> Path:
    """Serve the review page of a folder until Ctrl-C; ``groupcm review`` calls this function.

    Scores are computed in the background while the page is open, and kept next to the marks, so
    that the next start with the same model has them.

    Parameters
    ----------
    model : path
        A model file.
    folder : path
        Pictures, also in folders within it.
    annotations : path, optional
        The truth, where it is known, in any format of annotations.
    category, unmarked
        See `groupcm.images.truth.read_truth`.
    marks : path, optional
        The CSV file of pictures to correct; by default ``review.csv`` in the folder.
    threshold : float, optional
        A picture that scores at least this raises an alarm; by default the model's threshold.
    workers : int, optional
        The number of processes that score; by default one per core.
    port : int
        The port of the page, which only this computer reaches; 0 takes any that is free.
    open_browser : bool
        Whether to open the page in the browser.
    say : callable
        Is given every line to show, the address of the page among them.

    Returns
    -------
    Path
        The file of marks.
    """
    # The port is taken first: nothing is written for a page that cannot be opened.
    with listening(port) as door:
        review = open_review(
            model,
            folder,
            annotations=annotations,
            category=category,
            unmarked=unmarked,
            marks=marks,
            threshold=threshold,
            workers=workers,
            say=say,
        )
        try:
            serve_at(
                door,
                lambda token, port: review_app(
                    review,
                    model=os.fspath(model),
                    annotations=None if annotations is None else os.fspath(annotations),
                    token=token,
                    port=port,
                ),
                open_browser=open_browser,
                say=say,
            )
        finally:
            review.stop()
    if review.flags.flags:
        say(f"{counted(len(review.flags.flags), 'picture')} to correct in {review.flags.path}")
    return review.flags.path


def open_review(
    model: _Path,
    folder: _Path,
    *,
    annotations: _Path | None = None,
    category: Sequence[str] | None = None,
    unmarked: str = "leave_out",
    marks: _Path | None = None,
    threshold: float | None = None,
    workers: int | None = None,
    say: Callable[[str], object] = print,
) -> Review:
    """Return the review of a folder, which has not begun to score; see `review_folder`.

    Examples
    --------
    >>> open_review("model.json", "frames", workers=0)
    Traceback (most recent call last):
    groupcm.errors.InputError: workers is 0; it must be 1 or more
    """
    if workers is not None and workers < 1:
        raise InputError(Argument("workers"), f" is {workers}; it must be 1 or more")
    scorer = read_picture_model(model, threshold=threshold)
    library = PictureLibrary(folder)
    truth = _truth(library, annotations, category, unmarked)
    path = _marks(library, marks, (model, annotations))
    flags = FlagFile(path)
    say(f"reviewing {counted(len(library), 'picture')} of {folder}")
    if truth is not None and truth.n_elsewhere:
        others = counted(truth.n_elsewhere, "picture")
        say(f"of {annotations}, not in {library.folder}: {others}; left out")
    cache = cache_next_to(path, os.fspath(model))
    return Review(library, scorer, flags, truth=truth, cache=cache, workers=workers)


def _truth(
    library: PictureLibrary,
    annotations: _Path | None,
    category: Sequence[str] | None,
    unmarked: str,
) -> Truth | None:
    if annotations is None:
        if category:
            raise InputError(
                Argument("category"), " needs ", Argument("annotations"), ", in which it is marked"
            )
        if unmarked == "negative":
            raise InputError(
                Argument("unmarked", unmarked),
                " is given and no ",
                Argument("annotations"),
                " that would show what is marked",
            )
        return None
    return read_truth(
        annotations,
        set(library.names),
        library.folder,
        category=category or None,
        unmarked=unmarked,
        only_some=True,
    )


def _marks(library: PictureLibrary, given: _Path | None, read: Sequence[_Path | None]) -> Path:
    marks = Path(given or library.folder / _MARKS)
    for used in read:
        if used is not None and Path(used).resolve() == marks.resolve():
            raise InputError(
                f"{marks} is read and cannot hold marks too; name another with ", Argument("marks")
            )
    try:
        check_output(marks)
    except InputError as error:
        raise InputError(
            error, "; ", Argument("marks"), " names the file of the pictures to correct"
        ) from error
    return marks
