"""The check of the built site finds broken links and files of other sites."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / "docs" / "check_site.py"


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("check_site", CHECK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = '<h1 id="top">A</h1><a href="b.html#there">b</a><a href="#top">up</a>'


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ("", None),
        ('<a href="https://example.org">elsewhere</a>', None),
        ('<a href="gone.html">x</a>', "gone.html, a file"),
        ('<a href="b.html#gone">x</a>', "b.html#gone, an anchor"),
        ('<a href="#gone">x</a>', "#gone, an anchor"),
        ('<img src="gone.png">', "gone.png, a file"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
    ],
)
def test_a_fault_of_a_page_is_found(check, tmp_path, capsys, added, fault):
    (tmp_path / "index.html").write_text(GOOD + added)
    (tmp_path / "b.html").write_text('<p id="there">b</p>')
    assert check.main([str(tmp_path)]) == (0 if fault is None else 1)
    shown = capsys.readouterr()
    assert fault is None or (fault in shown.err and len(shown.err.splitlines()) == 1)


def test_a_style_that_loads_a_font_of_another_site_is_found(check, tmp_path, capsys):
    (tmp_path / "index.html").write_text(GOOD.replace("b.html#there", "#top"))
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/f.woff') }")
    assert check.main([str(tmp_path)]) == 1
    assert "a.css loads https://example.org/f.woff" in capsys.readouterr().err
