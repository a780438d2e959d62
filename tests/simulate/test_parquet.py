"""Synthetic data in Parquet: the same bits as in memory, in the requested row groups and files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groupcm.cli._main import main
from groupcm.errors import InputError
from groupcm.simulate import capsule, capsule_to_parquet, frames, parquet

OTHERS = {"frame": "groups", "label": "y", "overlap": "overlap", "polyp": "polyp"}
OTHERS |= {"patient": "patient"}


@pytest.fixture
def small_chunks(monkeypatch):
    """Many chunks of few rows, so that row groups and chunks cross."""
    monkeypatch.setattr("groupcm.simulate.world._CHUNK_ROWS", 100)


def matrix(table: pa.Table) -> np.ndarray:
    if "features" in table.column_names:
        return table["features"].combine_chunks().flatten().to_numpy().reshape(-1, 13)
    return np.column_stack([table[name] for name in table.column_names[:13]])


def assert_equals_capsule(table: pa.Table, **arguments) -> None:
    data = capsule(**arguments)
    assert np.array_equal(matrix(table), data.X)
    for column, attribute in OTHERS.items():
        assert np.array_equal(table[column], getattr(data, attribute)), column


@pytest.mark.parametrize("layout", ["wide", "list"])
@pytest.mark.parametrize("n_files", [1, 3])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_same_bits_as_in_memory(tmp_path, small_chunks, layout, n_files, n_threads):
    arguments = {"n_negative": 40, "n_positive": 7, "group_size": 20, "seed": 3}
    path = tmp_path / ("made" if n_files > 1 else "made.parquet")
    files = capsule_to_parquet(
        path,
        **arguments,
        layout=layout,
        n_files=n_files,
        n_threads=n_threads,
        rows_a_row_group=130,
    )
    assert len(files) == n_files
    table = pa.concat_tables([pq.read_table(file) for file in files])
    assert_equals_capsule(table, **arguments)
    assert sorted(tmp_path.rglob("*.parquet")) == files
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("rows_a_row_group", [1, 99, 100, 101, 350, 10**6])
def test_row_groups_have_exactly_the_rows_asked_for(tmp_path, small_chunks, rows_a_row_group):
    files = capsule_to_parquet(
        tmp_path / "made",
        20,
        n_positive=5,
        group_size=20,
        n_files=2,
        rows_a_row_group=rows_a_row_group,
    )
    n_rows = [pq.read_metadata(file).num_rows for file in files]
    assert abs(n_rows[0] - n_rows[1]) <= 1
    for file in files:
        metadata = pq.read_metadata(file)
        *full, last = (metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        assert set(full) <= {rows_a_row_group}
        assert 0 < last <= rows_a_row_group


@pytest.mark.parametrize("layout", ["wide", "list"])
def test_types_and_encodings(tmp_path, layout):
    (file,) = capsule_to_parquet(
        tmp_path / "made.parquet", 20, n_positive=5, group_size=20, layout=layout
    )
    schema = pq.read_schema(file)
    others = [pa.int32(), pa.int8(), pa.float32(), pa.int32(), pa.int32()]
    assert schema.names[-5:] == list(OTHERS)
    assert schema.types[-5:] == others
    if layout == "wide":
        assert schema.names[:-5] == capsule(1, n_positive=0).feature_names
        assert set(schema.types[:-5]) == {pa.float32()}
    else:
        assert schema.names[:-5] == ["features"]
        kind = schema.field("features").type
        assert (kind.value_type, kind.list_size) == (pa.float32(), 13)
        assert not kind.value_field.nullable
    assert not any(field.nullable for field in schema)
    first = pq.read_metadata(file).row_group(0)
    columns = [first.column(i) for i in range(first.num_columns)]
    assert all(column.is_stats_set for column in columns)
    assert {column.compression for column in columns} == {"SNAPPY"}
    assert [column.has_dictionary_page for column in columns[-5:]] == [True] * 5
    assert not any(column.has_dictionary_page for column in columns[:-5])


def test_look_ahead_is_bounded(tmp_path, small_chunks, monkeypatch):
    drawn = written = largest = 0

    def counting(plan, chunk):
        nonlocal drawn
        drawn += 1
        return frames.draw_chunk(plan, chunk)

    def on_rows(done, n_rows):
        nonlocal written, largest
        written = done
        largest = max(largest, drawn * 100 - written)

    monkeypatch.setattr(parquet, "draw_chunk", counting)
    capsule_to_parquet(
        tmp_path / "made.parquet",
        400,
        group_size=20,
        n_threads=2,
        rows_a_row_group=50,
        on_rows=on_rows,
    )
    assert drawn > 100
    assert largest < 2000  # of about 14,000 rows


@pytest.mark.parametrize("n_files", [1, 4])
def test_failure_leaves_nothing(tmp_path, small_chunks, monkeypatch, n_files):
    def failing(plan, chunk):
        if chunk == 6:
            raise OSError(28, "No space left on device")
        return frames.draw_chunk(plan, chunk)

    monkeypatch.setattr(parquet, "draw_chunk", failing)
    with pytest.raises(OSError, match="No space"):
        capsule_to_parquet(
            tmp_path / "made", 50, group_size=20, n_files=n_files, rows_a_row_group=50
        )
    assert not list(tmp_path.iterdir())


def test_interrupt_leaves_nothing(tmp_path, small_chunks):
    def interrupt(done, n_rows):
        if done > 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capsule_to_parquet(
            tmp_path / "made",
            50,
            group_size=20,
            n_files=9,
            rows_a_row_group=50,
            on_rows=interrupt,
        )
    assert not list(tmp_path.iterdir())


def test_folder_must_be_new_or_empty(tmp_path):
    arguments = {"n_negative": 4, "n_positive": 1, "group_size": 5, "n_files": 2}
    (tmp_path / "empty").mkdir()
    assert len(capsule_to_parquet(tmp_path / "empty", **arguments)) == 2
    with pytest.raises(
        InputError, match=r"empty: the folder is not empty; empty it or choose another"
    ):
        capsule_to_parquet(tmp_path / "empty", **arguments)
    assert len(capsule_to_parquet(tmp_path / "new" / "made", **arguments)) == 2
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"it is a file; give the name of a folder"):
        capsule_to_parquet(tmp_path / "file", **arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"layout": "long"}, "layout must be 'wide' or 'list'; got 'long'"),
        ({"n_files": 0}, "n_files must be a whole number from 1 to the number of rows"),
        ({"n_files": 10**6}, "n_files must be a whole number from 1 to the number of rows"),
        ({"rows_a_row_group": 0}, "rows_a_row_group must be a whole number at least 1"),
        ({"n_threads": 0}, "n_threads must be a whole number at least 1"),
        ({"n_negative": 0, "n_positive": 0}, "at least one frame is needed"),
    ],
)
def test_bad_arguments_write_nothing(tmp_path, arguments, said):
    with pytest.raises(ValueError, match=said):
        capsule_to_parquet(tmp_path / "made.parquet", **({"n_negative": 5} | arguments))
    assert not list(tmp_path.iterdir())


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = "--negatives 30 --positives 4 --group-size 9 --seed 5"
    assert main(f"simulate -o one.parquet {options}".split()) == 0
    said = capsys.readouterr()
    asked = {"n_negative": 30, "n_positive": 4, "group_size": 9, "seed": 5}
    table = pq.read_table("one.parquet")
    assert_equals_capsule(table, **asked)
    assert f"rows    {len(table):,}\n" in said.out
    assert "groups  34, of them 4 with a polyp\n" in said.out
    assert "Wrote one.parquet.\n" in said.out
    assert f"simulating: {len(table)} of {len(table)} rows\n" in said.err

    # The command it proposes works.
    proposed = said.out.splitlines()[-1].split()
    assert main([*proposed[1:-1], "model.json"]) == 0
    assert "13 features" in capsys.readouterr().out

    assert main(f"simulate -o many --files 3 --layout list {options}".split()) == 0
    assert "in 3 files\n" in capsys.readouterr().out
    assert_equals_capsule(pq.read_table("many"), **asked)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-o made", "cannot write made: end its name in .parquet, or write several files"),
        ("-o /dev/null/made.parquet", "/dev/null is not a folder"),
        ("-o made.parquet --group-size 0", "--group-size must be a whole number at least 1"),
        ("-o made.parquet --negatives 0 --positives 0", "at least one frame is needed"),
    ],
)
def test_command_says_what_is_wrong(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", *options.split()]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
