"""New labels for an existing table of candidates, without reading the pictures again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupcm.annotations import Annotations
from groupcm.data.tables.formats import PARQUET, TableFile, check_not_input, open_table
from groupcm.data.tables.parquet import parquet_writer
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe
from groupcm.errors import Argument, InputError
from groupcm.images.listing import list_pictures
from groupcm.images.patients import PictureNote, PictureNotes, notes_of
from groupcm.images.regions import Regions
from groupcm.images.tables._checkpoint import DonePicture
from groupcm.images.tables.labelling import Labelling, Proposed, Tally, picture_notes
from groupcm.images.tables.table import (
    CENTRE_COLUMNS,
    LABEL_COLUMNS,
    REGION_COLUMNS,
    check_candidates,
    label_values,
    picture_rows,
    row_regions,
    table_pictures,
)
from groupcm.images.truth import Truth, object_regions, read_truth
from groupcm.utils.files import check_output, whole_file

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
    missing_pictures: str = "error",
    patients: str | os.PathLike[str] | None = None,
    split: str | None = None,
) -> Proposed:
    """Write a copy of a table of candidates with new labels.

    Parameters
    ----------
    table
        A table of `groupcm.images.tables.propose.propose_folder`, with labels or without.
    output
        The table to write, which is written atomically.
    annotations
        Annotations of its pictures.
    images
        The folder of pictures, if the annotations list more of them than the table.
    category, overlap, positive_overlap, unmarked, missing_pictures, patients, split
        As for `groupcm.images.tables.propose.propose_folder`.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> from groupcm.images.tables.propose import propose_folder
    >>> here = Path(tempfile.mkdtemp())
    >>> marked = write_frames(here / "demo", 3, share_with_polyps=0.3, height=48, width=64)
    >>> _ = propose_folder(here / "demo" / "frames", here / "plain.parquet")
    >>> done = label_table(here / "plain.parquet", here / "labelled.parquet", annotations=marked)
    >>> done.n_pictures, done.n_positive
    (3, 1)
    """
    output = check_output(output, endings=PARQUET)
    check_not_input(output, [Path(table)])
    labelling = Labelling(overlap, positive_overlap)
    file = open_table(Path(table))
    about = check_candidates(file)
    truth = _truth(file, annotations, images, category, unmarked, missing_pictures)
    by_picture = notes_of(patients, split)
    schema = _labelled_schema(file.schema, about, by_picture)
    boxes = overlap == "box_iou"
    tally, n_left_out, n_in_progress = Tally(), 0, 0
    with whole_file(output) as temporary, parquet_writer(temporary, schema) as writer:
        held: list[pa.Table] = []
        for place, (name, rows) in enumerate(picture_rows(file)):
            note = PictureNote() if by_picture is None else by_picture.of(name)
            if split is not None and note.split != split:
                continue
            marked = truth.of(name)
            if marked is None:
                n_left_out += 1
                n_in_progress += truth.is_in_progress(name)
                continue
            candidates = _candidates(file.path, name, rows, boxes)
            objects = object_regions(name, marked, candidates.height, candidates.width, truth.where)
            labels = labelling.of(candidates, objects)
            notes = picture_notes(candidates, objects, labels, overlap)
            tally.add(place, DonePicture(name, "", rows.num_rows, notes=notes))
            stated = {key: value for key, value in note._asdict().items() if value is not None}
            values = label_values(name, labels)
            values |= {key: [value] * rows.num_rows for key, value in stated.items()}
            held.append(_with_columns(rows, values, schema))
            if sum(each.num_rows for each in held) >= _ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(held))
                held = []
        if not tally.n_pictures and not n_left_out:
            raise InputError(f"{patients} puts no picture of {table} into the split {split!r}")
        if not tally.n_pictures:
            raise InputError(
                f"no picture of {table} is finished in {truth.where}; ",
                Argument("unmarked", "negative"),
                " takes those without objects to show none",
            )
        if held:
            writer.write_table(pa.concat_tables(held))
    return tally.proposed(
        output,
        len(about.features),
        is_marked=True,
        n_left_out=n_left_out,
        n_before=0,
        n_in_progress=n_in_progress,
    )


def _candidates(path: Path, name: str, rows: pa.Table, boxes: bool) -> Regions:
    try:
        return row_regions(rows, boxes=boxes)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path}: a candidate of the picture {name!r} has no place in it: {error}"
        ) from error


def _truth(
    file: TableFile,
    annotations: str | os.PathLike[str] | Annotations,
    images: str | os.PathLike[str] | None,
    category: str | Sequence[str] | None,
    unmarked: str,
    missing_pictures: str,
) -> Truth:
    if images is not None:
        names, pictures = set(list_pictures(images)), Path(images)
    else:
        pictures = table_pictures(file)
        names = {picture.name for picture in pictures}
    return read_truth(
        annotations,
        names,
        pictures,
        category=category,
        unmarked=unmarked,
        missing_pictures=missing_pictures,
    )


def _labelled_schema(
    schema: pa.Schema, about: TableDescription, notes: PictureNotes | None
) -> pa.Schema:
    """Return the schema with the columns of the ground truth before those of the regions."""
    columns = {}
    if notes is not None:
        has = {"patient": notes.has_patients, "split": notes.has_splits}
        columns = {name: pa.string() for name in has if has[name]}
    roles = {**about.roles, **{name: name for name in (*columns, *LABEL_COLUMNS)}}
    columns |= LABEL_COLUMNS | CENTRE_COLUMNS
    kept = [field for field in schema if field.name not in columns]
    place = [field.name for field in kept].index(REGION_COLUMNS[0])
    new = [pa.field(name, kind) for name, kind in columns.items()]
    labelled = pa.schema([*kept[:place], *new, *kept[place:]], metadata=schema.metadata)
    return describe(labelled, replace(about, roles=ColumnRoles.of(roles)))


def _with_columns(rows: pa.Table, values: dict[str, Any], schema: pa.Schema) -> pa.Table:
    columns = [
        pa.array(values[field.name], field.type)
        if field.name in values
        else rows.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
