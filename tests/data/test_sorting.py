"""Tables sorted by group: as a stable sort in memory has it, whatever the memory and batches."""

from __future__ import annotations

import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.cli._main import main
from groupcm.data.tables import _external_sort
from groupcm.data.tables.sorting import SortedTable, sort_tables
from groupcm.errors import InputError
from groupcm.utils.memory import parse_memory


def stable_order(groups: list) -> list[int]:
    """Rows by the first appearance of their group, then as they were."""
    first: dict = {}
    for row, name in enumerate(groups):
        first.setdefault(name, row)
    return sorted(range(len(groups)), key=lambda row: first[groups[row]])


def count_apart(groups: list) -> int:
    return sum(
        any(name != other for other in groups[groups.index(name) : _last(groups, name)])
        for name in set(groups)
    )


def _last(groups: list, name: object) -> int:
    return max(row for row, other in enumerate(groups) if other == name)


def assert_sorted(output: Path, table: pa.Table, group: str = "g") -> None:
    order = stable_order(table[group].to_pylist())
    assert pq.read_table(output).equals(table.take(pa.array(order, pa.int64())))


names = st.one_of(
    st.lists(st.integers(-3, 3)),
    st.lists(st.integers(0, 40), max_size=200),
    st.lists(st.sampled_from(["a", "b", "bb", "ä", "long name"])),
    st.lists(st.booleans()),
    st.lists(st.sampled_from([0.5, -1.0, 2.0])),
)


@settings(max_examples=150, deadline=None)
@given(
    groups=names,
    n_files=st.integers(1, 3),
    memory=st.integers(1, 4000),
    batch_rows=st.integers(1, 60),
    row_group=st.integers(1, 60),
    most_buckets=st.integers(2, 5),
)
def test_equals_a_stable_sort(groups, n_files, memory, batch_rows, row_group, most_buckets):
    rows = np.arange(len(groups))
    kind = None if groups else pa.int64()
    text = pa.array([None if i % 5 == 0 else "x" * (i % 7) for i in rows], pa.string())
    table = pa.table({"row": rows, "g": pa.array(groups, kind), "text": text})
    edges = np.linspace(0, len(groups), n_files + 1).astype(int)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("groupcm.data.tables.formats._BATCH_ROWS", batch_rows)
        patch.setattr(_external_sort, "_ROWS_PER_ROW_GROUP", row_group)
        patch.setattr(_external_sort, "_ROWS_AT_ONCE", row_group)
        patch.setattr(_external_sort, "_MOST_BUCKETS", most_buckets)
        source, output = Path(folder, "in"), Path(folder, "out.parquet")
        source.mkdir()
        for i, first in enumerate(edges[:-1]):
            pq.write_table(table.slice(first, edges[i + 1] - first), source / f"{i}.parquet")
        done = sort_tables([source], output, group="g", memory=memory)
        assert done == SortedTable(len(groups), len(set(groups)), count_apart(groups))
        assert_sorted(output, table)
        metadata = pq.read_metadata(output)
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        assert set(sizes[:-1]) <= {row_group}
        assert sorted(p.name for p in Path(folder).iterdir()) == ["in", "out.parquet"]


@pytest.fixture
def shuffled(tmp_path) -> pa.Table:
    """A table in ``in.parquet`` with 300 groups whose rows are anywhere."""
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.random(5000), "g": rng.integers(0, 300, 5000)})
    pq.write_table(table, tmp_path / "in.parquet")
    return table


@pytest.fixture
def rounds(monkeypatch) -> list[list[Path]]:
    """The temporary files of every round."""
    found = []
    scatter = _external_sort._scatter

    def watched(batches, edges, paths):
        found.append(paths)
        scatter(batches, edges, paths)

    monkeypatch.setattr(_external_sort, "_scatter", watched)
    monkeypatch.setattr("groupcm.data.tables.formats._BATCH_ROWS", 250)
    return found


