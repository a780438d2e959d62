"""The options of the commands that work on pictures: ``images``, ``annotate`` and ``review``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import names, number, whole
from groupcm.cli.options.image_training import add_train
from groupcm.cli.options.networks import add_networks, add_networks_of_model
from groupcm.cli.options.pictures import (
    add_augment,
    add_category,
    add_methods,
    add_processes,
    add_skip_unreadable,
    add_unmarked,
)

__all__ = ["OVERLAPS", "add_annotate", "add_images", "add_review"]

_PORT = 8765
_HIGHEST_PORT = 65_535
OVERLAPS = ("iou", "dice", "object_coverage", "candidate_coverage", "box_iou")
_FORMATS = "COCO, Pascal VOC, YOLO, labelme, Label Studio, CVAT, PNG masks or CSV"
_ANNOTATIONS = f"the annotations: {_FORMATS}"
_UNMARKED = "leave them out, or treat them as showing no object"
_FOLDER = "a folder of pictures, searched with its subfolders"
_MODEL = "a model that groupcm fit wrote"


def add_images(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm images``."""
    steps = parser.add_subparsers(metavar="STEP", dest="step", required=True)
    for name, help, add in (
        (
            "train",
            "train and evaluate a model on a folder of annotated pictures, in one command",
            add_train,
        ),
        (
            "propose",
            "write a table of the candidates of pictures, with their features",
            _add_propose,
        ),
        ("label", "label a table of candidates again, from other annotations", _add_label),
        ("score", "score pictures with a model, and locate what it finds", _add_score),
    ):
        described = help[0].upper() + help[1:] + "."
        add(steps.add_parser(name, help=help, description=described, allow_abbrev=False))


def _add_propose(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument("--annotations", metavar="FILE", help=_ANNOTATIONS)
    parser.add_argument(
        "-o", "--output", required=True, metavar="TABLE", help="the table to write: .parquet"
    )
    candidates = parser.add_argument_group(
        "candidates", "The model stores these, so that scoring needs none of them."
    )
    candidates.add_argument(
        "--recipe",
        metavar="TABLE",
        help="make candidates and features as in this table, with its principal components, as "
        "for held-out pictures; the options below then have no effect",
    )
    add_methods(candidates)
    add_augment(candidates)
    _add_given(candidates)
    add_networks(candidates)
    _add_labelling(parser)
    _add_patient(parser)
    _add_work(parser)


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="CANDIDATES", help="a table that groupcm images propose wrote"
    )
    parser.add_argument("--annotations", required=True, metavar="FILE", help=_ANNOTATIONS)
    parser.add_argument(
        "--images",
        metavar="FOLDER",
        help="the pictures, if the annotations cover more of them than the table",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="TABLE", help="the table to write: .parquet"
    )
    _add_labelling(parser)
    _add_patients(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    _add_folder(parser, f"{_FOLDER}, or a table that groupcm images propose wrote")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="SCORES",
        help="the table to write, one row per picture: .parquet, .csv or .arrow",
    )
    where = parser.add_argument_group("localisation")
    where.add_argument(
        "--overlays",
        metavar="DIR",
        help="the folder for the pictures with the found regions drawn in",
    )
    where.add_argument(
        "--threshold",
        type=number,
        metavar="X",
        help="mark every candidate with at least this score (default: that of the model)",
    )
    where.add_argument(
        "--vote", action="store_true", help="let the best candidates vote on where the object is"
    )
    where.add_argument(
        "--refine",
        action="store_true",
        help="join or trim the candidate that locates the object with others that overlap it",
    )
    where.add_argument(
        "--marks", metavar="FILE", help="write the marked candidates as annotations: .json (COCO)"
    )
    where.add_argument(
        "--annotations", metavar="FILE", help=f"the annotations to compare with: {_FORMATS}"
    )
    add_category(where)
    add_unmarked(where, _UNMARKED)
    _add_missing(where)
    _add_patients(where)
    _add_given(where)
    add_networks_of_model(where)
    _add_work(parser)


def _add_folder(parser: argparse.ArgumentParser, help: str = _FOLDER) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help=help)
    parser.add_argument(
        "--video", metavar="FILE", help="use the frames of a video instead of a folder"
    )
    parser.add_argument(
        "--every",
        type=whole,
        default=1,
        metavar="N",
        help="use one frame of a video in N (default: %(default)s)",
    )


