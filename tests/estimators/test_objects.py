"""Positive groups with several objects: whose candidates count, with which weight."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import GroupProblem, Term
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from spelled_terms import spelled

from groupcm import GroupClassifier, GroupClassifierCV, sources
from groupcm.data.groups import index_groups
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.terms import Groups
from groupcm.simulate import capsule

repeatable = settings(derandomize=True, deadline=None, max_examples=60)

# row               0    1    2    3    4    5    6    7    8    9    10
GROUP = np.array(["a", "a", "a", "a", "b", "b", "b", "c", "c", "d", "d"])
POSITIVE = np.array([0, 1, 2, 4, 5, 6])
OBJECT = np.array([7, 8, 7, -1, 7, 7, 3, -1, -1, -1, -1])
OVERLAP = np.array([0.5, 0.2, 0.9, 0.0, 0.4, 0.4, 0.1, 0, 0, 0, 0])
NEGATIVE = {(7, 8): pytest.approx(0.3), (9, 10): pytest.approx(0.3)}


def terms_with(overlap=None, objects=OBJECT, **options):
    groups = Groups.from_index(index_groups(GROUP))
    costs = options.pop("costs", Costs(0.6))
    return binary_terms(
        len(GROUP), POSITIVE, groups, costs=costs, overlap=overlap, objects=objects, **options
    )


def near(terms):
    return {rows: pytest.approx(weight) for rows, weight in terms.items()}


def test_each_object_counts_by_its_best_candidate():
    terms = terms_with(OVERLAP)
    assert spelled(terms, 1) == near({(2,): 0.15, (1,): 0.15, (4,): 0.15, (6,): 0.15})
    assert spelled(terms, -1) == NEGATIVE


def test_without_overlap_the_candidates_of_an_object_share_its_weight():
    shares = {(0,): 0.075, (2,): 0.075, (1,): 0.15, (4,): 0.075, (5,): 0.075, (6,): 0.15}
    assert spelled(terms_with(), 1) == near(shares)


def test_an_object_that_nothing_fits_leaves_its_weight_to_the_others():
    terms = terms_with(OVERLAP, min_overlap=0.2)  # only object 3 of b is below
    assert spelled(terms, 1) == near({(2,): 0.15, (1,): 0.15, (4,): 0.3})


def test_a_group_none_of_whose_objects_fits_is_left_out():
    with pytest.warns(UserWarning, match="1 of 2 positive groups are left out"):
        terms = terms_with(OVERLAP, min_overlap=0.45)
    assert spelled(terms, 1) == near({(2,): 0.6})
    assert spelled(terms, -1) == NEGATIVE


def test_with_c_the_objects_of_a_group_share_c():
    terms = terms_with(OVERLAP, costs=Costs(0.5, C=7.0))
    assert spelled(terms, 1) == {(2,): 3.5, (1,): 3.5, (4,): 3.5, (6,): 3.5}


@repeatable
@given(seed=st.integers(0, 10**6), with_overlap=st.booleans())
def test_the_weights_of_a_group_sum_to_that_of_a_group(seed, with_overlap):
    rng = np.random.default_rng(seed)
    group = rng.integers(8, size=60)
    positive = np.flatnonzero((group < 5) & (rng.random(60) < 0.6))
    overlap = rng.random(60) if with_overlap else None
    groups = Groups.from_index(index_groups(group))
    options = {"costs": Costs(0.7), "overlap": overlap, "objects": rng.integers(3, size=60)}
    options["min_overlap"] = 0.4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        terms = binary_terms(60, positive, groups, **options)
    weight = np.zeros(8)
    for rows, c in spelled(terms, 1).items():
        weight[group[rows[0]]] += c
    taking_part = weight > 0
    np.testing.assert_allclose(weight[taking_part], 0.7 / taking_part.sum())


def several(seed=0, n_groups=20, size=6):
    """Positive groups show two objects, each in two of their candidates."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = ((groups % 3 == 0) & (np.tile(np.arange(size), n_groups) < 4)).astype(int)
    objects = np.tile(np.array([0, 0, 1, 1, 9, 9]), n_groups)
    X = rng.normal(size=(len(groups), 3)) + y[:, None]
    overlap = np.where(y == 1, rng.random(len(y)), 0.0)
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order], overlap[order], objects[order]


def same(one, other):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-9)
    bounds = [(each.objective_, each.lower_bound_) for each in (one, other)]
    np.testing.assert_allclose(*bounds, rtol=1e-9)


@pytest.mark.parametrize("with_overlap", [True, False])
def test_one_object_a_group_is_no_objects(with_overlap):
    X, y, groups, overlap, _ = several()
    overlap = overlap if with_overlap else None
    plain = GroupClassifier(0.8, random_state=0).fit(X, y, groups, overlap)
    for objects in (np.zeros(len(y)), groups, np.array([f"{g} object 1" for g in groups])):
        told = GroupClassifier(0.8, random_state=0).fit(X, y, groups, overlap, objects=objects)
        same(told, plain)


