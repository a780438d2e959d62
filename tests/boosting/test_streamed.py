"""Trees on candidates that do not fit into memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import groupcm
from groupcm import GroupBoostingClassifier, sources
from groupcm.boosting.forest import Forest
from groupcm.boosting.kept_rows import (
    KeptRows,
    Quota,
    Sizes,
    Watched,
    look_for_rows,
    rows_per_group,
)
from groupcm.boosting.power_loss import Groupwise, PowerLoss
from groupcm.boosting.scorer import score_in_thread
from groupcm.errors import InputError, TreesWarning
from groupcm.kernels.selection import row_keys, select_candidates
from groupcm.metrics import group_roc_auc
from groupcm.objective.terms import NO_ORDER, Groups, Terms
from groupcm.simulate import capsule, capsule_to_parquet
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.screening import TermRows

pytest.importorskip("lightgbm")
# So little that most rows must be read again.
LITTLE = "700kB"
SIZES = Sizes(PowerLoss(), 0.1)


def few_trees(**parameters: Any) -> GroupBoostingClassifier:
    given = {"n_estimators": 25, "early_stopping": False, "n_jobs": 1, "n_annealed": 10}
    return GroupBoostingClassifier(**{**given, "memory": LITTLE, **parameters})


@pytest.fixture(scope="module")
def data():
    return capsule(200, n_positive=60, group_size=100, seed=1)


@pytest.fixture(scope="module")
def unseen():
    return capsule(120, n_positive=50, group_size=30, seed=2)


@pytest.fixture
def as_file(tmp_path):
    """Write candidates to a memory-mapped file, so that they are streamed."""

    def write(data: Any, batch_rows: int | None = None, **keys: Any) -> Any:
        np.save(tmp_path / "X.npy", data.X)
        given = {"group": data.groups, "label": data.y, "overlap": data.overlap, **keys}
        return sources.from_npy(tmp_path / "X.npy", batch_rows=batch_rows, **given)

    return write


def fitted(model: GroupBoostingClassifier, *arguments: Any) -> GroupBoostingClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)  # new winners of the last pass
        return model.fit(*arguments)


def auc(model: Any, on: Any) -> float:
    return group_roc_auc(on.y, model.decision_function(on.X), on.groups)


def test_they_rank_groups_as_trees_on_all_rows_do(data, unseen, as_file):
    whole = few_trees(memory=None).fit(data.X, data.y, data.groups, data.overlap)
    streamed = fitted(few_trees(), as_file(data))
    assert whole.n_passes_ == 0
    assert streamed.n_passes_ >= 2
    assert auc(streamed, unseen) > auc(whole, unseen) - 0.02
    assert streamed.new_winners_ < 0.2 * 200


def test_with_memory_for_all_rows_they_are_the_same_trees(data, as_file, monkeypatch):
    # All rows take part, so that LightGBM's bins are the same.
    whole = few_trees(memory=None, background="negative").fit(data.X, data.y, data.groups)
    monkeypatch.setattr("groupcm.estimators.training.input._ALL_ROWS", 0.0)
    streamed = few_trees(memory="1GB", background="negative").fit(as_file(data, overlap=None))
    assert streamed.n_passes_ == 2
    assert streamed.new_winners_ == 0
    scores = whole.decision_function(data.X)
    np.testing.assert_allclose(streamed.decision_function(data.X), scores, atol=1e-6)


def test_the_trees_do_not_depend_on_the_units_of_the_file(data, as_file):
    # A group that crosses from one unit to the next is one group. The sample is of whole units.
    forest = fitted(few_trees(), as_file(data)).forests_[0]
    found = [kept_of(as_file(data, batch_rows), data, forest) for batch_rows in (None, 37, 5000)]
    for kept, chosen, winners in found[1:]:
        assert np.array_equal(kept.row, found[0][0].row)
        assert np.array_equal(kept.X, data.X[kept.row])
        assert np.array_equal(chosen.row, found[0][1].row)
        assert np.array_equal(chosen.count, found[0][1].count)
        assert np.array_equal(winners.best, found[0][2].best)


def kept_of(source: Any, data: Any, forest: Forest, held: KeptRows | None = None) -> Any:
    groups = source.index().groups
    negative = np.flatnonzero(~source.index().group_labels(1))
    watched = Watched(TermRows.of(Terms.of_groups(-1, groups, negative)), Quota(5, 4))
    fixed = np.flatnonzero(data.y == 1)
    held = held or KeptRows.none(data.X.shape[1], source.dtype)
    kept, (chosen,), (winners,) = look_for_rows(
        SourceReader(source), forest, [watched], fixed, held, SIZES, seed=3
    )
    return kept, chosen, winners


def test_a_pass_keeps_the_largest_scores_and_some_that_stand_for_the_rest(data, as_file):
    source = as_file(data, 300)
    model = few_trees(memory=None).fit(data.X, data.y, data.groups, data.overlap)
    (forest,) = model.forests_
    scores = model.decision_function(data.X)
    kept, chosen, winners = kept_of(source, data, forest)
    negative = np.setdiff1d(np.unique(data.groups), data.groups[data.y == 1])
    assert set(np.flatnonzero(data.y == 1)) <= set(kept.row)
    for k, group in enumerate(negative):
        rows = np.flatnonzero(data.groups == group)
        part = slice(chosen.ptr[k], chosen.ptr[k + 1])
        mine, count = chosen.row[part], chosen.count[part]
        assert set(mine) <= set(rows) & set(kept.row)
        rest = np.setdiff1d(rows, mine[count == 1.0])
        size = SIZES(scores[rest])
        key = np.empty(len(rest))
        row_keys(rest, size, np.uint64(3), key)
        order = np.argsort(key)
        share = 1.0 - np.exp(-size[order[:4]] * key[order[4]])
        assert np.array_equal(np.sort(rest[order[:4]]), np.sort(mine[count > 1.0]))
        np.testing.assert_allclose(np.sort(count[count > 1.0]), np.sort(1.0 / share))
        top = rows[np.argsort(-scores[rows], kind="stable")[:5]]
        assert set(top) <= set(mine[count == 1.0])
        assert len(mine) == min(9, len(rows))
        assert winners.best[k] == scores[rows].max()
    assert winners.is_new.all()  # nothing was held
    again, _, winners = kept_of(source, data, forest, kept)
    assert not winners.is_new.any()
    assert np.array_equal(again.row, kept.row)


def test_rows_that_were_kept_are_not_forgotten_at_once(data, as_file):
    source = as_file(data)
    first, second = (
        few_trees(memory=None, random_state=seed).fit(data.X, data.y, data.groups).forests_[0]
        for seed in (0, 1)
    )
    kept, chosen, _ = kept_of(source, data, first)
    after, chosen_after, winners = kept_of(source, data, second, kept)
    top = chosen.row[chosen.count == 1.0]
    top_after = chosen_after.row[chosen_after.count == 1.0]
    assert 0.5 < np.mean(np.isin(top_after, top)) < 1.0
    assert np.array_equal(after.X, data.X[after.row])
    assert 0 < np.count_nonzero(winners.is_new) < len(winners.best)


def slow_selection(score, size, start, stop, first, n_top, n_random, seed):
    kept, best = [], []
    for lo, hi in zip(start, stop, strict=True):
        rows = np.arange(lo, hi)
        by_score = rows[np.argsort(-score[rows], kind="stable")]
        rest = np.sort(by_score[n_top:])
        key = np.empty(len(rest))
        row_keys(rest + first, size[rest], np.uint64(seed), key)
        drawn = rest[np.argsort(key)[:n_random]]
        kept.append(np.sort(np.concatenate([by_score[:n_top], drawn])))
        best.append(score[rows].max())
    return np.concatenate(kept), np.array(best)


@pytest.mark.parametrize("n_top", [0, 1, 3])
@pytest.mark.parametrize("n_random", [0, 2])
def test_the_kernel_selects_what_its_slow_twin_does(n_top, n_random):
    rng = np.random.default_rng(n_top)
    score = rng.integers(0, 6, 200).astype(np.float64)  # with ties
    size = rng.uniform(0.1, 2.0, 200)
    ptr = np.array([0, 1, 4, 40, 41, 200])
    kept, best = np.empty(200, dtype=np.int64), np.empty(5)
    arguments = (ptr[:-1], ptr[1:], 17, n_top, n_random)
    n = select_candidates(score, size, NO_ORDER, *arguments, np.uint64(5), kept, best)
    wanted, largest = slow_selection(score, size, *arguments, 5)
    assert np.array_equal(np.sort(kept[:n]), np.sort(wanted))
    assert np.array_equal(best, largest)
    score[39] = np.nan
    given = (score, size, NO_ORDER, *arguments, np.uint64(5), kept, best)
    assert select_candidates(*given) == -3


def test_the_rows_drawn_are_spread_evenly_and_more_of_the_large_ones():
    key = np.empty(100_000)
    row_keys(np.arange(100_000), np.ones(100_000), np.uint64(1), key)
    drawn = np.sort(np.argsort(key)[:10_000])
    counts = np.histogram(drawn, 10, (0, 100_000))[0]
    assert np.all(np.abs(counts - 1000) < 150)
    assert len(np.unique(key)) == len(key)
    size = np.where(np.arange(100_000) < 50_000, 1.0, 3.0)
    row_keys(np.arange(100_000), size, np.uint64(1), key)
    share = np.mean(np.argsort(key)[:2000] >= 50_000)
    assert 0.72 < share < 0.78


def test_the_rows_kept_estimate_the_norm_of_all(data, as_file):
    (forest,) = few_trees(memory=None).fit(data.X, data.y, data.groups).forests_
    scores = score_in_thread(forest, data.X)
    source = as_file(data, 300)
    groups = source.index().groups
    negative = np.flatnonzero(~source.index().group_labels(1))
    watched = Watched(TermRows.of(Terms.of_groups(-1, groups, negative)), Quota(3, 4))
    loss = np.logaddexp(0.0, scores) ** 3
    takes_part = np.isin(data.groups, data.groups[data.y == 1], invert=True)
    sums = []
    for seed in range(20):
        held = KeptRows.none(data.X.shape[1], source.dtype)
        reader = SourceReader(source)
        _, (chosen,), _ = look_for_rows(reader, forest, [watched], NO_ORDER, held, SIZES, seed)
        sums.append(chosen.count @ loss[chosen.row])
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - loss[takes_part].sum()) < 4 * error
    assert error < 0.05 * np.mean(sums)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_a_count_is_so_many_candidates(power):
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=6), np.array([2.0, 1.0])
    counts = np.array([1.0, 3.0, 1.0, 2.0, 1.0, 4.0])
    few = Groupwise(np.arange(6), np.array([0, 3, 6]), weight, counts)
    place = np.repeat(np.arange(6), counts.astype(int))
    many = Groupwise(np.arange(12), np.array([0, 5, 12]), weight)
    loss = PowerLoss(power=power)
    (gradient, hessian), (of_many, curvature) = np.zeros((2, 6)), np.zeros((2, 12))
    value = loss.set_negative(scores, few, 1.0, gradient, hessian)
    assert value == pytest.approx(loss.set_negative(scores[place], many, 1.0, of_many, curvature))
    np.testing.assert_allclose(gradient, np.bincount(place, of_many), rtol=1e-5)
    np.testing.assert_allclose(hessian, np.bincount(place, curvature), rtol=1e-5)


def test_the_number_of_trees_is_chosen_and_groups_left_out_are_scored_by_all_their_rows(
    data, as_file
):
    streamed = fitted(
        few_trees(early_stopping=True, n_estimators=30, n_iter_no_change=5), as_file(data)
    )
    assert 1 <= streamed.n_trees_ <= 30
    assert streamed.n_trees_ == 1 + int(np.argmax(streamed.validation_curve_))
    assert np.all(np.isfinite(streamed.held_out_scores_))
    positive = streamed.held_out_labels_ == 1
    assert positive.sum() == 60
    assert group_roc_auc(positive, streamed.held_out_scores_) > 0.7
    streamed.tune_threshold(specificity=0.9)
    assert streamed.training_profile_ is not None


def test_no_patient_is_on_both_sides(data, as_file, monkeypatch):
    from groupcm.boosting import validation

    seen, groups_held_out = [], validation.groups_held_out

    def watched(*arguments):
        found = groups_held_out(*arguments)
        seen.extend(found)
        return found

    monkeypatch.setattr(validation, "groups_held_out", watched)
    patients = data.groups // 4
    source = as_file(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)
        few_trees(early_stopping=True, n_estimators=12).fit(source, patients=patients)
    of_group = patients[source.index().groups.ptr[:-1]]
    for train, test in seen:
        assert not set(of_group[train]) & set(of_group[test])


def test_same_seed_same_trees(data, as_file):
    first, again = (fitted(few_trees(), as_file(data)) for _ in range(2))
    other = fitted(few_trees(random_state=5), as_file(data))
    assert first.trees_ == again.trees_
    assert first.trees_ != other.trees_


def test_rows_without_groups_are_sampled(data, unseen, as_file):
    streamed = few_trees().fit(as_file(data, group=None), groups="none")
    assert streamed.n_passes_ == 1
    assert streamed.new_winners_ == 0
    assert auc(streamed, unseen) > 0.8


def test_the_background_of_positive_groups_and_groups_without_annotation(data, unseen, as_file):
    source = as_file(data)
    annotated = ~np.isin(data.groups, np.unique(data.groups[data.y == 1])[::3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)
        model = few_trees(background="negative", n_warm_up=10)
        model.fit(source, annotated=annotated | (data.y == 0) & annotated)
    assert auc(model, unseen) > 0.8
    open_groups = np.unique(data.groups[data.y == 1])[::3]
    assert sorted(data.groups[model.witnesses_]) == sorted(open_groups)


def test_more_groups_than_there_is_room_for(as_file, unseen):
    data = capsule(1500, n_positive=300, group_size=5, seed=4)
    streamed = fitted(few_trees(memory="100kB", early_stopping=True), as_file(data))
    assert auc(streamed, unseen) > 0.75


def test_units_of_one_class(data, unseen, as_file):
    # All positive groups first, so that units hold groups of one class.
    positive = np.isin(data.groups, data.groups[data.y == 1])
    order = np.argsort(~positive, kind="stable")
    ordered = type(data)(
        **{
            **data.__dict__,
            "X": data.X[order],
            "y": data.y[order],
            "groups": data.groups[order],
            "overlap": data.overlap[order],
        }
    )
    streamed = fitted(few_trees(), as_file(ordered, int(positive.sum())))
    assert auc(streamed, unseen) > 0.8


def test_parquet_and_a_saved_model(tmp_path):
    capsule_to_parquet(tmp_path / "frames.parquet", 200, n_positive=60, seed=1, layout="list")
    source = sources.from_parquet(
        tmp_path / "frames.parquet", group="frame", label="label", overlap="overlap"
    )
    streamed = fitted(few_trees(), source)
    assert streamed.n_passes_ >= 2
    groupcm.save(streamed, tmp_path / "trees.json")
    loaded = groupcm.load(tmp_path / "trees.json")
    assert loaded.new_winners_ == streamed.new_winners_
    scores = streamed.decision_function(source)
    assert np.array_equal(loaded.decision_function(source), scores)


def test_a_warning_counts_new_winners(data, as_file, monkeypatch):
    monkeypatch.setattr("groupcm.boosting.streamed._UNCHANGED", 0.0)
    with pytest.warns(TreesWarning, match=r"of 200 groups still had a new winner in pass 2"):
        few_trees(max_passes=2, memory="300kB").fit(as_file(data))


def test_infinity_is_named_by_its_row(data, as_file):
    X = data.X.copy()
    X[-3, 2] = np.inf
    changed = type(data)(**{**data.__dict__, "X": X})
    with pytest.raises(InputError, match=f"row {len(X) - 3} "):
        fitted(few_trees(), as_file(changed))


def test_an_interrupt_leaves_the_model_as_it_was(data, as_file, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    model = few_trees()
    monkeypatch.setattr("groupcm.boosting.streamed.look_for_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(as_file(data))
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize("room", [5, 12, 21, 22, 100])
def test_as_many_rows_of_each_group_as_there_is_room_for(room):
    size = np.array([2, 10, 10])
    most = rows_per_group(size, room)
    assert np.minimum(size, most).sum() <= room
    assert most == 10 or np.minimum(size, most + 1).sum() > room


def test_no_trees_score_zero():
    forest = Forest.of_no_trees(3)
    assert forest.n_trees == 0
    assert Groups(np.array([0, 1]), NO_ORDER).is_contiguous
