"""Candidates on the workers of a Dask cluster: what a source gives, and what it refuses."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import warnings
from collections import Counter
from functools import partial

import cloudpickle
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dask import delayed
from dask.sizeof import sizeof
from dask_tables import (
    ALL,
    FEATURES,
    N_FEATURES,
    ROLES,
    check_same_candidates,
    cluster_of,
    column_sums,
    cut_anywhere,
    every_unit,
    seen,
    source_of,
    table,
)
from sklearn.base import clone

from groupcm import GroupBoostingClassifier, GroupClassifier
from groupcm.errors import InputError, TreesWarning
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule
from groupcm.sources.base import Columns
from groupcm.sources.dask import partitions as dask_partitions
from groupcm.sources.dask.partitions import Wanted, prepare
from groupcm.sources.dask.source import from_dask
from groupcm.sources.rows.chunk import Chunk, NonFiniteValue
from groupcm.utils.progress import Reading, listening

# Workers that import this file by name would need it on their path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def client():
    """Two workers in threads of this process; what they get and give is sent all the same."""
    with cluster_of(2, processes=False) as client:
        yield client


# First in this file, before any test has made a client.
def test_without_a_client_it_says_how_to_make_one():
    with pytest.raises(ValueError, match=r"no Dask client; make one first.*distributed\.Client"):
        source_of([table()])


def test_dask_dataframe_gives_the_table_s_rows_and_index(client):
    frames = table(40)
    source = from_dask(dd.from_pandas(frames, npartitions=5, sort=False), **ROLES)
    assert source.n_units == 5
    check_same_candidates(source, frames)


@pytest.mark.parametrize(
    "form",
    [
        lambda part: part,
        pl.from_pandas,
        partial(pa.Table.from_pandas, preserve_index=False),
        lambda part: pa.RecordBatch.from_pandas(part, preserve_index=False),
    ],
    ids=["pandas", "polars", "arrow", "batch"],
)
def test_tables_of_any_kind(client, form):
    frames = table()
    check_same_candidates(source_of([form(part) for part in cut_anywhere(frames, 3)]), frames)


def test_text_ids_futures_and_empty_partitions(client):
    frames = table()
    frames["frame"] = [f"video {i}" for i in frames["frame"]]
    frames["label"] = np.where(frames["label"], "polyp", "none")
    first, second = cut_anywhere(frames, 2)
    empty = frames.iloc[:0].astype(object)
    parts = [client.submit(lambda part=part: part) for part in (empty, first, empty, second)]
    source = from_dask(parts, **ROLES)
    assert source.n_units == 2
    assert source.where(len(first) + 2) == "row 2 of partition 3"
    check_same_candidates(source, frames)


def test_a_group_may_go_on_through_several_partitions_and_an_empty_one(client):
    frames = table().assign(frame=7)
    parts = cut_anywhere(frames, 3)
    source = source_of([parts[0], pd.DataFrame(), *parts[1:]])
    assert source.index().ids.tolist() == [7]
    check_same_candidates(source, frames)


def test_large_partitions_are_cut_into_units(client, monkeypatch):
    monkeypatch.setattr(dask_partitions, "_UNIT_BYTES", 4 * N_FEATURES * 7)
    frames = table(40)
    source = source_of(cut_anywhere(frames, 2))
    assert source.n_units > 10
    assert np.diff(source.unit_ptr).max() <= 7
    assert (
        source.where(source.n_rows - 1)
        == f"row {len(cut_anywhere(frames, 2)[1]) - 1} of partition 1"
    )
    check_same_candidates(source, frames)


def test_group_in_the_index(client):
    frames = table()
    by_frame = dd.from_pandas(frames.sample(frac=1, random_state=0), npartitions=3)
    source = from_dask(by_frame.set_index("frame"), **ROLES)
    assert source.feature_names == FEATURES
    np.testing.assert_array_equal(source.index().ids, np.unique(frames["frame"]))
    sizes = np.diff(source.index().groups.ptr)
    np.testing.assert_array_equal(sizes, np.bincount(frames["frame"]))


def test_features_in_lists(client):
    frames = table()
    values = pa.array(np.asarray(frames[FEATURES]).ravel())
    lists = pa.FixedSizeListArray.from_arrays(values, N_FEATURES)
    whole = pa.table({"frame": frames["frame"], "note": frames["label"], "x": lists})
    source = from_dask([delayed(whole)], group="frame")
    assert source.feature_names == ["x[0]", "x[1]", "x[2]"]
    assert source.dtype == np.float32
    np.testing.assert_array_equal(every_unit(source, seen)[0].features.X, frames[FEATURES])
    assert from_dask([delayed(whole)], group="frame", features="x").n_features == N_FEATURES


def test_partitions_of_other_types_and_order_agree(client):
    frames = table()
    first, second = cut_anywhere(frames, 2)
    second = second.astype({"f1": np.float64})[["f2", "label", "f1", "overlap", "f0", "frame"]]
    source = source_of([first, second])
    assert source.dtype == np.float64
    check_same_candidates(source, frames.astype(dict.fromkeys(FEATURES, np.float64)))


def test_without_groups_labels_and_overlap(client):
    source = from_dask([delayed(table()[FEATURES])], group=None, memory="2MB")
    index = source.index()
    assert (index.ids, index.groups, index.classes, index.codes) == (None, None, None, None)
    assert not source.has_overlap
    assert source.memory == 2_000_000


def test_columns_that_are_not_asked_for_stay_away(client):
    source = source_of([table()])
    (chunk,) = every_unit(source, seen, Columns(label=True))
    assert chunk.features is None
    assert chunk.keys.runs is None
    assert chunk.keys.overlap is None
    assert chunk.keys.labels.codes.dtype == np.uint8


def test_a_source_says_why_it_cannot_be_pickled(client):
    with pytest.raises(TypeError, match="call from_dask in the process that needs it"):
        pickle.dumps(source_of([table()]))


def test_stopping_early_leaves_the_source_usable(client):
    source = source_of(cut_anywhere(table(), 6))
    run = source.run(((unit, column_sums) for unit in range(6)), ALL)
    next(run)
    run.close()
    assert len(every_unit(source, column_sums)) == 6


def bad(column: str, value: object, row: int = 2) -> list[pd.DataFrame]:
    """Three partitions, one value of the second of which is wrong."""
    parts = cut_anywhere(table(), 3)
    values = parts[1][column].astype(object if isinstance(value, str) else float)
    values.iloc[row] = value
    parts[1] = parts[1].assign(**{column: values})
    return parts


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (bad("f1", np.nan), "partition 1: the column 'f1' has a missing value in row 2"),
        (bad("f1", np.inf), "partition 1: the feature 'f1' is inf in row 2"),
        (bad("frame", np.nan), "partition 1: the column 'frame' has a missing value in row 2"),
        (bad("f1", "high"), "partition 1 cannot be read as a table .*f1"),
        ([table(), table().assign(f1="high")], "partition 1: the column 'f1' holds text"),
        ([table(), table().drop(columns="f2")], "partition 1 lacks the column 'f2'"),
        ([table(), table().assign(f9=1.0)], "partition 0 lacks the column 'f9'"),
        ([table(), table().drop(columns="label")], "partition 1 has no column 'label'"),
        ([table(), table().assign(label="yes")], "'label' holds numbers in partition 0 but text"),
        ([table()[:0]], "partition 0 has no rows"),
        ([table()[:0], pd.DataFrame()], "partition 0 has no rows"),
        ([[1, 2]], "partition 0 is of the type list; it must be a table"),
        ([table(), None], "partition 1 is of the type NoneType; it must be a table"),
        (
            [table(), table().rename(columns={"f2": "f1"})],
            "partition 1 has two columns called 'f1'",
        ),
        (
            [table().assign(f1=pd.arrays.SparseArray(np.zeros(len(table()))))],
            r"partition 0 cannot be read as a table \(Sparse pandas data .*f1.*\); a column holds",
        ),
    ],
)
def test_mistakes_in_a_partition_are_told(client, parts, said):
    with pytest.raises(InputError, match=said):
        source_of(parts)


def test_a_group_found_again_later_is_told(client):
    first, second = table(3), table(3)
    with pytest.raises(
        InputError, match=r"group .*0.* row 0 of partition 0 and row 0 of partition 1"
    ):
        source_of([first, second]).index()
    with pytest.raises(InputError, match=r"data\.sort_values\('frame'\).*groupcm sort FILE"):
        source_of([first, second]).index()
    shuffled = dd.from_pandas(table(20).sample(frac=1, random_state=1), npartitions=4, sort=False)
    with pytest.raises(InputError, match="are not contiguous"):
        from_dask(shuffled, **ROLES).index()
    sorted_by_frame = from_dask(shuffled.sort_values("frame"), **ROLES)
    np.testing.assert_array_equal(sorted_by_frame.index().ids, np.arange(20))


def test_mistakes_in_the_request_are_told(client, monkeypatch):
    with pytest.raises(ValueError, match="data is of the type DataFrame; from_dask takes"):
        from_dask(table(), group="frame")
    with pytest.raises(ValueError, match="item 1 of data is of the type int"):
        from_dask([delayed(table()), 3], group="frame")
    with pytest.raises(InputError, match="empty list"):
        from_dask([], group="frame")
    with pytest.raises(InputError, match="the Dask DataFrame has no partition"):
        from_dask(dd.from_pandas(table(), npartitions=2).partitions[:0], group="frame")
    with pytest.raises(InputError, match="named as both"):
        source_of([table()], label="frame")
    with pytest.raises(ValueError, match="not an amount of memory"):
        source_of([table()], memory="much")


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "groupcm.sources.dask.workers")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "groupcm\[dask\]"'):
        from_dask([], group=None)


def raise_it(error: Exception, chunk: Chunk) -> None:
    raise error


@pytest.mark.parametrize(
    "error", [InputError("wrong"), NonFiniteValue("nan"), ValueError("bad"), TimeoutError("late")]
)
def test_what_a_job_raises_comes_back_as_itself(client, error):
    source = source_of([table()])
    with pytest.raises(type(error), match=str(error)) as caught:
        every_unit(source, partial(raise_it, error))
    assert type(caught.value) is type(error)


def thread_names(chunk: Chunk) -> set[str]:
    import threading

    from groupcm.utils.parallel import thread_map

    return set(thread_map(lambda _: threading.current_thread().name, range(8)))


def test_a_task_keeps_to_its_own_thread(client):
    for names in every_unit(source_of([table()]), thread_names):
        assert len(names) == 1
        assert not any(name.startswith("groupcm") for name in names)


def test_a_partition_tells_dask_its_size():
    frames = table(500)
    held = prepare(0, Wanted(ROLES | {"patient": None}, None), frames)
    assert sizeof(held) > frames[FEATURES].to_numpy().nbytes


def of_several_classes(sizes: np.ndarray, seed: int) -> pd.DataFrame:
    """Candidates of three classes; class 2 is in every group of more than one candidate."""
    rng = np.random.default_rng(seed)
    frame = np.repeat(np.arange(len(sizes)), sizes)
    label = rng.integers(0, 3, len(frame))
    starts = np.cumsum(sizes) - sizes
    label[starts[sizes > 1]] = 2
    columns = {"frame": frame, "label": label, "overlap": rng.random(len(frame))}
    for j, name in enumerate(FEATURES):
        columns[name] = (rng.normal(size=len(frame)) + label * j / 2).astype(np.float32)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("memory", ["1kB", "2GB"])
@pytest.mark.parametrize(
    ("largest", "loss"), [(1, "smoothed_hinge"), (3, "smoothed_hinge"), (3, "logistic")]
)
def test_several_classes_and_groups_of_one_are_fitted_as_in_memory(client, largest, loss, memory):
    sizes = np.random.default_rng(largest).integers(1, largest + 1, 60)
    frames = of_several_classes(sizes, seed=largest)
    model = GroupClassifier(lam=0.9, loss=loss, tol=1e-6, random_state=0)
    X = np.ascontiguousarray(frames[FEATURES])
    expected = clone(model).fit(X, frames["label"], frames["frame"], overlap=frames["overlap"])
    found = model.fit(source_of(cut_anywhere(frames, 5), memory=memory))
    assert found.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=2e-6)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-3)
    assert np.max(found.gap_) <= model.tol


@pytest.fixture(scope="module")
def capsule_frames():
    """More candidates than a fit below may have in memory, and the fit on arrays."""
    made = capsule(600, n_positive=40, group_size=40, seed=1)
    frames = pd.DataFrame(made.X, columns=made.feature_names)
    frames = frames.assign(frame=made.groups, label=made.y, overlap=made.overlap)
    model = GroupClassifier(lam=0.9, random_state=0)
    return frames, model.fit(made.X, made.y, groups=made.groups, overlap=made.overlap)


def check_fit(frames: pd.DataFrame, expected: GroupClassifier, reading=None) -> Counter[str]:
    """A fit on the workers equals the fit on arrays; gives how many units were read for what."""
    source = source_of(cut_anywhere(frames, 12), memory=frames.shape[0] * 4 * 13 // 3)
    read = Counter()

    def hear(step: Reading) -> None:
        read[step.doing] += 1
        if reading is not None:
            reading(step)

    with listening(lambda step: None, hear):
        model = GroupClassifier(lam=0.9, random_state=0).fit(source)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-4)
    assert 0 <= model.gap_ <= model.tol
    scores = model.group_scores(source)
    X = np.ascontiguousarray(frames[source.feature_names])
    there = expected.group_scores(X, frames["frame"])
    np.testing.assert_array_equal(scores.group, there.group)
    np.testing.assert_allclose(scores.score, there.score, atol=0.02)
    return read


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_a_fit_is_the_same_on_any_number_of_workers(capsule_frames, n_workers):
    with cluster_of(n_workers):
        read = check_fit(*capsule_frames)
    assert read["screening"] >= 12
    assert read["reading a sample"] < 12


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(capsule_frames):
    killed = []

    def kill_one(reading: Reading) -> None:
        if reading.doing == "screening" and not killed:
            worker, pid = min(client.run(os.getpid).items())
            assert pid != os.getpid()
            killed.append(worker)
            os.kill(pid, signal.SIGKILL)

    with cluster_of(2) as client:
        check_fit(*capsule_frames, reading=kill_one)
        assert killed
        assert killed[0] not in client.nthreads()


def fit_trees(frames: pd.DataFrame, reading=None) -> tuple[GroupBoostingClassifier, Counter[str]]:
    """Trees on the workers, of which each holds some partitions, in little memory here."""
    parameters = {"n_estimators": 15, "early_stopping": False, "n_annealed": 5, "n_jobs": 1}
    read = Counter()

    def hear(step: Reading) -> None:
        read[step.doing] += 1
        if reading is not None:
            reading(step)

    with listening(lambda step: None, hear), warnings.catch_warnings():
        warnings.simplefilter("ignore", TreesWarning)  # new winners of the last pass
        source = source_of(cut_anywhere(frames, 6), memory="300kB")
        return GroupBoostingClassifier(**parameters).fit(source), read


def test_trees_are_grown_on_rows_that_passes_on_the_workers_find(client, capsule_frames):
    pytest.importorskip("lightgbm")
    frames, _ = capsule_frames
    model, read = fit_trees(frames)
    assert model.n_passes_ >= 2
    assert read["looking for winners"] >= model.n_passes_
    source = source_of(cut_anywhere(frames, 6))
    scores = model.decision_function(source)
    assert np.array_equal(scores, model.decision_function(frames[source.feature_names]))
    assert group_roc_auc(frames["label"], scores, frames["frame"]) > 0.85


@pytest.mark.slow
def test_a_worker_killed_while_it_looks_for_winners_changes_no_tree(capsule_frames):
    pytest.importorskip("lightgbm")
    killed = []

    def kill_one(reading: Reading) -> None:
        if reading.doing == "looking for winners" and not killed:
            worker, pid = min(client.run(os.getpid).items())
            assert pid != os.getpid()
            killed.append(worker)
            os.kill(pid, signal.SIGKILL)

    frames, _ = capsule_frames
    with cluster_of(2) as client:
        model, _ = fit_trees(frames, reading=kill_one)
        assert killed
        again, _ = fit_trees(frames)
        assert model.trees_ == again.trees_
