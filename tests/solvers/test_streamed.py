"""A fit on rows that do not fit in memory is the fit on the rows, proved the same way."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from problems import BACKGROUNDS, GROUPINGS, LOSSES, PENALTIES
from sklearn.exceptions import ConvergenceWarning
from streams import Data, fit_stream, make_data, read

from groupcm import GroupClassifier
from groupcm.solvers import streamed_alone, streamed_passes
from groupcm.sources import from_arrays, from_npy, from_parquet
from groupcm.sources.base import LocalSource
from groupcm.sources.rows import sample as rows_sample

SMALL = "40kB"  # a thousand rows of five float64 do not fit
EXACT = 1e-9


def assert_same_optimum(stream: GroupClassifier, memory: GroupClassifier) -> None:
    """Both brackets hold the one optimum, and both are closed."""
    for one, two in ((stream, memory), (memory, stream), (stream, stream)):
        assert np.all(one.lower_bound_ <= two.objective_ * (1 + EXACT))
    assert np.all(stream.gap_ <= stream.tol)
    np.testing.assert_allclose(
        stream.objective_, memory.objective_, rtol=stream.tol + memory.tol, atol=1e-12
    )


def assert_true_objective(model: GroupClassifier, data: Data, **params) -> None:
    """`objective_` is the paper's objective over all rows at the model's own weights."""
    oracle = data.oracle(1, **params)
    found = oracle.objective_of(model.coef_, model.intercept_)
    np.testing.assert_allclose(model.objective_, found, rtol=EXACT)


# ---- the grid -------------------------------------------------------------------------------

OPTIONS = {
    "loss": LOSSES,
    "penalty": PENALTIES,
    "grouping": GROUPINGS,
    "background": BACKGROUNDS,
    "with_overlap": (True, False),
    "lam": (0.1, 0.9),
    "row_group": (7, 50, 1000),
    "n_files": (1, 3),
    "layout": ("wide", "list"),
    "dtype": ("f4", "f8"),
}


def every_pair(options: dict[str, tuple]) -> list[dict]:
    """Few points of a grid such that any two values of any two options meet in one of them."""

    def pairs(point):
        return set(itertools.combinations(zip(options, point, strict=True), 2))

    rng = np.random.default_rng(0)
    grid = list(itertools.product(*options.values()))
    missing = set().union(*(pairs(point) for point in grid))
    chosen = []
    while missing:
        some = [grid[i] for i in rng.integers(len(grid), size=60)]
        best = max(some, key=lambda point: len(missing & pairs(point)))
        if missing & pairs(best):
            missing -= pairs(best)
            chosen.append(dict(zip(options, best, strict=True)))
    return chosen


def name_of(point: dict) -> str:
    return "-".join(str(value) for value in point.values())


@pytest.mark.parametrize("point", every_pair(OPTIONS), ids=name_of)
def test_a_stream_is_the_rows_it_streams(point, tmp_path):
    point = dict(point)
    written = {key: point.pop(key) for key in ("row_group", "n_files", "layout")}
    dtype, with_overlap = point.pop("dtype"), point.pop("with_overlap")
    n_groups = 40 if point["grouping"] == "none" or written["row_group"] < 50 else 150
    data = make_data(sum(map(ord, name_of(point))) % 10, n_groups=n_groups, dtype=dtype)
    source = read(data.write(tmp_path / "a.parquet", **written), with_overlap=with_overlap)
    memory = f"{int(data.X.nbytes / 0.9)}B"
    stream = fit_stream(source, memory, **point)
    assert_same_optimum(stream, data.fit(with_overlap=with_overlap, **point))
    assert_true_objective(stream, data, with_overlap=with_overlap, **point)


@pytest.mark.parametrize("row_group", [1, 3])
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_units_smaller_than_a_group(row_group, grouping, tmp_path):
    data = make_data(2, n_groups=25)
    source = read(data.write(tmp_path / "a.parquet", row_group=row_group, n_files=2))
    stream = fit_stream(source, "7kB", grouping=grouping)
    assert_same_optimum(stream, data.fit(grouping=grouping))
    assert_true_objective(stream, data, grouping=grouping)


@pytest.mark.parametrize("row_group", [1, 3])
def test_a_sample_without_one_whole_negative_group(row_group, tmp_path):
    """So little memory that no negative group is in the sample as a whole."""
    data = make_data(2, n_groups=40)
    source = read(data.write(tmp_path / "a.parquet", row_group=row_group))
    stream = fit_stream(source, "1kB")
    assert_same_optimum(stream, data.fit())
    assert_true_objective(stream, data)


@pytest.mark.parametrize("memory", ["2kB", "8kB", "30kB"])
@pytest.mark.parametrize("loss", LOSSES)
def test_little_memory_costs_passes_and_nothing_else(memory, loss, tmp_path):
    """The rows that matter do not fit the share of the memory meant for them."""
    data = make_data(4)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    stream = fit_stream(source, memory, loss=loss, penalty="l1", lam=0.9, max_passes=60)
    assert_same_optimum(stream, data.fit(loss=loss, penalty="l1", lam=0.9))
    assert_true_objective(stream, data, loss=loss, penalty="l1", lam=0.9)


# ---- kinds of columns -----------------------------------------------------------------------


def whole_values(seed: int) -> Data:
    data = make_data(seed)
    return data.but(X=np.clip(np.round(10 * data.X), -100, 100))


KINDS = {
    "mixed": ["float32", "float64", "int16", "int64", "float32"],
    "integers": ["int8", "int16", "int8", "int16", "int8"],
    "wide integers": ["int64", "int32", "uint64", "int64", "int32"],
    "true and false": ["bool", "bool", "float32", "bool", "float32"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_any_numeric_type(kind, tmp_path):
    data = whole_values(1)
    X = np.abs(data.X) if "uint" in str(KINDS[kind]) else data.X
    columns = [X[:, j].astype(t) if t != "bool" else X[:, j] > 0 for j, t in enumerate(KINDS[kind])]
    table = data.table().drop_columns([f"f{j}" for j in range(5)])
    for j, column in enumerate(columns):
        table = table.append_column(f"f{j}", pa.array(column))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    data = data.but(X=np.column_stack([column.astype(np.float64) for column in columns]))
    source = read(tmp_path / "a.parquet")
    small = set(KINDS[kind]) <= {"float32", "int8", "int16", "bool"}
    assert source.dtype == (np.float32 if small else np.float64)
    stream = fit_stream(source, "18kB", lam=0.9)
    assert_same_optimum(stream, data.fit(lam=0.9))
    assert_true_objective(stream, data, lam=0.9)
    assert stream.feature_names_in_.tolist() == [f"f{j}" for j in range(5)]


def test_many_features(tmp_path):
    data = make_data(5, n_groups=60, d=70, dtype="f4")
    source = read(data.write(tmp_path / "a.parquet", row_group=64))
    stream = fit_stream(source, "100kB", lam=0.9)
    assert_same_optimum(stream, data.fit(lam=0.9))
    assert_true_objective(stream, data, lam=0.9)


@pytest.mark.parametrize("as_dictionary", [False, True])
def test_text_groups_and_text_labels(as_dictionary, tmp_path):
    data = make_data(6)
    frames = np.array([f"patient {g % 7}/frame {g}" for g in data.groups])
    labels = np.where(data.y == 1, "polyp", "clear")
    named = data.but(groups=frames, y=labels)
    table = named.table()
    if as_dictionary:
        for name in ("frame", "label"):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table.column(name).dictionary_encode())
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    source = read(tmp_path / "a.parquet")
    stream = fit_stream(source, SMALL, pos_label="polyp")
    assert stream.classes_.tolist() == ["clear", "polyp"]
    assert_same_optimum(stream, named.fit(pos_label="polyp"))
    assert_true_objective(stream, data)
    found = stream.group_scores(source)
    np.testing.assert_array_equal(found.group, list(dict.fromkeys(frames)))


@pytest.mark.parametrize("batch_rows", [1, 7, 100])
def test_batches_within_a_row_group_change_nothing(batch_rows, tmp_path):
    data = make_data(7, n_groups=60)
    path = data.write(tmp_path / "a.parquet", row_group=200, layout="list")
    stream = fit_stream(read(path, batch_rows=batch_rows), "15kB")
    assert_same_optimum(stream, data.fit())
    assert_true_objective(stream, data)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("batch_rows", [5, 64, None])
def test_a_mapped_file(dtype, batch_rows, tmp_path):
    data = make_data(8, dtype=dtype)
    columns = {"group": data.groups, "label": data.y, "overlap": data.overlap}
    np.save(tmp_path / "X.npy", data.X)
    for name, values in columns.items():
        np.save(tmp_path / f"{name}.npy", values)
    paths = {name: tmp_path / f"{name}.npy" for name in columns}
    for given in (columns, paths):
        source = from_npy(tmp_path / "X.npy", **given, batch_rows=batch_rows)
        stream = fit_stream(source, "18kB")
        assert_same_optimum(stream, data.fit())
        assert_true_objective(stream, data)


def test_an_array_as_a_source():
    data = make_data(9)
    source = from_arrays(data.X, group=data.groups, label=data.y, overlap=data.overlap)
    model = GroupClassifier(random_state=0, memory="1kB").fit(source)  # beside the array itself
    np.testing.assert_allclose(model.objective_, data.fit().objective_, rtol=1e-12)
    assert_true_objective(model, data)


def test_without_groups_every_row_counts_alone(tmp_path):
    data = make_data(3, n_groups=60)
    source = read(data.write(tmp_path / "a.parquet", row_group=50), group=None, patient="frame")
    stream = fit_stream(source, "15kB")
    alone = data.but(groups=np.arange(len(data.y)))
    assert_same_optimum(stream, alone.fit())
    assert_true_objective(stream, alone)


# ---- more of the family ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_tight_tolerance(seed, tmp_path):
    data = make_data(seed)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    stream = fit_stream(source, SMALL, lam=0.9, tol=1e-6)
    assert_same_optimum(stream, data.fit(lam=0.9, tol=1e-6))
    assert_true_objective(stream, data, lam=0.9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_form_with_C(loss, C, tmp_path):
    data = make_data(1)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    params = {"C": C, "loss": loss, "penalty": "l2"}
    stream = fit_stream(source, SMALL, **params)
    assert_same_optimum(stream, data.fit(**params))
    assert_true_objective(stream, data, **params)


@pytest.mark.parametrize(
    "params", every_pair({k: OPTIONS[k] for k in list(OPTIONS)[:3]}), ids=name_of
)
def test_an_independent_solver_finds_no_better_point(params, tmp_path):
    data = make_data(11, n_groups=40)
    source = read(data.write(tmp_path / "a.parquet", row_group=20))
    stream = fit_stream(source, "10kB", lam=0.9, **params)
    best = data.oracle(1, lam=0.9, **params).solve().value
    assert stream.lower_bound_ <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= stream.objective_ <= best * (1 + 2e-4)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("min_overlap", [0.0, 0.5])
def test_groups_left_out(standardize, min_overlap, tmp_path):
    data = make_data(2)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    params = {"standardize": standardize, "min_overlap": min_overlap, "background": "negative"}
    if min_overlap:
        with pytest.warns(UserWarning, match="left out"):
            stream = fit_stream(source, SMALL, **params)
        with pytest.warns(UserWarning, match="left out"):
            memory = data.fit(**params)
    else:
        stream, memory = fit_stream(source, SMALL, **params), data.fit(**params)
    assert_same_optimum(stream, memory)
    assert_true_objective(stream, data, **params)


def three_classes(*, everywhere: bool) -> Data:
    """Two kinds of finding; with ``everywhere``, every group holds background as well."""
    data = make_data(12)
    rng = np.random.default_rng(0)
    y = np.full(len(data.y), "background")
    positive = np.flatnonzero(data.y)
    y[positive] = rng.choice(["crack", "stain"], len(positive))
    if everywhere:
        first = np.unique(data.groups, return_index=True)[1]
        y[first] = "background"
    else:
        y[data.groups == data.groups[positive[0]]] = "crack"
    return data.but(y=y)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("everywhere", [True, False])
def test_three_classes(everywhere, grouping, tmp_path):
    data = three_classes(everywhere=everywhere)
    source = read(data.write(tmp_path / "a.parquet", row_group=50, n_files=2))
    stream = fit_stream(source, SMALL, grouping=grouping)
    memory = data.fit(grouping=grouping)
    assert stream.classes_.tolist() == ["background", "crack", "stain"]
    assert_same_optimum(stream, memory)
    np.testing.assert_array_equal(stream.background_, memory.background_)
    assert stream.background_[0] == everywhere
    for k in np.flatnonzero(~stream.background_):
        oracle = data.oracle(stream.classes_[k], grouping=grouping)
        found = oracle.objective_of(stream.coef_[k], stream.intercept_[k])
        np.testing.assert_allclose(stream.objective_[k], found, rtol=EXACT)


def test_a_seed_gives_one_model_and_any_seed_the_optimum(tmp_path):
    data = make_data(13)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    models = [GroupClassifier(memory=SMALL, random_state=seed).fit(source) for seed in (0, 0, 1, 2)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9)
    for model in models:
        assert_same_optimum(model, models[0])


# ---- stopping early -------------------------------------------------------------------------


@pytest.mark.parametrize("grouping", ["negative", "both"])
def test_not_converged_says_so_and_states_a_true_bracket(grouping, tmp_path):
    data = make_data(14)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    params = {"grouping": grouping, "lam": 0.9, "tol": 1e-12}
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        stream = fit_stream(source, "2kB", max_passes=1, **params)
    exact = data.fit(grouping=grouping, lam=0.9, tol=1e-7)
    assert stream.lower_bound_ <= exact.objective_ * (1 + EXACT)
    assert exact.lower_bound_ <= stream.objective_ * (1 + EXACT)
    assert not stream.solution_.converged
    assert_true_objective(stream, data, grouping=grouping, lam=0.9)


def interrupt(monkeypatch, source, after: int) -> None:
    """From the given call of ``run`` on, decoding features is interrupted at once."""
    calls = itertools.count()
    run = LocalSource.run

    def interrupted(self, jobs, columns):
        if columns.features and next(calls) >= after:
            raise KeyboardInterrupt
        return run(self, jobs, columns)

    monkeypatch.setattr(type(source), "run", interrupted)


def passes_that_decode(monkeypatch, source, fit) -> int:
    calls = itertools.count()
    run = LocalSource.run

    def counted(self, jobs, columns):
        if columns.features:
            next(calls)
        return run(self, jobs, columns)

    with monkeypatch.context() as patch:
        patch.setattr(type(source), "run", counted)
        fit()
    return next(calls)


def test_an_interrupt_returns_the_best_model_so_far(monkeypatch, tmp_path):
    data = make_data(4)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    params = {"lam": 0.9, "tol": 1e-6}
    n_calls = passes_that_decode(monkeypatch, source, lambda: fit_stream(source, "3kB", **params))
    interrupt(monkeypatch, source, n_calls - 1)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stream = fit_stream(source, "3kB", **params)
    assert stream.solution_.interrupted
    assert stream.gap_ > stream.tol
    exact = data.fit(**params)
    assert stream.lower_bound_ <= exact.objective_ * (1 + EXACT)
    assert_true_objective(stream, data, lam=0.9)


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_an_interrupt_before_anything_is_certified_is_passed_on(
    after, grouping, monkeypatch, tmp_path
):
    data = make_data(4)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    interrupt(monkeypatch, source, after)
    with pytest.raises(KeyboardInterrupt):
        fit_stream(source, "3kB", grouping=grouping)


# ---- values that are not numbers ------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("where", ["negative", "positive"])
@pytest.mark.parametrize("layout", ["wide", "list"])
def test_a_bad_value_is_named_wherever_it_is(bad, grouping, where, layout, tmp_path):
    data = make_data(15)
    positive_groups = np.unique(data.groups[data.y == 1])
    inside = data.y == 1 if where == "positive" else ~np.isin(data.groups, positive_groups)
    row = int(np.flatnonzero(inside)[-1])
    X = data.X.copy()
    X[row, 3] = bad
    path = data.but(X=X).write(tmp_path / "a.parquet", row_group=50, layout=layout)
    column = "f3" if layout == "wide" else r"x\[3\]"
    with pytest.raises(ValueError, match=f"{row}.*{column}") as raised:
        fit_stream(read(path, with_overlap=False), SMALL, grouping=grouping)
    assert str(path) in str(raised.value)


def test_the_papers_solver_needs_the_rows_in_memory(tmp_path):
    data = make_data(0)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    with pytest.raises(ValueError, match="needs all rows in memory"):
        fit_stream(source, SMALL, solver="lbfgs")


def test_what_fits_is_not_streamed(tmp_path):
    data = make_data(0)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    model = GroupClassifier(random_state=0, memory="10MB").fit(source)
    np.testing.assert_allclose(model.objective_, data.fit().objective_, rtol=1e-12)
    assert (
        from_parquet(tmp_path / "a.parquet", group="frame", label="label", memory="10MB").memory
        == 10_000_000
    )


# ---- rows that count alone ------------------------------------------------------------------


def ungrouped(tmp_path, **params):
    """A fit without grouping, from a file that does not fit the memory, and its data."""
    data = make_data(5, n_groups=400)
    path = tmp_path / "rows.parquet"
    data.write(path, row_group=200)
    return data, fit_stream(read(path), memory=SMALL, grouping="none", **params)


@pytest.mark.parametrize("lam", [0.1, 0.9, 0.99])
@pytest.mark.parametrize("loss", ["smoothed_hinge", "hinge"])
def test_rows_that_count_alone_take_few_passes(loss, lam, tmp_path):
    data, model = ungrouped(tmp_path, loss=loss, lam=lam)
    assert_same_optimum(model, data.fit(loss=loss, lam=lam, grouping="none"))
    assert_true_objective(model, data, loss=loss, lam=lam, grouping="none")
    assert model.n_passes_ <= 8


def test_a_ball_that_is_too_small_is_followed_by_others(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_passes, "_SAFETY", 1e-3)
    monkeypatch.setattr(streamed_alone, "_ENLARGEMENTS", 0)
    data, model = ungrouped(tmp_path, lam=0.9)
    assert_same_optimum(model, data.fit(lam=0.9, grouping="none"))
    assert_true_objective(model, data, lam=0.9, grouping="none")


def test_after_too_many_balls_every_step_reads_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_alone, "_MOST_BALLS", 0)
    data, model = ungrouped(tmp_path, lam=0.9)
    assert_same_optimum(model, data.fit(lam=0.9, grouping="none"))
    assert model.n_passes_ > 8


def test_zeros_of_the_norm_1_are_found_on_sums(tmp_path):
    data, model = ungrouped(tmp_path, lam=0.02, penalty="l1")
    assert_same_optimum(model, data.fit(lam=0.02, penalty="l1", grouping="none"))
    assert np.count_nonzero(model.coef_) < model.coef_.size


def test_rows_that_count_alone_are_looked_up_piece_by_piece(tmp_path, monkeypatch):
    """The numbers of all rows at once would take more memory than the rows that a fit may hold."""
    looked_up = []
    place = rows_sample.Sample.place

    def noted(self, rows):
        looked_up.append(len(rows))
        return place(self, rows)

    _, whole = ungrouped(tmp_path, lam=0.9)
    monkeypatch.setattr(rows_sample, "_ROWS_AT_ONCE", 50)
    monkeypatch.setattr(rows_sample.Sample, "place", noted)
    _, pieces = ungrouped(tmp_path, lam=0.9)
    assert np.array_equal(pieces.coef_, whole.coef_)
    assert max(looked_up) < 100  # the positives are single rows
    assert len(looked_up) > 10
