"""Sources: what they read, what they refuse and in which words, and scores over them."""

from __future__ import annotations

import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streams import COLUMNS, Data, make_data, read

from groupcm import GroupClassifier
from groupcm.data.tables.formats import open_table
from groupcm.errors import InputError
from groupcm.sources import from_arrays, from_npy, from_parquet
from groupcm.sources.base import Columns
from groupcm.sources.rows.arrow_columns import feature_list
from groupcm.utils import parallel
from groupcm.utils.parallel import thread_stream


@pytest.fixture
def data() -> Data:
    return make_data(0, n_groups=40)


@pytest.fixture
def model(data) -> GroupClassifier:
    frame = data.table().select([f"f{j}" for j in range(5)]).to_pandas()
    return GroupClassifier(random_state=0).fit(frame, data.y, groups=data.groups)


def refusal(*words: str, kind: type[Exception] = InputError):
    """One sentence that says all of this, in this order."""
    return pytest.raises(kind, match=r"(?s)" + ".*".join(re.escape(word) for word in words))


def fit(source) -> GroupClassifier:
    return GroupClassifier(random_state=0).fit(source)


# ---- where files are found ------------------------------------------------------------------


def test_a_file_a_list_a_folder_and_a_pattern_are_the_same_rows(data, tmp_path, monkeypatch):
    folder = data.write(tmp_path / "many", row_group=20, n_files=3)
    files = sorted(folder.iterdir())
    one = data.write(tmp_path / "one.parquet", row_group=50)
    monkeypatch.chdir(tmp_path)
    found = [
        read(path)
        for path in (one, str(one), [one], folder, files, list(map(str, files)), "many/*.parquet")
    ]
    for source in found:
        assert source.n_rows == len(data.X)
        index = source.index()
        np.testing.assert_array_equal(index.labels_of_rows(), data.y)
        np.testing.assert_array_equal(index.ids[index.groups_of_rows()], data.groups)
        np.testing.assert_array_equal(source.overlap_of(np.array([5, 3])), data.overlap[[5, 3]])
        np.testing.assert_allclose(fit(source).coef_, data.fit().coef_, rtol=1e-6)


def test_other_files_of_a_folder_are_left_alone(data, tmp_path):
    folder = data.write(tmp_path / "many", row_group=20, n_files=2)
    (folder / "_SUCCESS").touch()
    (folder / ".notes.parquet").touch()
    (folder / "readme.txt").write_text("notes")
    assert read(folder).n_rows == len(data.X)


def test_a_file_without_rows_between_others(data, tmp_path):
    folder = data.write(tmp_path / "many", row_group=20, n_files=2)
    pq.write_table(data.table().slice(0, 0), folder / "0b.parquet")
    assert fit(read(folder)).objective_ == pytest.approx(data.fit().objective_, rel=2e-4)


def test_paths_that_lead_nowhere(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "table.csv").write_text("frame,label,x\n1,0,2\n")
    (tmp_path / "nothing.parquet").touch()
    for path, words in {
        tmp_path / "empty": ["empty", "holds no tables"],
        tmp_path / "no.parquet": ["no.parquet", "does not exist"],
        str(tmp_path / "*.pq"): ["no file matches", "*.pq"],
        tmp_path / "table.csv": ["table.csv", "not that of a Parquet file"],
        tmp_path / "nothing.parquet": ["nothing.parquet", "empty file"],
    }.items():
        with refusal(*words):
            from_parquet(path, **COLUMNS)
    with refusal("no Parquet file is given"):
        from_parquet([], **COLUMNS)


