"""The Python of the documentation runs as it stands, and its links lead somewhere.

The blocks of a page run in order, in one namespace and in an empty folder.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import warnings
from pathlib import Path

import pytest
import sklearn

from groupcm.cli import build_parser

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = ("_build", "gallery", "generated")
# Pages that take more than a few seconds.
SLOW = {"docs/user_guide/dask.md", "docs/user_guide/torch.md"}

PYTHON = re.compile(r"^( *)```(?:python|\{code-block\} python)\n(.*?)^ *```$", re.M | re.S)
SHELL = re.compile(r"^```(?:bash|\{code-block\} bash)\n(.*?)^```$", re.M | re.S)
FENCED = re.compile(r"^( *)(```+|~~~+)(?!\{).*?^ *\2 *$", re.M | re.S)
LINK = re.compile(r"\]\(<?([^()\s<>]+(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\)")
DOC_ROLE = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`")
TOCTREE = re.compile(r"^(?:```|:::)+\{toctree\}\n(.*?)^(?:```|:::)+$", re.M | re.S)
CARD_LINK = re.compile(r"^:link: (\S+)\n:link-type: doc$", re.M)


def pages() -> list[str]:
    """Return the pages that a reader opens: those at the top level, and those of the site."""
    found = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return sorted(name for name in names if not set(Path(name).parts) & set(GENERATED))


def blocks(page: str) -> list[tuple[int, str]]:
    """Return the Python blocks of a page, each with the number of its first line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start(2)), re.sub(f"^{found[1]}", "", found[2], flags=re.M))
        for found in PYTHON.finditer(text)
    ]


WITH_PYTHON = [page for page in pages() if blocks(page)]


def test_there_is_something_to_run():
    assert {"README.md", "docs/index.md"} <= set(WITH_PYTHON)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else []) for page in WITH_PYTHON],
)
def test_the_python_of_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict = {"__name__": "__page__"}
    with sklearn.config_context(), warnings.catch_warnings():
        warnings.simplefilter("default")
        for line, block in blocks(page):
            code = compile("\n" * line + block, str(ROOT / page), "exec")  # lines of the page
            exec(code, names)
    if importlib.util.find_spec("matplotlib"):
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "api").glob("*.rst")))
def test_the_examples_of_the_reference_lists_run(page):
    failed, _ = doctest.testfile(str(DOCS / "api" / page), module_relative=False, verbose=False)
    assert failed == 0


def document_exists(target: str, page: Path) -> bool:
    """Return whether a page of the site has this name, also one that the build writes."""
    path = DOCS / target[1:] if target.startswith("/") else page.parent / target
    path = path.resolve()
    name = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    if name.startswith("gallery/"):
        example = name.removeprefix("gallery/")
        return example == "index" or (ROOT / "examples" / f"{example}.py").is_file()
    return name.startswith("api/generated/") or any(
        path.with_name(path.name + suffix).is_file() for suffix in (".md", ".rst")
    )


def broken_links(page: str) -> list[str]:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    documents = DOC_ROLE.findall(text) + CARD_LINK.findall(text)
    for listing in TOCTREE.findall(text):
        entries = [line for line in listing.splitlines() if line and not line.startswith(":")]
        documents += [re.sub(r"^.*<(.+)>$", r"\1", entry) for entry in entries]
    broken = [name for name in documents if not document_exists(name.strip(), path)]
    for address in LINK.findall(FENCED.sub("", text)):
        file = address.partition("#")[0]
        if file and not re.match(r"[a-z]+:", file):
            target = DOCS / file[1:] if file.startswith("/") else path.parent / file
            if not target.exists() and not document_exists(file.removesuffix(".html"), path):
                broken.append(address)
    return broken


@pytest.mark.parametrize("page", pages())
def test_the_links_of_a_page_lead_somewhere(page):
    assert broken_links(page) == []


def test_a_broken_link_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    monkeypatch.setitem(globals(), "DOCS", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "here.md").touch()
    (tmp_path / "docs" / "page.md").write_text(
        "[a](here.md) [b](gone.md) {doc}`here` {doc}`text </lost>` [c](https://x.org)\n"
        "```text\n[d](not_a_link)\n```\n"
        "```{toctree}\n:hidden:\n\nHere <here>\nmissing\n```\n"
    )
    assert sorted(broken_links("docs/page.md")) == ["/lost", "gone.md", "missing"]


def commands(page: str) -> list[str]:
    """Return the commands of groupcm in the shell blocks of a page, each on one line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = "\n".join(SHELL.findall(text)).replace("\\\n", " ").splitlines()
    parts = [part.strip() for line in lines for part in re.split(r"&&|;|\|", line)]
    return [part for part in parts if part.startswith("groupcm ")]


def is_understood(line: str) -> bool:
    words = shlex.split(line, comments=True)[1:]
    try:
        build_parser(words[0]).parse_args(words)
    except SystemExit as stopped:
        return stopped.code == 0
    return True


@pytest.mark.parametrize("page", [page for page in pages() if commands(page)])
def test_the_commands_of_a_page_have_the_options_that_they_use(page):
    assert not [line for line in commands(page) if not is_understood(line)]


def test_an_unknown_option_is_found():
    assert is_understood("groupcm doctor --json  # for a program")
    assert not is_understood("groupcm doctor --yaml")
