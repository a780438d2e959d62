"""The paper's experiment, its verdicts, and what annotation buys."""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from groupcm import GroupClassifierCV
from groupcm.cli import build_parser
from groupcm.cli.commands import experiment
from groupcm.cli.options.common import in_options, name_options
from groupcm.errors import InputError
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments import annotation, paper
from groupcm.experiments.annotation import (
    AnnotationCurve,
    annotation_curve,
)
from groupcm.experiments.annotation_report import captioned_annotation_figure
from groupcm.experiments.annotation_text import (
    against_misvm,
    annotation_notes,
    next_hundred,
    what_others_add,
)
from groupcm.experiments.areas import Areas, mean_interval, mean_roc
from groupcm.experiments.claims import FAILS, HOLDS, OPEN, joint_verdict, verdict
from groupcm.experiments.datasets import Entries, best_rows, draw_test_set, draw_training_set
from groupcm.experiments.paper import run_paper
from groupcm.experiments.paper_report import paper_json
from groupcm.experiments.paper_text import claims_markdown, dataset_rows
from groupcm.experiments.sizes import GCM, SVM, UNGROUPED, Sizes, Trial, trials_of
from groupcm.experiments.training import _trained, fit_with_others
from groupcm.metrics import Interval, compare, group_roc_auc
from groupcm.simulate import FEATURE_NAMES, Capsule, capsule, capsule_to_parquet

TINY = Sizes(
    negatives=(400, 1600),
    test_negatives=800,
    repeats=2,
    n_positive=40,
    n_polyps=16,
    n_test_positive=30,
    n_test_polyps=12,
    n_misvm_polyps=8,
    n_patients=40,
    group_size=10,
    n_settings=2,
    n_folds=2,
    tune_on=400,
    n_test_candidates=300,
    n_resamples=100,
)
EVERY_CLAIM = {"a", "b", "c", "d", "e", "f", "g"}


@pytest.fixture(scope="module")
def found():
    return run_paper(TINY, seed=3)


@pytest.mark.parametrize(
    ("low", "high", "claimed", "margin", "expected"),
    [
        (0.01, 0.03, "higher", 0, HOLDS),
        (-0.03, -0.01, "higher", 0, FAILS),
        (-0.01, 0.03, "higher", 0, OPEN),
        (0.0, 0.03, "higher", 0, OPEN),
        (-0.03, -0.01, "lower", 0, HOLDS),
        (0.01, 0.03, "lower", 0, FAILS),
        (-0.01, 0.03, "lower", 0, OPEN),
        (0.001, 0.004, "no noticeable gain", 0.005, HOLDS),
        (-0.1, -0.05, "no noticeable gain", 0.005, HOLDS),
        (0.006, 0.01, "no noticeable gain", 0.005, FAILS),
        (0.001, 0.01, "no noticeable gain", 0.005, OPEN),
        (math.nan, math.nan, "higher", 0, OPEN),
        (math.nan, math.nan, "lower", 0, OPEN),
    ],
)
def test_verdicts_on_made_numbers(low, high, claimed, margin, expected):
    assert verdict(Interval((low + high) / 2, low, high), claimed, margin) == expected


def test_a_claim_of_several_differences_needs_all_and_fails_with_one():
    assert joint_verdict([HOLDS, HOLDS]) == HOLDS
    assert joint_verdict([HOLDS, OPEN]) == OPEN
    assert joint_verdict([OPEN, FAILS, HOLDS]) == FAILS


def test_every_claim_is_judged(found):
    assert {claim.id for claim in found.claims} >= EVERY_CLAIM
    assert all(claim.verdict in (HOLDS, FAILS, OPEN) for claim in found.claims)
    by_id = {claim.id: claim for claim in found.claims}
    (a,) = by_id["a"].findings
    assert (a.of, a.a, a.b) == ("group", Trial(GCM, 1600), Trial(UNGROUPED, 1600))
    (c,) = by_id["c"].findings
    assert (c.of, c.a, c.b) == (
        "candidate",
        Trial(UNGROUPED, 400, in_groups=False),
        Trial(SVM, 400, in_groups=False),
    )
    assert len(by_id["g"].findings) == 6
    (f,) = by_id["f"].findings
    assert f.margin == pytest.approx(0.1 * (1 - f.comparison.b.estimate))
    assert f.comparison.difference.estimate == pytest.approx(np.mean(f.repeats))