def test_no_temporary_files_where_memory_suffices(tmp_path, shuffled, rounds):
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory="1MB")
    assert_sorted(tmp_path / "out.parquet", shuffled)
    assert not rounds


def test_only_what_repeats_has_a_dictionary(tmp_path, shuffled):
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g")
    first = pq.read_metadata(tmp_path / "out.parquet").row_group(0)
    assert [first.column(i).has_dictionary_page for i in range(2)] == [False, True]


def test_buckets_are_about_as_many_as_needed(tmp_path, shuffled, rounds):
    # 5000 rows of 24 bytes are 120,000; each bucket may have 10,000.
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=30_000)
    assert_sorted(tmp_path / "out.parquet", shuffled)
    assert len(rounds) == 1
    assert 12 <= len(rounds[0]) <= 20
    assert {path.parents[2] for path in rounds[0]} == {tmp_path}


def test_many_buckets_take_several_rounds(tmp_path, shuffled, rounds, monkeypatch):
    monkeypatch.setattr(_external_sort, "_MOST_BUCKETS", 4)
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=30_000)
    assert_sorted(tmp_path / "out.parquet", shuffled)
    assert len(rounds) == 5
    assert max(map(len, rounds)) <= 4


def test_what_is_held_stays_within_the_share(tmp_path, shuffled, rounds, monkeypatch):
    held = []
    in_memory = _external_sort.Sorter._sort_in_memory

    def watched(self, batches):
        held.append(sum(batch.nbytes for batch in batches))
        in_memory(self, batches)

    monkeypatch.setattr(_external_sort.Sorter, "_sort_in_memory", watched)
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=30_000)
    assert sum(held) == 5000 * 24
    assert max(held) <= 10_000


def test_rows_that_grow_are_cut_again(tmp_path, rounds):
    # The first rows are short, so that the first cut is too coarse.
    groups = np.tile(np.arange(50), 40)
    text = ["" if row < 1000 else "x" * 500 for row in range(2000)]
    table = pa.table({"g": groups, "text": text})
    pq.write_table(table, tmp_path / "in.parquet")
    sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=30_000)
    assert_sorted(tmp_path / "out.parquet", table)
    assert len(rounds) > 1


def test_a_group_larger_than_memory(tmp_path, rounds):
    table = pa.table({"g": [1, *[7] * 3000, 1, 2], "x": np.arange(3003)})
    pq.write_table(table, tmp_path / "in.parquet")
    done = sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=999)
    assert done == SortedTable(3003, 3, 1)
    assert_sorted(tmp_path / "out.parquet", table)


def test_in_order_is_copied_without_temporary_files(tmp_path, rounds):
    table = pa.table({"g": ["b", "b", "c", "a"], "x": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "in.parquet")
    done = sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="g", memory=1)
    assert done == SortedTable(4, 3, 0)
    assert pq.read_table(tmp_path / "out.parquet").equals(table)
    assert not rounds


def test_temporary_files_go_where_they_are_told(tmp_path, shuffled, rounds):
    (tmp_path / "elsewhere").mkdir()
    ask = {"group": "g", "memory": 30_000}
    paths = [tmp_path / "in.parquet"], tmp_path / "out.parquet"
    sort_tables(*paths, **ask, temporary=tmp_path / "elsewhere")
    assert {path.parents[2] for path in rounds[0]} == {tmp_path / "elsewhere"}
    assert not list((tmp_path / "elsewhere").iterdir())
    with pytest.raises(InputError, match=r"nowhere is not a folder"):
        sort_tables(*paths, **ask, temporary=tmp_path / "nowhere")


