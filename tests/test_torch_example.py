"""The example of a network trained end to end runs, and says how both models did."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "examples" / "end_to_end.py"


def test_it_runs_and_compares(capsys):
    runpy.run_path(str(SCRIPT))["main"](["--frames", "12", "--epochs", "1"])
    told = capsys.readouterr().out
    assert "epoch 1/1: group loss" in told
    areas = re.findall(r"^(?:network|linear model) on .*?(\d\.\d{3}) ", told, re.MULTILINE)
    assert len(areas) == 2
    assert all(0.0 <= float(area) <= 1.0 for area in areas)
