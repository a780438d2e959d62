"""The options of ``groupcm simulate``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import add_whole_numbers, whole

__all__ = ["add_simulate"]


def add_simulate(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm simulate``."""
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the file to write, or the folder with --files",
    )
    add_whole_numbers(
        parser,
        ("negatives", 2000, "number of groups without a polyp"),
        ("positives", 293, "number of groups with a polyp"),
        ("group-size", 200, "mean number of rows per group"),
        ("files", 1, "number of files; more than one are written into the folder OUT"),
        ("seed", 0, "seed; another seed gives other patients"),
        ("world", 1, "version of the synthetic candidates; 3 is that of the paper's experiment"),
    )
    parser.add_argument(
        "--patients",
        type=whole,
        metavar="N",
        help="simulate videos of this many patients, with polyps seen in several frames",
    )
    add_whole_numbers(
        parser,
        ("videos", 2, "with --patients, number of videos per patient"),
        ("frames", 40, "with --patients, number of frames per video"),
    )
    parser.add_argument(
        "--layout",
        choices=("wide", "list"),
        default="wide",
        help="one column per feature, or one column of lists (default: %(default)s)",
    )