def every_type() -> pa.Table:
    kinds = {
        "g": pa.array([2, 1, 2], pa.uint16()),
        "small": pa.array([1, None, 3], pa.int8()),
        "half": pa.array(np.array([1, 2, 3], np.float16)),
        "flag": [True, None, False],
        "money": pa.array([Decimal("1.25"), None, Decimal("-3.50")], pa.decimal128(12, 2)),
        "day": pa.array([1, 2, 3], pa.date32()),
        "moment": pa.array([1, 2, 3], pa.timestamp("ns", "Europe/Zurich")),
        "large": pa.array(["a", None, "c"], pa.large_string()),
        "view": pa.array(["a", None, "c"], pa.string_view()),
        "category": pa.array(["a", None, "a"])
        .dictionary_encode()
        .cast(pa.dictionary(pa.int8(), pa.string())),
        "bytes": pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
        "features": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)),
        "list": [[1], [], None],
        "record": [{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}],
        "nothing": pa.nulls(3),
        "ä b.c": [1.5, float("nan"), -0.0],
    }
    return pa.table(kinds)


@pytest.mark.parametrize("memory", ["1MB", 1])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_every_column_and_type_is_kept(tmp_path, memory, suffix):
    table = every_type().replace_schema_metadata({"note": "kept"})
    source = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, source)
    else:
        pyarrow.feather.write_feather(table, source)
    sort_tables([source], tmp_path / "out.parquet", group="g", memory=memory)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.equals(table.schema)
    assert found.schema.metadata == {b"note": b"kept"}
    rows = table.to_pylist()
    # Their text: a NaN does not equal itself, and -0.0 equals 0.0.
    assert repr(found.to_pylist()) == repr([rows[0], rows[2], rows[1]])