@pytest.mark.parametrize("with_overlap", [True, False])
def test_the_names_of_objects_do_not_matter(with_overlap):
    X, y, groups, overlap, objects = several(1)
    overlap = overlap if with_overlap else None
    by_number = GroupClassifier(0.8, random_state=0).fit(X, y, groups, overlap, objects=objects)
    names = np.array(
        [f"{o}" if g % 2 else f"{9 - o}" for g, o in zip(groups, objects, strict=True)]
    )
    # Names of other candidates than positive ones are not looked at, nor need they be there.
    names = names.astype(object)
    names[y == 0] = None
    by_name = GroupClassifier(0.8, random_state=0).fit(X, y, groups, overlap, objects=names)
    by_column = GroupClassifier(0.8, random_state=0).fit(
        X, y, groups, overlap, objects=pd.Series(names, dtype="string")
    )
    same(by_name, by_number)
    same(by_column, by_number)


@pytest.mark.parametrize("with_overlap", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_an_independent_solver(seed, with_overlap):
    X, y, groups, overlap, objects = several(seed, n_groups=12)
    given_overlap = overlap if with_overlap else None
    model = GroupClassifier(0.8, tol=1e-7).fit(X, y, groups, given_overlap, objects=objects)
    problem = GroupProblem(X, y, groups, overlap, positive_label=1, lam=0.8)
    c = 0.8 / 4
    problem.terms = [term for term in problem.terms if term.sign < 0]
    for g in (0, 3, 6, 9):
        for o in (0, 1):
            rows = np.flatnonzero((groups == g) & (objects == o) & (y == 1))
            best = [rows[np.argmax(overlap[rows])]] if with_overlap else rows
            problem.terms += [Term(c / 2 / len(best), 1, (int(row),)) for row in best]
    best = problem.solve()
    assert model.objective_ == pytest.approx(best.value, rel=1e-6)
    assert model.objective_ == pytest.approx(problem.objective_of(model.coef_, model.intercept_))


@pytest.mark.parametrize("grouping", ["both", "none"])
def test_other_groupings_are_refused(grouping):
    X, y, groups, overlap, objects = several()
    with pytest.raises(ValueError, match=f'objects needs grouping="negative".*{grouping}'):
        GroupClassifier(grouping=grouping).fit(X, y, groups, overlap, objects=objects)


def test_a_positive_candidate_needs_an_object():
    X, y, groups, overlap, objects = several()
    row = np.flatnonzero(y == 1)[5]
    missing = objects.astype(float)
    missing[[row, np.flatnonzero(y == 0)[0]]] = np.nan
    with pytest.raises(ValueError, match=f"objects has no id at row {row};"):
        GroupClassifier().fit(X, y, groups, overlap, objects=missing)


@pytest.mark.parametrize(
    ("objects", "sentence"),
    [
        (np.zeros(7), r"X has 120 rows but objects has 7"),
        (np.zeros((120, 2)), r"objects must be one id per candidate, got shape \(120, 2\)"),
    ],
)
def test_wrong_shapes(objects, sentence):
    X, y, groups, overlap, _ = several()
    with pytest.raises(ValueError, match=sentence):
        GroupClassifier().fit(X, y, groups, overlap, objects=objects)


def test_a_source_takes_them_as_an_array(tmp_path):
    made = capsule(40, n_positive=12, group_size=10, seed=1)
    objects = np.arange(len(made.y)) % 2
    np.save(tmp_path / "X.npy", made.X)
    source = sources.from_npy(
        tmp_path / "X.npy", group=made.groups, label=made.y, overlap=made.overlap
    )
    read = GroupClassifier(0.8, random_state=0).fit(source, objects=objects)
    held = GroupClassifier(0.8, random_state=0).fit(
        made.X, made.y, made.groups, made.overlap, objects=objects
    )
    assert read.objective_ == pytest.approx(held.objective_, rel=1e-4)
    with pytest.raises(ValueError, match="objects needs one value per candidate in memory"):
        GroupClassifier().fit(source, objects="object")


def test_lam_by_folds_knows_objects():
    X, y, groups, overlap, objects = several(2, n_groups=45)
    chosen = GroupClassifierCV([0.3, 0.9], cv=3, tol=1e-7).fit(
        X, y, groups, overlap, objects=objects
    )
    alone = GroupClassifier(chosen.lam_, tol=1e-7).fit(X, y, groups, overlap, objects=objects)
    without = GroupClassifier(chosen.lam_, tol=1e-7).fit(X, y, groups, overlap)
    assert chosen.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    assert chosen.objective_ != pytest.approx(without.objective_, rel=1e-4)


def test_routing_carries_objects_and_annotation():
    X, y, groups, overlap, objects = several(3, n_groups=30)
    seen = []

    class Watching(GroupClassifier):
        def fit(self, X, y=None, groups=None, overlap=None, annotated=None, objects=None):
            seen.append((groups, annotated, objects))
            return super().fit(X, y, groups, overlap, annotated, objects)

    annotated = groups % 6 != 0
    with sklearn.config_context(enable_metadata_routing=True):
        model = Pipeline([("scale", StandardScaler()), ("model", Watching())])
        scores = cross_val_score(
            model,
            X,
            y,
            cv=GroupKFold(4),
            params={
                "groups": groups,
                "overlap": overlap,
                "annotated": annotated,
                "objects": objects,
            },
        )
    assert len(scores) == len(seen) == 4
    for fold_groups, fold_annotated, fold_objects in seen:
        np.testing.assert_array_equal(fold_annotated, fold_groups % 6 != 0)
        assert set(fold_objects) == {0, 1, 9}
