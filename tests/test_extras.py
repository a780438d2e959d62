"""Packages that are not installed: one sentence with the command, for people and for code."""

from __future__ import annotations

import sys

import pytest

from groupcm.boosting.extra import require_lightgbm
from groupcm.errors import InputError
from groupcm.extras import MissingExtra, is_installed, require_installed
from groupcm.images.extra import skimage
from groupcm.report.extra import require_report_extra
from groupcm.web.extra import require_web

MISSING = {
    "boosting": ("lightgbm", require_lightgbm),
    "images": ("skimage.color", lambda: skimage("color")),
    "report": ("jinja2", require_report_extra),
    "web": ("uvicorn", require_web),
}


@pytest.mark.parametrize("extra", MISSING)
def test_the_command_is_named(extra, monkeypatch):
    package, need = MISSING[extra]
    need()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as caught:
        need()
    assert str(caught.value).endswith(f'; install with: pip install "groupcm[{extra}]"')
    assert isinstance(caught.value, InputError)  # the command line shows the sentence alone
    assert isinstance(caught.value, ImportError)


def test_nothing_is_imported_to_know_what_is_there(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    require_installed(["this"], "web", "poems are needed")
    assert "this" not in sys.modules
    assert is_installed("this")
    assert not is_installed("no_such_package")
