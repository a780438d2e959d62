"""``groupcm review``: a page that shows what a model makes of pictures, and why."""

from __future__ import annotations

import argparse

from groupcm.cli.output import mistakes, plain_warnings, print_line
from groupcm.utils.extras import WEB

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and print where the marks are."""
    WEB.require()
    from groupcm.web.review.page import review_folder

    with plain_warnings(), mistakes():
        review_folder(
            arguments.model,
            arguments.folder,
            annotations=arguments.annotations,
            category=arguments.category,
            unmarked=arguments.unmarked.replace("-", "_"),
            marks=arguments.marks,
            threshold=arguments.threshold,
            workers=arguments.workers,
            port=arguments.port,
            open_browser=not arguments.no_browser,
            say=print_line,
        )
    return 0
