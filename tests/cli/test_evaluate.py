"""``groupcm evaluate`` as a user meets it."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import capsule_table
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from report_pages import Reader

from groupcm import (
    CalibratedGroupClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    metrics,
    simulate,
)
from groupcm.cli import build_parser
from groupcm.cli.commands import evaluate as command
from groupcm.cli.options.spelling import in_options, name_options
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation import evaluation_document, table_evaluation
from groupcm.evaluation.results import Evaluation
from groupcm.persistence.model_file import save
from groupcm.sources import tables as reading

COLUMNS = {"group": "frame", "label": "polyp", "overlap": "fit", "patient": "who"}


def make(seed: int) -> simulate.Capsule:
    return simulate.capsule(60, n_positive=20, n_polyps=15, n_patients=50, group_size=30, seed=seed)


@pytest.fixture(scope="module")
def train():
    return make(0)


@pytest.fixture(scope="module")
def test():
    return make(1)


def as_table(made: simulate.Capsule, **changed) -> pa.Table:
    thing = pa.array(made.polyp, mask=made.polyp < 0)
    return capsule_table.as_table(made, **{"thing": thing, **changed})


def fitted(model, train: simulate.Capsule):
    model.fit(train.X, train.y, groups=train.groups)
    for part in (model, getattr(model, "estimator_", model)):
        part.feature_names_in_ = np.array(train.feature_names, dtype=object)
    return model


@pytest.fixture(scope="module")
def model(train):
    return fitted(GroupClassifier(0.9), train)


@pytest.fixture
def folder(tmp_path, monkeypatch, train, test, model):
    """The current folder: a model, and tables of other patients in many row groups."""
    monkeypatch.chdir(tmp_path)
    save(model, "m.json", notes={"columns": COLUMNS})
    for name, made in (("train", train), ("val", make(2)), ("test", test)):
        pq.write_table(as_table(made), f"{name}.parquet", row_group_size=90)
    return tmp_path


@pytest.fixture
def seen(monkeypatch) -> list[Evaluation]:
    """The evaluations that the command makes words of."""
    found: list[Evaluation] = []
    words = command.evaluation_rows

    def listen(evaluation):
        found.append(evaluation)
        return words(evaluation)

    monkeypatch.setattr(command, "evaluation_rows", listen)
    # Two thousand resamples prove no more here than forty.
    quick = table_evaluation.evaluate_scored
    monkeypatch.setattr(
        table_evaluation, "evaluate_scored", lambda *a, **k: quick(*a, **k, n_resamples=40)
    )
    return found


NOTHING: dict[str, Any] = vars(build_parser("evaluate").parse_args(["evaluate", "m.json", "t.csv"]))


def evaluate(*tables: str, model: str = "m.json", **options) -> int:
    given = {**NOTHING, "model": model, "tables": list(tables) or ["test.parquet"], **options}
    return command.run(argparse.Namespace(**given))


def scores(model, data: simulate.Capsule) -> np.ndarray:
    return data.X @ model.coef_[0] + model.intercept_[0]


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_numbers_are_printed(folder, seen, model, test, capsys):
    assert evaluate(object="thing") == 0
    (found,) = seen
    score = scores(model, test)
    auc = metrics.group_roc_auc(test.y, score, test.groups)
    assert found.group_roc.auc.estimate == pytest.approx(auc)
    shown = capsys.readouterr()
    rows = dict(re.findall(r"^  (\S.*?)  +(.*)$", shown.out, flags=re.MULTILINE))
    assert rows["groups"] == "80, of them 20 positive"
    assert rows["patients"] == str(len(np.unique(test.patient)))
    assert rows["group AUC"].startswith(f"{auc:.4f} (95 % CI ")
    assert rows["candidate AUC"].startswith(f"{metrics.candidate_roc_auc(test.y, score):.4f}")
    point = metrics.operating_point(test.y, score, test.groups, threshold=0.0)
    assert f"; {point.true_positives} of 20 positive groups found" in rows["sensitivity"]
    assert f"; {point.false_positives} of 60 negative groups alarm" in rows["specificity"]
    n_objects = len(np.unique(test.polyp[test.y == 1]))
    assert rows["objects found"].endswith(f" of {n_objects}")
    assert "Wrote" not in shown.out
    assert "scoring" in shown.err


def test_the_winner_on_the_object(folder, seen, model, test, capsys):
    write_table(as_table(test), "test.csv")
    index = metrics.index_groups(test.groups)
    winner, positive = index.winners(scores(model, test)), index.maxima(test.y == 1)
    n_on, n_all = int((test.overlap[winner[positive]] >= 0.3).sum()), int(positive.sum())
    assert 0 < n_on < n_all
    for table in ("test.parquet", "test.csv"):  # as in training: the column fit
        evaluate(table)
        assert f"; {n_on} of {n_all} positive groups, with an overlap of 0.3" in read_out(capsys)
    evaluate(overlap="contrast", least_overlap=1e6)
    assert f"; 0 of {n_all} positive groups" in read_out(capsys)
    write_table(as_table(test).drop_columns(["fit"]), "no_fit.parquet")
    evaluate("no_fit.parquet")
    assert "winner on the object" not in read_out(capsys)
    with pytest.raises(InputError, match=r"no_fit.parquet has no column 'fit' for the overlap"):
        evaluate("no_fit.parquet", overlap="fit")
    with pytest.raises(InputError, match="overlap column 'frame' holds text; use numbers"):
        evaluate(overlap="frame")
    with pytest.raises(InputError, match=r"^least_overlap is 0; it must be above 0"):
        evaluate(least_overlap=0.0)


def read_out(capsys) -> str:
    return capsys.readouterr().out


def test_streamed_is_as_in_memory(folder, seen, test, monkeypatch):
    read = reading.read_tables

    def refuse(*_, **__):
        raise AssertionError("read into memory")

    monkeypatch.setattr(reading, "read_tables", refuse)
    evaluate(object="thing")
    monkeypatch.setattr(reading, "read_tables", read)
    write_table(as_table(test), "test.csv")
    evaluate("test.csv", object="thing")
    streamed, memory = seen
    np.testing.assert_allclose(streamed.group_roc.auc, memory.group_roc.auc, atol=1e-12)
    assert streamed.candidate_roc is not None
    assert memory.candidate_roc is not None
    np.testing.assert_allclose(streamed.candidate_roc.auc, memory.candidate_roc.auc, atol=1e-12)
    assert streamed.decision == memory.decision
    assert streamed.froc is not None
    assert memory.froc is not None
    assert streamed.froc.n_objects == memory.froc.n_objects == streamed.data.n_objects
    assert streamed.decision.point == memory.decision.point
    assert streamed.froc.object_word == "thing"
    assert [w.feature for w in streamed.weights] == [w.feature for w in memory.weights]
    for mine, theirs in zip(streamed.highest_negatives, memory.highest_negatives, strict=True):
        assert (mine.group, mine.patient, mine.winner_row) == (
            theirs.group,
            theirs.patient,
            theirs.winner_row,
        )
        assert mine.group.startswith("frame ")
        assert str(mine.patient).startswith("P")


def test_report(folder, seen):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    before = left(folder)
    assert evaluate(object="thing", title="My <frames>", report="r.html") == 0
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "My &lt;frames&gt;" in page
    assert "<svg" in page
    assert left(folder) == before | {"r.html", "r_figures"}


@pytest.mark.parametrize("extra", ["validation", "train"])
def test_the_report_replaces_no_input(folder, seen, extra):
    pytest.importorskip("matplotlib")
    options: dict[str, Any] = {"report": "val.parquet", extra: ["val.parquet"]}
    with pytest.raises(InputError, match=r"val\.parquet: end its name in \.html"):
        evaluate(**options)
    with pytest.raises(InputError, match=r"m\.json: end its name in \.html"):
        evaluate(report="m.json")
    assert seen == []


def test_a_missing_extra_is_said_first(folder, seen, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError, match="groupcm\\[report\\]"):
        evaluate("no-such.parquet", report="r.html")


def test_the_threshold_comes_from_validation_tables(folder, seen, model):
    evaluate(validation=["val.parquet"], specificity=0.9)
    other = make(2)
    chosen = choose_threshold(other.y, scores(model, other), other.groups, specificity=0.9)
    decision = seen[0].decision
    assert decision.point.threshold == pytest.approx(chosen.value)
    assert decision.chosen == "chosen for a specificity of 0.9 on 80 groups of val.parquet"
    assert not decision.is_chosen_here


def test_the_threshold_is_given_noted_or_chosen_here(folder, seen, model, capsys):
    note = {"threshold": 0.4, "chosen": "for a specificity of 0.9 on groups left out"}
    save(model, "noted.json", notes={"columns": COLUMNS, "operating_point": note})
    evaluate(model="noted.json")
    evaluate(model="noted.json", threshold=0.7)
    evaluate(model="noted.json", sensitivity=0.8)
    noted, given, here = (found.decision for found in seen)
    assert (noted.point.threshold, noted.chosen) == (0.4, note["chosen"])
    assert (given.point.threshold, given.chosen) == (0.7, "given")
    assert here.is_chosen_here
    assert here.point.sensitivity >= 0.8
    assert capsys.readouterr().out.count("so these results are optimistic") == 1


def test_learning_curve(folder, seen, test, train, capsys, monkeypatch):
    monkeypatch.setattr("groupcm.evaluation._learning_curve._N_SIZES", 3)
    evaluate(train=["train.parquet"])
    learning = seen[0].learning
    assert learning is not None
    assert list(learning.sizes) == [10, 24, 60]
    same = GroupClassifier(0.9).fit(train.X, train.y, train.groups, train.overlap)
    auc = metrics.group_roc_auc(test.y, same.decision_function(test.X), test.groups)
    last = learning.lines[0].auc[-1]
    assert last is not None
    assert last.estimate == pytest.approx(auc, abs=2e-3)
    trained_on = seen[0].training.trained_on
    assert trained_on is not None
    assert (trained_on.name, trained_on.n_negative_groups) == ("train.parquet", 60)
    assert "fit 5 of 5: 60 negative groups" in capsys.readouterr().err


def test_a_learning_curve_names_the_option_that_the_model_was_fitted_with(folder, train):
    strict = fitted(GroupClassifier(0.9, min_overlap=2.0), train)
    save(strict, "strict.json", notes={"columns": COLUMNS})
    with pytest.raises(InputError) as told:
        evaluate(model="strict.json", train=["train.parquet"])
    name_options(build_parser().parse_args(["evaluate", "strict.json", "t.parquet"]).parser)
    option = "--min-overlap 2 of groupcm fit; lower --min-overlap of groupcm fit."
    assert in_options(told.value).endswith(option)


def test_learning_curve_of_tables_in_memory_and_beyond_it(folder, seen, train, monkeypatch):
    monkeypatch.setattr("groupcm.evaluation._learning_curve._N_SIZES", 3)
    write_table(as_table(train), "train.csv")
    evaluate(train=["train.csv"])
    evaluate(train=["train.parquet"])
    monkeypatch.setattr("groupcm.evaluation.table_evaluation._MOST_BYTES", len(train) * 13 * 4 // 4)
    evaluate(train=["train.parquet"])
    memory, streamed, beyond = (found.learning for found in seen)
    assert memory is not None
    assert streamed is not None
    assert beyond is not None
    assert list(beyond.sizes) == [10, 60]  # a quarter of the groups fit, and all are streamed
    for mine, theirs in zip(memory.lines[0].auc, streamed.lines[0].auc, strict=True):
        assert mine is not None
        assert theirs is not None
        assert mine.estimate == pytest.approx(theirs.estimate, abs=2e-3)


def test_what_training_noted_is_told(folder, seen, model):
    noted = {"name": "all", "n_candidates": 9, "n_positive_groups": 2, "n_negative_groups": 3}
    save(model, "n.json", notes={"columns": COLUMNS, "trained_on": noted})
    evaluate(model="n.json")
    trained_on = seen[0].training.trained_on
    assert trained_on is not None
    assert (trained_on.name, trained_on.n_negative_groups) == ("all", 3)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MISVMClassifier(0.9), "MI-SVM"),
        (GroupClassifierCV([0.5, 0.9], cv=3), "GCM, λ chosen by folds"),
        (CalibratedGroupClassifier(GroupClassifier(0.9), cv=3), "GCM, calibrated"),
    ],
)
def test_every_saved_model(folder, seen, train, kind, name):
    save(fitted(kind, train), "k.json", notes={"columns": COLUMNS})
    assert evaluate(model="k.json") == 0
    assert seen[0].training.model == name
    assert {w.feature for w in seen[0].weights} == set(train.feature_names)


def test_columns_by_other_names(folder, seen, test):
    names = {"frame": "f", "polyp": "p", "who": "w", "contrast": "c"}
    table = as_table(test)
    write_table(table.rename_columns([names.get(n, n) for n in table.column_names]), "o.parquet")
    features = ["c", *test.feature_names[1:]]
    evaluate("o.parquet", group="f", label="p", patient="w", features=features)
    evaluate()
    other, same = seen
    assert other.group_roc.auc == same.group_roc.auc
    assert {w.feature for w in other.weights} == set(features)


def test_features_in_one_column_of_lists(folder, seen, test, model):
    listed = pa.FixedSizeListArray.from_arrays(pa.array(test.X.ravel()), 13)
    table = as_table(test).select(["frame", "polyp", "who", "thing"]).append_column("x", listed)
    write_table(table, "lists.parquet")
    evaluate()
    evaluate("lists.parquet", features=["x"], object="thing")
    model.feature_names_in_ = np.array([f"x[{j}]" for j in range(13)], dtype=object)
    save(model, "lists.json", notes={"columns": COLUMNS})
    model.feature_names_in_ = np.array(test.feature_names, dtype=object)
    evaluate("lists.parquet", model="lists.json")
    assert len({found.group_roc.auc.estimate for found in seen}) == 1


def test_a_patient_column_of_training_is_not_needed(folder, seen, test):
    write_table(as_table(test).drop_columns(["who"]), "nobody.parquet")
    evaluate("nobody.parquet")
    assert seen[0].data.n_patients is None
    with pytest.raises(InputError, match="'who' for the patient column"):
        evaluate("nobody.parquet", patient="who")


def test_objects_as_text_with_gaps(folder, seen, test):
    text = [f"polyp {p}" if p >= 0 else "" for p in test.polyp]
    write_table(as_table(test, thing=text), "text.csv")
    write_table(as_table(test, thing=pa.array(text).dictionary_encode()), "text.parquet")
    for table in ("text.csv", "text.parquet", "test.parquet"):
        evaluate(table, object="thing")
    assert len({found.data.n_objects for found in seen}) == 1
    at = int(np.flatnonzero(test.y)[3])
    text[at] = ""
    write_table(as_table(test, thing=text), "gap.csv")
    with pytest.raises(InputError, match=rf"gap.csv: row {at} .* is positive and its object"):
        evaluate("gap.csv", object="thing")


def two_patients(test):
    who = np.array([f"P{p}" for p in test.patient], dtype=object)
    who[5] = "other"
    return {"who": who.tolist()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"polyp": np.zeros(len(t), np.int8)}, "every group of bad.* is negative by .*'"),
        (lambda t: {"polyp": np.ones(len(t), np.int8)}, "every group of bad.* is positive by"),
        (
            lambda t: {"polyp": t.y * 3},
            "'polyp' of bad.* holds 3, which is not .*classes are 0 and 1",
        ),
        (two_patients, "frame 0 belongs to two patients, P\\d+ and other"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_bad_values(folder, seen, test, change, message, kind):
    write_table(as_table(test, **change(test)), f"bad.{kind}")
    before = left(folder)
    with pytest.raises(InputError, match=message) as raised:
        evaluate(f"bad.{kind}", report="r.html")
    assert "\n" not in str(raised.value)
    assert left(folder) == before


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_bad_tables(folder, seen, test, kind):
    table = as_table(test)
    write_table(table.drop_columns(["size", "redness"]), f"lacks.{kind}")
    with pytest.raises(
        InputError, match=rf"lacks.{kind} lacks 2 of the 13 features .*: \w+, \w+; "
    ) as raised:
        evaluate(f"lacks.{kind}")
    assert "size" in str(raised.value)
    assert "redness" in str(raised.value)
    write_table(table.slice(0, 0), f"empty.{kind}")
    with pytest.raises(InputError, match="has no rows"):
        evaluate(f"empty.{kind}")
    with pytest.raises(InputError, match="'nothing' for the object column"):
        evaluate(object="nothing")
    with pytest.raises(InputError, match=r"2 features are named, and m\.json was trained with 13"):
        evaluate(features=["size", "redness"])
    assert seen == []


def test_bad_options(folder, seen, model):
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"threshold": 1.0, "specificity": 0.9}, "threshold and specificity are both"),
        ({"specificity": 1.5}, "specificity is 1.5; it is a share"),
        ({"threshold": 1.0, "validation": ["val.parquet"]}, "validation chooses"),
        ({"tables": ["no.parquet"]}, "no.parquet does not exist"),
        ({"report": "m.json/r.html"}, "m.json is not a folder"),
        ({"report": "r.pdf"}, r"cannot write r\.pdf: end its name in \.html"),
    ]
    for options, message in wrong:
        with pytest.raises(InputError, match=message):
            evaluate(**options)
    save(model, "bare.json")
    with pytest.raises(InputError, match=r"bare\.json does not record which column is the group"):
        evaluate(model="bare.json")


def test_more_than_two_classes(folder, train):
    y = train.y.astype(int)
    y[train.groups % 3 == 0] *= 2
    model = GroupClassifier().fit(train.X, y, train.groups)
    save(model, "three.json", notes={"columns": COLUMNS})
    with pytest.raises(InputError, match="has 3 classes; an evaluation needs a model of two"):
        evaluate(model="three.json")


def test_a_single_positive_group(folder, seen, test, capsys):
    others = np.unique(test.groups[test.y == 1])[1:]
    write_table(as_table(test).filter(pa.array(~np.isin(test.groups, others))), "one.parquet")
    assert evaluate("one.parquet") == 0
    shown = capsys.readouterr()
    assert "(interval not known)" in shown.out
    said = [line for line in shown.err.splitlines() if "bounds are NaN" in line]
    assert said
    assert len(said) == len(set(said))


def test_what_the_terminal_warns_of_is_in_the_report(folder, seen, model, capsys):
    save(model, "few.json", notes={"columns": COLUMNS})
    evaluate(model="few.json")
    counts = seen[0].data
    noted = {
        "name": counts.name,
        "n_candidates": counts.n_candidates,
        "n_positive_groups": counts.n_positive_groups,
        "n_negative_groups": counts.n_negative_groups,
        "n_patients": counts.n_patients,
    }
    save(model, "known.json", notes={"columns": COLUMNS, "trained_on": noted})
    capsys.readouterr()
    evaluate(model="known.json", report="known.html")
    told = capsys.readouterr().err
    assert "on groups that it has seen, every metric is optimistic" in told
    page = Path("known.html").read_text(encoding="utf-8")
    assert page.count("every metric is optimistic") == 1
    assert any("optimistic" in caution for caution in seen[1].cautions)


def test_all_numbers_are_written_as_json(folder, seen, capsys):
    before = left(folder)
    evaluate("test.parquet", json="numbers.json")
    assert "Wrote numbers.json." in read_out(capsys)
    written = json.loads((folder / "numbers.json").read_text())
    assert written == evaluation_document(replace(seen[-1], cautions=written["cautions"]))
    files = {each["name"]: each for each in written["computation"]["files"]}
    digest = hashlib.sha256((folder / "test.parquet").read_bytes()).hexdigest()
    assert files["test.parquet"]["sha256"] == digest
    assert "m.json" in files
    with pytest.raises(InputError, match=r"is the model; write the numbers to another file"):
        evaluate("test.parquet", json="m.json")
    assert left(folder) == before | {"numbers.json"}


@pytest.mark.parametrize(("unit", "many"), [("frame", "frames"), ("query/queries", "queries")])
def test_the_user_s_word_for_a_group(folder, seen, capsys, unit, many):
    evaluate("test.parquet", unit=unit, specificity=0.9, report="r.html")
    printed = read_out(capsys)
    assert f"positive {many} found" in printed
    assert not re.search(r"\bgroups?\b", printed)
    text = Reader((folder / "r.html").read_text(encoding="utf-8")).text
    assert f"positive {many}" in text
    assert re.findall(r".{30}\bgroups?\b.{20}", text, re.IGNORECASE) == []


@pytest.mark.parametrize("unit", ["", "  ", "x" * 61])
def test_a_word_for_a_group_is_short(capsys, unit):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["evaluate", "m.json", "t.csv", "--unit", unit])
    assert "is not a word for a group" in capsys.readouterr().err
