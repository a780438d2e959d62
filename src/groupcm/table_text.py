"""Tables of text: what is between their values is found out, and gzip is unpacked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from groupcm.errors import InputError

__all__ = ["read_text"]

_SAMPLE_BYTES = 1 << 16  # enough to find out what is between the values


def read_text(path: Path, open_file: Callable[[], pa.NativeFile]) -> pa.Table:
    """Read a table of text: tabs between the values of ``.tsv``, else comma, semicolon or tab.

    Parameters
    ----------
    path : Path
        Its name.
    open_file : callable
        Opens it for its bytes, each time it is called.
    """
    with _unpacked(open_file) as text:
        start = text.read(_SAMPLE_BYTES)
    delimiter = "\t" if ".tsv" in path.name.lower() else _delimiter(start)
    with _unpacked(open_file) as text:
        options = pyarrow.csv.ParseOptions(delimiter=delimiter)
        table = pyarrow.csv.read_csv(text, parse_options=options)
    if delimiter != ",":
        _refuse_decimal_commas(path, table)
    return table


@contextmanager
def _unpacked(open_file: Callable[[], pa.NativeFile]) -> Iterator[pa.NativeFile]:
    """Open a file of text, unpacked where it is compressed with gzip, whatever its name."""
    with open_file() as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield pa.CompressedInputStream(file, "gzip") if is_packed else file


def _delimiter(start: bytes) -> str:
    """Return what stands between the values of a CSV file, from its beginning.

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
        except csv.Error:  # no text at all, or a value without end: Arrow says what is wrong
            widths = set()
        n_columns[delimiter] = widths.pop() if len(widths) == 1 else 1
    return max(n_columns, key=lambda delimiter: n_columns[delimiter])


def _refuse_decimal_commas(path: Path, table: pa.Table) -> None:
    """Refuse numbers such as 2,5: with commas, nobody can tell thousands from decimals."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        filled = column.filter(pc.not_equal(column, ""))
        with_comma = filled.filter(pc.match_substring(filled, ","))
        is_number = pc.match_substring_regex(filled, r"^ *[+-]?\d+(,\d+)?([eE][+-]?\d+)? *$")
        if len(with_comma) and pc.all(is_number).as_py():
            raise InputError(
                f"{path}: the column {name!r} holds numbers with a comma, such as "
                f"{with_comma[0].as_py()}; write decimals with a point, and thousands without "
                "a mark"
            )
