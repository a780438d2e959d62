"""The options of ``groupcm images train``, one for each choice of `TrainingChoices`.

Only the standard library is imported here, so that ``--help`` answers at once. An option that is
not given is left to ``--config``, and then to the library.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import number, whole
from groupcm.cli.options.networks import add_networks
from groupcm.cli.options.pictures import (
    add_augment,
    add_category,
    add_methods,
    add_processes,
    add_skip_unreadable,
)

__all__ = ["CHOICES", "add_train"]

#: The choices that have an option, by their names in Python.
CHOICES = (
    *("annotations", "patients", "category", "unannotated", "mask_values", "windows", "test_share"),
    *("model", "place", "refine", "specificity", "proposals", "features"),
    *("at_most", "longest_side", "highlights", "augment"),
    *("network", "network_mode", "components", "crop_size", "context", "family", "cache"),
    *("skip_unreadable", "workers", "seed"),
)


def add_train(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm images train``."""
    parser.argument_default = argparse.SUPPRESS
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        help="pictures with their annotations: masks, labelme, VOC or YOLO files next to them or "
        "in a folder masks, annotations or labels; or one COCO, CVAT, Label Studio or CSV file",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="the folder for model, report, overlays, scores and tables; a training that was "
        "interrupted continues there",
    )
    parser.add_argument(
        "--config",
        default=None,
        metavar="TOML",
        help="read choices from a file such as the train.toml of an earlier training; options "
        "that are given take precedence",
    )
    _add_data(parser.add_argument_group("pictures"))
    _add_model(parser.add_argument_group("model"))
    candidates = parser.add_argument_group("candidates")
    add_methods(candidates)
    add_augment(candidates)
    add_networks(candidates)
    work = parser.add_argument_group("work")
    add_skip_unreadable(work)
    add_processes(work)
    work.add_argument(
        "--seed",
        type=whole,
        metavar="N",
        help="which patients are held out, and the random numbers of the models (default: 0)",
    )


def _add_data(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--annotations", metavar="FILE", help="the annotations (default: searched for in FOLDER)"
    )
    group.add_argument(
        "--patients",
        metavar="CSV|REGEX|folders",
        help="a CSV file with the columns image and patient, FILE.csv:COLUMN for another column, "
        "folders where each patient has one, or a pattern whose first group is the patient in a "
        "picture's name, such as '^(p[0-9]+)_' (default: patients.csv, or the annotations)",
    )
    add_category(group)
    group.add_argument(
        "--unannotated",
        choices=("auto", "negative", "leave_out"),
        help="pictures without any annotation; with auto they are left out, unless no picture "
        "would be negative otherwise (default: auto)",
    )
    group.add_argument(
        "--mask-values",
        choices=("binary", "object", "category"),
        help="what the values of masks mean, if there are several",
    )
    group.add_argument(
        "--windows",
        metavar="CSV",
        help="treat these windows of the pictures as pictures of their own: a file with the "
        "columns image, x0, y0, x1, y1",
    )
    group.add_argument(
        "--test-share",
        type=number,
        metavar="X",
        help="the share of patients that is held out for the evaluation (default: 0.25)",
    )


def _add_model(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model",
        choices=("auto", "linear", "trees"),
        help="with auto, the better one on a quarter of the training patients (default: auto)",
    )
    group.add_argument(
        "--place",
        choices=("linear", "trees"),
        help="fit a second model to the pictures with an object alone, which chooses the candidate "
        "that locates it (default: the model of the score locates it, too)",
    )
    group.add_argument(
        "--refine",
        action="store_true",
        help="in scores and overlays, join or trim the candidate that locates the object with "
        "others that overlap it",
    )
    group.add_argument(
        "--specificity",
        type=number,
        metavar="X",
        help="the specificity that the threshold keeps (default: 0.9)",
    )