def test_claims_are_in_the_words_and_numbers(found):
    text, numbers = claims_markdown(found), json.loads(paper_json(found))
    for claim in found.claims:
        assert f"| {claim.id} | {claim.statement} | **{claim.verdict}** |" in text
    assert [claim["verdict"] for claim in numbers["claims"]] == [c.verdict for c in found.claims]
    assert len(numbers["models"]) == len(trials_of(TINY)) == 8
    assert dataset_rows(found)[0][2:] == (
        "40 (16 polyps)",
        "about 200 (8 polyps)",
        "40 (16 polyps)",
    )


def test_a_seed_gives_the_same_numbers_and_another_seed_others(found):
    one_set = replace(TINY, repeats=1)
    again = run_paper(one_set, seed=3)
    for level in ("group", "candidate"):
        assert again.areas[level].of_repeats[:, 0] == pytest.approx(
            found.areas[level].of_repeats[:, 0], abs=1e-3
        )
    # Other sums in other threads: the last bits are not promised.
    for one, other in zip(again.models[0], found.models[0], strict=True):
        assert one.setting == other.setting
        assert one.coef == pytest.approx(other.coef, abs=1e-6)
    other = draw_training_set(one_set, seed=4)
    assert not np.array_equal(other.held.X[:9], draw_training_set(one_set, seed=5).held.X[:9])


def test_training_sets_are_nested_and_have_the_papers_parts():
    made = draw_training_set(TINY, seed=1)
    few, more = made.first(40), made.first(80)
    assert set(few.groups) < set(more.groups)
    assert len(set(few.groups)) == 40 + 40
    assert made.first(160) is made.held
    of_two = made.first(40, np.array([0, 1], dtype=np.int32))
    positive = set(of_two.groups[of_two.y == 1])
    assert positive == set(made.held.groups[np.isin(made.polyp, [0, 1])])
    alone = made.one_by_one(400, np.random.default_rng(0))
    assert (alone.y == 0).sum() == 400
    assert (alone.y == 1).sum() == 40


def test_the_best_row_of_a_positive_group_has_its_largest_overlap():
    held = draw_training_set(TINY, seed=1).held
    assert held.overlap is not None
    for row in best_rows(held):
        rows = (held.groups == held.groups[row]) & (held.y == 1)
        assert held.overlap[row] == held.overlap[rows].max()


def test_test_patients_are_scored_by_their_largest_candidate(found):
    test = draw_test_set(TINY, seed=0)
    models = found.models[0][:2]
    scores = test.group_scores(models)
    frames = test.frames
    assert isinstance(frames, Capsule)
    every = frames.X @ models[1].coef + models[1].intercept
    assert scores[:, 1] == pytest.approx(np.maximum.reduceat(every, frames.group_ptr[:-1]))
    assert np.array_equal(
        test.groups.positive, np.maximum.reduceat(frames.y, frames.group_ptr[:-1])
    )
    assert test.candidates.positive.sum() == 30
    assert len(test.candidate_scores(models)) == 330


def test_the_svm_is_unfolded_from_its_scaling():
    data = draw_training_set(TINY, seed=1).first(40)
    contender = contenders(["svm"], 1)[0]
    model = contender.fit(contender.settings[0], data)
    trained = _trained(Trial(SVM, 400), model, "")
    expected = model.decision_function(data.X)
    assert data.X @ trained.coef + trained.intercept == pytest.approx(expected, abs=1e-4)


