"""Options that the commands on pictures share.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import names, whole

__all__ = [
    "FEATURES",
    "PROPOSALS",
    "add_augment",
    "add_category",
    "add_methods",
    "add_processes",
    "add_skip_unreadable",
    "add_unmarked",
]

# The names of `groupcm.images`; a test compares them.
PROPOSALS = ("superpixels", "merging", "extremal", "ridges", "windows", "given")
FEATURES = (
    *("shape", "colour", "contrast", "sides", "lines", "texture", "gradients", "place"),
    "network",
)
_UNMARKED = (
    "unannotated pictures, which the annotations do not name or only list: {}; pictures in "
    "progress, which have objects but are not finished, are {} (default: %(default)s)"
)


def add_methods(candidates) -> None:
    """Add the options that choose the candidates and their features.

    Examples
    --------
    >>> import argparse
    >>> parser = argparse.ArgumentParser()
    >>> add_methods(parser)
    >>> parser.parse_args(["--proposals", "merging,windows"]).proposals
    ['merging', 'windows']
    """
    candidates.add_argument(
        "--proposals",
        type=names,
        metavar="A,B",
        help=f"methods that propose candidates, from {', '.join(PROPOSALS)} "
        "(default: merging,extremal,ridges,windows); the whole picture is always a candidate, too",
    )
    candidates.add_argument(
        "--features",
        type=names,
        metavar="A,B",
        help=f"families of features, from {', '.join(FEATURES)} (default: all but place and "
        "network); network uses only the features of --network",
    )
    candidates.add_argument(
        "--at-most",
        type=whole,
        metavar="N",
        help="the largest number of candidates per picture (default: 300)",
    )
    candidates.add_argument(
        "--longest-side",
        type=whole,
        metavar="N",
        help="shrink larger pictures to this many pixels (default: 512)",
    )
    candidates.add_argument(
        "--highlights",
        choices=("keep", "fill"),
        default=argparse.SUPPRESS,
        help="fill in small white reflections of the lamp from what is around them, before "
        "candidates are found and measured (default: keep)",
    )


def add_augment(group) -> None:
    """Add ``--augment``."""
    group.add_argument(
        "--augment",
        type=whole,
        metavar="N",
        help="train on N changed copies of each picture, too, in another brightness, colour "
        "temperature, sharpness, JPEG quality and scale; each takes about the time to measure the "
        "picture (default: 0)",
    )


def add_category(parser) -> None:
    """Add ``--category``."""
    parser.add_argument(
        "--category",
        action="append",
        metavar="NAME",
        help="the category to find; repeat the option for several (default: all annotated ones)",
    )


def add_unmarked(parser, treatment: str, in_progress: str = "always left out") -> None:
    """Add ``--unmarked``; the texts describe both choices, and the pictures in progress."""
    parser.add_argument(
        "--unmarked",
        choices=("leave-out", "negative"),
        default="leave-out",
        help=_UNMARKED.format(treatment, in_progress),
    )


def add_skip_unreadable(work) -> None:
    """Add ``--skip-unreadable``."""
    work.add_argument(
        "--skip-unreadable",
        action="store_true",
        help="list the pictures that cannot be read, and continue without them",
    )


def add_processes(work) -> None:
    """Add ``--workers``."""
    work.add_argument(
        "--workers", type=whole, metavar="N", help="number of processes (default: one per core)"
    )
