"""What the documentation of version 0.1 showed still works: imports, names and commands.

The examples, commands and names are in ``data/documented_v0.1.md``, verbatim.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import sklearn

from groupcm._compat import MOVED
from groupcm.cli import build_parser

ROOT = Path(__file__).resolve().parents[2]
SHOWN = (Path(__file__).parents[1] / "files" / "documented_v0.1.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", SHOWN, flags=re.MULTILINE | re.DOTALL)


EXAMPLES = blocks("python")
COMMANDS = blocks("sh")[0].splitlines()


def documented_names() -> list[str]:
    """Every dotted name: those in the text, and those that the examples import or use."""
    names = set(blocks("text")[0].split())
    modules: dict[str, str] = {}
    for example in EXAMPLES:
        for node in ast.walk(ast.parse(example)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("groupcm"):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module == "groupcm":
                    modules |= {a.name: f"groupcm.{a.name}" for a in node.names if a.name.islower()}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names |= {
                    f"{modules[name]}.{node.attr}" for name in modules.keys() & {node.value.id}
                }
    return sorted(names)


def test_there_is_something_to_check():
    names = documented_names()
    assert len(EXAMPLES) == 12
    assert {
        "groupcm.images.propose.propose_folder",
        "groupcm.sources.dask.from_dask",
    } <= set(names)
    assert "groupcm.simulate.capsule_to_parquet" in names
    assert len(names) > 30
    assert len(COMMANDS) > 50


@pytest.mark.parametrize("name", documented_names())
@pytest.mark.filterwarnings("ignore:groupcm.* is now:DeprecationWarning")
def test_a_documented_name_is_imported_from_where_it_was(name):
    module, _, last = name.rpartition(".")
    found = import_module(module)
    if not hasattr(found, last):
        import_module(name)  # a module, such as groupcm.metrics


def parts_of(program: str) -> list[list[str]]:
    return [words[1:] for words in map(shlex.split, COMMANDS) if words[0] == program]


@pytest.mark.parametrize("words", parts_of("groupcm"), ids=" ".join)
def test_a_documented_command_is_understood(words, capsys):
    """Whole commands are parsed; of those that the text only mentions the options exist."""
    try:
        build_parser().parse_args(words)
    except SystemExit as stopped:
        if stopped.code == 0:
            return
    else:
        return
    capsys.readouterr()
    options = [word for word in words if word.startswith("-")]
    command = words[: words.index(options[0])] if options else words
    with pytest.raises(SystemExit) as stopped:
        build_parser().parse_args([*command, "--help"])
    assert stopped.value.code == 0
    assert set(options) <= set(re.findall(r"--[\w-]+", capsys.readouterr().out))


def modules_run() -> dict[str, set[str]]:
    """The modules that are run with ``python -m``, and the options shown of each."""
    found: dict[str, set[str]] = {}
    for words in parts_of("python"):
        if words[0] == "-m":
            options = {word for word in words if word.startswith("--")}
            found[words[1]] = found.get(words[1], set()) | options
    return found


@pytest.mark.parametrize("module", modules_run())
def test_a_documented_module_can_be_run(module, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin)
    if spec.submodule_search_locations is not None:
        path = path.with_name("__main__.py")
    assert "__main__" in path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("module", [name for name in modules_run() if name.startswith("bench")])
def test_a_documented_benchmark_has_the_options_shown(module):
    run = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )
    assert modules_run()[module] <= set(re.findall(r"--[\w-]+", run.stdout))


def test_documented_scripts_and_targets_exist():
    for words in parts_of("python"):
        assert words[0] == "-m" or (ROOT / words[0]).is_file()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, *settings in parts_of("make"):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
        for setting in settings:
            assert re.search(rf"^{setting.split('=')[0]}\b", makefile, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:groupcm.* is now:DeprecationWarning")
def test_the_examples_of_the_readme_of_version_0_1_run_as_they_stand(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    with sklearn.config_context():
        for example in EXAMPLES[:-1]:  # the last one needs a cluster
            exec(compile(example, "README.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "240 candidates of 6 pictures"
    assert float(lines[3].split()[-1]) > 0.8
    assert float(lines[-1].split()[-1]) <= 1e-4


@pytest.mark.parametrize("old", MOVED)
def test_a_moved_module_is_found_with_a_warning(old, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {MOVED[old]}"):
        moved = import_module(old)
    new = import_module(MOVED[old])
    assert all(getattr(moved, name) is getattr(new, name) for name in new.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = moved.no_such_name