def _add_given(parser) -> None:
    parser.add_argument(
        "--given",
        metavar="FILE",
        help="candidates of another detector, in any annotation format",
    )


def _add_labelling(parser: argparse.ArgumentParser) -> None:
    truth = parser.add_argument_group("labels")
    add_category(truth)
    truth.add_argument(
        "--overlap",
        choices=OVERLAPS,
        default="box_iou",
        help="how to compare a candidate with an object (default: %(default)s)",
    )
    truth.add_argument(
        "--positive-overlap",
        type=number,
        default=0.3,
        metavar="X",
        help="the overlap from which a candidate is positive; the best one of a picture always is "
        "(default: %(default)s)",
    )
    add_unmarked(truth, _UNMARKED)
    _add_missing(truth)


def _add_missing(parser) -> None:
    parser.add_argument(
        "--missing-pictures",
        choices=("error", "skip"),
        default="error",
        help="annotations of pictures that do not exist: stop, or skip and count them "
        "(default: %(default)s)",
    )


def _add_patients(parser) -> None:
    parser.add_argument(
        "--patients",
        metavar="FILE",
        help="CSV with the columns image and patient, split or both, one row per picture",
    )
    parser.add_argument(
        "--split", metavar="NAME", help="use only the pictures of this split of --patients"
    )


def _add_patient(parser: argparse.ArgumentParser) -> None:
    _add_patients(parser)
    parser.add_argument(
        "--patient-from",
        metavar="REGEX",
        help="the patient is the first group of this pattern in the name of the picture, such as "
        r"'^(patient\d+)' (default: the patients of the annotations)",
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    work = parser.add_argument_group("work")
    add_skip_unreadable(work)
    work.add_argument(
        "--most-pixels",
        type=whole,
        default=50_000_000,
        metavar="N",
        help="treat larger pictures as unreadable (default: %(default)s)",
    )
    add_processes(work)


def add_annotate(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm annotate``."""
    parser.add_argument("folder", metavar="FOLDER", help=_FOLDER)
    parser.add_argument(
        "--annotations",
        metavar="FILE",
        help="the annotations, a COCO file: .json (default: FOLDER/annotations.json)",
    )
    parser.add_argument(
        "--import",
        dest="import_from",
        metavar="FILE",
        help="first import annotations of any format, for pictures that have none yet",
    )
    parser.add_argument(
        "--unannotated",
        choices=("todo", "negative"),
        default="todo",
        help="pictures that FILE lists without objects and without a state: still to annotate, or "
        "without an object (default: %(default)s)",
    )
    parser.add_argument(
        "--categories",
        type=names,
        default=[],
        metavar="A,B",
        help="the categories of objects, in addition to those of the file (default: object)",
    )
    help = parser.add_argument_group("help for the annotator")
    help.add_argument(
        "--model",
        metavar="MODEL",
        help=f"{_MODEL}: show first the pictures that it would learn most from",
    )
    help.add_argument(
        "--first",
        metavar="CSV",
        help="a list written by groupcm review: show the pictures to correct first",
    )
    help.add_argument(
        "--no-suggestions", action="store_true", help="suggest no regions to accept with a click"
    )
    _add_page(parser)


def add_review(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm review``."""
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("folder", metavar="FOLDER", help=_FOLDER)
    parser.add_argument(
        "--annotations", metavar="FILE", help="the true regions, if known, in any format"
    )
    add_unmarked(parser, "of unknown truth, or without an object", "always of unknown truth")
    parser.add_argument(
        "--marks",
        metavar="FILE",
        help="the file of the pictures to correct: .csv (default: FOLDER/review.csv)",
    )
    add_category(parser)
    parser.add_argument(
        "--threshold",
        type=number,
        metavar="T",
        help="the score from which a picture raises an alarm (default: that of the model)",
    )
    add_processes(parser)
    _add_page(parser)


def _add_page(parser: argparse.ArgumentParser) -> None:
    page = parser.add_argument_group("page")
    page.add_argument(
        "--port",
        type=_port,
        default=_PORT,
        metavar="N",
        help="the port of the page, which only this computer can reach; 0 chooses a free one "
        "(default: %(default)s)",
    )
    page.add_argument(
        "--no-browser", action="store_true", help="print the address without opening a browser"
    )


def _port(text: str) -> int:
    port = whole(text)
    if port > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; the highest is {_HIGHEST_PORT}")
    return port
