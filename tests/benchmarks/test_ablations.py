"""The benchmark of ablations, on small synthetic candidates: no real table is read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.ablations import ABLATIONS, PAPER, differences, main

from benchmarks import ablations
from groupcm import GroupClassifier
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.simulate import capsule


@pytest.fixture(scope="module")
def small():
    made = capsule(120, n_positive=40, n_polyps=30, n_patients=110, group_size=6, seed=1, world=2)
    data = LabelledCandidates(made.X, made.y, made.groups, made.overlap, made.patient)
    return ablations._Set(data, 2)


def test_every_variant_differs_from_the_papers_choice_in_one_parameter():
    paper = GroupClassifier().get_params()
    for ablation in ABLATIONS.values():
        for parameters in ablation.variants.values():
            ((name, value),) = parameters.items()
            assert paper[name] != value
    assert (paper["delta"], paper["epsilon"], paper["grouping"]) == (0.5, 1.0, "negative")


def test_differences_are_those_of_the_variant_from_the_paper(small):
    found = differences(small, ["grouping"], 2)
    assert list(found) == [PAPER, "no grouping", "both grouped"]
    for variant, (estimate, low, high) in found.items():
        assert low <= estimate <= high, variant
    assert 0.5 < found[PAPER][0] < 1


def test_absent_tables_are_named_and_the_rest_is_drawn(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablations, "synthetic_set", lambda n_sets: small)
    options = ["--sets", "psfl", "synthetic", "--settings", "2"]
    options += ["--data", str(tmp_path / "none"), "-o", str(tmp_path / "out")]
    assert main([*options, "--only", "loss"]) == 0
    told = capsys.readouterr()
    assert "birdsong/segments.parquet is not in" in told.err
    assert "| hinge | " in told.out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "ablations.json",
        "ablation_loss.png",
    }
    numbers = json.loads((tmp_path / "out" / "ablations.json").read_text())
    assert np.shape(numbers["differences"]["synthetic"]["hinge"]) == (3,)
    # A second run keeps the first one's numbers, and adds its own.
    assert main([*options, "--only", "solver"]) == 0
    again = json.loads((tmp_path / "out" / "ablations.json").read_text())
    assert again["differences"] == numbers["differences"]
    assert set(again["gaps"]["synthetic"]) == {"working_set", "lbfgs"}
    assert (tmp_path / "out" / "ablation_solver.png").exists()
