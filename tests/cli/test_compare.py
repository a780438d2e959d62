"""``groupcm compare`` as a user meets it."""

from __future__ import annotations

import argparse
import re
import sys

import numpy as np
import pytest
from capsule_table import as_table

from groupcm import simulate
from groupcm.cli import build_parser
from groupcm.cli.commands import compare as command
from groupcm.cli.options.spelling import in_options, name_options
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.evaluation.comparison import compare_models as comparison
from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.report.comparison import pair_sentence
from groupcm.utils.extras import is_installed

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def made():
    return simulate.capsule(60, n_positive=20, n_polyps=18, n_patients=45, group_size=12, seed=2)


@pytest.fixture
def folder(tmp_path, monkeypatch, made):
    """The current folder, with a table in it."""
    monkeypatch.chdir(tmp_path)
    write_table(as_table(made), "train.parquet")
    return tmp_path


@pytest.fixture
def seen(monkeypatch) -> list[ModelComparison]:
    """What the command finds, with fewer resamples: two thousand prove no more here."""
    found: list[ModelComparison] = []

    def quick(*args, **options):
        found.append(comparison.compare_models(*args, **options, n_resamples=40))
        return found[-1]

    monkeypatch.setattr("groupcm.evaluation.comparison.tables.compare_models", quick)
    return found


def compare(**options) -> int:
    given = {
        "tables": ["train.parquet"],
        "group": "frame",
        "positive": None,
        "label": "polyp",
        "overlap": "fit",
        "patient": "who",
        "object": None,
        "weight": None,
        "annotated": None,
        "features": None,
        "exclude": [],
        "models": ["svm", "gcm-none", "gcm"],
        "folds": 3,
        "settings": 2,
        "max_negatives": 100_000,
        "learning": False,
        "seed": 0,
        "report": "report.html",
        "title": None,
        "levels": None,
        "aggregate": None,
        "k": None,
        "json": None,
        "unit": "group",
    }
    return command.run(argparse.Namespace(**{**given, **options}))


def refused(**options) -> str:
    """The one sentence that a mistake gets."""
    with pytest.raises(InputError) as told:
        compare(**options)
    name_options(build_parser().parse_args(["compare", "train.parquet"]).parser)
    sentence = in_options(told.value)
    assert "\n" not in sentence
    return sentence


def test_a_report_and_the_numbers(folder, seen, made, capsys):
    assert compare(learning=True) == 0
    shown = capsys.readouterr()
    n_patients = len(np.unique(made.patient))
    assert (
        f"{len(made.y):,} candidates in 20 positive and 60 negative groups of {n_patients} patients"
    ) in shown.out
    rows = dict(re.findall(r"^  (\S.*?)  +(\d\.\d+ .*)$", shown.out, flags=re.MULTILINE))
    assert list(rows) == ["SVM", "GCM without grouping", "GCM"]
    (found,) = seen
    assert (found.n_folds, found.n_settings, found.folds_by) == (3, 2, "patient")
    for model in found.models:
        assert rows[model.name].startswith(f"{model.group_roc.auc.estimate:.3f} (")
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("GCM", "SVM"),
        ("GCM", "GCM without grouping"),
    ]
    for pair in found.pairs:
        assert pair_sentence(pair) in shown.out.splitlines()
    assert "GCM: fold 3 of 3" in shown.err
    assert found.learning is not None
    assert f"GCM: learning curve, {found.learning.sizes[-1]} negative groups" in shown.err
    assert shown.out.splitlines()[-1].startswith("Wrote report.html, and its figures")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Models compared on train.parquet" in page
    assert list((folder / "report_figures").glob("*.svg"))


def test_without_a_report_the_numbers_are_only_printed(folder, seen, capsys):
    before = sorted(folder.iterdir())
    assert compare(report=None) == 0
    assert capsys.readouterr().out.splitlines()[-1] == pair_sentence(seen[0].pairs[-1])
    assert sorted(folder.iterdir()) == before


def test_a_title_of_one_s_own(folder, seen):
    assert compare(title="Two hospitals") == 0
    assert seen[0].title == "Two hospitals"
    assert "<title>Two hospitals</title>" in (folder / "report.html").read_text(encoding="utf-8")


def test_csv_and_several_tables(folder, seen, made, capsys):
    half = np.flatnonzero(made.patient % 2 == 0)
    table = as_table(made)
    write_table(table.take(half), "one.csv")
    write_table(table.take(np.flatnonzero(made.patient % 2)), "two.csv")
    assert compare(tables=["one.csv", "two.csv"], models=["gcm"], patient="who") == 0
    assert f"{len(made.y):,} candidates" in capsys.readouterr().out
    assert "one.csv and 1 more" in (folder / "report.html").read_text(encoding="utf-8")


