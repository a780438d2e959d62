"""From labelled candidates to the terms of the objective, spelled out by hand."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spelled_terms import spelled

from groupcm.data.groups import index_groups
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.terms import NO_ORDER, Groups, Terms

repeatable = settings(derandomize=True, deadline=None, max_examples=80)

# ---- terms by hand --------------------------------------------------------------------------

# row               0    1    2    3    4    5    6    7    8    9    10
GROUP = np.array(["a", "a", "b", "b", "c", "c", "c", "d", "e", "e", "e"])
POSITIVE = np.array([0, 4, 5, 8, 9])
OVERLAP = np.array([0.4, 0.0, 0.0, 0.0, 0.6, 0.9, 0.0, 0.0, 0.2, 0.2, 0.0])
LAM = 0.6

# What is left of λ = 0.6 for each term; "picky" is an overlap of 0.3 or more, which "e" has not.
POSITIVE_TERMS = {
    ("negative", "blind"): {(0,): 0.2, (4,): 0.1, (5,): 0.1, (8,): 0.1, (9,): 0.1},
    ("negative", "annotated"): {(0,): 0.2, (5,): 0.2, (8,): 0.2},
    ("negative", "picky"): {(0,): 0.3, (5,): 0.3},
    ("both", "blind"): {(0,): 0.2, (4, 5): 0.2, (8, 9): 0.2},
    ("both", "annotated"): {(0,): 0.2, (4, 5): 0.2, (8, 9): 0.2},
    ("both", "picky"): {(0,): 0.3, (4, 5): 0.3},
    ("none", "blind"): {(0,): 0.12, (4,): 0.12, (5,): 0.12, (8,): 0.12, (9,): 0.12},
    ("none", "annotated"): {(0,): 0.2, (5,): 0.2, (8,): 0.2},
    ("none", "picky"): {(0,): 0.3, (5,): 0.3},
}
GROUPED = {(2, 3): 0.3, (7,): 0.3}
GROUPED_WITH_BACKGROUND = {(2, 3): 0.12, (7,): 0.12, (1,): 0.12, (6,): 0.12, (10,): 0.12}
GROUPED_WITHOUT_E = {(2, 3): 0.15, (7,): 0.15, (1,): 0.15, (6,): 0.15}
SINGLE = {(2,): 0.2, (3,): 0.2, (7,): 0.2}
SINGLE_WITH_BACKGROUND = {(2,): 0.1, (3,): 0.1, (7,): 0.1, (1,): 0.1, (6,): 0.1, (10,): 0.1}
SINGLE_WITHOUT_E = {(2,): 0.12, (3,): 0.12, (7,): 0.12, (1,): 0.12, (6,): 0.12}
NEGATIVE_TERMS = {
    ("grouped", "ignore", "whole"): GROUPED,
    ("grouped", "ignore", "picky"): GROUPED,
    ("grouped", "negative", "whole"): GROUPED_WITH_BACKGROUND,
    ("grouped", "negative", "picky"): GROUPED_WITHOUT_E,
    ("single", "ignore", "whole"): SINGLE,
    ("single", "ignore", "picky"): SINGLE,
    ("single", "negative", "whole"): SINGLE_WITH_BACKGROUND,
    ("single", "negative", "picky"): SINGLE_WITHOUT_E,
}
# Where each row of the example goes; groups torn apart, equal overlaps still in their order.
STAY = np.arange(11)
SCATTER = np.array([7, 2, 10, 0, 4, 9, 1, 5, 3, 6, 8])


def moved(terms: dict[tuple[int, ...], float], to) -> dict:
    rows_to = {tuple(sorted(to[list(rows)].tolist())): weight for rows, weight in terms.items()}
    return {rows: pytest.approx(weight) for rows, weight in rows_to.items()}


def terms_of_example(to=STAY, **options) -> list[Terms]:
    group, overlap = np.empty_like(GROUP), np.empty_like(OVERLAP)
    group[to], overlap[to] = GROUP, OVERLAP
    if not options.pop("annotated", False):
        overlap = None
    return binary_terms(
        len(GROUP),
        np.sort(to[POSITIVE]),
        Groups.from_index(index_groups(group)),
        costs=options.pop("costs", Costs(LAM)),
        overlap=overlap,
        **options,
    )


@pytest.mark.parametrize("to", [STAY, SCATTER], ids=["together", "scattered"])
@pytest.mark.parametrize("annotation", ["blind", "annotated", "picky"])
@pytest.mark.parametrize("background", ["ignore", "negative"])
@pytest.mark.parametrize("grouping", ["negative", "both", "none"])
def test_terms_are_those_written_by_hand(grouping, background, annotation, to):
    options = {"grouping": grouping, "background": background, "annotated": annotation != "blind"}
    picky = annotation == "picky"
    if picky:
        with pytest.warns(UserWarning, match="1 of 3 positive groups are left out"):
            terms = terms_of_example(to, min_overlap=0.3, **options)
    else:
        terms = terms_of_example(to, **options)
    assert spelled(terms, 1) == moved(POSITIVE_TERMS[grouping, annotation], to)
    expected = NEGATIVE_TERMS[
        "single" if grouping == "none" else "grouped", background, "picky" if picky else "whole"
    ]
    assert spelled(terms, -1) == moved(expected, to)
    assert [part.sign for part in terms] == sorted((part.sign for part in terms), reverse=True)


def test_without_groups_every_row_is_its_own():
    terms = binary_terms(6, np.array([4, 1]), None, costs=Costs(LAM))
    assert spelled(terms, 1) == {(1,): pytest.approx(0.3), (4,): pytest.approx(0.3)}
    assert spelled(terms, -1) == {(row,): pytest.approx(0.15) for row in (0, 2, 3, 5)}
    assert all(part.alone for part in terms)


def test_without_groups_a_row_that_fits_badly_is_left_out():
    overlap = np.array([0.0, 0.5, 0.0, 0.2])
    rows = np.array([1, 3])
    with pytest.warns(UserWarning, match="1 of 2 positive groups are left out"):
        terms = binary_terms(4, rows, None, costs=Costs(LAM), overlap=overlap, min_overlap=0.4)
    assert spelled(terms, 1) == {(1,): pytest.approx(0.6)}
    assert spelled(terms, -1) == {(0,): pytest.approx(0.3), (2,): pytest.approx(0.3)}


def test_an_overlap_equal_to_the_smallest_allowed_is_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        terms = terms_of_example(annotated=True, min_overlap=0.2)
    assert set(spelled(terms, 1)) == {(0,), (5,), (8,)}


def test_groups_of_one_are_terms_that_count_alone():
    groups = Groups.from_index(index_groups(np.arange(4)))
    terms = binary_terms(4, np.array([2]), groups, costs=Costs(LAM))
    assert [part.alone for part in terms] == [True, True]
    assert spelled(terms, -1) == {(row,): pytest.approx(0.2) for row in (0, 1, 3)}


def test_with_c_every_group_weighs_c():
    terms = terms_of_example(costs=Costs(0.5, C=7.0), background="negative")
    assert set(spelled(terms, -1).values()) == {7.0}
    assert spelled(terms, 1) == {(0,): 7.0, (4,): 3.5, (5,): 3.5, (8,): 3.5, (9,): 3.5}
    single = terms_of_example(costs=Costs(0.5, C=7.0), grouping="none")
    assert {*spelled(single, 1).values(), *spelled(single, -1).values()} == {7.0}


def test_costs():
    assert Costs(0.6).rho(4) == pytest.approx(0.1)
    assert Costs(0.6).of_weights(3, 6) == pytest.approx((0.2, 0.1))
    assert Costs(0.6, C=7.0).rho(4) == 1.0
    assert Costs(0.6, C=7.0).of_weights(3, 6) == (7.0, 7.0)
    # None keeps the total of 2λ; a dict multiplies.
    assert Costs(0.6, factors=(1.0, 1.0)).of_weights(3, 9) == pytest.approx((0.1, 0.1))
    assert Costs(0.6, factors=(5.0, 2.0)).of_weights(3, 9) == pytest.approx((0.5, 0.2))
    assert Costs(0.6, C=7.0, factors=(5.0, 2.0)).of_weights(3, 9) == (35.0, 14.0)


@repeatable
@given(seed=st.integers(0, 10**6), shuffled=st.booleans())
def test_backgrounds_are_those_of_a_loop(seed, shuffled):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    group = rng.permutation(group) if shuffled else group
    positive = np.sort(rng.choice(len(group), int(rng.integers(1, len(group) // 2)), False))
    expected = set()
    for g in range(12):
        rows = np.flatnonzero(group == g)
        negative = np.setdiff1d(rows, positive)
        if len(negative):
            expected.add(tuple(negative.tolist()))
    groups = Groups.from_index(index_groups(group))
    if expected:
        options = {"costs": Costs(LAM), "background": "negative"}
        terms = binary_terms(len(group), positive, groups, **options)
        weight = pytest.approx(LAM / len(expected))
        assert spelled(terms, -1) == dict.fromkeys(expected, weight)


# ---- groups ---------------------------------------------------------------------------------


@repeatable
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.booleans())
def test_groups_hold_their_rows_in_order(ids, together):
    ids = np.array(sorted(ids) if together else ids)
    groups = Groups.from_index(index_groups(ids))
    names = list(dict.fromkeys(ids.tolist()))
    rows_of = [np.flatnonzero(ids == name).tolist() for name in names]
    assert len(groups) == len(names)
    for number, rows in enumerate(rows_of):
        assert groups.rows_of(np.array([number])).tolist() == rows
        assert groups.of_rows(np.array(rows)).tolist() == [number] * len(rows)
    backwards = np.arange(len(names))[::-1]
    assert groups.sizes(backwards).tolist() == [len(rows_of[g]) for g in backwards]
    assert groups.rows_of(backwards).tolist() == [row for g in backwards for row in rows_of[g]]


def test_rows_that_stand_together_are_left_where_they_are():
    assert len(Groups.from_index(index_groups([3, 3, 1, 2, 2])).order) == 0
    assert len(Groups.from_index(index_groups([3, 1, 3])).order) == 3


@pytest.mark.parametrize(
    ("ids", "appear", "codes"),
    [
        ([5], [5], [0]),
        ([9, 9, 4, 1], [9, 4, 1], [0, 0, 1, 2]),
        ([1, 2, 3, 1], [1, 2, 3], [0, 1, 2, 0]),
        ([True, False, True], [True, False], [0, 1, 0]),
        (["b", "", "b"], ["b", ""], [0, 1, 0]),
        ([0.5, -0.0, 0.0], [0.5, 0.0], [0, 1, 1]),
    ],
)
def test_group_numbers_at_the_corners(ids, appear, codes):
    index = index_groups(ids)
    assert index.ids.tolist() == appear
    assert index.codes.tolist() == codes


def test_a_change_of_group_at_a_seam_between_threads_is_seen():
    """Long columns are compared piecewise; with groups of one every seam is a change."""
    n = 2_000_003
    for ids in (np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32) // 1_000):
        index = index_groups(ids)
        assert index.n_groups == ids[-1] + 1
        np.testing.assert_array_equal(index.run_starts, np.unique(ids, return_index=True)[1])


# ---- terms ----------------------------------------------------------------------------------


@st.composite
def any_terms(draw):
    """Ranges with and without gaps, with and without an order, weights one or many."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    gaps = draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    stop = np.cumsum(np.add(sizes, gaps))
    start = stop - sizes
    alone = draw(st.booleans())
    n_rows = sum(sizes)
    n_terms = n_rows if alone else len(sizes)
    weight = draw(st.sampled_from([0.5, np.arange(1.0, n_terms + 1)]))
    ordered = draw(st.booleans())
    order = np.random.default_rng(n_rows).permutation(stop[-1]) if ordered else NO_ORDER
    terms = Terms(-1, start, stop, order, weight, alone)
    positions = [p for lo, hi in zip(start, stop, strict=True) for p in range(lo, hi)]
    return terms, (order[positions] if ordered else np.array(positions))


