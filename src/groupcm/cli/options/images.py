"""The options of the commands that work on pictures.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.parts import names, number, whole

__all__ = ["FEATURES", "OVERLAPS", "PROPOSALS", "add_images"]

# As the modules of pictures call them; a test compares.
PROPOSALS = ("superpixels", "merging", "extremal", "ridges", "windows", "given")
FEATURES = (
    *("shape", "colour", "contrast", "sides", "lines", "texture", "gradients", "place"),
    "network",
)
OVERLAPS = ("iou", "dice", "object_coverage", "candidate_coverage", "box_iou")
_ANNOTATIONS = (
    "what people marked: COCO, Pascal VOC, YOLO, labelme, Label Studio, CVAT, PNG masks or CSV"
)


_UNMARKED = (
    "pictures to do, which the annotations do not name or only list: leave them out, or take them "
    "to show no object; pictures in progress, which hold objects and are not finished, are always "
    "left out (default: %(default)s)"
)


def add_images(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(metavar="STEP", dest="step", required=True)
    for name, help, add in (
        ("propose", "write the candidates of pictures, with features, as a table", _add_propose),
        ("label", "label a table of candidates anew", _add_label),
        ("score", "score pictures with a model, and show where", _add_score),
    ):
        described = help[0].upper() + help[1:] + "."
        add(steps.add_parser(name, help=help, description=described, allow_abbrev=False))


def _add_propose(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument("--annotations", metavar="FILE", help=_ANNOTATIONS)
    parser.add_argument(
        "-o", "--output", required=True, metavar="TABLE", help="table to write: .parquet"
    )
    candidates = parser.add_argument_group(
        "candidates", "The model remembers these, so that scoring needs none of them."
    )
    candidates.add_argument(
        "--proposals",
        type=names,
        metavar="A,B",
        help=f"ways to find candidates, of {', '.join(PROPOSALS)} "
        "(default: merging,extremal,ridges,windows); the whole picture is always one more",
    )
    candidates.add_argument(
        "--features",
        type=names,
        metavar="A,B",
        help=f"families of features, of {', '.join(FEATURES)} (default: all but place and "
        "network); network takes those of --network alone",
    )
    candidates.add_argument(
        "--at-most", type=whole, metavar="N", help="candidates a picture at most (default: 300)"
    )
    candidates.add_argument(
        "--longest-side",
        type=whole,
        metavar="N",
        help="look at larger pictures shrunk to so many pixels (default: 512)",
    )
    _add_given(candidates)
    _add_network(
        candidates,
        "also measure candidates with this network, ONNX or of torch; a file "
        "of torch is a program, so give only those you trust",
    )
    _add_labelling(parser)
    _add_patient(parser)
    _add_work(parser)


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="CANDIDATES", help="table that groupcm images propose wrote"
    )
    parser.add_argument("--annotations", required=True, metavar="FILE", help=_ANNOTATIONS)
    parser.add_argument(
        "--images",
        metavar="FOLDER",
        help="the pictures, where the annotations know more of them than the table",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="TABLE", help="table to write: .parquet"
    )
    _add_labelling(parser)
    _add_patients(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model that groupcm fit wrote")
    _add_folder(parser, "pictures, also in folders within it, or a table of groupcm images propose")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="SCORES",
        help="table to write, a row a picture: .parquet, .csv or .arrow",
    )
    where = parser.add_argument_group("where")
    where.add_argument(
        "--overlays", metavar="DIR", help="folder for the pictures with what was found drawn in"
    )
    where.add_argument(
        "--threshold",
        type=number,
        metavar="X",
        help="mark every candidate that scores at least this (default: that of the model)",
    )
    where.add_argument(
        "--vote", action="store_true", help="let the best candidates vote where the object is"
    )
    where.add_argument(
        "--marks", metavar="FILE", help="write the marked candidates as annotations: .json (COCO)"
    )
    where.add_argument(
        "--annotations", metavar="FILE", help=f"to compare with: {_ANNOTATIONS.partition(': ')[2]}"
    )
    _add_category(where)
    where.add_argument(
        "--unmarked", choices=("leave-out", "negative"), default="leave-out", help=_UNMARKED
    )
    _add_missing(where)
    _add_patients(where)
    _add_given(where)
    _add_network(where, "network that the model needs and does not carry")
    _add_work(parser)


def _add_folder(
    parser: argparse.ArgumentParser, help: str = "pictures, also in folders within it"
) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help=help)
    parser.add_argument(
        "--video", metavar="FILE", help="take the frames of a video instead of a folder"
    )
    parser.add_argument(
        "--every",
        type=whole,
        default=1,
        metavar="N",
        help="of a video, one frame in so many (default: %(default)s)",
    )


def _add_given(parser) -> None:
    parser.add_argument(
        "--given",
        metavar="FILE",
        help="candidates of your own detector, in any format of annotations",
    )


def _add_network(parser, help: str) -> None:
    parser.add_argument("--network", action="append", default=[], metavar="FILE", help=help)


def _add_category(parser) -> None:
    parser.add_argument(
        "--category",
        action="append",
        metavar="NAME",
        help="what to look for; give it again for several (default: whatever is marked)",
    )


def _add_labelling(parser: argparse.ArgumentParser) -> None:
    truth = parser.add_argument_group("labels")
    _add_category(truth)
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
        help="from this overlap on a candidate is positive; the best one of a picture always is "
        "(default: %(default)s)",
    )
    truth.add_argument(
        "--unmarked",
        choices=("leave-out", "negative"),
        default="leave-out",
        help=_UNMARKED,
    )
    _add_missing(truth)


def _add_missing(parser) -> None:
    parser.add_argument(
        "--missing-pictures",
        choices=("error", "skip"),
        default="error",
        help="annotations of pictures that are not there: stop, or skip and count them "
        "(default: %(default)s)",
    )


def _add_patients(parser) -> None:
    parser.add_argument(
        "--patients",
        metavar="FILE",
        help="CSV with the columns image and patient, split or both, one row per picture",
    )
    parser.add_argument(
        "--split", metavar="NAME", help="take pictures of this split of --patients alone"
    )


def _add_patient(parser: argparse.ArgumentParser) -> None:
    _add_patients(parser)
    parser.add_argument(
        "--patient-from",
        metavar="REGEX",
        help="the patient is the first group of this pattern in the picture's name, as "
        r"'^(patient\d+)' (default: what the annotations say)",
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    work = parser.add_argument_group("work")
    work.add_argument(
        "--skip-unreadable",
        action="store_true",
        help="list pictures that cannot be read and go on without them",
    )
    work.add_argument(
        "--most-pixels",
        type=whole,
        default=50_000_000,
        metavar="N",
        help="a larger picture counts as unreadable (default: %(default)s)",
    )
    work.add_argument("--workers", type=whole, metavar="N", help="processes (default: one a core)")
