"""The Parquet reader and writer, which verify and store checksums.

Every Parquet file is opened with `open_parquet`, which verifies the checksums of its pages, and
written with `parquet_writer`, which stores them. Parquet has no checksum of the footer, which says
where the columns are: the files written here hold one right before the footer, where other readers
do not look.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

__all__ = ["native_file", "open_parquet", "parquet_writer"]

_SEAL = b"groupcm: SHA-256 of the footer: "


def open_parquet(path: str | os.PathLike[str], metadata: Any = None) -> pyarrow.parquet.ParquetFile:
    """Open a Parquet file whose pages are verified by their checksums, where they have some.

    Parameters
    ----------
    path : path
        The file.
    metadata : pyarrow.parquet.FileMetaData, optional
        What was read from the end of the file before.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "frames.parquet")
    >>> table = pa.table({"size": [0.5, 1.5]})
    >>> with parquet_writer(path, table.schema) as writer:
    ...     writer.write_table(table)
    >>> open_parquet(path).read().num_rows
    2
    """
    if metadata is None:
        _verify_footer(path)
    # Not memory-mapped: a file cut short while it is read must be an error, not a crash.
    return pyarrow.parquet.ParquetFile(
        native_file(path), metadata=metadata, pre_buffer=False, page_checksum_verification=True
    )


@contextmanager
def parquet_writer(
    path: str | os.PathLike[str], schema: pa.Schema, *, use_dictionary: Any = True
) -> Iterator[pyarrow.parquet.ParquetWriter]:
    """Write a Parquet file whose pages and footer have checksums.

    Parameters
    ----------
    path : path
        The file.
    schema : pyarrow.Schema
        Its columns.
    use_dictionary : bool or list of str
        Which columns are stored as a dictionary of their values.
    """
    with (
        native_file(path, "wb") as file,
        pyarrow.parquet.ParquetWriter(
            file, schema, use_dictionary=use_dictionary, write_page_checksum=True
        ) as writer,
    ):
        yield writer
    with open(path, "r+b") as file:
        footer = _footer(file)
        file.seek(-len(footer), os.SEEK_END)
        file.write(_SEAL + hashlib.sha256(footer).digest() + footer)


def _footer(file: BinaryIO) -> bytes:
    """Return the end of a Parquet file: the footer, its length and the word ``PAR1``."""
    size = file.seek(0, os.SEEK_END)
    file.seek(-min(8, size), os.SEEK_END)
    length = int.from_bytes(file.read(4), "little") + 8
    file.seek(-min(length, size), os.SEEK_END)
    return file.read()


def _verify_footer(path: str | os.PathLike[str]) -> None:
    """Refuse a footer that is not the one whose checksum is stored before it."""
    with open(path, "rb") as file:
        footer = _footer(file)
        before = len(footer) + len(_SEAL) + hashlib.sha256().digest_size
        if before > file.tell():
            return
        file.seek(-before, os.SEEK_END)
        if file.read(len(_SEAL)) != _SEAL:
            return  # another program's file
        if file.read(hashlib.sha256().digest_size) != hashlib.sha256(footer).digest():
            raise pa.ArrowInvalid("the checksum of the footer does not match")


def native_file(path: str | os.PathLike[str], mode: str = "rb") -> pa.NativeFile:
    """Open a file by its bytes: a name need not be Unicode, and is never taken for an address."""
    return pa.OSFile(os.fsencode(path), mode)
