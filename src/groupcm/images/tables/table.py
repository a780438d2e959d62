"""Candidates as a table: one row per candidate, with contiguous rows of a picture.

=================== ======== ==================================================================
column              type
=================== ======== ==================================================================
picture             text     name of the picture: the group
candidate           int32    index of the candidate in its picture, from 0
patient, split      text     each if it is known for every picture
label               int8     1 positive, 0 negative; this and the next four with annotations only
overlap             float32  largest overlap with an object of the picture
object              text     that object; null where the candidate touches none
centre_inside       int8     1 where the centre of the candidate's box is inside that object
centre_distance     float32  distance of their centres in pixels; null where it touches none
left … bottom       float32  edges of the candidate's box, in pixels of the picture
mask                text     pixels as COCO's compressed runs; null for a box
height, width       int32    size of the picture
features            float32  one column per feature, by name
=================== ======== ==================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.annotations import Annotations, Mask, Picture
from groupcm.annotations.runs import compress_many, decompress
from groupcm.data.tables.formats import TableFile, is_parquet, open_table
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe, description_of
from groupcm.errors import InputError
from groupcm.images.features.user_families import import_family
from groupcm.images.patients import PictureNote, PictureNotes
from groupcm.images.recipe import PictureCandidates, Recipe, noted_recipe
from groupcm.images.regions import Regions
from groupcm.images.tables.labelling import Labels
from groupcm.utils.typing import Index

__all__ = [
    "CENTRE_COLUMNS",
    "LABEL_COLUMNS",
    "REGION_COLUMNS",
    "as_stored",
    "candidate_rows",
    "candidate_schema",
    "check_candidates",
    "label_values",
    "picture_rows",
    "row_regions",
    "table_notes",
    "table_pictures",
    "table_recipe",
]

_EDGES = ("left", "top", "right", "bottom")
REGION_COLUMNS = (*_EDGES, "mask", "height", "width")
LABEL_COLUMNS = {"label": pa.int8(), "overlap": pa.float32(), "object": pa.string()}
CENTRE_COLUMNS = {"centre_inside": pa.int8(), "centre_distance": pa.float32()}


def candidate_schema(
    recipe: Recipe, *, labels: bool, patients: bool, splits: bool = False
) -> pa.Schema:
    """Return the columns of a table of candidates, with the description that a fit reads.

    Examples
    --------
    >>> schema = candidate_schema(Recipe(), labels=True, patients=False)
    >>> schema.names[:6]
    ['picture', 'candidate', 'label', 'overlap', 'object', 'centre_inside']
    """
    kinds: dict[str, pa.DataType] = {"picture": pa.string(), "candidate": pa.int32()}
    roles = {"group": "picture"}
    if patients:
        kinds["patient"] = pa.string()
        roles["patient"] = "patient"
    if splits:
        kinds["split"] = pa.string()
    if labels:
        kinds |= LABEL_COLUMNS | CENTRE_COLUMNS
        roles |= {name: name for name in LABEL_COLUMNS}
    kinds |= dict.fromkeys(_EDGES, pa.float32())
    kinds |= {"mask": pa.string(), "height": pa.int32(), "width": pa.int32()}
    kinds |= dict.fromkeys(recipe.feature_names, pa.float32())
    about = TableDescription(ColumnRoles.of(roles), recipe.feature_names, recipe.to_json())
    return describe(pa.schema(kinds), about)


def candidate_rows(
    schema: pa.Schema,
    picture: str,
    found: PictureCandidates,
    labels: Labels | None = None,
    patient: str | None = None,
    split: str | None = None,
) -> pa.RecordBatch:
    """Return the rows of one picture.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> recipe, frame = Recipe(), next(make_frames(1, height=48, width=64))
    >>> schema = candidate_schema(recipe, labels=False, patients=False)
    >>> rows = candidate_rows(schema, frame.picture.name, recipe.candidates(frame.pixels))
    >>> rows.column("picture")[0].as_py(), rows.column("width")[0].as_py()
    ('patient1_frame1.png', 64)
    """
    regions, n = found.regions, len(found.regions)
    values: dict[str, Any] = {
        "picture": pa.repeat(picture, n),
        "candidate": np.arange(n, dtype=np.int32),
        "patient": pa.repeat(patient or "", n),
        "split": pa.repeat(split or "", n),
        "mask": pa.array(_masks(regions), pa.string()),
        "height": np.full(n, regions.height, dtype=np.int32),
        "width": np.full(n, regions.width, dtype=np.int32),
    }
    values |= dict(zip(_EDGES, regions.edges.T.astype(np.float32), strict=True))
    if labels is not None:
        values |= label_values(picture, labels)
    features = schema.names[len(schema) - found.values.shape[1] :]
    values |= dict(zip(features, np.ascontiguousarray(found.values.T), strict=True))
    columns = [pa.array(values[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def label_values(picture: str, labels: Labels) -> dict[str, Any]:
    """Return the values of the columns of the ground truth.

    The name of an object is its picture and its number there, which is unique in every table.
    """
    objects = [None if k < 0 else f"{picture} object {k + 1}" for k in labels.object.tolist()]
    return {
        "label": labels.label,
        "overlap": labels.overlap,
        "object": objects,
        "centre_inside": labels.centre_inside,
        "centre_distance": pa.array(labels.centre_distance, from_pandas=True),
    }


def row_regions(rows: pa.RecordBatch | pa.Table, *, boxes: bool = False) -> Regions:
    """Return the regions of the rows of one picture; with ``boxes`` their bounding boxes only.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> recipe, frame = Recipe(), next(make_frames(1, height=48, width=64))
    >>> found = recipe.candidates(frame.pixels)
    >>> schema = candidate_schema(recipe, labels=False, patients=False)
    >>> again = row_regions(candidate_rows(schema, "a.png", found))
    >>> np.allclose(again.areas, found.regions.areas)
    True
    """
    height, width = (int(rows.column(name)[0].as_py()) for name in ("height", "width"))
    edges = np.stack([np.asarray(rows.column(name), dtype=np.float64) for name in _EDGES], axis=1)
    texts = rows.column("mask").to_pylist()
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("the column 'mask' must hold text")
    is_box = np.array([boxes or text is None for text in texts], dtype=bool)
    masks = [
        Mask(height, width, decompress(texts[row])) for row in np.flatnonzero(~is_box).tolist()
    ]
    parts = [
        Regions.from_boxes(edges[is_box], height, width, what="candidate"),
        Regions.of(masks, height, width, what="candidate"),
    ]
    return Regions.joined(parts).take(np.argsort(np.argsort(~is_box, kind="stable")))


def check_candidates(file: TableFile) -> TableDescription:
    """Return the description of a table of candidates; raise `InputError` for another table."""
    about = description_of(file.schema, file.path) if is_parquet(file.path) else None
    missing = [name for name in REGION_COLUMNS if name not in file.schema.names]
    if about is None or "group" not in about.roles or missing:
        raise InputError(
            f"{file.path} does not record where its candidates are in their pictures; give a table "
            "that groupcm images propose wrote"
        )
    return about


def table_recipe(path: str | os.PathLike[str], families: Sequence[str] = ()) -> Recipe:
    """Return the recipe of a table of candidates, with its principal components.

    Parameters
    ----------
    path
        A table that `groupcm.images.tables.propose.propose_folder` wrote.
    families
        Families of features of the user that the recipe names, as MODULE.CLASS.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> from groupcm.images.tables.propose import propose_folder
    >>> here = tempfile.mkdtemp()
    >>> _ = write_frames(here, 2, height=48, width=64)
    >>> _ = propose_folder(f"{here}/frames", f"{here}/train.parquet")
    >>> table_recipe(f"{here}/train.parquet") == Recipe()
    True
    """
    for family in families:
        import_family(family)
    about = check_candidates(open_table(Path(path)))
    return noted_recipe({"recipe": about.recipe}, os.fspath(path))


def table_pictures(file: TableFile) -> Annotations:
    """Return the pictures of a table with their sizes, as unannotated pictures."""
    group = check_candidates(file).roles["group"]
    found: dict[str, Picture] = {}
    for batch in file.batches([group, "width", "height"]):
        for start in _starts(batch.column(group)):
            name, width, height = (column[start].as_py() for column in batch.columns)
            if name not in found:
                try:
                    found[name] = Picture(name, width, height, done=False)
                except ValueError as error:
                    raise InputError(f"{file.path}: the picture {name!r}: {error}") from error
    return Annotations(tuple(found.values()))


def table_notes(file: TableFile) -> PictureNotes | None:
    """Return the patient and the split of each picture, if the table has such columns."""
    roles = check_candidates(file).roles
    columns = [roles.get("patient", "patient"), "split"]
    there = [name for name in columns if name in file.schema.names]
    if not there:
        return None
    found: dict[str, PictureNote] = {}
    for batch in file.batches([roles["group"], *there]):
        names, *values = (column.to_pylist() for column in batch.columns)
        by_column = dict(zip(there, values, strict=True))
        notes = (by_column.get(name, [None] * len(names)) for name in columns)
        for name, *stated in zip(names, *notes, strict=True):
            note = PictureNote(*(None if value is None else str(value) for value in stated))
            if found.setdefault(name, note) != note:
                raise InputError(
                    f"{file.path}: the rows of the picture {name!r} have different patients or "
                    "splits; a picture has one of each"
                )
    return PictureNotes(file.path, found, columns[0] in there, "split" in there)


def picture_rows(file: TableFile) -> Iterator[tuple[str, pa.Table]]:
    """Iterate over the pictures of a table with their rows, which must be contiguous."""
    group = check_candidates(file).roles["group"]
    seen: set[str] = set()
    held: list[pa.Table] = []
    for batch in file.batches(file.schema.names):
        rows = pa.Table.from_batches([batch])
        for start, end in pairwise([*_starts(batch.column(group)), batch.num_rows]):
            piece = rows.slice(start, end - start)
            if held and held[-1].column(group)[0] != piece.column(group)[0]:
                yield _whole(held, seen, file, group)
                held = []
            held.append(piece)
    if held:
        yield _whole(held, seen, file, group)


def _starts(names: pa.Array) -> list[int]:
    """Return the rows at which a picture begins."""
    codes = names.dictionary_encode().indices.to_numpy()
    return np.flatnonzero(np.diff(codes, prepend=-1)).tolist()


def _whole(
    held: list[pa.Table], seen: set[str], file: TableFile, group: str
) -> tuple[str, pa.Table]:
    rows = pa.concat_tables(held).combine_chunks()
    name = rows.column(group)[0].as_py()
    if name in seen:
        raise InputError(
            f"{file.path}: the rows of the picture {name!r} are not contiguous; sort first: "
            f"groupcm sort {file.path} --group {group} -o sorted.parquet"
        )
    seen.add(name)
    return name, rows


def as_stored(regions: Regions) -> Regions:
    """Return regions as `row_regions` returns them: a table stores edges in single precision."""
    rounded = regions.edges.astype(np.float32).astype(np.float64)
    boxes = Regions.from_boxes(rounded, regions.height, regions.width)
    areas = np.where(regions.is_box, boxes.areas, regions.areas)
    return replace(regions, edges=boxes.edges, areas=areas)


def _masks(regions: Regions) -> list[str | None]:
    """Return COCO's compressed runs of each mask; None for boxes."""
    texts: list[str | None] = [None] * len(regions)
    masks = np.flatnonzero(~regions.is_box)
    runs, ptr = _runs(regions.take(masks))
    for place, text in zip(masks.tolist(), compress_many(runs, ptr), strict=True):
        texts[place] = text
    return texts


