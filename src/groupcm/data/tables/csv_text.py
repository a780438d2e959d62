"""Tables of text: what is between their values is found out, and gzip is unpacked."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from groupcm.errors import InputError

__all__ = ["is_lost_in_numbers", "read_as_written", "read_text"]

_SAMPLE_BYTES = 1 << 16  # enough to find out what is between the values
_FIRST_BYTES = 1 << 10  # UTF-16 without a mark has a zero byte among so many
_WHOLE = re.compile(r"0|-?[1-9]\d*")
_NUMBER = re.compile(r" *[+-]?\d+(,\d+)?([eE][+-]?\d+)? *")


def read_text(path: Path, open_file: Callable[[], pa.NativeFile]) -> pa.Table:
    """Read a table of text: tabs between the values of ``.tsv``, else comma, semicolon or tab.

    Parameters
    ----------
    path : Path
        Its name.
    open_file : callable
        Opens it for its bytes, each time it is called.
    """
    options = _parse_options(path, open_file)
    with _unpacked(open_file) as text:
        table = pyarrow.csv.read_csv(text, parse_options=options)
    if options.delimiter != ",":
        _refuse_decimal_commas(path, table)
    return table


def read_as_written(
    path: Path, open_file: Callable[[], pa.NativeFile], column: str
) -> pa.ChunkedArray:
    """Read one column of a table of text as text, so that 007 and 7 are different values.

    Parameters
    ----------
    path, open_file
        As of `read_text`.
    column : str
        Its name. Spaces around its values do not count.
    """
    convert = pyarrow.csv.ConvertOptions(
        include_columns=[column], column_types={column: pa.string()}
    )
    options = _parse_options(path, open_file)
    with _unpacked(open_file) as text:
        table = pyarrow.csv.read_csv(text, parse_options=options, convert_options=convert)
    return pc.call_function("utf8_trim_whitespace", [table.column(0)])


def is_lost_in_numbers(written: pa.ChunkedArray, numbers: pa.ChunkedArray) -> bool:
    """Return whether values read as numbers can no longer be distinguished or written again.

    That is so of 007 and 7, of 1.10 and 1.1, and of whole numbers of twenty digits.

    Examples
    --------
    >>> numbers = pa.chunked_array([[1, 1]])
    >>> is_lost_in_numbers(pa.chunked_array([["1", "01"]]), numbers)
    True
    >>> is_lost_in_numbers(pa.chunked_array([["1", "1"]]), numbers)
    False
    """
    present = numbers.is_valid()
    texts = written.filter(present).unique().to_pylist()
    values = numbers.filter(present).unique()
    if len(texts) != len(values):
        return True
    if pa.types.is_integer(numbers.type):
        return any(_WHOLE.fullmatch(text) is None for text in texts)
    return any(text not in (repr(float(text)), f"{float(text):.0f}") for text in texts)


def _parse_options(path: Path, open_file: Callable[[], pa.NativeFile]) -> pyarrow.csv.ParseOptions:
    with _unpacked(open_file) as text:
        start = text.read(_SAMPLE_BYTES)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in start[:_FIRST_BYTES]:
        raise InputError(
            f"{path} is text in UTF-16, or no text at all; save it as UTF-8 (in a spreadsheet: "
            '"CSV UTF-8")'
        )
    delimiter = "\t" if ".tsv" in path.name.lower() else _delimiter(start)
    return pyarrow.csv.ParseOptions(delimiter=delimiter)


@contextmanager
def _unpacked(open_file: Callable[[], pa.NativeFile]) -> Iterator[pa.NativeFile]:
    """Open a file of text, unpacked where it is compressed with gzip, whatever its name."""
    with open_file() as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield pa.CompressedInputStream(file, "gzip") if is_packed else file


def _delimiter(start: bytes) -> str:
    """Return the delimiter of a CSV file, from its beginning.

    It is what cuts the first lines into the same number of columns, the most of them; a comma where
    nothing does.

    Examples
    --------
    >>> _delimiter(b"frame;size\\n1;2,5\\n"), _delimiter(b'"a;b",c\\n1,2\\n')
    (';', ',')
    """
    text = start.decode("utf-8", errors="replace")
    if len(start) == _SAMPLE_BYTES:  # the last line may be cut
        text = text[: text.rfind("\n") + 1] or text
    n_columns = {}
    for delimiter in ",;\t":
        try:
            rows = csv.reader(io.StringIO(text), delimiter=delimiter)
            widths = {len(row) for row in rows if row}
        except csv.Error:  # no text at all, or a value without end: Arrow reports what is wrong
            widths = set()
        n_columns[delimiter] = widths.pop() if len(widths) == 1 else 1
    return max(n_columns, key=lambda delimiter: n_columns[delimiter])


def _refuse_decimal_commas(path: Path, table: pa.Table) -> None:
    """Refuse numbers such as 2,5, where thousands and decimals cannot be distinguished."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        # Most columns of text end this with their first value.
        with_comma = None
        for value in column:
            text = value.as_py()
            if text and not _NUMBER.fullmatch(text):
                break
            if text and "," in text:
                with_comma = with_comma or text
        else:
            if with_comma is not None:
                raise InputError(
                    f"{path}: the column {name!r} holds numbers with a comma, such as "
                    f"{with_comma}; write decimals with a point, and thousands without a mark"
                )