def test_a_file_named_twice(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    with refusal("a.parquet", "twice"):
        read([path, str(path)])


@pytest.mark.parametrize("left", [0.3, 0.9])
def test_a_file_cut_short(data, left, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    content = path.read_bytes()
    path.write_bytes(content[: int(left * len(content))])
    with refusal("a.parquet", "cannot be read as Parquet"):
        fit(read(path))


def test_a_file_damaged_inside(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[100 : len(content) // 2] = b"\xff" * (len(content) // 2 - 100)
    path.write_bytes(bytes(content))
    with refusal("a.parquet"):
        fit(read(path))


# ---- columns --------------------------------------------------------------------------------


def write_two(tmp_path, one: pa.Table, two: pa.Table):
    pq.write_table(one, tmp_path / "1.parquet")
    pq.write_table(two, tmp_path / "2.parquet")
    return tmp_path


def test_files_that_differ(data, tmp_path):
    table = data.table()
    lists = data.table("list")
    wider = data.but(X=np.column_stack([data.X, data.X[:, 0]])).table("list")
    text = data.but(y=np.where(data.y == 1, "polyp", "clear")).table()
    words = table.set_column(2, "f2", pa.array(["a"] * len(table)))
    for k, (one, two, named) in enumerate(
        [
            (table, table.drop_columns(["f3"]), ["2.parquet", "lacks the column 'f3'"]),
            (table.drop_columns(["f3"]), table, ["1.parquet", "lacks the column 'f3'"]),
            (table, table.drop_columns(["frame"]), ["2.parquet", "no column 'frame'"]),
            (table, words, ["2.parquet", "'f2'", "text", "must hold numbers"]),
            (table, text, ["'label'", "1.parquet", "text in", "2.parquet"]),
            (lists, wider, ["2.parquet", "'x'", "lists of 6", "1.parquet", "of 5"]),
            (lists, table, ["2.parquet", "'x'"]),
        ]
    ):
        folder = tmp_path / str(k)
        folder.mkdir()
        with refusal(*named):
            read(write_two(folder, one, two))


def test_columns_of_other_widths_are_read_as_one(data, tmp_path):
    """float32 here and float64 there; the labels in one byte and in eight."""
    small = data.but(X=data.X.astype("f4"), y=data.y.astype("i1"), groups=data.groups.astype("i4"))
    half = len(data.X) // 2
    folder = write_two(tmp_path, small.table().slice(0, half), data.table().slice(half))
    X = np.concatenate([small.X[:half].astype("f8"), data.X[half:]])
    assert read(folder).dtype == np.float64
    assert fit(read(folder)).objective_ == pytest.approx(data.but(X=X).fit().objective_, rel=1e-9)


def test_a_column_that_is_not_there(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    with refusal("a.parquet", "no column 'Frame'", "did you mean 'frame'"):
        from_parquet(path, group="Frame", label="label")
    with refusal("a.parquet", "no column 'f9'"):
        read(path, features=["f0", "f9"])
    with refusal("'frame'", "both"):
        from_parquet(path, group="frame", label="frame")


def test_several_columns_of_lists(data, tmp_path):
    table = data.table("list")
    table = table.append_column("z", table.column("x"))
    pq.write_table(table, tmp_path / "a.parquet")
    with refusal("a.parquet", "several columns of lists", "x, z"):
        read(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", features="z").feature_names[0] == "z[0]"


@pytest.mark.parametrize("batch_rows", [0, -1, 2.5, True, "many"])
def test_batch_rows_must_be_a_count(data, batch_rows, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    np.save(tmp_path / "X.npy", data.X)
    for make in (
        lambda: read(path, batch_rows=batch_rows),
        lambda: from_npy(tmp_path / "X.npy", batch_rows=batch_rows),
        lambda: from_arrays(data.X, batch_rows=batch_rows),
    ):
        with refusal("batch_rows", "at least 1", kind=ValueError):
            make()


def test_memory_must_be_an_amount(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    with refusal("'abc' is not an amount of memory", kind=ValueError):
        read(path, memory="abc")
    with refusal("'abc' is not an amount of memory", kind=ValueError):
        GroupClassifier(memory="abc").fit(read(path))


# ---- rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_files", [1, 2])
def test_a_group_whose_rows_stand_apart(data, n_files, tmp_path):
    groups = data.groups.copy()
    last = len(groups) - 1
    groups[last] = groups[0]
    path = data.but(groups=groups).write(tmp_path / "a.parquet", row_group=50, n_files=n_files)
    first_of_file = len(groups) // 2 if n_files == 2 else 0
    file = path / "1.parquet" if n_files == 2 else path
    words = ["group 0 ", "row 0 of", f"row {last - first_of_file} of {file}", "groupcm sort"]
    with refusal(*words):
        fit(read(path))
    with refusal(*words):
        data.fit().group_scores(read(path))


def test_a_text_group_apart_is_named(data, tmp_path):
    groups = np.array([f"frame {g}" for g in data.groups])
    groups[-1] = groups[0]
    path = data.but(groups=groups).write(tmp_path / "a b.parquet", row_group=7)
    with refusal("group frame 0 ", "groupcm sort '", "a b.parquet' --group frame"):
        read(path).index()


def with_null(table: pa.Table, name: str, row: int) -> pa.Table:
    at = table.schema.get_field_index(name)
    values = table.column(name).to_pylist()
    values[row] = None
    return table.set_column(at, name, pa.array(values, table.schema.field(name).type))


@pytest.mark.parametrize("name", ["f2", "frame", "label"])
@pytest.mark.parametrize("row_group", [30, 1000])
def test_a_missing_value(data, name, row_group, tmp_path):
    pq.write_table(with_null(data.table(), name, 77), tmp_path / "a.parquet", row_group)
    with refusal("a.parquet", repr(name), "row 77 "):
        fit(read(tmp_path / "a.parquet"))


@pytest.mark.parametrize("kind", ["a list", "in a list"])
@pytest.mark.parametrize("row_group", [30, 1000])
def test_a_missing_value_in_a_list(data, kind, row_group, tmp_path):
    table = data.table("list")
    lists = table.column("x").to_pylist()
    if kind == "a list":
        lists[77] = None
    else:
        lists[77][3] = None
    column = pa.array(lists, table.schema.field("x").type)
    pq.write_table(table.set_column(0, "x", column), tmp_path / "a.parquet", row_group)
    with refusal("a.parquet", "'x", "row 77 "):
        fit(read(tmp_path / "a.parquet"))


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_a_value_that_is_not_finite(data, model, bad, tmp_path):
    X = data.X.copy()
    X[77, 2] = bad
    path = data.but(X=X).write(tmp_path / "a.parquet", row_group=30)
    for act in (fit, model.group_scores, model.decision_function):
        with refusal("row 77 of ", "a.parquet", "'f2'", str(bad)):
            act(read(path))


def test_a_positive_candidate_without_overlap(data, tmp_path):
    row = int(np.flatnonzero(data.y)[3])
    pq.write_table(with_null(data.table(), "overlap", row), tmp_path / "a.parquet", 30)
    with refusal("overlap", f"row {row}", kind=ValueError):
        fit(read(tmp_path / "a.parquet"))


def test_overlap_is_needed_of_positive_candidates_only(data, tmp_path):
    table = data.table()
    values = [v if y else None for v, y in zip(data.overlap.tolist(), data.y, strict=True)]
    table = table.set_column(table.schema.get_field_index("overlap"), "overlap", pa.array(values))
    pq.write_table(table, tmp_path / "a.parquet", 30)
    found = fit(read(tmp_path / "a.parquet")).objective_
    assert found == pytest.approx(data.fit().objective_, rel=1e-9)


def test_one_class_no_label_no_rows(data, tmp_path):
    path = data.but(y=np.zeros_like(data.y)).write(tmp_path / "a.parquet", row_group=50)
    with refusal("label", "one class only (0)", kind=ValueError):
        fit(read(path))
    with refusal("no label column", "label="):
        fit(from_parquet(path, group="frame"))
    pq.write_table(data.table().slice(0, 0), tmp_path / "b.parquet")
    with refusal("b.parquet", "has no rows"):
        fit(read(tmp_path / "b.parquet"))


# ---- matrices -------------------------------------------------------------------------------


def test_npy_files_that_cannot_be_used(data, tmp_path):
    X = tmp_path / "X.npy"
    for array, words in [
        (np.asfortranarray(data.X), ["X.npy", "C order"]),
        (data.X.astype(int), ["X.npy", "int64", "float32 or float64"]),
        (data.X[:, 0], ["X.npy", "matrix"]),
        (np.array([{}, 1], dtype=object), ["X.npy"]),
    ]:
        np.save(X, array)
        with refusal(*words):
            from_npy(X)
    np.save(X, data.X)
    whole = X.read_bytes()
    X.write_bytes(whole.replace(b"'shape': (", b"'shape': (("))
    with refusal("X.npy is not a complete .npy file"):
        from_npy(X)
    X.write_bytes(whole)
    content = X.read_bytes()
    for short in (content[: len(content) // 2], content[:20], b"", b"not an array at all"):
        X.write_bytes(short)
        with refusal("X.npy", "not a complete .npy file"):
            from_npy(X)
    with refusal("gone.npy", "does not exist"):
        from_npy(tmp_path / "gone.npy")
    np.savez(tmp_path / "X.npz", X=data.X)
    with refusal("X.npz", ".npy"):
        from_npy(tmp_path / "X.npz")


def test_columns_of_a_matrix_that_do_not_fit(data, tmp_path):
    np.save(tmp_path / "X.npy", data.X)
    for make, name in (
        (lambda **k: from_npy(tmp_path / "X.npy", **k), "X.npy"),
        (lambda **k: from_arrays(data.X, **k), "X"),
    ):
        for role in ("group", "label", "overlap"):
            with refusal(role, f"{name} has {len(data.X)} rows", "(7,)", kind=ValueError):
                make(**{role: np.zeros(7)})
        with refusal("2 feature_names for 5 features", kind=ValueError):
            make(feature_names=["a", "b"])


def test_matrices_that_are_none():
    for X in ([1.0, 2.0], np.array([["a"]]), np.ones((2, 2), complex)):
        with refusal("X must be a matrix of numbers", kind=ValueError):
            from_arrays(X)
    with refusal("no rows"):
        fit(from_arrays(np.ones((0, 2)), label=[]))


@pytest.mark.parametrize("where", [0, 100])
@pytest.mark.parametrize("role", ["group", "label"])
@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_key_of_a_matrix(data, where, role, missing):
    keys = {"group": data.groups.astype(object), "label": data.y.astype(object)}
    keys[role][where] = missing
    if missing is not None:
        keys[role] = keys[role].astype(float)
    with refusal(role, f"row {where}", kind=ValueError):
        fit(from_arrays(data.X, **keys, batch_rows=50))


def test_keys_of_python_objects_stay_what_they_are(data):
    labels = data.y.astype(object)
    model = fit(from_arrays(data.X, group=data.groups.astype(object), label=labels))
    assert model.classes_.tolist() == data.fit(with_overlap=False).classes_.tolist()


def test_rows_of_a_matrix_apart(data):
    groups = data.groups.copy()
    groups[-1] = 0
    with refusal("group 0 ", "row 0 of X", f"row {len(groups) - 1} of X", "argsort"):
        fit(from_arrays(data.X, group=groups, label=data.y))


# ---- scores ---------------------------------------------------------------------------------


def three_classes(data: Data) -> Data:
    y = np.where(data.y == 1, "polyp", "clear").astype("U6")
    y[np.flatnonzero(data.y)[::3]] = "ulcer"
    return data.but(y=y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("made_by", ["wide", "list", "npy", "arrays"])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_scores_of_a_source_are_those_of_its_rows(data, n_classes, made_by, batch, tmp_path):
    data = data.but(X=data.X.round(1), groups=np.array([f"f{g}" for g in data.groups]))  # ties
    data = data if n_classes == 2 else three_classes(data)
    model = data.fit()
    keys = {"group": data.groups, "label": data.y}
    if made_by == "npy":
        np.save(tmp_path / "X.npy", data.X)
        source = from_npy(tmp_path / "X.npy", **keys, batch_rows=batch)
    elif made_by == "arrays":
        source = from_arrays(data.X, **keys, batch_rows=batch)
    else:
        path = data.write(tmp_path / "a", row_group=batch, n_files=3, layout=made_by)
        source = read(path)
    rows, found = model.group_scores(data.X, data.groups), model.group_scores(source)
    np.testing.assert_array_equal(found.group, rows.group)
    np.testing.assert_allclose(found.score, rows.score, rtol=1e-9, atol=1e-12)
    assert found.winner.shape == rows.winner.shape
    assert found.winner.dtype == np.int64
    of_rows = model.decision_function(data.X)
    np.testing.assert_allclose(model.decision_function(source), of_rows, rtol=1e-9, atol=1e-12)
    of_winners = (
        of_rows[found.winner]
        if n_classes == 2
        else np.take_along_axis(of_rows, found.winner, axis=0)
    )
    np.testing.assert_allclose(of_winners, rows.score, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        data.groups[found.winner.reshape(len(rows.group), -1)[:, -1]], rows.group
    )
    np.testing.assert_array_equal(
        model.predict_groups(source), model.predict_groups(data.X, data.groups)
    )
    np.testing.assert_array_equal(model.predict(source), model.predict(data.X))
    assert model.score(source) == model.score(data.X, data.y, groups=data.groups)


@pytest.mark.parametrize("row_group", [1, 2, 3, 100])
def test_the_first_of_equal_candidates_wins_wherever_files_are_cut(row_group, tmp_path):
    X = np.array([[1.0], [5.0], [5.0], [2.0], [5.0], [0.0], [3.0], [3.0], [3.0]])
    groups = np.array([4, 4, 4, 4, 4, 2, 9, 9, 9])
    data = Data(X, np.array([0, 1, 0, 0, 0, 0, 0, 0, 0]), groups, np.zeros(9))
    model = data.fit()
    found = model.group_scores(read(data.write(tmp_path / "a.parquet", row_group=row_group)))
    assert found.group.tolist() == [4, 2, 9]
    assert found.winner.tolist() == [1, 5, 6]


def test_scores_without_groups(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=7)
    source = from_parquet(path, group=None, label="label", features=[f"f{j}" for j in range(5)])
    model = data.fit()
    found = model.group_scores(source)
    np.testing.assert_array_equal(found.winner, np.arange(len(data.X)))
    np.testing.assert_allclose(found.score, model.decision_function(data.X), rtol=1e-9, atol=1e-12)
    assert model.score(source) == model.score(data.X, data.y)


def test_other_features_than_in_training(data, model, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50)
    for act in (model.group_scores, model.decision_function, model.predict_groups):
        with refusal("4 features", "5", kind=ValueError):
            act(read(path, features=["f0", "f1", "f2", "f3"]))
        with refusal("'f1' where", "'f0'", "order of training", kind=ValueError):
            act(read(path, features=["f1", "f0", "f2", "f3", "f4"]))


# ---- what is read ---------------------------------------------------------------------------


def sparse_labels(kind: str) -> Data:
    """A hundred rows; of ten stretches of ten, two hold a positive one."""
    y = np.zeros(100, dtype=kind)
    y[[3, 55]] = 1
    return Data(np.ones((100, 2), dtype=np.int8), y, np.arange(100), np.zeros(100))


@pytest.mark.parametrize("layout", ["wide", "list"])
@pytest.mark.parametrize("kind", ["int64", "int8", "bool"])
@pytest.mark.parametrize("statistics", [True, False])
def test_labels_that_are_mostly_alike_keep_their_type(layout, kind, statistics, tmp_path):
    data = sparse_labels(kind)
    path = data.write(
        tmp_path / "a.parquet", row_group=10, layout=layout, write_statistics=statistics
    )
    found = read(path).index()
    np.testing.assert_array_equal(found.labels_of_rows(), data.y)
    assert found.classes.dtype == data.y.dtype


def test_two_columns_of_one_name_are_refused(data, tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(data.table().append_column("f0", [data.y]), path)
    with refusal("a.parquet has two columns called 'f0'"):
        read(path)


def test_lists_of_absurd_length_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    lists = pa.array([], pa.list_(pa.float32(), 2_000_000))
    pq.write_table(pa.table({"frame": pa.array([], pa.int64()), "x": lists}), path)
    with refusal("a.parquet", "lists of 2,000,000 numbers"):
        feature_list([open_table(path)], "x")


def test_labels_come_from_the_rows_and_not_from_statistics(tmp_path):
    """No checksum covers the end of a Parquet file, where the statistics are."""
    path = tmp_path / "a.parquet"
    label, other = 0x1122334455667788, 0x1122334455667799
    data = replace(sparse_labels("int64"), y=np.full(100, label))
    data.write(path, row_group=50)
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[end:].replace(label.to_bytes(8, "little"), other.to_bytes(8, "little"))
    path.write_bytes(content[:end] + footer)
    assert pq.read_metadata(path).row_group(0).column(3).statistics.min == other
    assert read(path).index().classes.tolist() == [label]


def test_row_groups_with_other_rows_than_they_say_are_refused(data, tmp_path):
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    source._units[1] = replace(source._units[1], n_rows=60)
    with refusal("a.parquet, row group 1,", "claims to have 60 rows and has 50"):
        list(source.chunks(1, Columns(features=True)))


def test_a_changed_bit_is_refused_by_its_row_group(data, tmp_path):
    path = data.write(tmp_path / "a.parquet", row_group=50, write_page_checksum=True)
    chunk = pq.read_metadata(path).row_group(1).column(0)
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[begin + chunk.total_compressed_size - 3] ^= 1
    path.write_bytes(content)
    with refusal("a.parquet cannot be read as Parquet in row group 1", "CRC checksum"):
        fit(read(path))


@pytest.mark.parametrize("label", ["element", "item"])
def test_a_label_called_like_what_a_list_holds(label, tmp_path):
    table = sparse_labels("int64").table("list")
    table = table.rename_columns(
        [label if name == "label" else name for name in table.column_names]
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    found = read(tmp_path / "a.parquet", label=label).index()
    np.testing.assert_array_equal(found.labels_of_rows(), sparse_labels("int64").y)


def test_a_label_that_is_missing_in_a_constant_row_group(tmp_path):
    table = pa.table({"f0": [0.0] * 4, "frame": [0, 1, 2, 3], "label": [0, None, 1, 1]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    with refusal("a.parquet", "'label'", "row 1 "):
        from_parquet(tmp_path / "a.parquet", **COLUMNS).index()


def test_few_units_are_under_way_at_once(monkeypatch):
    monkeypatch.setattr(parallel, "n_threads", lambda: 3)
    asked, taken, most = 0, 0, 0

    def items():
        nonlocal asked, most
        for k in range(200):
            asked += 1
            most = max(most, asked - taken)
            yield k

    for expected, result in enumerate(thread_stream(lambda k: k, items())):
        assert result == expected
        taken += 1
    assert taken == 200
    assert most <= 2 * 3 + 2


def test_a_stream_that_fails_leaves_nothing_running(monkeypatch):
    monkeypatch.setattr(parallel, "n_threads", lambda: 2)
    pool = ThreadPoolExecutor(2)
    monkeypatch.setattr(parallel, "_pool", lambda *_: pool)
    running, started = 0, 0
    lock = threading.Lock()

    def work(k):
        nonlocal running, started
        with lock:
            running, started = running + 1, started + 1
        try:
            if k == 3:
                raise OSError("no more")
        finally:
            with lock:
                running -= 1

    with pytest.raises(OSError, match="no more"):
        list(thread_stream(work, range(1000)))
    assert running == 0
    assert started < 20
    pool.shutdown()


# ---- ids and arguments that could be mistaken in silence ---------------------------------------


@pytest.mark.parametrize("other", [np.uint64, "decimal"])
def test_large_group_ids_of_two_integer_types_stay_apart(other, tmp_path):
    ids = 2**53 + np.arange(40)
    table = pa.table({"x": np.arange(40.0), "label": np.arange(40) % 2, "frame": ids})
    if other == "decimal":
        column = pa.array([Decimal(int(i)) for i in ids], pa.decimal128(18, 0))
        pq.write_table(table.set_column(2, "frame", column), tmp_path / "a.parquet")
    else:
        pq.write_table(table.slice(0, 20), tmp_path / "a.parquet")
        rest = table.slice(20).set_column(2, "frame", pa.array(ids[20:].astype(other)))
        pq.write_table(rest, tmp_path / "b.parquet")
    index = from_parquet(tmp_path, group="frame", label="label").index()
    assert index.ids.tolist() == ids.tolist()


def test_what_a_source_brings_is_not_given_twice(tmp_path):
    data = make_data(1)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    model = GroupClassifier().fit(source)
    for call in (
        lambda: model.group_scores(source, data.groups),
        lambda: model.predict_groups(source, data.groups),
        lambda: model.score(source, data.y),
        lambda: GroupClassifier().fit(source, data.y),
    ):
        with pytest.raises(ValueError, match="comes with the source"):
            call()


def test_a_path_with_columns_by_name_is_a_source(tmp_path):
    data = make_data(2)
    path = data.write(tmp_path / "a.parquet", row_group=50)
    model = GroupClassifier().fit(path, y="label", groups="frame", overlap="overlap")
    same = GroupClassifier().fit(read(path))
    assert model.objective_ == pytest.approx(same.objective_, rel=1e-9)
    found = model.group_scores(str(path), "frame")
    np.testing.assert_array_equal(found.winner, model.group_scores(read(path)).winner)
    assert model.score(path, "label", "frame") == model.score(read(path))
    with pytest.raises(ValueError, match="groups must name a column"):
        model.group_scores(path, data.groups)


def test_a_source_of_files_can_be_pickled_before_and_after_it_was_read(data, tmp_path):
    path = data.write(tmp_path / "many", row_group=20, n_files=3)
    np.save(tmp_path / "X.npy", data.X)
    keys = {"group": data.groups, "label": data.y, "overlap": data.overlap}
    for source in (read(path), from_npy(tmp_path / "X.npy", **keys)):
        for _ in ("fresh", "read"):
            again = pickle.loads(pickle.dumps(source))
            np.testing.assert_array_equal(fit(again).coef_, fit(source).coef_)


def test_a_method_with_a_source_is_sent_as_joblib_sends_it(data, tmp_path):
    source = read(data.write(tmp_path / "a.parquet", row_group=20))
    model = fit(source)
    score, given = cloudpickle.loads(cloudpickle.dumps((model.group_scores, source)))
    np.testing.assert_array_equal(score(given).score, model.group_scores(source).score)
