"""``groupcm doctor``: what it prints, and its exit status."""

from __future__ import annotations

import json

import pytest

from groupcm.cli import main
from groupcm.diagnostics import self_test


@pytest.fixture(autouse=True)
def no_extras(monkeypatch):
    """Import no extras, which takes seconds."""
    monkeypatch.setattr(self_test, "EXTRA_MODULES", {})


def fail() -> str:
    raise RuntimeError("the file\nis gone")


def test_a_working_installation(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("\nThe self-test passed.\n")
    assert "certified gap" in out
    assert "\x1b" not in out


def test_a_failure_ends_with_status_1(capsys, monkeypatch):
    monkeypatch.setattr(self_test, "_check_model_file", fail)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "FAILED: RuntimeError: the file is gone" in out
    assert "The self-test failed: saving and loading." in out


@pytest.mark.parametrize("status", [0, 1])
def test_json_is_all_that_is_printed(status, capsys, monkeypatch):
    if status:
        monkeypatch.setattr(self_test, "_check_fit", fail)
    assert main(["doctor", "--json"]) == status
    streams = capsys.readouterr()
    assert json.loads(streams.out)["passed"] is (status == 0)
    assert streams.err == ""
