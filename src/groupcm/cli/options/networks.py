"""The options of features by networks and by classes of the user, for all commands on pictures.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import names, number, whole

__all__ = ["add_networks", "add_networks_of_model"]


def add_networks(parser) -> None:
    """Add the options that choose networks, and how candidates are shown to them.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_networks(parser)
    >>> parser.parse_args(["--network", "timm:resnet18", "--context", "0.5"]).context
    [0.5]
    """
    _add_network(
        parser,
        "also compute features with this pretrained network: timm:NAME, torchvision:NAME, or a "
        "file of ONNX or torch; a file of torch is a program, so use only those that you trust",
    )
    parser.add_argument(
        "--network-mode",
        choices=("crop", "pool"),
        default="crop",
        help="apply a network to a crop of each candidate, or once to the picture, and pool its "
        "feature maps over each candidate and its surroundings, which is faster and locates worse "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--components",
        type=whole,
        default=128,
        metavar="N",
        help="reduce the outputs of a network to this many principal components, which are "
        "computed from the pictures of the training and stored; 0 keeps all outputs "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--crop-size",
        type=whole,
        metavar="N",
        help="the side of the crops that a network is applied to (default: what it requires, "
        "or 64)",
    )
    parser.add_argument(
        "--context",
        type=_margins,
        default=[],
        metavar="A,B",
        help="apply a network to further crops of a candidate, with these margins relative to its "
        "sides, such as 0.5",
    )
    _add_cache(parser)
    _add_family(parser, "also compute the features of this class of yours")


def add_networks_of_model(parser) -> None:
    """Add the options for networks and classes that a model names."""
    _add_network(parser, "a network that the model needs and does not contain")
    _add_cache(parser)
    _add_family(parser, "a class of yours that the recipe of the model names")


def _add_network(parser, help: str) -> None:
    parser.add_argument("--network", action="append", default=[], metavar="NETWORK", help=help)


def _add_cache(parser) -> None:
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help="keep the outputs of networks in this folder, so that a further run on the same "
        "pictures computes only what is new",
    )


def _add_family(parser, help: str) -> None:
    parser.add_argument("--family", action="append", default=[], metavar="MODULE.CLASS", help=help)


def _margins(text: str) -> list[float]:
    found = [number(each) for each in names(text)]
    if min(found) < 0:
        raise argparse.ArgumentTypeError(f"{text!r} has a number below 0; margins are 0 or more")
    return found
