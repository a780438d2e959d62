"""``groupcm annotate``: a page in the browser to mark objects in the pictures of a folder."""

from __future__ import annotations

import argparse

from groupcm.cli.output import mistakes, plain_warnings, print_line
from groupcm.utils.extras import WEB

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, and print what was saved."""
    WEB.require()
    from groupcm.web.annotate.page import annotate_folder

    with plain_warnings(), mistakes():
        annotate_folder(
            arguments.folder,
            arguments.annotations,
            categories=arguments.categories,
            unannotated=arguments.unannotated,
            import_from=arguments.import_from,
            model=arguments.model,
            first=arguments.first,
            suggestions=not arguments.no_suggestions,
            port=arguments.port,
            open_browser=not arguments.no_browser,
            say=print_line,
        )
    return 0
