"""``groupcm images``: folders of pictures to tables of candidates, and to scores."""

from __future__ import annotations

import argparse
from importlib import import_module

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Run the requested step."""
    return import_module(f"groupcm.cli.commands.images_{arguments.step}").run(arguments)
