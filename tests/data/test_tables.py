"""Reading tables of candidates, and writing files whole."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.formats import find_tables, open_table, write_table
from groupcm.data.tables.role_columns import read_objects
from groupcm.data.tables.sorting import sort_tables
from groupcm.errors import InputError
from groupcm.simulate import capsule_to_parquet
from groupcm.sources import from_parquet
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.files import whole_file

COLUMNS = {
    "frame": ["a", "a", "b", "c"],
    "polyp": [1, 0, 0, 0],
    "fit": [0.7, 0.0, 0.0, 0.0],
    "who": [9, 9, 9, 4],
    "size": np.array([1.5, -2.25, 3.0, 0.125], np.float32),
    "count": np.array([1, 2, 3, 250], np.uint8),
    "bright": [True, False, True, False],
}
ROLES = {"group": "frame", "label": "polyp", "overlap": "fit", "patient": "who"}


def table(**changes):
    """The columns above, some replaced, added, or (None) removed."""
    columns = {k: v for k, v in {**COLUMNS, **changes}.items() if v is not None}
    return pa.table({k: v if isinstance(v, pa.Array) else pa.array(v) for k, v in columns.items()})


def write(path, **changes):
    write_table(table(**changes), path)
    return path


def refusal(paths, **roles) -> str:
    """The sentence with which these tables are refused."""
    with pytest.raises(InputError) as caught:
        read_tables(paths, **{**ROLES, **roles})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".csv", ".arrow", ".feather", ".ipc"])
def test_every_format_gives_the_same_candidates(tmp_path, suffix):
    read = read_tables([write(tmp_path / f"t{suffix}")], **ROLES)
    assert read.feature_names == ["size", "count", "bright"]
    assert read.X.tolist() == [[1.5, 1, 1], [-2.25, 2, 0], [3, 3, 1], [0.125, 250, 0]]
    assert read.X.flags.c_contiguous
    assert read.group.per_row().tolist() == ["a", "a", "b", "c"]
    assert read.group.codes.tolist() == [0, 0, 1, 2]
    assert read.label.tolist() == [1, 0, 0, 0]
    assert read.overlap.tolist() == [0.7, 0, 0, 0]
    assert read.patient.per_row().tolist() == [9, 9, 9, 4]
    assert read.patient.n_distinct == 2
    assert read.group.values(np.array([2, 0])).to_pylist() == ["c", "a"]


def test_streamed_arrow_and_compressed_csv_are_read(tmp_path):
    with pa.ipc.new_stream(str(tmp_path / "s.arrow"), table().schema) as writer:
        writer.write_table(table())
    with pa.CompressedOutputStream(str(tmp_path / "z.csv.gz"), "gzip") as out:
        pa.csv.write_csv(table(), out)
    stream, text = (read_tables([tmp_path / n], **ROLES) for n in ("s.arrow", "z.csv.gz"))
    assert stream.X.tolist() == text.X.tolist()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("suffix", "delimiter"),
    [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".tsv", "\t")],
    ids=["comma", "semicolon", "tab", "tsv"],
)
def test_text_with_any_delimiter_is_read(tmp_path, suffix, delimiter, packed):
    # Values with the other delimiters within quotes, and a line break.
    groups = ["a,b", "a,b", "b;c", "c\td\ne"]
    content = table(frame=groups).to_pandas().to_csv(sep=delimiter, index=False).encode()
    path = tmp_path / f"t{suffix}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    read = read_tables([path], **ROLES)
    assert read.feature_names == ["size", "count", "bright"]
    assert read.group.per_row().tolist() == groups
    np.testing.assert_array_equal(read.X, read_tables([write(tmp_path / "p.parquet")], **ROLES).X)


def test_a_delimiter_is_told_apart_in_odd_files(tmp_path):
    for content, columns in (
        ("frame\n1\n2\n", ["frame"]),
        ("frame;size (mm, mean)\n1;2\n", ["frame", "size (mm, mean)"]),
        ("frame,size\n", ["frame", "size"]),
        ("frame;size\n", ["frame", "size"]),
        ("frame,note\n1,a;b\n2,c;d\n", ["frame", "note"]),
        # Cut in the middle of a line by what is looked at.
        ("frame;size\n" + "1;2\n" * 40_000, ["frame", "size"]),
    ):
        (tmp_path / "t.csv").write_text(content)
        assert open_table(tmp_path / "t.csv").schema.names == columns


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_decimal_commas_are_refused_and_not_taken_for_text(tmp_path, suffix):
    rows = ["frame;size", "1;2,5", "1;3", "2;-1,25"]
    (tmp_path / f"t{suffix}").write_text(
        "\n".join(rows).replace(";", ";" if suffix == ".csv" else "\t")
    )
    said = refusal([tmp_path / f"t{suffix}"], group="frame", label=None, overlap=None, patient=None)
    assert "the column 'size' holds numbers with a comma, such as 2,5; write decimals" in said


def partitioned(home, values=("7", "11"), key="who"):
    """The table above in two folders, by a column that the files do not have."""
    for number, value in enumerate(values):
        folder = home / f"{key}={value}"
        folder.mkdir(parents=True)
        write_table(table(who=None).slice(2 * number, 2), folder / "part.parquet")
    return home


def test_a_partitioned_folder_is_read_with_its_columns(tmp_path):
    read = read_tables([partitioned(tmp_path / "t")], **ROLES)
    assert read.feature_names == ["size", "count", "bright"]
    # By name: 11 comes before 7.
    assert read.patient.per_row().tolist() == [11, 11, 7, 7]
    assert read.group.per_row().tolist() == ["b", "c", "a", "a"]
    # As a label, as a group, and as a feature where it is named; never by itself.
    roles = {"group": "who", "label": "polyp", "overlap": None, "patient": None}
    by_patient = read_tables([tmp_path / "t"], **roles, features=["size"])
    assert by_patient.group.per_row().tolist() == [11, 11, 7, 7]
    assert "who" not in read_tables([tmp_path / "t"], **{**ROLES, "patient": None}).feature_names
    named = read_tables([tmp_path / "t"], **{**ROLES, "patient": None}, features=["size", "who"])
    assert named.X[:, 1].tolist() == [11, 11, 7, 7]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (("7", "b"), ["7", "7", "b", "b"]),
        (("007", "011"), ["007", "007", "011", "011"]),
        (("a%20b", "c"), ["a b", "a b", "c", "c"]),
        (("-1", "0"), [-1, -1, 0, 0]),
    ],
)
def test_values_of_partitions_keep_their_kind(tmp_path, values, found):
    read = read_tables([partitioned(tmp_path / "t", values)], **ROLES)
    assert read.patient.per_row().tolist() == found


def test_partitions_within_partitions_and_what_is_no_partition(tmp_path):
    home = partitioned(tmp_path / "t" / "site=north") and partitioned(tmp_path / "t" / "site=south")
    for other in ("_logs=1", ".hidden=2", "other"):
        (home.parent / other).mkdir()
        write(home.parent / other / "no.parquet")
    files = find_tables([home.parent])
    assert len(files) == 4
    assert [open_table(file).partitions["site"].as_py() for file in files] == [
        *["north", "north"],
        *["south", "south"],
    ]
    # A column of the file itself counts, and not the folder's.
    own = tmp_path / "who=5"
    own.mkdir()
    assert read_tables([write(own / "t.parquet")], **ROLES).patient.per_row().tolist() == [
        *[9, 9, 9],
        4,
    ]
    missing = partitioned(tmp_path / "m", ("7", "__HIVE_DEFAULT_PARTITION__"))
    assert "the column 'who' has a missing value in row 0" in refusal([missing])


def test_a_partitioned_folder_is_streamed_and_sorted(tmp_path):
    home = partitioned(tmp_path / "t")
    for group, label in (("frame", "who"), ("who", "polyp")):
        aside = {"overlap": "fit", "patient": "polyp" if label == "who" else "frame"}
        source = from_parquet(home, group=group, label=label, batch_rows=1, **aside)
        index = source.index()
        column = {"who": [11, 11, 7, 7], "frame": ["b", "c", "a", "a"], "polyp": [0, 0, 1, 0]}
        assert index.ids[index.groups_of_rows()].tolist() == column[group]
        assert index.labels_of_rows().tolist() == column[label]
        assert "who" not in source.feature_names
        whole = read_tables([home], group="frame", features=source.feature_names).X
        np.testing.assert_array_equal(SourceReader(source).raw(np.arange(4)), whole)
    sort_tables([home], tmp_path / "sorted.parquet", group="who")
    written = pa.parquet.read_table(tmp_path / "sorted.parquet")
    assert written["who"].to_pylist() == [11, 11, 7, 7]


@pytest.mark.parametrize(
    ("extra", "dtype"),
    [
        (np.zeros(4, np.float32), np.float32),
        (np.zeros(4, np.int16), np.float32),
        (np.zeros(4, np.int32), np.float64),
        (np.full(4, 0.1), np.float64),
    ],
)
def test_the_matrix_is_single_precision_only_where_that_is_exact(tmp_path, extra, dtype):
    read = read_tables([write(tmp_path / "t.parquet", extra=extra)], **ROLES)
    assert read.X.dtype == dtype
    assert read.X[0, 3] == extra[0]


def test_rows_beyond_one_batch_land_where_they_belong(tmp_path):
    n = 150_000
    values = np.arange(n, dtype=np.float32)
    big = pa.table({"g": np.arange(n) // 10, "x": values, "z": -values})
    write_table(big, tmp_path / "big.parquet")
    read = read_tables([tmp_path / "big.parquet"], group="g")
    assert read.X.dtype == np.float32
    np.testing.assert_array_equal(read.X, np.column_stack([values, -values]))
    np.testing.assert_array_equal(read.group.codes, np.arange(n) // 10)


def test_features_come_in_the_order_asked_for(tmp_path):
    path = write(tmp_path / "t.csv", note=["x", "y", "z", "w"])
    read = read_tables([path], **ROLES, features=["count", "size"])
    assert read.feature_names == ["count", "size"]
    assert read.X[3].tolist() == [250, 0.125]


def test_files_of_a_folder_are_read_by_name(tmp_path):
    write(tmp_path / "b.parquet", frame=list("ccab"), size=[20.0] * 4)
    write(tmp_path / "a.csv", frame=list("ddec"), size=[10.0] * 4, bright=[1, 1, 0, 0])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "readme.txt").write_text("not a table")
    heard = []
    read = read_tables([tmp_path], **ROLES, on_file=heard.append)
    assert [path.name for path in read.files] == ["a.csv", "b.parquet"]
    assert heard == read.files
    assert read.X[:, 0].tolist() == [10.0] * 4 + [20.0] * 4
    assert read.group.codes.tolist() == [0, 0, 1, 2, 2, 2, 3, 4]


def test_integer_groups_of_any_width_join(tmp_path):
    one = write(tmp_path / "1.parquet", frame=np.array([5, 5, 7, 7], np.int32))
    two = write(tmp_path / "2.parquet", frame=np.array([7, 2**40, 8, 8], np.int64))
    read = read_tables([one, two], **ROLES)
    assert read.group.per_row().tolist() == [5, 5, 7, 7, 7, 2**40, 8, 8]
    assert read.group.values(np.array([8])).to_pylist() == [8]


def test_categories_booleans_and_large_text_are_understood(tmp_path):
    path = write(
        tmp_path / "t.parquet",
        frame=pa.array(["u", "u", "v", "v"], pa.large_string()),
        polyp=pa.array([True, False, False, False]),
        who=pa.array(["p", "q", "p", "q"]).dictionary_encode(),
    )
    read = read_tables([path], **ROLES)
    assert read.group.codes.tolist() == [0, 0, 1, 1]
    assert read.label.dtype == bool
    assert read.label.tolist() == [True, False, False, False]
    assert read.patient.per_row().tolist() == ["p", "q", "p", "q"]


def test_a_pandas_index_is_not_a_feature(tmp_path):
    path = write(tmp_path / "t.parquet", __index_level_0__=[0, 1, 2, 3])
    assert read_tables([path], **ROLES).feature_names == ["size", "count", "bright"]


def test_an_empty_part_among_others_is_no_mistake(tmp_path):
    write_table(table().slice(0, 0), tmp_path / "0.parquet")
    write(tmp_path / "1.parquet")
    assert len(read_tables([tmp_path], **ROLES).X) == 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"note": ["x", "y", "z", "w"]}, "'note' holds text"),
        ({"when": pa.array([0] * 4, pa.timestamp("s"))}, "'when' holds values of type timestamp"),
        ({"frame": ["a", None, "b", "c"]}, "'frame' has a missing value in row 1"),
        ({"frame": ["a", "a", "b", ""]}, "group column 'frame' is empty in row 3"),
        ({"frame": [1.0, 2.0, np.nan, 3.0]}, "group column 'frame' is empty in row 2"),
        ({"polyp": [1, 0, None, 0]}, "'polyp' has a missing value in row 2"),
        ({"fit": ["x"] * 4}, "overlap column 'fit' holds text"),
        ({"fit": [0.5, 0.0, np.nan, 0.0]}, "'fit' is nan in row 2"),
        ({"size": [1.0, 2.0, 3.0, None]}, "'size' has a missing value in row 3"),
        ({"size": [1.0, np.nan, 3.0, 4.0]}, "'size' is nan in row 1"),
        ({"size": [1.0, 2.0, -np.inf, 4.0]}, "'size' is -inf in row 2"),
        ({"size": [0, 0, 2**53 + 1, 0]}, "'size' is 9007199254740993 in row 2"),
        ({"size": [0, 0, 0, -(2**63)]}, "'size' is -9223372036854775808 in row 3"),
        ({"frame": None, "Frame": ["a"] * 4}, "no column 'frame'"),
        ({"size": None, "count": None, "bright": None}, "no feature columns"),
    ],
)
def test_a_bad_table_is_refused_by_name(tmp_path, changes, said):
    sentence = refusal([write(tmp_path / "bad.parquet", **changes)])
    assert said in sentence
    assert "bad.parquet" in sentence


def test_rows_are_counted_within_their_file(tmp_path):
    n = 70_000  # so that the bad row is in the second batch of the second file
    good, bad = np.zeros(n), np.zeros(n)
    bad[n - 2] = np.inf
    for name, x in (("1.parquet", good), ("2.parquet", bad)):
        write_table(pa.table({"g": np.arange(n), "x": x}), tmp_path / name)
    with pytest.raises(InputError, match=r"2\.parquet: the feature 'x' is inf in row 69998 "):
        read_tables([tmp_path], group="g")


def test_hints(tmp_path):
    path = write(tmp_path / "t.parquet")
    assert "did you mean 'frame'?" in refusal([path], group="Frames")
    assert "it has frame, polyp, fit" in refusal([path], group="zzz")
    assert "did you mean 'size'?" in refusal([path], features=["siez"])
    text = write(tmp_path / "n.parquet", note=["x"] * 4)
    assert "select columns with features" in refusal([text])
    assert "select columns" not in refusal([text], features=["note"])


def test_bad_requests(tmp_path):
    path = write(tmp_path / "t.parquet")
    assert "both group and label" in refusal([path], label="frame")
    assert "'polyp' cannot be a feature" in refusal([path], features=["size", "polyp"])
    assert "'size' is named twice" in refusal([path], features=["size", "size"])
    assert "given twice" in refusal([path, tmp_path])


def test_columns_that_differ_between_files(tmp_path):
    one, two = write(tmp_path / "1.parquet"), write(tmp_path / "2.parquet", area=[1.0] * 4)
    sentence = refusal([one, two])
    assert "1.parquet lacks the column 'area'" in sentence
    assert "2.parquet has" in sentence
    three = write(tmp_path / "3.parquet", frame=[1, 2, 3, 4])
    assert "'frame' holds text in" in refusal([one, three])
    # Columns in another order are the same columns.
    swapped = table(frame=["d", "d", "e", "f"]).select(list(reversed(COLUMNS)))
    write_table(swapped, tmp_path / "4.parquet")
    read = read_tables([one, tmp_path / "4.parquet"], **ROLES)
    assert read.X[4:].tolist() == read.X[:4].tolist()


def test_twice_the_same_name(tmp_path):
    (tmp_path / "t.csv").write_text("frame,polyp,x,x\na,1,1,2\n")
    assert "two columns called 'x'" in refusal([tmp_path / "t.csv"], overlap=None, patient=None)
    (tmp_path / "u.csv").write_text("frame,frame,polyp,x\na,a,1,2\n")
    assert "two columns called 'frame'" in refusal([tmp_path / "u.csv"], overlap=None, patient=None)
    (tmp_path / "v.csv").write_text(",frame,polyp,x\n0,a,1,2\n")
    assert "column 1 has no name" in refusal([tmp_path / "v.csv"], overlap=None, patient=None)


def test_files_that_are_not_there_or_not_tables(tmp_path):
    assert "does not exist" in refusal([tmp_path / "no.parquet"])
    assert "holds no tables" in refusal([tmp_path])
    (tmp_path / "t.xlsx").write_bytes(b"x")
    assert "has no supported table format" in refusal([tmp_path / "t.xlsx"])
    (tmp_path / "e.csv").touch()
    assert "is an empty file" in refusal([tmp_path / "e.csv"])
    write_table(table().slice(0, 0), tmp_path / "z.parquet")
    assert "has no rows" in refusal([tmp_path / "z.parquet"])


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_file_cut_short(tmp_path, suffix):
    path = write(tmp_path / f"t{suffix}")
    path.write_bytes(path.read_bytes()[:-40])
    assert "complete, and is it" in refusal([path])


def test_damage_inside_a_file(tmp_path):
    n = 50_000
    path = tmp_path / "t.parquet"
    noise = np.random.default_rng(0).normal(size=n)
    write_table(pa.table({"g": np.arange(n), "x": noise}), path)
    data = bytearray(path.read_bytes())
    data[4:20_000] = bytes(19_996)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"t\.parquet cannot be read as Parquet"):
        read_tables([path], group="g")


def test_text_with_a_row_too_long(tmp_path):
    (tmp_path / "t.csv").write_text("frame,polyp,x\na,1,2\na,1,2,3\n")
    assert "cannot be read as CSV" in refusal([tmp_path / "t.csv"])


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_a_written_table_comes_back(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    scores = pa.table({"group": ["a", "b"], "score": [0.1, -2.0], "winner": [3, 7]})
    write_table(scores, path)
    reader = {
        ".parquet": pa.parquet.read_table,
        ".csv": pa.csv.read_csv,
        ".arrow": pa.feather.read_table,
    }[suffix]
    assert reader(path).to_pydict() == scores.to_pydict()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")

    def interrupted():
        with whole_file(path) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_a_link_keeps_pointing_and_permissions_are_the_usual(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "model.json")
    with whole_file(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "model.json").read_text() == "new"
    plain = tmp_path / "plain"
    plain.touch()
    assert os.stat(link).st_mode == plain.stat().st_mode


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for path, said in (
        (tmp_path, "is a folder"),
        (tmp_path / "file" / "x", "file is not a folder"),
        ("/dev/null", "not a regular file"),
    ):
        with pytest.raises(InputError, match=said), whole_file(path):
            pass


def test_find_tables_ignores_hidden_files(tmp_path):
    write(tmp_path / "a.parquet")
    write(tmp_path / ".a.parquet.1234.parquet")
    assert [path.name for path in find_tables([tmp_path])] == ["a.parquet"]


def damage_page(path, column: str, row_group: int = 0) -> None:
    """Change one bit of a page that floating-point noise fills, so that nothing else notices."""
    about = pa.parquet.read_metadata(path).row_group(row_group)
    names = [about.column(j).path_in_schema for j in range(about.num_columns)]
    chunk = about.column(names.index(column))
    begin = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[begin + chunk.total_compressed_size - 3] ^= 1
    path.write_bytes(content)


def noise(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(0)
    groups = [f"frame {i}" for i in np.arange(n) // 10]
    return pa.table({"frame": groups, "polyp": np.arange(n) % 2, "x": rng.normal(size=n)})


def write_sorted(path):
    write_table(noise(), path.with_name("apart.csv"))
    sort_tables([path.with_name("apart.csv")], path, group="frame")


def write_simulated(path):
    capsule_to_parquet(path, 20, n_positive=3, group_size=20)


@pytest.mark.parametrize(
    ("make", "column"),
    [
        (lambda path: write_table(noise(), path), "x"),
        (write_sorted, "x"),
        (write_simulated, "size"),
    ],
)
def test_a_changed_bit_in_a_page_that_we_wrote_is_refused(tmp_path, make, column):
    path = tmp_path / "t.parquet"
    make(path)
    damage_page(path, column)
    said = r"t\.parquet cannot be read as Parquet in row group 0 \(.*CRC checksum"
    with pytest.raises(InputError, match=said):
        read_tables([path], group="frame")
    with pytest.raises(InputError, match=said):
        sort_tables([path], tmp_path / "sorted.parquet", group="frame")
    assert not (tmp_path / "sorted.parquet").exists()


def test_checksums_of_other_writers_are_verified_and_the_row_group_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(noise(), path, row_group_size=200, write_page_checksum=True)
    damage_page(path, "x", row_group=2)
    with pytest.raises(InputError, match="in row group 2"):
        read_tables([path], group="frame")


def test_a_file_that_has_other_rows_than_it_says_is_refused(tmp_path):
    path = write(tmp_path / "t.parquet")
    file = open_table(path)
    for n_rows, said in ((3, "claims to have 3 rows and has more"), (5, "5 rows and has 4")):
        with pytest.raises(InputError, match=said):
            list(replace(file, n_rows=n_rows).batches(["frame"]))


def test_rows_that_fit_no_memory_are_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet")
    for n_rows in (2**50, 2**62):
        file = replace(open_table(path), n_rows=n_rows)
        monkeypatch.setattr(
            "groupcm.data.tables.candidates.open_tables", lambda *_, file=file: [file]
        )
        assert "do not fit in memory" in refusal([path])


@pytest.mark.parametrize("is_file", [True, False])
def test_arrow_files_with_wrong_offsets_are_refused(tmp_path, is_file):
    """Arrow itself reads text beyond the end of its buffer, from whatever memory is there."""
    path = tmp_path / "t.arrow"
    texts = pa.array(["a", "b", "b", "c"])
    rows = pa.table({"frame": texts, "polyp": [1, 0, 0, 0], "x": [1.0, 2.0, 3.0, 4.0]})
    opener = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with opener(str(path), rows.schema) as writer:
        writer.write_table(rows)
    content = path.read_bytes()
    offsets = np.arange(5, dtype=np.int32).tobytes()
    assert content.count(offsets) == 1
    wrong = np.array([0, 1, 2, 3, 2_000_000_000], np.int32).tobytes()
    path.write_bytes(content.replace(offsets, wrong))
    with pytest.raises(InputError, match=r"t\.arrow cannot be read as Arrow"):
        read_tables([path], group="frame", label="polyp")


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    """In a Parquet file without checksums it comes through."""
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(table(frame=["abcdefg"] * 4), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdefg", b"abc\xff\xfe\xfdg"))
    assert "the group column 'frame' holds text that is not UTF-8" in refusal([path])


def test_names_that_are_not_unicode_are_read_and_written(tmp_path):
    for suffix in (".parquet", ".csv", ".arrow"):
        path = tmp_path / f"\udce9 s3://no {suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        assert read_tables([write(path)], **ROLES).X.shape == (4, 3)


def test_a_footer_that_was_changed_is_refused(tmp_path):
    """A page's own checksum holds where the footer leads to the page of another column."""
    path = tmp_path / "t.parquet"
    write_table(noise(), path)
    whole = path.read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(end, len(whole) - 8, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(InputError, match="the checksum of the footer does not match"):
            open_table(path)


def test_other_programs_read_our_parquet_files(tmp_path):
    path = tmp_path / "t.parquet"
    rows = noise()
    write_table(rows, path)
    assert pa.parquet.read_table(path).equals(rows)
    assert pl.read_parquet(path).to_arrow()["x"].equals(rows["x"])
    assert pd.read_parquet(path)["x"].tolist() == rows["x"].to_pylist()


@pytest.mark.parametrize("length", [1, 7, 8, 11, 12, 60])
def test_short_files_called_parquet_are_refused(tmp_path, length):
    path = write(tmp_path / "t.parquet")
    path.write_bytes(path.read_bytes()[-length:])
    assert "cannot be read as Parquet" in refusal([path])


# ---- ids as they are written ------------------------------------------------------------------


def ids_of(found):
    return found.per_row().tolist()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (["1", "01", "001"], ["1", "01", "001"]),
        (["007", "007", "008"], ["007", "007", "008"]),
        (["1.10", "1.1", "2.5"], ["1.10", "1.1", "2.5"]),
        (["12345678901234567890", "12345678901234567891", "1"],) * 2,
        (["7", " 7", "8"], [7, 7, 8]),
        (["-1", "0", "10"], [-1, 0, 10]),
        (["1.5", "2.0", "3"], [1.5, 2.0, 3.0]),
    ],
)
@pytest.mark.parametrize("role", ["group", "patient"])
def test_ids_of_text_are_not_changed_by_numbers(tmp_path, role, written, kept):
    roles = {"group": "frame", role: "id"}
    lines = [f"{id},f{row},{row},{row}0" for row, id in enumerate(written)]
    (tmp_path / "t.csv").write_text("\n".join(["id,frame,size,00pad", *lines]) + "\n")
    found = read_tables([tmp_path / "t.csv"], **roles, features=["size", "00pad"])
    assert ids_of(getattr(found, role)) == kept
    assert found.X[:, 1].tolist() == [0, 10, 20]  # 00 of a feature is a number
    sort_tables([tmp_path / "t.csv"], tmp_path / "s.parquet", group="id")
    assert set(pyarrow.parquet.read_table(tmp_path / "s.parquet")["id"].to_pylist()) == set(kept)


