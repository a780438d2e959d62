"""Folds never split a group or a patient, and every part has both classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneGroupOut, StratifiedKFold

from groupcm.data.folds import group_folds, group_level, require_partition, resolve_folds


@st.composite
def candidates(draw):
    """Rows in any order, of groups of patients, with at least two patients of each class."""
    n_patients = draw(st.integers(4, 12))
    patient_of_group, positive_group = [], []
    for patient in range(n_patients):
        some = draw(st.lists(st.booleans(), min_size=0, max_size=4))
        some.append(patient % 2 == 0)
        patient_of_group += [patient] * len(some)
        positive_group += some
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    size = np.resize(sizes, len(patient_of_group))
    groups = np.repeat(np.arange(len(size)), size)
    first = np.r_[True, groups[1:] != groups[:-1]]
    y = np.where(first & np.array(positive_group)[groups], 1, 0)
    order = np.random.default_rng(draw(st.integers(0, 999))).permutation(len(groups))
    return y[order], groups[order], np.array(patient_of_group)[groups][order]


def classes_of_groups(y, groups):
    return {bool(y[groups == group].any()) for group in set(groups)}


@settings(deadline=None, max_examples=60)
@given(candidates(), st.integers(2, 6), st.booleans())
def test_folds_split_no_group_and_no_patient(made, n_splits, with_patients):
    y, groups, patients = made
    clusters = patients if with_patients else groups
    has = [
        len({c for c, g in zip(clusters, groups, strict=True) if y[groups == g].any() == positive})
        for positive in (True, False)
    ]
    given_patients = patients if with_patients else None
    if min(has) < n_splits:
        with pytest.raises(ValueError, match=f"use cv={min(has)} or fewer"):
            group_folds(y, groups, given_patients, n_splits=n_splits)
        n_splits = min(has)
    folds = group_folds(y, groups, given_patients, n_splits=n_splits)
    assert len(folds) == n_splits
    require_partition(folds, len(y))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(y)))
        assert train.dtype == test.dtype == np.int64
        assert np.all(np.diff(train) > 0)
        assert np.all(np.diff(test) > 0)
        assert not set(clusters[train]) & set(clusters[test])
        assert not set(groups[train]) & set(groups[test])
        for rows in (train, test):
            assert classes_of_groups(y[rows], groups[rows]) == {True, False}


def test_every_fold_has_its_share_of_both_classes():
    groups = np.repeat(np.arange(103), 3)
    y = ((groups < 23) & (np.arange(len(groups)) % 3 == 1)).astype(int)
    for _, test in group_folds(y, groups, n_splits=5):
        n_positive = len(set(groups[test][y[test] == 1]))
        assert n_positive in (4, 5)
        assert len(set(groups[test])) - n_positive in (16, 17)


def test_shares_are_kept_with_patients():
    rng = np.random.default_rng(0)
    patients = rng.integers(0, 60, 2000)
    y = (rng.random(2000) < 0.2).astype(int)
    for _, test in group_folds(y, None, patients):
        assert abs(y[test].sum() / y.sum() - 0.2) < 0.03
        assert abs(len(test) / len(y) - 0.2) < 0.03


def test_one_patient_with_most_positives_leaves_some_for_every_fold():
    patients = np.concatenate([np.zeros(1000, int), np.repeat(np.arange(1, 10), 50)])
    y = np.zeros(len(patients), int)
    y[:1000] = 1
    y[[1000, 1050, 1100, 1150]] = 1
    for seed in range(20):
        for _, test in group_folds(y, None, patients, n_splits=5, random_state=seed):
            assert set(y[test]) == {0, 1}


def test_the_seed_decides():
    y, groups = np.arange(60) % 3 == 0, np.arange(60)
    tests = [
        [test.tolist() for _, test in group_folds(y, groups, random_state=seed)]
        for seed in (0, 0, 1)
    ]
    assert tests[0] == tests[1] != tests[2]
    patients = groups // 3
    again = [
        [test.tolist() for _, test in group_folds(y, groups, patients, random_state=seed)]
        for seed in (0, 0, 1)
    ]
    assert again[0] == again[1] != again[2]


def test_a_patient_may_have_groups_of_both_classes():
    y = [0, 1, 0, 1]
    folds = group_folds(y, ["a", "b", "c", "d"], [1, 1, 2, 2], n_splits=2)
    assert sorted(test.tolist() for _, test in folds) == [[0, 1], [2, 3]]


def test_ids_and_labels_of_any_kind():
    y = pd.Series(["normal", "polyp"] * 4)
    groups = pd.Series(list("aabbccdd"))
    table = group_level(
        y, groups, pd.Series(["p", "p", "p", "p", "q", "q", "q", "q"]), pos_label="polyp"
    )
    assert table.positive.tolist() == [True] * 4
    assert table.patient.tolist() == [0, 0, 1, 1]
    assert table.patient_ids is not None
    assert table.patient_ids.tolist() == ["p", "q"]
    assert group_level(y, pos_label="normal").patient.tolist() == list(range(8))


@pytest.mark.parametrize(
    ("y", "groups", "patients", "n_splits", "message"),
    [
        ([0, 1, 0, 0], [1, 1, 2, 3], None, 2, "there is 1 positive group, fewer than the 2 folds"),
        ([1, 1, 0, 0], [1, 2, 1, 3], None, 2, "1 negative group, .* folds need at least 2"),
        ([1, 1, 0, 0, 0], [1, 2, 3, 4, 5], None, 3, "are 2 positive groups, .*use cv=2 or fewer"),
        ([1, 1, 0, 0], [1, 2, 3, 4], [7, 7, 8, 9], 2, "positive groups come from 1 patient, "),
        ([1, 0], ["a", "b"], None, 1, "cv must be a whole number of folds, at least 2; got 1"),
        ([1, 0], ["a", "b"], None, 2.5, "got 2.5"),
        ([1, 1], ["a", "b"], None, 2, r"one class only \(1\)"),
        ([0, 1, 2], ["a", "b", "c"], None, 2, "Only binary .* y has 3 classes"),
        ([0, 1], ["a", "a"], ["p", "q"], 2, r"group a belongs to two patients, p and q \(row 1\)"),
        ([0, 1], ["a"], None, 2, "y has 2 rows but groups has 1"),
        ([0, 1], ["a", "b"], ["p"], 2, "y has 2 rows but patients has 1"),
        ([0, 1], ["a", None], None, 2, "groups has no id at row 1"),
        ([0, np.nan], ["a", "b"], None, 2, r"y has no label \(NaN\) at row 1"),
    ],
)
def test_what_is_wrong_is_said(y, groups, patients, n_splits, message):
    with pytest.raises(ValueError, match=message):
        group_folds(y, groups, patients, n_splits=n_splits)


Y = np.array([0, 1, 0, 0, 0, 1, 0, 0])
GROUPS = np.array(list("aabbccdd"))
PATIENTS = np.array([1, 1, 1, 1, 2, 2, 2, 2])


def test_given_folds_come_back_in_order():
    (fold,) = resolve_folds([([3, 2, 1], [5, 4])], Y)
    assert [rows.tolist() for rows in fold] == [[1, 2, 3], [4, 5]]
    (masks,) = resolve_folds([(np.arange(8) < 4, np.arange(8) >= 4)], Y)
    assert [rows.tolist() for rows in masks] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_number_is_group_folds():
    y = (np.arange(40) % 4 == 0).astype(int)
    ours = resolve_folds(3, y, random_state=5)
    theirs = group_folds(y, None, n_splits=3, random_state=5)
    assert [test.tolist() for _, test in ours] == [test.tolist() for _, test in theirs]


def test_a_splitter_that_knows_no_groups_will_do_where_rows_are_groups():
    folds = resolve_folds(StratifiedKFold(2), Y)
    assert [Y[test].tolist() for _, test in folds] == [[0, 1, 0, 0], [0, 1, 0, 0]]


def test_splitters_get_the_patients_or_else_the_groups():
    by_patient = resolve_folds(LeaveOneGroupOut(), Y, GROUPS, PATIENTS)
    assert [test.tolist() for _, test in by_patient] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for train, test in resolve_folds(LeaveOneGroupOut(), Y, GROUPS, both_classes_in_test=False):
        assert len(test) == 2
        assert not set(GROUPS[train]) & set(GROUPS[test])


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")
@pytest.mark.parametrize(
    ("cv", "patients", "message"),
    [
        (
            KFold(4, shuffle=True, random_state=0),
            None,
            "fold 0 of cv has group . in its training and its test part",
        ),
        (
            [([0, 1, 2, 3], [4, 5, 6, 7]), ([0, 1, 2, 6], [3, 4])],
            None,
            "fold 1 of cv has group b in",
        ),
        ([([0, 1], [2, 3])], PATIENTS, "has patient 1 in its training .*; a patient must be on"),
        ([([0, 1], [2, 8])], None, "test part of fold 0 has row 8; rows are 0 to 7"),
        ([([-1, 1], [2, 3])], None, "training part of fold 0 has row -1"),
        ([([0, 1], [])], None, "test part of fold 0 must hold row numbers, at least one"),
        ([([0.5, 1], [2])], None, "must hold row numbers"),
        ([[0, 1, 2]], None, "fold 0 of cv is not a pair"),
        ([7], None, "fold 0 of cv is not a pair"),
        ([], None, "cv gave no folds"),
        ("five", None, "cv must be a number of folds, a splitter .* got 'five'"),
        (None, None, "got None"),
        (True, None, "got True"),
    ],
)
def test_bad_folds_are_named(cv, patients, message):
    with pytest.raises(ValueError, match=message):
        resolve_folds(cv, Y, GROUPS, patients)


def test_a_part_of_one_class_is_refused():
    y = np.array([0, 1, 0, 1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="training part of fold 0 has only negative groups"):
        resolve_folds([([4, 5, 6, 7], [0, 1, 2, 3])], y, GROUPS, both_classes_in_test=False)
    cut = [([0, 1, 4, 5], [6, 7])]
    with pytest.raises(ValueError, match="test part of fold 0 has only negative groups"):
        resolve_folds(cut, y, GROUPS)
    assert resolve_folds(cut, y, GROUPS, both_classes_in_test=False)[0][1].tolist() == [6, 7]


def test_rows_must_be_tested_once():
    with pytest.raises(ValueError, match="cv tests row 1 in 2 folds"):
        require_partition([(np.array([2]), np.array([0, 1])), (np.array([0]), np.array([1]))], 3)
