"""A group without candidates is ordinary: no rows are scored, and such a group never alarms."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from model_kinds import NAMES, candidates
from sklearn.linear_model import LogisticRegression

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    metrics,
    save,
)
from groupcm.cli._main import main
from groupcm.data.tables.formats import open_table, write_table
from groupcm.errors import InputError
from groupcm.estimators.calibrators import Isotonic, Sigmoid
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.comparison.candidate_models import CandidateModel
from groupcm.sources import from_arrays, from_npy, from_parquet


@pytest.fixture(scope="module")
def data():
    X, y, groups = candidates()
    return pd.DataFrame(X, columns=NAMES), y, groups


@pytest.fixture(scope="module")
def three_classes(data):
    frame, y, groups = data
    return GroupClassifier().fit(frame, np.where(y == 1, 1 + groups // 2 % 2, 0), groups)


@pytest.fixture(scope="module")
def models(data, three_classes):
    frame, y, groups = data
    kinds = (
        GroupClassifier(),
        GroupClassifierCV(lams=[0.5], cv=2),
        MISVMClassifier(),
        GroupBoostingClassifier(n_estimators=3, early_stopping=False, random_state=0),
        CalibratedGroupClassifier(GroupClassifier(), cv=2),
        CalibratedGroupClassifier(LogisticRegression(), method="isotonic", cv=2),
        CandidateModel(LogisticRegression()),
    )
    return [kind.fit(frame, y, groups) for kind in kinds] + [three_classes]


NO_ROWS = {
    "array": lambda frame: frame.to_numpy()[:0],
    "csr": lambda frame: sp.csr_array(frame.to_numpy()[:0]),
    "pandas": lambda frame: frame[:0],
    "polars": lambda frame: pl.from_pandas(frame)[:0],
    "arrow": lambda frame: pa.Table.from_pandas(frame)[:0],
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("make", NO_ROWS.values(), ids=NO_ROWS)
def test_no_rows_have_no_scores(make, data, models):
    X = make(data[0])
    for model in models:
        k = () if len(model.classes_) == 2 else (3,)
        assert model.decision_function(X).shape == (0, *k)
        assert model.predict(X).shape == (0,)
        found = model.group_scores(X, [])
        assert found.group.shape == (0,)
        assert found.score.shape == found.winner.shape == (0, *k)
        assert model.predict_groups(X, []).shape == (0,)
        if hasattr(model, "predict_proba_groups"):
            assert model.predict_proba_groups(X, []).shape == (0, 2)
        all_empty = model.group_scores(X, [], all_groups=["a", "b"])
        assert np.all(all_empty.score == -np.inf)
        assert np.all(all_empty.winner == -1)


def test_a_source_without_rows_is_scored_and_not_trained_on(data, models, tmp_path):
    frame, y, groups = data
    table = pa.Table.from_pandas(frame).append_column("frame", pa.array(groups))
    pq.write_table(table.append_column("label", pa.array(y))[:0], tmp_path / "no.parquet")
    np.save(tmp_path / "no.npy", frame.to_numpy()[:0])
    keys = {"group": groups[:0], "label": y[:0]}
    for source in (
        from_parquet(tmp_path / "no.parquet", group="frame", label="label"),
        from_npy(tmp_path / "no.npy", **keys),
        from_arrays(frame.to_numpy()[:0], **keys),
    ):
        for model in (models[0], models[3], models[-1]):
            assert len(model.decision_function(source)) == 0
            assert len(model.group_scores(source).score) == 0
            assert model.group_scores(source, all_groups=[4]).winner.max() == -1
        with pytest.raises(InputError, match="has no rows; a fit needs some"):
            GroupClassifier().fit(source)


def test_a_share_of_nothing_is_refused(data, models):
    with pytest.raises(ValueError, match="there are no candidates"):
        models[0].score(data[0][:0], np.empty(0, int))


def test_all_groups_are_given_in_the_order_listed(data, models):
    frame, _, groups = data
    listed = [99, *np.unique(groups)[::-1], -5]
    for model in models[:-1]:
        found = model.group_scores(frame, groups, all_groups=listed)
        plain = model.group_scores(frame, groups)
        np.testing.assert_array_equal(found.group, listed)
        np.testing.assert_array_equal(found.score[1:-1], plain.score[::-1])
        np.testing.assert_array_equal(found.winner[1:-1], plain.winner[::-1])
        assert found.score[[0, -1]].tolist() == [-np.inf, -np.inf]
        assert found.winner[[0, -1]].tolist() == [-1, -1]
        labels = model.predict_groups(frame, groups, all_groups=listed)
        np.testing.assert_array_equal(labels[1:-1], model.predict_groups(frame, groups)[::-1])
        assert labels[0] == labels[-1] == model.classes_[0]
        if hasattr(model, "predict_proba_groups"):
            chance = model.predict_proba_groups(frame, groups, all_groups=listed)
            assert chance[[0, -1]].tolist() == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "named",
    [
        lambda ids: np.char.add("frame ", ids.astype(str)),
        lambda ids: ids.astype("datetime64[D]"),
        lambda ids: ids.astype(np.float32),
        lambda ids: ids.astype(object),
        pd.Series,
        pa.array,
    ],
    ids=["text", "dates", "floats", "objects", "pandas", "arrow"],
)
def test_groups_of_any_kind_are_listed(named, data, models):
    frame, _, groups = data
    found = models[0].group_scores(frame, named(groups), all_groups=named(np.arange(30)))
    assert np.count_nonzero(found.winner < 0) == 30 - len(np.unique(groups))
    np.testing.assert_array_equal(
        found.score[np.unique(groups)], models[0].group_scores(frame, groups).score
    )


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (np.arange(5), "the group 5 has candidates and is not in all_groups"),
        (list(map(str, range(30))), "the group 0 has candidates .* ids of the same type"),
        ([*range(30), 7], "lists the group 7 twice"),
        ([[1, 2]], "must be a list of group ids; got shape"),
        ([0.0, np.nan], "no id at position 1"),
    ],
)
def test_a_list_of_groups_that_does_not_fit_is_refused(listed, said, data, models):
    frame, _, groups = data
    for model in models:
        with pytest.raises(ValueError, match=said):
            model.group_scores(frame, groups, all_groups=listed)


def test_several_classes_have_a_class_for_groups_that_show_nothing(data, three_classes):
    frame, _, groups = data
    assert three_classes.background_.tolist() == [True, False, False]
    assert three_classes.predict_groups(frame[:0], [], all_groups=["a"]).tolist() == [0]
    each = GroupClassifier().fit(frame, groups % 3, groups)
    assert not each.background_.any()
    with pytest.raises(ValueError, match="the group a has no candidates"):
        each.predict_groups(frame[:0], [], all_groups=["a"])


def test_a_curve_has_no_probability_for_what_has_no_score():
    # A level curve, and one that never says less than 0.7: such a group is no alarm all the same.
    for curve in (Sigmoid(0.0, 3.0), Isotonic(np.array([0.0, 1.0]), np.array([0.7, 0.9]))):
        assert curve(np.array([-np.inf, 0.0]))[0] == 0.0
        assert curve(np.array([-np.inf, 0.0]))[1] > 0.5


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_a_table_without_rows_is_scored_and_not_trained_on(suffix, data, models, tmp_path, capsys):
    frame, y, groups = data
    save(models[0], tmp_path / "model.json")
    table = pa.Table.from_pandas(frame).append_column("frame", pa.array(groups))
    table = table.append_column("label", pa.array(y))[:0]
    source, scores = tmp_path / f"no{suffix}", tmp_path / f"scores{suffix}"
    write_table(table, source)
    columns = ["--group", "frame", "--label", "label"]
    assert main(["score", f"{tmp_path}/model.json", str(source), *columns, "-o", str(scores)]) == 0
    assert open_table(scores).n_rows == 0
    assert open_table(scores).schema.names[:3] == ["group", "score", "winner"]
    capsys.readouterr()
    for command in (
        ["fit", str(source), *columns, "-o", f"{tmp_path}/other.json"],
        ["evaluate", f"{tmp_path}/model.json", str(source), *columns],
    ):
        assert main(command) == 2
        assert "has no rows" in capsys.readouterr().err


# ---- metrics --------------------------------------------------------------------------------


def scores_with_empty_groups(seed):
    """Groups with ties among their scores; some of both classes have no candidates."""
    rng = np.random.default_rng(seed)
    positive = np.arange(60) % 3 == 0
    scores = (positive + rng.normal(size=60)).round(1)
    scores[rng.choice(60, 15, replace=False)] = -np.inf
    scores[[0, 1]] = -np.inf  # one of either class at least
    return positive, scores


@pytest.mark.parametrize("seed", range(5))
def test_metrics_count_a_group_without_candidates_as_what_it_is(seed):
    positive, scores = scores_with_empty_groups(seed)
    n_positive, n_negative = positive.sum(), (~positive).sum()
    pairs = scores[positive][:, None] - np.where(np.isinf(scores), -1e9, scores)[~positive]
    order = np.where(scores[positive][:, None] == scores[~positive], 0.5, pairs > 0)
    area = metrics.group_roc_auc(positive, scores)
    np.testing.assert_allclose(area, order.mean())

    curve = metrics.group_roc_curve(positive, scores)
    np.testing.assert_allclose(np.trapezoid(curve.tpr, curve.fpr), area)
    assert (curve.fpr[-1], curve.tpr[-1], curve.thresholds[-1]) == (1.0, 1.0, -np.inf)
    for fpr, tpr, threshold in zip(*curve, strict=True):
        if threshold > -np.inf:
            point = metrics.operating_point(positive, scores, threshold=threshold)
            assert (1 - point.specificity, point.sensitivity) == pytest.approx((fpr, tpr))

    most = np.isfinite(scores[positive]).mean()
    recall = metrics.group_precision_recall_curve(positive, scores)
    assert recall.recall[-1] == pytest.approx(most)
    assert np.isfinite(recall.thresholds[1:]).all()
    thresholds = np.unique(scores[np.isfinite(scores)])[::-1]
    tp = np.array([(scores[positive] >= t).sum() for t in thresholds])
    fp = np.array([(scores[~positive] >= t).sum() for t in thresholds])
    expected = np.sum(np.diff(tp, prepend=0) * tp / (tp + fp)) / n_positive
    assert metrics.group_average_precision(positive, scores) == pytest.approx(expected)
    for specificity in (0.0, 0.5, 0.9, 1.0):
        kept = tp[(n_negative - fp) / n_negative >= specificity].max(initial=0) / n_positive
        found = metrics.sensitivity_at_specificity(positive, scores, specificity=specificity)
        assert found == pytest.approx(kept)
        point = metrics.operating_point(positive, scores, specificity=specificity)
        assert point.sensitivity == pytest.approx(kept)
        assert point.threshold > -np.inf
    assert metrics.sensitivity_at_threshold(positive, scores, threshold=-np.inf) == most
    point = metrics.operating_point(positive, scores, sensitivity=most)
    assert point.sensitivity == most
    with pytest.raises(ValueError, match=r"no threshold reaches the sensitivity 1: \d+ of 20"):
        metrics.operating_point(positive, scores, sensitivity=1.0)


@pytest.mark.parametrize(
    "metric",
    [
        "group_roc_auc",
        "group_average_precision",
        partial(metrics.sensitivity_at_specificity, specificity=0.0),
        partial(metrics.sensitivity_at_threshold, threshold=-np.inf),
        partial(metrics.specificity_at_threshold, threshold=-np.inf),
    ],
    ids=["auc", "precision", "sensitivity", "sensitivity-at", "specificity-at"],
)
def test_resamples_count_groups_without_candidates_in_the_same_way(metric):
    positive, scores = scores_with_empty_groups(3)
    function = getattr(metrics, metric) if isinstance(metric, str) else metric
    slow = lambda y, s, groups=None: function(y, s, groups)  # noqa: E731  built row by row
    drawn, built = (
        metrics.bootstrap_interval(positive, scores, metric=each, n_resamples=50, random_state=1)
        for each in (metric, slow)
    )
    assert drawn == pytest.approx(built)


def test_objects_of_groups_without_candidates_are_missed():
    y, groups = [1, 0, 1, 0, 0], list("aabcd")
    scores = [2.0, 1.0, -np.inf, -np.inf, 3.0]
    curve = metrics.froc_curve(y, scores, groups)
    assert curve.sensitivity.tolist() == [0.0, 0.0, 0.5, 0.5]
    assert curve.false_alarms.tolist() == [0.0, 0.25, 0.25, 0.5]
    assert np.isfinite(curve.thresholds[1:]).all()
    # Another candidate finds the object of the group that has none.
    both = metrics.froc_curve(y, scores, groups, objects=[7, 0, 7, 0, 0])
    assert both.sensitivity[-1] == 1.0


def test_nothing_at_all_was_proposed():
    positive, scores = [True, False, False], np.full(3, -np.inf)
    assert metrics.group_roc_auc(positive, scores) == 0.5
    assert metrics.group_average_precision(positive, scores) == 0.0
    assert metrics.operating_point(positive, scores).threshold == np.inf
    assert metrics.operating_point(positive, scores, specificity=0.9).sensitivity == 0.0
    assert metrics.froc_curve(positive, scores, [1, 2, 3]).sensitivity.tolist() == [0.0]
    assert metrics.group_roc_curve(positive, scores).tpr.tolist() == [0.0, 1.0]


# ---- evaluations and commands ---------------------------------------------------------------


@pytest.fixture
def listed(data, models, tmp_path, monkeypatch):
    """Tables of candidates and of all groups, two of them without candidates; and a model."""
    monkeypatch.chdir(tmp_path)
    frame, y, groups = data
    names = np.array([f"frame {group}" for group in groups])
    columns = {name: frame[name].to_numpy() for name in NAMES}
    columns |= {"frame": names, "label": y, "who": groups // 4}
    write_table(pa.table(columns), "t.parquet")
    ids, first = np.unique(names, return_index=True)
    positive = [int(y[names == each].max()) for each in ids]
    everything = pa.table(
        {
            "frame": [*ids, "missed", "quiet"],
            "label": [*positive, 1, 0],
            "who": [*(groups[first] // 4).tolist(), 0, 99],
        }
    )
    write_table(everything, "all.csv")
    notes = {"columns": {"group": "frame", "label": "label"}}
    save(models[0], "m.json", notes=notes)
    save(models[4], "calibrated.json", notes=notes)
    return everything


@pytest.mark.filterwarnings("ignore::groupcm.metrics.clusters.FewClustersWarning")
def test_an_evaluation_counts_groups_without_candidates(data, models):
    frame, y, groups = data
    labels = {group: int(y[groups == group].max()) for group in np.unique(groups).tolist()}
    more = {**labels, 100: 1, 101: 0, 102: 0}
    for model in (models[0], models[3], models[4]):
        alone = evaluate(model, frame, y, groups, n_resamples=50)
        found = evaluate(model, frame, y, groups, n_resamples=50, all_groups=more)
        assert found.data.n_positive_groups == alone.data.n_positive_groups + 1
        assert found.data.n_negative_groups == alone.data.n_negative_groups + 2
        scores = model.group_scores(frame, groups, all_groups=list(more)).score
        truth = np.array(list(more.values()))
        assert found.group_roc.auc.estimate == metrics.group_roc_auc(truth, scores)
        assert found.decision.point.false_negatives == alone.decision.point.false_negatives + 1
        assert found.decision.point.true_negatives == alone.decision.point.true_negatives + 2
        assert found.froc.n_objects == alone.froc.n_objects + 1
        assert found.decision.point.objects_found == alone.decision.point.objects_found
        n_alone, n_found = len(labels), len(more)
        n_false = alone.decision.point.false_alarms * n_alone
        assert found.decision.point.false_alarms * n_found == pytest.approx(n_false)
        assert found.candidate_roc.auc.estimate == alone.candidate_roc.auc.estimate
        assert "3 groups have no candidates" in found.notes["Without candidates"]
        assert all(case.winner_row >= 0 for case in found.lowest_positives)
    patients = {"patients": groups // 4, "all_groups": more}
    with pytest.raises(ValueError, match="give both or neither"):
        evaluate(models[0], frame, y, groups, **patients)
    whose = {group: group // 4 for group in more}
    found = evaluate(models[0], frame, y, groups, **patients, all_patients=whose, n_resamples=50)
    assert found.data.n_patients == len(set(whose.values()))
    wrong = {group: 1 - label for group, label in more.items()}
    with pytest.raises(ValueError, match="the two need to agree"):
        evaluate(models[0], frame, y, groups, all_groups=wrong)


def test_localisation_counts_a_missing_winner_as_a_miss(data, models):
    frame, y, groups = data
    labels = {group: int(y[groups == group].max()) for group in np.unique(groups).tolist()}
    overlap = np.ones(len(y))  # whichever row wins, it overlaps the object
    found = evaluate(
        models[0], frame, y, groups, overlap=overlap, all_groups={**labels, 100: 1}, n_resamples=50
    ).localisation
    assert found.n_positive_groups == found.n_on_object + 1 == found.n_reachable + 1


def test_score_lists_all_groups(listed, capsys):
    arguments = ["t.parquet", "--label", "label", "--all-groups", "all.csv", "-o"]
    for suffix in (".parquet", ".csv", ".arrow"):
        assert main(["score", "calibrated.json", *arguments, f"s{suffix}"]) == 0
        scores = pa.Table.from_batches(
            list(
                open_table(Path(f"s{suffix}")).batches(["group", "score", "winner", "probability"])
            )
        )
        assert scores["group"].to_pylist() == listed["frame"].to_pylist()
        last = scores.slice(len(scores) - 2).to_pydict()
        assert last["score"] == [-np.inf, -np.inf]
        assert last["winner"] == [-1, -1]
        assert last["probability"] == [0.0, 0.0]
        area = metrics.group_roc_auc(listed["label"].to_pylist(), scores["score"].to_pylist())
        assert f"{area:.4f}" in capsys.readouterr().out


def test_evaluate_takes_all_groups_and_draws_them(listed, capsys):
    options = ["--all-groups", "all.csv", "--patient", "who", "--report", "r.html"]
    assert main(["evaluate", "m.json", "t.parquet", *options]) == 0
    assert re.search(rf"groups +{len(listed)}\b", capsys.readouterr().out)
    assert "2 groups have no candidates and never alarm" in Path("r.html").read_text()


def test_a_list_of_groups_with_mistakes_is_refused(listed, capsys):
    for change, said in (
        (listed.slice(1), "has candidates and is not in all_groups"),
        (pa.concat_tables([listed, listed.slice(0, 1)]), "all.csv lists the group 'frame 0' twice"),
        (listed.drop_columns("label"), "all.csv has no column 'label' for the label column"),
    ):
        write_table(change, "all.csv")
        for command in (
            ["score", "m.json", "t.parquet", "--label", "label", "-o", "s.csv"],
            ["evaluate", "m.json", "t.parquet"],
        ):
            assert main([*command, "--all-groups", "all.csv"]) == 2
            assert said in capsys.readouterr().err


@pytest.fixture
def named_labels(listed):
    """Write the same tables with other names of the labels than the model has."""
    names = np.array(["healthy", "cancer"])
    for file in ("t.parquet", "all.csv"):
        table = pa.Table.from_batches(list(open_table(Path(file)).batches(_names(file))))
        at = table.column_names.index("label")
        words = pa.array(names[table["label"].to_numpy()])
        write_table(table.set_column(at, "label", words), file)
    return listed


def _names(file):
    return open_table(Path(file)).schema.names


SCORE = ["score", "m.json", "t.parquet", "--label", "label", "-o", "s.csv"]
EVALUATE = ["evaluate", "m.json", "t.parquet"]


def _change(column, group, value):
    """Give one group of the list another value."""
    table = pd.read_csv("all.csv")
    table[column] = table[column].astype(object)
    table.loc[table["frame"] == group, column] = value
    table.to_csv("all.csv", index=False)


def test_the_labels_of_a_list_are_named_by_positive_too(named_labels, capsys):
    assert main([*SCORE, "--positive", "cancer", "--all-groups", "all.csv"]) == 0
    scores = pd.read_csv("s.csv")["score"]
    area = metrics.group_roc_auc(named_labels["label"].to_pylist(), scores)
    assert f"{area:.4f}" in capsys.readouterr().out
    assert main([*EVALUATE, "--positive", "cancer", "--all-groups", "all.csv"]) == 0
    assert f"{area:.4f}" in capsys.readouterr().out
    _change("label", "missed", "Cancer")
    for command in (SCORE, EVALUATE):
        assert main([*command, "--positive", "cancer", "--all-groups", "all.csv"]) == 2
        said = capsys.readouterr().err
        assert "--positive is for two labels" in said
        assert "'Cancer'" in said


def test_a_positive_label_may_occur_in_the_list_alone(named_labels, capsys):
    table = pd.read_parquet("t.parquet")
    table[table["label"] == "healthy"].to_parquet("t.parquet")
    frames = set(pd.read_parquet("t.parquet")["frame"])
    everything = pd.read_csv("all.csv")
    everything.loc[everything["frame"].isin(frames), "label"] = "healthy"
    everything.to_csv("all.csv", index=False)
    assert main([*SCORE, "--positive", "cancer", "--all-groups", "all.csv"]) == 0
    # Two groups have no candidates: the positive one is below the others, and ties with "quiet".
    assert re.search(rf"group AUC +{0.5 / 25:.4f}", capsys.readouterr().out)


def test_a_label_of_the_list_that_no_class_has_is_refused(listed, capsys):
    _change("label", "missed", 7)
    for command in (SCORE, EVALUATE):
        assert main([*command, "--all-groups", "all.csv"]) == 2
        said = capsys.readouterr().err
        assert "the group missed has the label 7 in the list of all groups" in said


def test_a_list_that_contradicts_the_candidates_is_refused(listed, capsys):
    label = dict(zip(listed["frame"].to_pylist(), listed["label"].to_pylist(), strict=True))
    for wrong, said in ((1, "is positive in the list"), (0, "is negative in the list")):
        group = next(each for each in label if label[each] != wrong)
        _change("label", group, wrong)
        for command in (SCORE, EVALUATE):
            assert main([*command, "--all-groups", "all.csv"]) == 2
            assert f"the group {group} {said}" in capsys.readouterr().err
        _change("label", group, label[group])
    _change("who", "frame 3", 98)
    assert main([*EVALUATE, "--patient", "who", "--all-groups", "all.csv"]) == 2
    said = capsys.readouterr().err
    assert "the group frame 3 has the patient 98 in the list of all groups, and 0 by its" in said


def test_a_list_of_three_classes_agrees_with_the_candidates(data, three_classes, listed, capsys):
    _, y, groups = data
    kinds = np.where(y == 1, 1 + groups // 2 % 2, 0)
    table = pd.read_parquet("t.parquet").assign(label=kinds)
    table.to_parquet("t.parquet")
    save(three_classes, "m.json", notes={"columns": {"group": "frame"}})
    everything = pd.read_csv("all.csv").set_index("frame")
    everything["label"] = table.groupby("frame")["label"].max().reindex(everything.index)
    everything.loc[["missed", "quiet"], "label"] = [2, 0]
    everything.astype({"label": int}).reset_index().to_csv("all.csv", index=False)
    assert main([*SCORE, "--all-groups", "all.csv"]) == 0
    assert "group AUC of 2" in capsys.readouterr().out
    positive = table.loc[table["label"] == 1, "frame"].iloc[0]
    for wrong in (0, 2):
        _change("label", positive, wrong)
        assert main([*SCORE, "--all-groups", "all.csv"]) == 2
        assert f"has the label {wrong} in the list of all groups, and" in capsys.readouterr().err


def test_the_help_names_the_columns_of_a_list_by_their_options(capsys):
    for command, said in (
        ("score", "the column of --group and, if given, that of --label: a group"),
        ("evaluate", "the columns of --group and --label, and those of --patient and --level if"),
    ):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert said in " ".join(capsys.readouterr().out.split())