def test_features_that_are_all_alike_still_compare(folder, seen, made, capsys):
    same = {name: np.ones(len(made.y)) for name in made.feature_names}
    write_table(as_table(made, **same), "same.parquet")
    assert compare(tables=["same.parquet"], models=["svm", "gcm"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("0.500 (") == 2
    assert shown.err.count("features are constant") == 1


def test_patients_are_drawn_where_they_are_known(folder, seen, capsys):
    assert compare(models=["gcm"], settings=1, report=None) == 0
    assert "resampling patients for the intervals" in capsys.readouterr().err
    assert (
        compare(models=["gcm"], settings=1, report=None, patient=None, features=["contrast"]) == 0
    )
    assert "resampling groups for the intervals" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["gaps.parquet", "gaps.csv"])
def test_missing_values_where_all_models_take_them(folder, seen, made, capsys, name):
    pytest.importorskip("lightgbm")
    models = ["trees", "lightgbm", "lightgbm-ranker", *["xgboost"] * is_installed("xgboost")]
    first = made.X[:, 0].astype(float)
    gaps = [None if row % 5 == 3 else value for row, value in enumerate(first.tolist())]
    write_table(as_table(made, contrast=gaps), name)
    assert compare(tables=[name], models=models, folds=2, settings=1, report=None) == 0
    capsys.readouterr()
    rows = made.X.copy()
    rows[3::5, 0] = np.nan
    expected = comparison.compare_models(
        rows.astype(float), made.y, made.groups, made.overlap, made.patient, models=models, cv=2,
        n_settings=1, learning=False, n_resamples=40,
    )  # fmt: skip
    for mine, theirs in zip(seen[0].models, expected.models, strict=True):
        assert mine.group_roc.auc == pytest.approx(theirs.group_roc.auc, abs=2e-3)
        assert mine.group_roc.auc.estimate > 0.7
    write_table(as_table(made, frame=[f"other {g}" for g in made.groups], contrast=gaps), name)
    sentence = refused(tables=["train.parquet", name], models=["svm", "trees", "gcm"])
    assert (
        f"{name}: the feature 'contrast' has no value in row 3 (counted from 0), and " in sentence
    )
    assert (
        "and SVM and GCM need complete rows; fill the values in, or compare only models" in sentence
    )
    assert "groupcm fit" not in sentence
    assert "GCM needs complete rows" in refused(tables=[name], models=["gcm"])
    first[7] = np.inf
    write_table(as_table(made, contrast=first), "infinite.parquet")
    sentence = refused(tables=["infinite.parquet"], models=["trees"])
    assert "'contrast' is inf in row 7" in sentence


def test_labels_and_groups_that_cannot_be_compared(folder, made):
    def with_column(**changed):
        write_table(as_table(made, **changed), "bad.parquet")
        return refused(tables=["bad.parquet"])

    n_rows = len(made.y)
    sentence = with_column(polyp=np.arange(n_rows) % 3)
    assert "the label column 'polyp' holds 3 classes (0, 1, 2)" in sentence
    sentence = with_column(polyp=np.zeros(n_rows, dtype=int))
    assert "the label column 'polyp' holds 0 in every row" in sentence
    whose = [f"P{p}" for p in made.patient]
    last_of_first = np.flatnonzero(made.groups == made.groups[0])[-1]
    whose[last_of_first] = "P99"
    sentence = with_column(who=whose)
    assert f"group frame {made.groups[0]} belongs to two patients, " in sentence
    assert "P99" in sentence
    first = made.groups == made.groups[made.y == 1][0]
    sentence = with_column(polyp=np.where(first, made.y, 0))
    assert "positive groups come from 1 patient, fewer than the 3 folds" in sentence
    sentence = with_column(polyp=np.where(first, made.y, 0), who=[f"P{g}" for g in made.groups])
    assert "1 patient" in sentence
    assert not (folder / "report.html").exists()


def test_too_few_patients_for_the_folds(folder, made):
    write_table(as_table(made, who=[f"P{g % 2}" for g in made.groups]), "two.parquet")
    sentence = refused(tables=["two.parquet"])
    assert "come from 2 patients, fewer than the 3 folds; use --folds 2 or fewer" in sentence
    sentence = refused(tables=["two.parquet"], folds=2)
    assert "the training part of fold 0 has positive groups of only one patient" in sentence


def test_options_are_checked_before_tables_are_read(folder):
    def at_once(**options):
        return refused(tables=["no-such-table.parquet"], **options)

    assert "--folds must be at least 2; got 1" in at_once(folds=1)
    assert "--settings must be at least 1; got 0" in at_once(settings=0)
    assert "no model 'forest' to compare; choose among svm, " in at_once(models=["forest"])
    assert "end its name in .html" in at_once(report="report.pdf")
    (folder / "a_figures").write_text("")
    assert "a_figures is not a folder" in at_once(report="a_figures/report.html")
    assert "a_figures is a file" in at_once(report="a.html")


def test_the_missing_extra_is_told_before_tables_are_read(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sentence = refused(tables=["no-such-table.parquet"])
    assert 'pip install "groupcm[report]"' in sentence


def test_a_table_is_not_overwritten(folder):
    assert "train.parquet" in refused(report="train.parquet")


def test_ctrl_c_leaves_nothing_behind(folder, monkeypatch):
    def stopped(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "learning_curve", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare(models=["gcm"], settings=1, learning=True)
    assert [path.name for path in folder.iterdir()] == ["train.parquet"]
