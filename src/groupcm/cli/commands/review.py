"""``groupcm review``: a page that shows what a model makes of pictures, and why.

Scores come in the background while the page is open. Marks are kept in a CSV file, each at once;
scores are kept beside it, so that the next start with the same model has them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.cli.output import counted, mistakes, plain_warnings, print_line
from groupcm.errors import InputError
from groupcm.images.truth import Truth, read_truth
from groupcm.utils.extras import WEB
from groupcm.utils.files import check_output

if TYPE_CHECKING:
    from groupcm.web.review.session import Review
    from groupcm.web.server.library import PictureLibrary

__all__ = ["run"]

_MARKS = "review.csv"


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and say where the marks are."""
    WEB.require()
    from groupcm.web.review.app import review_app
    from groupcm.web.server.serve import listening, serve_at

    # The port is taken first: nothing is written for a page that cannot be opened.
    with plain_warnings(), mistakes(), listening(arguments.port) as door:
        review = _review(arguments)
        try:
            serve_at(
                door,
                lambda token, port: review_app(
                    review,
                    model=arguments.model,
                    annotations=arguments.annotations,
                    token=token,
                    port=port,
                ),
                open_browser=not arguments.no_browser,
                say=print_line,
            )
        finally:
            review.stop()
        if review.flags.flags:
            print_line(
                f"{counted(len(review.flags.flags), 'picture')} to correct in {review.flags.path}"
            )
    return 0


def _review(arguments: argparse.Namespace) -> Review:
    from groupcm.web.review.flags import FlagFile
    from groupcm.web.review.score_cache import cache_next_to
    from groupcm.web.review.session import Review
    from groupcm.web.server.library import PictureLibrary
    from groupcm.web.server.scored_pictures import read_picture_model

    if arguments.workers is not None and arguments.workers < 1:
        raise InputError(f"--workers is {arguments.workers}; it must be 1 or more")
    scorer = read_picture_model(arguments.model, threshold=arguments.threshold)
    library = PictureLibrary(arguments.folder)
    truth = _truth(arguments, library)
    path = _marks(arguments, library)
    marks = FlagFile(path)
    print_line(f"reviewing {counted(len(library), 'picture')} of {arguments.folder}")
    if truth is not None and truth.n_elsewhere:
        others = counted(truth.n_elsewhere, "picture")
        print_line(f"of {arguments.annotations}, not in {library.folder}: {others}; left out")
    return Review(
        library,
        scorer,
        marks,
        truth=truth,
        cache=cache_next_to(path, arguments.model),
        workers=arguments.workers,
    )


def _truth(arguments: argparse.Namespace, library: PictureLibrary) -> Truth | None:
    if arguments.annotations is None:
        if arguments.category:
            raise InputError("--category is told of --annotations; give them too, or leave it out")
        if arguments.unmarked == "negative":
            raise InputError(
                "--unmarked negative is given and no --annotations that would tell what is marked"
            )
        return None
    category = arguments.category or None
    return read_truth(
        arguments.annotations,
        set(library.names),
        library.folder,
        category=category,
        unmarked=arguments.unmarked.replace("-", "_"),
        only_some=True,
    )


def _marks(arguments: argparse.Namespace, library: PictureLibrary) -> Path:
    marks = Path(arguments.marks or library.folder / _MARKS)
    for used in (arguments.model, arguments.annotations):
        if used is not None and Path(used).resolve() == marks.resolve():
            raise InputError(f"{marks} is read and cannot hold marks too; name another --marks")
    try:
        check_output(marks)
    except InputError as error:
        raise InputError(f"{error}; --marks says where pictures to correct are kept") from error
    return marks
