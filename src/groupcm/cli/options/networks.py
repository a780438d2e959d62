"""The options of features by networks and by classes of the user, for all commands on pictures.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
from typing import Any

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
    _add(
        parser,
        "--network",
        [],
        "also compute features with this pretrained network: timm:NAME, torchvision:NAME, or a "
        "file of ONNX or torch; a file of torch is a program, so use only those that you trust",
        action="append",
        metavar="NETWORK",
    )
    _add(
        parser,
        "--network-mode",
        "auto",
        "apply a network to a crop of each candidate, or once to the picture, and pool its "
        "feature maps over each candidate and its surroundings, which is faster and locates worse, "
        "or both (default: auto, which is both where the network has feature maps, and else crop)",
        choices=("auto", "crop", "pool", "both"),
    )
    _add(
        parser,
        "--components",
        128,
        "reduce the outputs of a network to this many principal components, which are computed "
        "from the pictures of the training and stored; 0 keeps all outputs (default: 128)",
        type=whole,
        metavar="N",
    )
    _add(
        parser,
        "--crop-size",
        None,
        "the side of the crops that a network is applied to (default: what it requires, or 96)",
        type=whole,
        metavar="N",
    )
    _add(
        parser,
        "--context",
        [],
        "apply a network to further crops of a candidate, with these margins relative to its "
        "sides, such as 0.5",
        type=_margins,
        metavar="A,B",
    )
    _add_cache(parser)
    _add_family(parser, "also compute the features of this class of yours")


def add_networks_of_model(parser) -> None:
    """Add the options for networks and classes that a model names."""
    _add(
        parser,
        "--network",
        [],
        "a network that the model needs and does not contain",
        action="append",
        metavar="NETWORK",
    )
    _add_cache(parser)
    _add_family(parser, "a class of yours that the recipe of the model names")


def _add_cache(parser) -> None:
    _add(
        parser,
        "--cache",
        None,
        "keep the outputs of networks in this folder, so that a further run on the same "
        "pictures computes only what is new",
        metavar="DIR",
    )


def _add_family(parser, help: str) -> None:
    _add(parser, "--family", [], help, action="append", metavar="MODULE.CLASS")


def _add(parser, name: str, default: Any, help: str, **keywords: Any) -> None:
    """Add an option; without its default where the parser leaves out what is not given."""
    if parser.argument_default != argparse.SUPPRESS:
        keywords["default"] = default
    parser.add_argument(name, help=help, **keywords)


def _margins(text: str) -> list[float]:
    found = [number(each) for each in names(text)]
    if min(found) < 0:
        raise argparse.ArgumentTypeError(f"{text!r} has a number below 0; margins are 0 or more")
    return found
