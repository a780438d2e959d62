"""The paper's experiment, its verdicts, and what annotation buys."""

from __future__ import annotations

import argparse
import json
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
from groupcm.cli.options.spelling import in_options, name_options
from groupcm.errors import InputError
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments import annotation
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
from groupcm.experiments.areas import mean_interval
from groupcm.experiments.training import fit_with_others
from groupcm.simulate import FEATURE_NAMES, capsule, capsule_to_parquet


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
        ({"sizes": [6, 500]}, r"--sizes requires 500 annotated positive groups; there are 30, of"),
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
