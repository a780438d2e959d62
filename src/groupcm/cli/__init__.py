"""The command ``groupcm``: `main` parses, `commands` has one file per command."""

from groupcm.cli._main import main

__all__ = ["main"]