def made_scores(n_repeats, spread=0.0):
    rng = np.random.default_rng(0)
    truth = Entries(np.arange(120) % 4 == 0, np.arange(120) // 3)
    pull = np.array([1.5, 0.5]) + spread * rng.standard_normal((n_repeats, 1, 2))
    noise = rng.standard_normal((120, 2))
    return truth, noise + truth.positive[:, None] * pull


def test_one_training_set_gives_the_paired_comparison():
    truth, scores = made_scores(1)
    a, b = Trial(GCM, 5), Trial(SVM, 5)
    areas = Areas([a, b], truth, scores, n_resamples=300)
    expected = compare(
        truth.positive, scores[0, :, 0], scores[0, :, 1], clusters=truth.patient, n_resamples=300
    )
    assert areas.difference(a, b) == expected


def test_training_sets_that_differ_widen_the_interval():
    a, b = Trial(GCM, 5), Trial(SVM, 5)

    def width(spread):
        areas = Areas([a, b], *made_scores(4, spread), n_resamples=300)
        return np.ptp(areas.difference(a, b).difference)

    assert width(3.0) > 1.5 * width(0.0)


def test_the_mean_curve_has_the_mean_area():
    truth, scores = made_scores(3, spread=0.5)
    areas = [group_roc_auc(truth.positive, repeat[:, 0]) for repeat in scores]
    curve = mean_roc(truth, scores[:, :, 0], Interval(0.5, 0.4, 0.6)).curve
    # A step curve with negatives all apart: each of 90 holds its level over 1/90.
    level = curve.tpr[np.searchsorted(curve.fpr, (np.arange(90) + 0.5) / 90, side="right") - 1]
    assert level.mean() == pytest.approx(np.mean(areas), abs=1e-3)
    assert np.all(np.diff(curve.tpr) >= 0)


def test_streamed_sets_give_the_same_models(found, tmp_path):
    streamed = run_paper(replace(TINY, held_in_memory=400), seed=3, folder=tmp_path)
    for trial in (Trial(GCM, 400), Trial(UNGROUPED, 400), Trial(SVM, 400)):
        assert streamed.areas["group"].repeats(trial) == pytest.approx(
            found.areas["group"].repeats(trial)
        )
    for trial in (Trial(GCM, 1600), Trial(UNGROUPED, 1600)):
        assert streamed.areas["group"].repeats(trial) == pytest.approx(
            found.areas["group"].repeats(trial), abs=5e-3
        )
    assert [file.name for file in tmp_path.iterdir()] == ["test-3000.parquet"]


def paper_arguments(output, **options):
    return argparse.Namespace(
        experiment="paper",
        **{"scale": "small", "seed": 3, "repeats": None, "keep": False, "output": output} | options,
    )


@pytest.mark.slow
def test_the_command_writes_everything(tmp_path, capsys):
    sizes = replace(TINY, repeats=1, held_in_memory=400)
    folder = tmp_path / "paper"
    assert experiment.run_paper_experiment(sizes, paper_arguments(folder)) == 0
    names = {file.name for file in folder.iterdir()}
    assert names == {"paper.html", "paper_figures", "claims.md", "datasets.csv", "results.json"}
    figures = {file.name for file in (folder / "paper_figures").iterdir()}
    for level in ("candidate", "group"):
        for name in (f"per_{level}", f"per_{level}_training_size", f"claims_per_{level}"):
            assert {f"{name}.png", f"{name}.svg"} <= figures
    page = (folder / "paper.html").read_text(encoding="utf-8")
    assert page.count("<svg") == len(figures) // 2
    assert "src=" not in page
    told = capsys.readouterr()
    assert "Of 11 claims" in told.out
    assert "training set 1 of 1" in told.err


def test_made_data_is_kept_where_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "save_paper", lambda results, folder: [folder])
    sizes = replace(TINY, repeats=1, held_in_memory=400, n_resamples=20)
    experiment.run_paper_experiment(sizes, paper_arguments(tmp_path, keep=True))
    kept = {file.name for file in (tmp_path / "data").iterdir()}
    assert kept == {"test-3000.parquet", "training-3001.parquet"}