@repeatable
@given(any_terms(), st.integers(1, 9))
def test_row_chunks_cover_every_row_once(case, size):
    terms, rows = case
    chunks = list(terms.row_chunks(size))
    covered = []
    for among, numbers in chunks:
        assert 0 < among.stop - among.start <= size
        assert among.start == len(covered)
        found = np.r_[numbers]
        assert isinstance(numbers, slice) == bool(np.all(np.diff(found) == 1))
        covered.extend(found)
        assert len(covered) == among.stop
    assert covered == rows.tolist()


def test_row_chunks_join_neighbours():
    start, stop = np.array([0, 2, 5, 9]), np.array([2, 5, 7, 12])
    terms = Terms(-1, start, stop, NO_ORDER, 1.0, alone=True)
    chunks = [rows for _, rows in terms.row_chunks(7)]
    assert chunks == [slice(0, 7), slice(9, 12)]
    across = [rows for _, rows in terms.row_chunks(8)]
    np.testing.assert_array_equal(across[0], [0, 1, 2, 3, 4, 5, 6, 9])
    assert across[1:] == [slice(10, 12)]


@repeatable
@given(any_terms())
def test_rows_are_counted_through_all_terms(case):
    terms, rows = case
    assert terms.n_rows == len(rows)
    assert len(terms) == (len(rows) if terms.alone else len(terms.start))
    chosen = np.random.default_rng(0).permutation(len(rows))
    assert terms.rows(chosen).tolist() == rows[chosen].tolist()


@repeatable
@given(any_terms(), st.randoms(use_true_random=False))
def test_a_subset_has_the_chosen_terms_and_the_same_total(case, random):
    terms, rows = case
    chosen = np.array(sorted(random.sample(range(len(terms)), random.randint(1, len(terms)))))
    subset = terms.subset(chosen)
    ends = np.cumsum(terms.stop - terms.start)
    members = [[row] for row in rows.tolist()] if terms.alone else np.split(rows, ends[:-1])
    expected = list(itertools.chain.from_iterable(members[k] for k in chosen))
    assert (len(subset), subset.alone, subset.sign) == (len(chosen), terms.alone, terms.sign)
    assert subset.rows(np.arange(subset.n_rows)).tolist() == expected
    raised = len(terms) / len(chosen)
    np.testing.assert_allclose(subset.weight, terms.weight_of(chosen) * raised)
    if isinstance(terms.weight, float):
        assert subset.weight * len(subset) == pytest.approx(terms.weight * len(terms))
