"""The commands parse, call one function of the library, and print: Python can do what they do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import groupcm

CLI = Path(groupcm.__file__).parent / "cli"
COMMANDS = sorted((CLI / "commands").rglob("*.py"))
# What computes, and what reads tables, pictures and annotations, is the library's business.
COMPUTING = {"numpy", "scipy", "sklearn", "pyarrow", "PIL", "numba", "lightgbm", "csv", "json"}
# The longest are those that print most: the demo and the pages' options are texts.
MOST_STATEMENTS = 180


def imported(path: Path) -> set[str]:
    """Return the top-level packages that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_does_not_compute(path):
    assert not imported(path) & COMPUTING


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_is_short(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    assert sum(isinstance(node, ast.stmt) for node in nodes) <= MOST_STATEMENTS


def test_there_are_commands():
    assert len(COMMANDS) > 10


def test_nothing_in_the_library_imports_a_command():
    for path in CLI.parent.rglob("*.py"):
        if path.is_relative_to(CLI) or path.name == "__main__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("groupcm.cli"), path
