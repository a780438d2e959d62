"""The options of the commands that open a page in the browser.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.parts import names, number, whole

__all__ = ["add_annotate", "add_review"]

_PORT = 8765
_HIGHEST_PORT = 65_535


def add_annotate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="pictures, also in folders within it")
    parser.add_argument(
        "--annotations",
        metavar="FILE",
        help="where the work is kept, in COCO's format: .json (default: FOLDER/annotations.json)",
    )
    parser.add_argument(
        "--import",
        dest="import_from",
        metavar="FILE",
        help="first take over annotations of any format, for pictures that have none yet",
    )
    parser.add_argument(
        "--unannotated",
        choices=("todo", "negative"),
        default="todo",
        help="pictures that FILE lists without objects, and without saying that a person has "
        "looked at them: still to do, or no object (default: %(default)s)",
    )
    parser.add_argument(
        "--categories",
        type=names,
        default=[],
        metavar="A,B",
        help="what objects may be, beside what the file says (default: object)",
    )
    help = parser.add_argument_group("help for the annotator")
    help.add_argument(
        "--model",
        metavar="MODEL",
        help="model that groupcm fit wrote: shows first the pictures it would learn most from",
    )
    help.add_argument(
        "--first", metavar="CSV", help="list of groupcm review: pictures to correct come first"
    )
    help.add_argument(
        "--no-suggestions", action="store_true", help="propose no regions to accept with a click"
    )
    _add_page(parser)


def add_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model that groupcm fit wrote")
    parser.add_argument("folder", metavar="FOLDER", help="pictures, also in folders within it")
    parser.add_argument(
        "--annotations", metavar="FILE", help="the truth, where it is known, in any format"
    )
    parser.add_argument(
        "--unmarked",
        choices=("leave-out", "negative"),
        default="leave-out",
        help="pictures to do, which the annotations do not name or only list: their truth is not "
        "known, or they show no object; that of pictures in progress is never known "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--marks",
        metavar="FILE",
        help="where pictures to correct are kept: .csv (default: FOLDER/review.csv)",
    )
    parser.add_argument(
        "--category",
        action="append",
        metavar="NAME",
        help="what the model looks for; give it again for several (default: whatever is marked)",
    )
    parser.add_argument(
        "--threshold",
        type=number,
        metavar="T",
        help="a picture whose score is at least this raises an alarm (default: that of the model)",
    )
    parser.add_argument(
        "--workers", type=whole, metavar="N", help="processes that score (default: one a core)"
    )
    _add_page(parser)


def _add_page(parser: argparse.ArgumentParser) -> None:
    page = parser.add_argument_group("page")
    page.add_argument(
        "--port",
        type=_port,
        default=_PORT,
        metavar="N",
        help="where the page is, on this computer alone; 0 takes any (default: %(default)s)",
    )
    page.add_argument(
        "--no-browser", action="store_true", help="print the address and open no browser"
    )


def _port(text: str) -> int:
    port = whole(text)
    if port > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; the highest is {_HIGHEST_PORT}")
    return port
