"""Converts Arrow columns for a source: groups to runs, labels to numbers, lists to features."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from groupcm.data.tables.column_selection import ChosenColumns, require_column
from groupcm.data.tables.columns import Piece, check_key, is_number, is_text, numbers_of
from groupcm.data.tables.formats import TableFile
from groupcm.errors import InputError
from groupcm.sources.rows.index import Labels, Runs, labels_of, runs_of

__all__ = ["feature_list", "key_labels", "key_runs", "list_numbers", "whole_column"]


_MOST_FEATURES = 1_000_000


def key_runs(name: str, piece: Piece) -> Runs:
    """Return the runs of a group column.

    Examples
    --------
    >>> from pathlib import Path
    >>> key_runs("frame", Piece(Path("a.parquet"), 0, pa.array(["f", "f", "g"])))
    Runs(start=array([0, 2]), ids=array(['f', 'g'], dtype='<U1'))
    """
    check_key(name, "group", piece)
    values = _exact_keys(piece.values)
    if not is_text(values.type):
        return runs_of(_plain(values))
    codes, texts = _numbered(values)
    runs = runs_of(codes)
    return Runs(runs.start, texts[runs.ids])


def key_labels(name: str, piece: Piece) -> Labels:
    """Return the distinct labels of a column and which of them each row has."""
    check_key(name, "label", piece)
    values = _exact_keys(piece.values)
    if not is_text(values.type):
        return labels_of(_plain(values))
    codes, texts = _numbered(values)
    return Labels(texts, codes)


def whole_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def _exact_keys(values: pa.Array) -> pa.Array:
    """Return decimals as integers or as text: a float would merge some of them."""
    kind = values.type
    if not types.is_decimal(kind):
        return values
    return values.cast(pa.int64() if kind.scale == 0 and kind.precision <= 18 else pa.string())


def _plain(values: pa.Array) -> NDArray:
    kind = values.type.value_type if types.is_dictionary(values.type) else values.type
    return np.asarray(values.cast(kind).to_numpy(zero_copy_only=False))


def _numbered(values: pa.Array) -> tuple[NDArray, NDArray]:
    """Return the number of each value, and the values that occur as text."""
    encoded = values if types.is_dictionary(values.type) else values.dictionary_encode()
    used, codes = np.unique(encoded.indices.to_numpy(), return_inverse=True)
    texts = encoded.dictionary.take(pa.array(used)).to_numpy(zero_copy_only=False)
    return codes, texts.astype(str)


def feature_list(files: list[TableFile], name: str) -> ChosenColumns:
    """Return the features in a column of fixed-size lists, the same in every file."""
    kinds = []
    for file in files:
        require_column(file, name, "the features")
        kind = file.schema.field(name).type
        if not types.is_fixed_size_list(kind) or not is_number(kind.value_type):
            raise InputError(
                f"{file.path}: the column {name!r} holds {kind}; "
                "features are numbers, in columns or in lists of one fixed size"
            )
        if kind.list_size > _MOST_FEATURES:
            raise InputError(
                f"{file.path}: the column {name!r} holds lists of {kind.list_size:,} numbers; at "
                f"most {_MOST_FEATURES:,} features are read, so is the file complete?"
            )
        if kinds and kind.list_size != kinds[0].list_size:
            raise InputError(
                f"{file.path}: the column {name!r} holds lists of {kind.list_size}, "
                f"and {files[0].path} of {kinds[0].list_size}; all tables need the same"
            )
        kinds.append(kind)
    small = {pa.float32(), pa.float16(), pa.bool_(), pa.int8(), pa.int16(), pa.uint8(), pa.uint16()}
    dtype = np.float32 if all(kind.value_type in small for kind in kinds) else np.float64
    names = [f"{name}[{j}]" for j in range(kinds[0].list_size)]
    return ChosenColumns(names, {}, np.dtype(dtype))


def list_numbers(name: str, features: list[str], piece: Piece) -> NDArray:
    """Return the numbers in a column of fixed-size lists, one row per list."""
    if piece.values.null_count:
        numbers_of(piece.values, name, piece.path, piece.first_row)  # raises with the row
    flat = piece.values.flatten()
    try:
        values = numbers_of(flat, name, piece.path, piece.first_row)
    except InputError:
        for j, feature in enumerate(features):  # one by one, so that the error has the row
            rows = pa.array(np.arange(j, len(flat), len(features)))
            numbers_of(flat.take(rows), feature, piece.path, piece.first_row)
        raise
    return values.reshape(len(piece.values), len(features))
