"""``groupcm fit --model auto``: the better model is fitted, and its reason is printed."""

from __future__ import annotations

import re

import pytest

from groupcm import GroupClassifierCV, load
from groupcm.cli import main
from groupcm.simulate import capsule_to_parquet

COLUMNS = ["--group", "frame", "--label", "label", "--overlap", "overlap", "--patient", "patient"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "train.parquet"
    capsule_to_parquet(path, 120, n_positive=60, n_patients=60, group_size=6)
    return str(path)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_choice_is_printed_and_fitted(table, tmp_path, capsys):
    output = str(tmp_path / "model.json")
    arguments = ["fit", table, *COLUMNS, "--exclude", "polyp", "--model", "auto", "-o", output]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    chosen = re.match(r"Chose (linear|trees): group AUC (0\.\d+) with trees and (0\.\d+)", shown)
    assert (chosen[1] == "trees") == (chosen[2] > chosen[3])
    model = load(output)
    assert isinstance(model, GroupClassifierCV) == (chosen[1] == "linear")
    assert model.decision_.target == "specificity"


@pytest.mark.parametrize("option", [["--lam", "0.5"], ["--num-leaves", "7"]])
def test_options_of_one_model_are_refused(table, tmp_path, capsys, option):
    output = str(tmp_path / "model.json")
    assert main(["fit", table, *COLUMNS, "--model", "auto", *option, "-o", output]) == 2
    assert f"{option[0]} is for one kind of model" in capsys.readouterr().err


def test_more_than_two_classes_are_refused(tmp_path, capsys):
    path = tmp_path / "three.csv"
    path.write_text("frame,label,x\n" + "".join(f"{k},{k % 3},{k}\n" for k in range(30)))
    output = str(tmp_path / "model.json")
    arguments = ["fit", str(path), "--group", "frame", "--label", "label", "--model", "auto"]
    assert main([*arguments, "-o", output]) == 2
    assert "the labels have 3 values" in capsys.readouterr().err
