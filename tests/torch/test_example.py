"""The example of a network trained end to end runs, and says how both models did."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "end_to_end.py"


@pytest.mark.slow
def test_it_runs_and_compares(capsys):
    runpy.run_path(str(SCRIPT))["main"](["--frames", "12", "--epochs", "1"])
    told = capsys.readouterr().out
    assert "epoch 1/1: group loss" in told
    areas = re.findall(r"^(?:network|linear model) on .*?(\d\.\d{3}) ", told, re.MULTILINE)
    assert len(areas) == 2
    assert all(0.0 <= float(area) <= 1.0 for area in areas)


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(
    ("option", "value", "least"),
    [
        ("--frames", "0", 12),
        ("--frames", "2", 12),
        ("--frames", "11", 12),
        ("--epochs", "0", 1),
        ("--epochs", "-1", 1),
        ("--seed", "1.5", 0),
    ],
)
def test_too_little_is_refused_in_a_sentence(example, capsys, option, value, least):
    with pytest.raises(SystemExit, match="2"):
        example["main"]([f"{option}={value}"])
    told = capsys.readouterr()
    sentence = f"argument {option}: {value!r} is not a whole number of at least {least}"
    assert told.err.splitlines()[-1].endswith(sentence)
    assert not told.out


def test_frames_of_one_kind_are_refused_in_a_sentence(example, capsys):
    # Of this seed all frames that are held out show a polyp.
    with pytest.raises(SystemExit, match="2"):
        example["main"](["--frames", "12", "--epochs", "1", "--seed", "4"])
    told = capsys.readouterr()
    assert "take more --frames, or another --seed" in told.err
    assert "epoch" not in told.out


def test_the_help_says_what_to_install_and_how_much_is_needed(example, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit, match="0"):
        example["main"](["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert 'pip install "groupcm[torch,images]"' in told
    assert "at least 12" in told
    assert "a network needs far more" in told


@pytest.mark.parametrize("package", ["torch", "PIL", "skimage"])
def test_what_is_missing_is_told_at_the_start(package):
    code = (
        f"import sys, runpy; sys.modules[{package!r}] = None\n"
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr.splitlines() == [
        "end_to_end.py: this example trains a network on pictures; install it with: "
        'pip install "groupcm[torch,images]"'
    ]
    assert not run.stdout
