"""Pairs of models: one scores the group, the other locates the object."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier, GroupClassifierCV, fit_tables, load, save
from groupcm.cli import main
from groupcm.errors import InputError, ParameterError
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.place import fit_place, place_model, place_rows, place_scores, set_place
from groupcm.evaluation import evaluate
from groupcm.evaluation.table_scores import score_tables
from groupcm.report.model_card import model_card
from groupcm.simulate import capsule_to_parquet


@pytest.fixture(scope="module")
def data():
    """Groups that differ in feature 0 of all candidates, and a place that feature 1 shows.

    A candidate of each negative group has a large feature 1, too: it does not help the score.
    """
    rng = np.random.default_rng(0)
    n_groups, size = 60, 8
    groups = np.repeat(np.arange(n_groups), size)
    positive = np.arange(n_groups) % 2 == 1
    y = np.zeros(n_groups * size, dtype=int)
    X = rng.normal(size=(len(y), 3))
    for group in np.flatnonzero(positive):
        rows = slice(group * size, (group + 1) * size)
        y[group * size + rng.integers(size)] = 1
        X[rows, 0] += 3
    X[y == 1, 1] += 6
    X[np.flatnonzero(~positive) * size, 1] += 12
    overlap = np.where(y == 1, 0.8, 0.1 * rng.random(len(y)))
    return X, y, groups, overlap


@pytest.fixture(scope="module")
def pair(data):
    model = GroupClassifier(0.01).fit(*data)
    return fit_place(model, GroupClassifier(0.01), *data)


def slow_rows(y, groups):
    rows, marks = [], {}
    for row, (label, group) in enumerate(zip(y, groups, strict=True)):
        if any(each == 1 for each, other in zip(y, groups, strict=True) if other == group):
            rows.append(row)
            marks.setdefault((group, label), []).append(row)
    return rows, sorted(marks.values())


def test_the_rows_of_a_place_model_are_those_of_positive_groups_in_two_parts(data):
    _, y, groups, _ = data
    shuffled = np.random.default_rng(1).permutation(len(y))
    y, groups = y[shuffled], groups[shuffled]
    rows, marks = place_rows(np.array([0, 1]), y, groups)
    wanted_rows, wanted_marks = slow_rows(y.tolist(), groups.tolist())
    assert rows.tolist() == wanted_rows
    found = [rows[marks == each].tolist() for each in np.unique(marks)]
    assert sorted(found) == wanted_marks


def test_all_groups_take_part_on_request_and_unannotated_ones_never():
    classes, y, groups = (
        np.array(["no", "yes"]),
        np.array(["yes", "no", "no", "yes", "no"]),
        "aabcc",
    )
    rows, marks = place_rows(classes, y, list(groups), among="all")
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert len(set(marks.tolist())) == 5
    rows, _ = place_rows(classes, y, list(groups), [True, True, True, False, False])
    assert rows.tolist() == [0, 1]


def test_the_pair_scores_by_one_model_and_locates_by_the_other(data, pair):
    X, y, groups, overlap = data
    alone = GroupClassifier(0.01).fit(*data)
    assert np.array_equal(pair.decision_function(X), alone.decision_function(X))
    two = [evaluate(each, X, y, groups, overlap=overlap, n_resamples=20) for each in (alone, pair)]
    assert two[0].group_roc.auc == two[1].group_roc.auc
    without, with_place = (each.localisation.share.estimate for each in two)
    assert with_place > 0.9 > 0.6 > without
    located = place_scores(pair, X).reshape(-1, 8).argmax(axis=1)[1::2]
    hits = overlap.reshape(-1, 8)[1::2][np.arange(30), located] >= 0.3
    assert with_place == hits.mean()


def test_fitting_again_removes_the_place_model(data, pair, tmp_path):
    save(pair, tmp_path / "pair.json")
    again = load(tmp_path / "pair.json").fit(*data)
    assert place_model(again) is None


def test_one_file_has_both_models_to_the_last_bit(data, pair, tmp_path):
    save(pair, tmp_path / "pair.json")
    loaded = load(tmp_path / "pair.json")
    assert np.array_equal(place_scores(loaded, data[0]), place_scores(pair, data[0]))
    assert model_card(loaded).place == "GroupClassifier"
    assert "a second model chooses the candidate" in model_card(loaded).text()
    assert model_card(GroupClassifier(0.1).fit(*data)).place is None


def test_a_file_whose_place_model_has_other_features_is_refused(data, pair, tmp_path):
    X, y, groups, overlap = data
    broken = GroupClassifier(0.01).fit(*data)
    broken.place_ = GroupClassifier(0.01).fit(X[:, :2], y, groups, overlap)
    with pytest.raises(InputError, match="place_"):
        save(broken, tmp_path / "broken.json")


def test_a_calibrated_model_has_the_place_model_of_its_estimator(data):
    fitted = GroupClassifierCV(lams=[0.01], cv=2).fit(*data)
    fit_place(fitted, GroupClassifierCV(lams=[0.01], cv=2), *data)
    calibrated = CalibratedGroupClassifier.of_held_out(fitted)
    assert place_model(calibrated) is fitted.place_


def test_folds_of_the_place_model_split_no_group(data):
    class Recording(GroupClassifier):
        def fit(self, X, y, groups=None, overlap=None, patients=None):
            self.seen_ = groups, patients
            return super().fit(X, y, groups, overlap)

    model, place = GroupClassifier(0.01).fit(*data), Recording(0.01)
    fit_place(model, place, *data)
    groups, patients = place.seen_
    assert np.array_equal(groups // 2, patients)
    fit_place(model, place, *data, patients=data[2] // 4)
    assert np.array_equal(place.seen_[0] // 8, place.seen_[1])


def test_mistakes_get_one_sentence(data, pair):
    X, y, groups, overlap = data
    model = GroupClassifier(0.01).fit(*data)
    with pytest.raises(ParameterError, match="among is 'none'; it must be one of 'positive', 'all"):
        fit_place(model, GroupClassifier(), *data, among="none")
    with pytest.raises(ParameterError, match="every candidate of the positive groups is positive"):
        fit_place(model, GroupClassifier(), X, y, np.arange(len(y)))
    with pytest.raises(ParameterError, match="trained with 2 features, and the model with 3"):
        set_place(model, GroupClassifier(0.01).fit(X[:, :2], y, groups, overlap))
    with pytest.raises(ParameterError, match="is the model itself"):
        set_place(model, model)
    with pytest.raises(ParameterError, match="has the classes"):
        set_place(model, GroupClassifier(0.01).fit(X, y + 1, groups, overlap))
    three = GroupClassifier(0.1).fit(X, np.arange(len(y)) % 3, groups)
    with pytest.raises(ParameterError, match="two classes"):
        set_place(three, pair)
    with pytest.raises(TypeError, match="got a str"):
        set_place(model, "trees")
    assert set_place(pair, pair.place_) is pair
    assert place_model(set_place(model, None)) is None


def test_tables_are_fitted_scored_and_located(tmp_path):
    path = tmp_path / "frames.parquet"
    capsule_to_parquet(path, 40, n_positive=30, n_patients=30, group_size=10)
    columns = {"group": "frame", "label": "label", "overlap": "overlap", "patient": "patient"}
    model, place = (GroupClassifierCV(lams=[0.1], cv=2) for _ in range(2))
    fit = fit_tables(model, path, **columns, exclude=["polyp"], place=place)
    assert place.feature_names_in_.tolist() == fit.model.feature_names_in_.tolist()
    table = score_tables(fit.model, path, group="frame").table
    assert table.column_names[:4] == ["group", "score", "winner", "located"]
    rows = fit.candidates
    scores = place_scores(fit.trained, rows.X)
    codes = rows.group_index.codes
    for number, located in enumerate(table["located"].to_pylist()[:10]):
        mine = np.flatnonzero(codes == number)
        assert located == mine[np.argmax(scores[mine])]


def test_the_command_fits_both_models_into_one_file(tmp_path, capsys):
    path, output = tmp_path / "frames.parquet", tmp_path / "model.json"
    capsule_to_parquet(path, 40, n_positive=30, n_patients=30, group_size=10)
    columns = ["--group", "frame", "--label", "label", "--overlap", "overlap", "--exclude", "polyp"]
    command = ["fit", str(path), *columns, "--patient", "patient", "-o", str(output)]
    assert main([*command, "--place", "linear"]) == 0
    assert main(["describe", str(output)]) == 0
    assert "a second model chooses the candidate of a group (GroupClassifierCV)" in " ".join(
        capsys.readouterr().out.split()
    )
    assert place_model(load(output)) is not None
    assert main(command) == 0
    assert place_model(load(output)) is None