def test_categories_of_several_tables(tmp_path):
    for i, n in enumerate((100, 100)):
        values = [f"{i} {j}" for j in range(n)]
        column = pa.array(values).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
        pq.write_table(pa.table({"g": column, "x": range(n)}), tmp_path / f"{i}.parquet")
    sort_tables([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "out.pq", group="g")
    found = pq.read_table(tmp_path / "out.pq")["g"]
    assert found.to_pylist() == [f"{i} {j}" for i in range(2) for j in range(100)]


def test_formats_and_order_of_columns_may_differ(tmp_path):
    table = pa.table({"g": ["b", "a"], "x": [1, 2]})
    pyarrow.csv.write_csv(table, tmp_path / "1.csv")
    pyarrow.feather.write_feather(table.select(["x", "g"]), tmp_path / "2.arrow")
    pq.write_table(table.select(["x", "g"]), tmp_path / "3.parquet")
    done = sort_tables([tmp_path], tmp_path / "out.parquet", group="g", memory=1)
    assert done == SortedTable(6, 2, 2)
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {
        "g": ["b"] * 3 + ["a"] * 3,
        "x": [1] * 3 + [2] * 3,
    }


GOOD = pa.table({"frame": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (GOOD.drop_columns(["x"]), "2.parquet lacks the column 'x' that 1.parquet has"),
        (GOOD.append_column("y", [[1, 2, 3]]), "1.parquet lacks the column 'y' that 2.parquet has"),
        (
            GOOD.set_column(1, "x", [[1, 2, 3]]),
            "the column 'x' is of type double in 1.parquet but int64 in 2.parquet",
        ),
        (
            GOOD.set_column(0, "frame", [["b", None, "a"]]),
            "2.parquet: the column 'frame' has a missing value in row 1 (counted from 0)",
        ),
        (
            GOOD.set_column(0, "frame", [["b", "a", ""]]),
            "2.parquet: the group column 'frame' is empty in row 2 (counted from 0)",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, monkeypatch, capsys, second, said):
    monkeypatch.chdir(tmp_path)
    pq.write_table(GOOD, "1.parquet")
    pq.write_table(second, "2.parquet")
    assert main(["sort", "1.parquet", "2.parquet", "--group", "frame", "-o", "out.parquet"]) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.parquet", "2.parquet"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("in.parquet --group fram -o out.parquet", "did you mean 'frame'?"),
        ("in.parquet --group frame -o in.parquet", "in.parquet is one of the tables"),
        ("in.parquet --group frame -o out.csv", "end its name in .parquet"),
        ("in.parquet --group frame -o out.parquet --memory 3", "'3' is not an amount of memory"),
        ("in.parquet --group frame -o in.parquet/o.parquet", "in.parquet is not a folder"),
        ("none.parquet --group frame -o out.parquet", "none.parquet does not exist"),
        ("in.parquet --group list -o out.parquet", "holds values of type list"),
        ("union.arrow --group frame -o out.parquet", "the column 'odd' is of type month_day_nano"),
    ],
)
def test_mistakes_write_nothing(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    pq.write_table(GOOD.append_column("list", [[[1], [2], [3]]]), "in.parquet")
    odd = pa.array([(1, 1, 1)] * 3, pa.month_day_nano_interval())
    pyarrow.feather.write_feather(GOOD.append_column("odd", odd), "union.arrow")
    assert main(["sort", *options.split()]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "union.arrow"]


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(GOOD, "in.parquet")
    options = ["--group", "frame", "-o", "out.parquet"]
    assert main(["sort", "in.parquet", *options, "--memory", "1B"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "  rows          3",
        "  groups        2",
        "  groups apart  1",
        "Wrote out.parquet.",
    ]
    for doing in ("numbering groups", "reading", "writing"):
        assert f"{doing}: 3 of 3 rows\n" in said.err
    assert pq.read_table("out.parquet")["x"].to_pylist() == [1, 3, 2]

    assert main(["sort", "out.parquet", "--group", "frame", "-o", "again.parquet"]) == 0
    assert "groups apart  0; the rows were in order already\n" in capsys.readouterr().out
    assert pq.read_table("again.parquet").equals(pq.read_table("out.parquet"))


def test_a_table_without_rows(tmp_path):
    pq.write_table(GOOD.slice(0, 0), tmp_path / "in.parquet")
    done = sort_tables([tmp_path / "in.parquet"], tmp_path / "out.parquet", group="frame")
    assert done == SortedTable(0, 0, 0)
    assert pq.read_table(tmp_path / "out.parquet").equals(GOOD.slice(0, 0))


@pytest.mark.parametrize("doing", ["numbering groups", "reading", "writing"])
def test_interrupt_leaves_nothing(tmp_path, shuffled, rounds, doing):
    def interrupt(now, done, n_rows):
        if now == doing and done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort_tables(
            [tmp_path / "in.parquet"],
            tmp_path / "out.parquet",
            group="g",
            memory=30_000,
            on_rows=interrupt,
        )
    assert len(rounds) == (doing != "numbering groups")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
@pytest.mark.parametrize("memory", ["1MB", "30kB"])
def test_full_disk_is_one_sentence_and_leaves_nothing(
    tmp_path, shuffled, rounds, monkeypatch, capsys, memory
):
    import resource

    monkeypatch.chdir(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))
    try:
        status = main(f"sort in.parquet --group g -o out.parquet --memory {memory}".split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2
    where = "out.parquet" if memory == "1MB" else str(tmp_path)
    assert capsys.readouterr().err.splitlines()[-1] == f"groupcm: {where}: file too large"
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("2GB", 2e9),
        ("500 MB", 5e8),
        ("1.5GiB", 1.5 * 2**30),
        ("800M", 8e8),
        ("7b", 7),
        ("1ki", 1024),
    ],
)
def test_amounts_of_memory(text, n_bytes):
    assert parse_memory(text) == n_bytes
    assert parse_memory(np.int64(n_bytes)) == n_bytes


@pytest.mark.parametrize("wrong", ["", "GB", "2", "2XB", "-1GB", "0GB", "1e9", "9" * 400 + "GB"])
def test_not_amounts_of_memory(wrong):
    with pytest.raises(ValueError, match=r"is not an amount of memory; write it with a unit"):
        parse_memory(wrong)


@pytest.mark.parametrize("wrong", [True, None, 1.5, 0, -4])
def test_not_numbers_of_bytes(wrong):
    with pytest.raises(ValueError, match=r"is not an amount of memory"):
        parse_memory(wrong)