def _runs(masks: Regions) -> tuple[Index, Index]:
    """Return the runs of all masks, and where those of each begin."""
    n, size = len(masks), masks.height * masks.width
    owner = np.repeat(np.arange(n), np.diff(masks.strip_ptr))
    begin = masks.column * masks.height + masks.top
    end = masks.column * masks.height + masks.bottom
    # A strip that continues at the top of the next column is one run with it.
    apart = (end[:-1] != begin[1:]) | (owner[:-1] != owner[1:])
    first, last = np.ones((2, owner.size), dtype=bool)
    first[1:], last[:-1] = apart, apart
    owner, places = owner[first], np.stack([begin[first], end[last]], axis=1)
    # Background follows the last run, unless that reaches the last pixel.
    has_rest = np.ones(n, dtype=np.int64)
    has_rest[owner[places[:, 1] == size]] = 0
    ptr = np.concatenate([[0], np.cumsum(2 * np.bincount(owner, minlength=n) + has_rest)])
    edges = np.full(ptr[-1], size)
    rests_before = np.cumsum(has_rest) - has_rest
    at = 2 * np.arange(owner.size) + rests_before[owner]
    edges[at], edges[at + 1] = places.T
    runs = np.diff(edges, prepend=0)
    runs[ptr[:-1]] = edges[ptr[:-1]]
    return runs, ptr.astype(np.int64)