@pytest.mark.parametrize("held_in_memory", [400, 10_000])
def test_ctrl_c_leaves_nothing(tmp_path, monkeypatch, held_in_memory):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "train_all", interrupted)
    sizes = replace(TINY, held_in_memory=held_in_memory)
    with pytest.raises(KeyboardInterrupt):
        experiment.run_paper_experiment(sizes, paper_arguments(tmp_path / "paper"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "paper"
    file.write_text("mine")
    with pytest.raises(InputError, match="it is a file, not a folder"):
        experiment.run(paper_arguments(file))
    with pytest.raises(InputError, match="it is a file, not a folder"):
        experiment.run(annotation_arguments([file], file))
    assert file.read_text() == "mine"


def test_no_repeats_are_refused(tmp_path):
    with pytest.raises(InputError, match="--repeats must be at least 1"):
        experiment.run(paper_arguments(tmp_path, repeats=0))


def annotation_arguments(tables, output, **options):
    columns = {"group": "frame", "label": "label", "overlap": "overlap", "patient": "patient"}
    columns |= {"object": None, "annotated": None, "exclude": [], "positive": None}
    rest = {
        "features": FEATURE_NAMES,
        "sizes": None,
        "repeats": 2,
        "folds": 3,
        "settings": 2,
        "weight": None,
    }
    return argparse.Namespace(
        experiment="annotation", tables=tables, output=output, seed=0, **columns | rest | options
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "made.parquet"
    capsule_to_parquet(path, 60, n_positive=30, n_polyps=24, n_patients=60, group_size=6, seed=2)
    return path


@pytest.mark.slow
def test_annotation_writes_a_page_a_figure_and_a_sentence(table, tmp_path, capsys):
    folder = tmp_path / "annotation"
    assert experiment.run(annotation_arguments([table], folder, sizes=[6, 12])) == 0
    assert {file.name for file in folder.iterdir()} == {
        "annotation.html",
        "annotation_figures",
        "annotation.json",
    }
    figures = {file.name for file in (folder / "annotation_figures").iterdir()}
    assert figures == {"annotation.png", "annotation.svg"}
    numbers = json.loads((folder / "annotation.json").read_text())
    assert np.shape(numbers["gcm_auc"]) == (2, 2)
    assert np.shape(numbers["gcm_auc_with_others_unannotated"]) == (2, 2)
    assert numbers["folds_by"] == "patient"
    told = capsys.readouterr().out
    assert "From 6 to 12 annotated positive groups the group AUC" in told
    others = "With 6 annotated positive groups the other"
    assert others in told
    assert others in (folder / "annotation.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [6, 500]}, r"--sizes asks for 500 annotated positive groups; there are 30, of"),
        ({"sizes": [1, 5]}, r"--sizes must be whole numbers of at least 2"),
        ({"group": "farme"}, r"'farme'"),
        ({"repeats": 1}, r"--repeats must be at least 2"),
        ({"settings": 0}, r"--settings must be at least 1"),
        ({"folds": 40}, r"use --folds \d+ or fewer"),
        ({"label": "patient", "patient": None}, r"holds 60 classes .*; this experiment needs two"),
    ],
)
def test_mistakes_are_one_sentence_and_write_nothing(table, tmp_path, options, message):
    with pytest.raises(InputError) as raised:
        experiment.run(annotation_arguments([table], tmp_path / "out", **options))
    words = ["experiment", "annotation", str(table), "-o", str(tmp_path / "out")]
    name_options(build_parser().parse_args(words).parser)
    assert re.search(message, in_options(raised.value))
    assert not (tmp_path / "out").exists()


def test_missing_values_are_told_without_advice_for_other_commands(tmp_path, table):
    rows = pq.read_table(table)
    name = FEATURE_NAMES[2]
    values = rows[name].to_pylist()
    values[9] = None
    column = pa.array(values, rows.schema.field(name).type)
    rows = rows.set_column(rows.column_names.index(name), name, column)
    pq.write_table(rows, tmp_path / "gaps.parquet")
    with pytest.raises(InputError) as told:
        experiment.run(annotation_arguments([tmp_path / "gaps.parquet"], tmp_path / "out"))
    assert str(told.value).endswith(
        f"gaps.parquet: the feature {name!r} has no value in row 9 (counted from 0), and this "
        "experiment needs complete rows; fill the values in"
    )


def test_labels_of_groups_are_no_annotation():
    groups = np.repeat(np.arange(12), 3)
    y = (groups % 2).astype(int)
    with pytest.raises(ValueError, match="so none is annotated"):
        annotation_curve(np.random.default_rng(0).normal(size=(36, 2)), y, groups, n_folds=2)


def curve_of(gcm, misvm_of_all=0.6, added: Any = 0.0, n_all=100):
    gcm = np.asarray(gcm)
    of_all = misvm_of_all + np.array([0.0, 0.002, -0.002])
    sizes = [50, 100][-len(gcm) :]
    more = gcm + np.asarray(added)
    return AnnotationCurve(sizes, gcm, more, gcm, of_all, 150, 900, n_all, 3, "patient")


def test_the_next_hundred_is_worded_by_what_is_known():
    rises = next_hundred(curve_of([[0.80, 0.82, 0.81], [0.84, 0.85, 0.84]]))
    assert "rose by 0.033" in rises
    assert "100 more would add about 0.033" in rises
    assert "may be chance" in next_hundred(curve_of([[0.80, 0.82, 0.81], [0.79, 0.86, 0.81]]))
    assert "fell by 0.010" in next_hundred(curve_of([[0.80, 0.82, 0.81], [0.79, 0.81, 0.80]]))
    assert "one size does not show" in next_hundred(curve_of([[0.8, 0.82, 0.81]]))


def test_intervals_that_exclude_nothing_are_unknown():
    gcm = np.array([[0.5, 0.9], [0.99, 0.6]])
    more = gcm[:, ::-1]
    curve = AnnotationCurve([50, 100], gcm, more, gcm, 1 - gcm[1], 150, 900, 120, 3, "patient")
    assert mean_interval(gcm[1] - gcm[0], 3).high > 1
    for found in (curve.last_step, *curve.added, curve.over_misvm):
        assert found is not None
        assert np.isnan(found[1:]).all()
        assert -1 < found.estimate < 1
    assert np.isnan(curve.auc(gcm[0])[1:]).all()
    for sentence in (next_hundred(curve), what_others_add(curve), against_misvm(curve)):
        assert "(interval not known)" in sentence
    assert "hardly more" not in next_hundred(curve)
    assert "interval not known" in captioned_annotation_figure(curve).description
    # Where something is excluded, the interval ends where areas do.
    some = curve.auc(np.array([0.7, 0.9, 0.99]))
    assert 0 < some.low < some.high == 1.0
    # Repeats that agree do not show how much others would vary.
    assert np.isnan(curve.auc(np.ones(5))[1:]).all()
    assert annotation_notes(curve) == [
        "2 repeats are few: the intervals are wide, and more repeats would make them narrower."
    ]
    assert annotation_notes(replace(curve, gcm=np.full((2, 5), 0.7))) == []


def test_a_difference_of_areas_is_between_minus_one_and_one():
    truth = Entries(np.arange(40) % 2 == 0, np.arange(40))
    right = np.where(truth.positive, 1.0, -1.0)
    scores = np.stack([np.column_stack([s * right, -s * right]) for s in (1.0, 1.0, -1.0)])
    one, other = Trial(GCM, 400), Trial(SVM, 400)
    found = Areas([one, other], truth, scores, n_resamples=200).difference(one, other).difference
    assert (found.low, found.high) == (-1.0, 1.0)


def test_against_misvm_tells_the_side():
    gcm = [[0.80, 0.82, 0.81]]
    assert "0.210" in against_misvm(curve_of(gcm, 0.6))
    assert " above that of MI-SVM" in against_misvm(curve_of(gcm, 0.6))
    assert " below that of MI-SVM" in against_misvm(curve_of(gcm, 0.95))
    assert "not clearly above or below" in against_misvm(curve_of(gcm, 0.81))


def test_what_others_add_is_worded_by_what_is_known():
    gcm = [[0.80, 0.82, 0.81], [0.84, 0.85, 0.84]]
    help_most = [[0.050, 0.051, 0.052], [0.010, 0.011, 0.012]]
    found = what_others_add(curve_of(gcm, added=help_most, n_all=120))
    assert found.startswith("With 50 annotated positive groups the other 70 or more, unannotated")
    assert "add 0.051 (0.047 to 0.055) to the group AUC, which is then as high as with 100" in found
    assert found.endswith("With 100 they add 0.011 (0.007 to 0.015).")
    harm = what_others_add(curve_of(gcm, added=-np.asarray(help_most), n_all=120))
    assert "lower the group AUC by 0.051 (0.047 to 0.055). With 100 they lower it by 0.011" in harm
    chance = [[0.05, -0.05, 0.01], [-0.05, 0.05, 0.01]]
    open_ = what_others_add(curve_of(gcm, added=chance, n_all=120))
    assert "change the group AUC by 0.003" in open_
    assert "which may be chance. With 100 the change, 0.003, may be chance." in open_
    small = what_others_add(curve_of(gcm, added=0.001 * np.ones((2, 3)), n_all=100))
    assert "as high as" not in small
    assert small.count("With") == 1  # at the last size there is no other group


def test_without_other_groups_nothing_is_said_of_them():
    curve = curve_of([[0.80, 0.82, 0.81]], n_all=100)
    assert "the gain from unannotated ones is unknown" in what_others_add(curve)
    assert curve.added == []


def test_the_range_of_the_figure_is_that_of_the_gcm():
    gcm = np.array([[0.90, 0.92, 0.91], [0.94, 0.95, 0.94]])
    misvm = np.array([[0.3, 0.5, 0.4], [0.94, 0.93, 0.94]])
    curve = AnnotationCurve([50, 100], gcm, gcm + 0.01, misvm, misvm[1], 150, 900, 120, 3, "group")
    upper, lower = captioned_annotation_figure(curve).drawing.axes
    assert upper.get_ylim()[0] > 0.8
    assert [text.get_text() for text in upper.texts] == ["0.40 ↓"]
    assert lower.get_ylabel() == "Added AUC"
    whole = replace(curve, n_all=50, sizes=[25, 50])
    assert len(captioned_annotation_figure(whole).drawing.axes) == 2
    assert len(captioned_annotation_figure(replace(curve, n_all=50)).drawing.axes) == 1


@pytest.fixture(scope="module")
def small_curve():
    made = capsule(40, n_positive=24, group_size=8, seed=5)
    options = {"sizes": [8, 16], "repeats": 2, "n_folds": 3, "n_settings": 2}
    return made, annotation_curve(made.X, made.y, made.groups, made.overlap, **options)


def test_others_take_part_by_the_labels_of_their_groups_alone(small_curve):
    """Whatever is said of the candidates of groups beyond the first, the curve is the same."""
    made, curve = small_curve
    assert not np.array_equal(curve.with_others[0], curve.gcm[0])
    parts = annotation._parts(
        LabelledCandidates.check(made.X, made.y, made.groups, made.overlap), 2, 3, 0
    )
    rng = np.random.default_rng(0)
    for r, part in enumerate(parts):
        y, fit = made.y.copy(), made.overlap.copy()
        others = part.train[part.place >= 8]
        y[others], fit[others] = 1, rng.random(len(others))
        data = LabelledCandidates.check(made.X, y, made.groups, fit)
        assert annotation._with_others(data, part, 8, 2, 1) == curve.with_others[0, r]


def test_the_objects_of_annotated_groups_are_known_beside_the_others():
    made = capsule(60, n_positive=24, group_size=10)
    known = made.groups % 2 == 0
    objects = np.where(made.y == 1, np.arange(len(made.y)) % 2, -1)
    given = (made.X, made.y, made.groups, made.overlap)

    def coef(objects):
        data = LabelledCandidates.check(*given, objects=objects)
        return fit_with_others(data, known, n_settings=2, seed=0).coef_

    model = GroupClassifierCV(2, cv=3, random_state=0)
    expected = model.fit(*given, annotated=known, objects=objects).coef_
    np.testing.assert_allclose(coef(objects), expected, rtol=1e-9)
    assert not np.allclose(coef(None), expected, rtol=1e-3)


def test_where_no_group_is_left_the_two_curves_meet(small_curve):
    _, curve = small_curve
    np.testing.assert_array_equal(curve.with_others[1], curve.gcm[1])
    assert len(curve.added) == 1


def test_the_mean_of_independent_repeats_has_the_t_interval():
    values = np.array([0.8, 0.83, 0.79, 0.86])
    found = mean_interval(values, n_folds=10**9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found == pytest.approx((values.mean(), expected.low, expected.high))
    assert np.ptp(mean_interval(values, n_folds=5)) > np.ptp(found)
