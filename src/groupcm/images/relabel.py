"""Labels of an existing table of candidates made anew, without looking at the pictures again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.annotations import Annotations, Picture
from groupcm.errors import InputError
from groupcm.files import check_output, whole_file
from groupcm.images.labelling import Labelling
from groupcm.images.listing import list_pictures
from groupcm.images.part_file import DonePicture
from groupcm.images.proposal_tally import Proposed, Tally, picture_notes
from groupcm.images.regions import Regions
from groupcm.images.table import LABEL_COLUMNS, REGION_COLUMNS, label_values, row_regions
from groupcm.images.truth import Truth, object_regions, read_truth
from groupcm.table_formats import (
    PARQUET,
    TableFile,
    check_not_input,
    is_parquet,
    open_table,
    parquet_writer,
)
from groupcm.table_roles import TableDescription, describe, description_of

__all__ = ["label_table"]

_ROWS_AT_ONCE = 65_536


def label_table(
    table: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    annotations: str | os.PathLike[str] | Annotations,
    images: str | os.PathLike[str] | None = None,
    category: str | Sequence[str] | None = None,
    overlap: str = "box_iou",
    positive_overlap: float = 0.3,
    unmarked: str = "leave_out",
) -> Proposed:
    """Write a table of candidates again with other labels.

    Parameters
    ----------
    table
        Written by `groupcm.images.propose.propose_folder`, with labels or without.
    output
        The table to write; it appears whole or not at all.
    annotations
        What people marked in its pictures.
    images
        The folder of pictures, where the annotations know more of them than the table.
    category, overlap, positive_overlap, unmarked
        As for `groupcm.images.propose.propose_folder`.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.made import write_frames
    >>> from groupcm.images.propose import propose_folder
    >>> here = Path(tempfile.mkdtemp())
    >>> marked = write_frames(here / "made", 3, share_with_polyps=0.3, height=48, width=64)
    >>> _ = propose_folder(here / "made" / "frames", here / "plain.parquet")
    >>> done = label_table(here / "plain.parquet", here / "labelled.parquet", annotations=marked)
    >>> done.n_pictures, done.n_positive
    (3, 1)
    """
    output = check_output(output, endings=PARQUET)
    check_not_input(output, [Path(table)])
    labelling = Labelling(overlap, positive_overlap)
    file = open_table(Path(table))
    about = _check_columns(file)
    truth = _truth(file, annotations, images, category, unmarked)
    schema = _labelled_schema(file.schema, about)
    boxes = overlap == "box_iou"
    tally, n_left_out = Tally(), 0
    with whole_file(output) as beside, parquet_writer(beside, schema) as writer:
        held: list[pa.Table] = []
        for place, rows in enumerate(_pictures(file)):
            name = rows.column("picture")[0].as_py()
            marked = truth.of(name)
            if marked is None:
                n_left_out += 1
                continue
            candidates = _candidates(file.path, name, rows, boxes)
            objects = object_regions(name, marked, candidates.height, candidates.width, truth.where)
            labels = labelling.of(candidates, objects)
            notes = picture_notes(candidates, objects, labels, overlap)
            tally.add(place, DonePicture(name, "", rows.num_rows, notes=notes))
            held.append(_with_columns(rows, label_values(name, labels), schema))
            if sum(each.num_rows for each in held) >= _ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(held))
                held = []
        if not tally.n_pictures:
            raise InputError(
                f"{truth.where} says of no picture of {table} that somebody has looked at it; "
                'unmarked="negative" takes them to show no object'
            )
        if held:
            writer.write_table(pa.concat_tables(held))
    return tally.proposed(
        output, len(about.features), is_marked=True, n_left_out=n_left_out, n_before=0
    )


def _candidates(path: Path, name: str, rows: pa.Table, boxes: bool) -> Regions:
    try:
        return row_regions(rows, boxes=boxes)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path}: a candidate of the picture {name!r} has no place in it: {error}"
        ) from error


def _check_columns(file: TableFile) -> TableDescription:
    about = description_of(file.schema, file.path) if is_parquet(file.path) else None
    missing = [name for name in ("picture", *REGION_COLUMNS) if name not in file.schema.names]
    if about is None or missing:
        raise InputError(
            f"{file.path} does not tell where its candidates are in their pictures; give a table "
            "that groupcm images propose wrote"
        )
    return about


def _truth(
    file: TableFile,
    annotations: str | os.PathLike[str] | Annotations,
    images: str | os.PathLike[str] | None,
    category: str | Sequence[str] | None,
    unmarked: str,
) -> Truth:
    if images is not None:
        names, pictures = set(list_pictures(images)), Path(images)
    else:
        names, pictures = set(), Annotations(tuple(_sizes(file)))
    return read_truth(annotations, names, pictures, category=category, unmarked=unmarked)


def _sizes(file: TableFile) -> Iterator[Picture]:
    """Names and sizes of the table's pictures."""
    seen: set[str] = set()
    for batch in file.batches(["picture", "width", "height"]):
        for start in _starts(batch.column("picture")):
            name, width, height = (column[start].as_py() for column in batch.columns)
            if name not in seen:
                try:
                    yield Picture(name, width, height)
                except ValueError as error:
                    raise InputError(f"{file.path}: the picture {name!r}: {error}") from error
            seen.add(name)


def _starts(names: pa.Array) -> list[int]:
    """Rows at which another picture begins, the first one included."""
    codes = names.dictionary_encode().indices.to_numpy()
    return np.flatnonzero(np.diff(codes, prepend=-1)).tolist()


def _labelled_schema(schema: pa.Schema, about: TableDescription) -> pa.Schema:
    """The schema with the columns of the truth, which come before the regions."""
    kept = [field for field in schema if field.name not in LABEL_COLUMNS]
    place = [field.name for field in kept].index(REGION_COLUMNS[0])
    new = [pa.field(name, kind) for name, kind in LABEL_COLUMNS.items()]
    labelled = pa.schema([*kept[:place], *new, *kept[place:]], metadata=schema.metadata)
    roles = {**about.roles, **{name: name for name in LABEL_COLUMNS}}
    return describe(labelled, replace(about, roles=roles))


def _pictures(file: TableFile) -> Iterator[pa.Table]:
    """Rows of one picture after another."""
    seen: set[str] = set()
    held: list[pa.Table] = []
    for batch in file.batches(file.schema.names):
        rows = pa.Table.from_batches([batch])
        for start, end in pairwise([*_starts(batch.column("picture")), batch.num_rows]):
            piece = rows.slice(start, end - start)
            if held and held[-1].column("picture")[0] != piece.column("picture")[0]:
                yield _whole(held, seen, file)
                held = []
            held.append(piece)
    if held:
        yield _whole(held, seen, file)


def _whole(held: list[pa.Table], seen: set[str], file: TableFile) -> pa.Table:
    rows = pa.concat_tables(held).combine_chunks()
    name = rows.column("picture")[0].as_py()
    if name in seen:
        raise InputError(
            f"{file.path}: the rows of the picture {name!r} do not stand together; sort first: "
            f"groupcm sort {file.path} --group picture -o sorted.parquet"
        )
    seen.add(name)
    return rows


def _with_columns(rows: pa.Table, values: dict[str, Any], schema: pa.Schema) -> pa.Table:
    columns = [
        pa.array(values[field.name], field.type)
        if field.name in values
        else rows.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