def test_ids_of_several_tables_are_text_where_those_of_one_are(tmp_path):
    (tmp_path / "a.csv").write_text("frame,size\n100,1\n101,2\n")
    (tmp_path / "b.csv").write_text("frame,size\n001,3\n")
    found = read_tables([tmp_path / "a.csv", tmp_path / "b.csv"], group="frame")
    assert ids_of(found.group) == ["100", "101", "001"]
    sort_tables([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "s.parquet", group="frame")
    kept = pyarrow.parquet.read_table(tmp_path / "s.parquet")["frame"].to_pylist()
    assert sorted(kept) == ["001", "100", "101"]


def test_a_missing_id_among_ids_of_text_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text("frame,size\n01,1\n,2\n")
    said = refusal([tmp_path / "t.csv"], group="frame", label=None, overlap=None, patient=None)
    assert "'frame' has a missing value in row 1" in said


def test_objects_are_as_they_are_written(tmp_path):
    (tmp_path / "t.csv").write_text("frame,polyp\na,01\nb,1\nc,\n")
    found = read_objects([tmp_path / "t.csv"], "polyp", np.array([True, True, False]))
    assert found[0] != found[1]
    assert found[2] == -1


# ---- groups of several tables -----------------------------------------------------------------


@pytest.mark.parametrize("suffixes", [(".csv", ".csv"), (".csv", ".parquet"), (".arrow", ".csv")])
def test_a_group_of_two_tables_is_refused(tmp_path, suffixes):
    paths = [write(tmp_path / f"t{k}{suffix}") for k, suffix in enumerate(suffixes)]
    said = refusal(paths)
    assert "the rows of group a are not contiguous" in said
    assert f"row 0 of {paths[0]} and row 0 of {paths[1]}" in said


def test_a_group_may_go_on_where_the_next_table_begins(tmp_path):
    first = write(tmp_path / "a.csv", frame=["b", "a", "b", "c"])
    second = write(tmp_path / "b.csv", frame=["c", "c", "e", "d"])
    assert ids_of(read_tables([first, second], **ROLES).group)[3:6] == ["c", "c", "c"]
    assert "row 3 of" in refusal([first, write(tmp_path / "b.csv", frame=["e", "c", "e", "d"])])
    assert "row 1 of" in refusal(
        [second, write(tmp_path / "b.parquet", frame=["x", "c", "y", "z"])]
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_another_encoding_is_named(tmp_path, encoding, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_bytes("frame,size\na,1\n".encode(encoding))
    said = refusal([path], group="frame", label=None, overlap=None, patient=None)
    assert "UTF-16" in said
    assert "save it as UTF-8" in said
    assert "\x00" not in said


def test_errors_of_tables_have_fields(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("frame,polyp,f1\na,0,1.5\nb,1,\n")
    with pytest.raises(InputError, match="did you mean 'frame'") as no_column:
        read_tables([str(path)], group="farme", label="polyp")
    assert (no_column.value.file, no_column.value.column) == (path, "farme")
    with pytest.raises(InputError, match="in row 1") as no_value:
        read_tables([str(path)], group="frame", label="polyp")
    found = no_value.value
    assert (found.file, found.column, found.row) == (path, "f1", 1)
