"""The command ``groupcm``: `main` parses, `commands` has one file per command."""

from groupcm.cli._main import build_parser, main

__all__ = ["build_parser", "main"]
