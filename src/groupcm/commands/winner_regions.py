"""Where single candidates of tables are in their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groupcm.annotations import Box, Mask
from groupcm.annotations.coco_string import decompress
from groupcm.errors import InputError
from groupcm.images.regions import Regions
from groupcm.table_formats import TableFile, find_tables, open_table

__all__ = ["read_regions"]

_EDGES = ("left", "top", "right", "bottom")
_SIZE = ("height", "width")
_MASK = "mask"


def read_regions(tables: Sequence[str | Path], rows: Sequence[int]) -> dict[int, Regions]:
    """The region of each of these rows, alone in its picture.

    Parameters
    ----------
    tables : sequence of path
        With the columns that ``groupcm images propose`` writes.
    rows : sequence of int
        Counted from 0 over all tables, in ascending order.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "boxes.csv"
    >>> _ = path.write_text(
    ...     "left,top,right,bottom,height,width\\n0,0,2,2,9,9\\n1,1,4,3,9,9\\n"
    ... )
    >>> read_regions([path], [1])[1].areas
    array([6.])
    """
    wanted = iter(rows)
    row, first = next(wanted, None), 0
    found: dict[int, Regions] = {}
    for file in map(open_table, find_tables(tables)):
        columns = _columns(file)
        for batch in file.batches(columns):
            while row is not None and row < first + batch.num_rows:
                place = row - first
                values = {name: batch.column(name)[place].as_py() for name in columns}
                found[row] = _region(values, file.path)
                row = next(wanted, None)
            first += batch.num_rows
    return found


def _columns(file: TableFile) -> list[str]:
    names = file.schema.names
    lacking = [name for name in (*_EDGES, *_SIZE) if name not in names]
    if lacking:
        raise InputError(
            f"{file.path} has no column {lacking[0]!r}, so where its candidates are in the "
            "pictures is not known; use a table that groupcm images propose wrote"
        )
    return [*_EDGES, *_SIZE, *([_MASK] if _MASK in names else [])]


def _region(values: Mapping[str, Any], path: Path) -> Regions:
    height, width = (values[name] for name in _SIZE)
    counts = values.get(_MASK)
    try:
        if counts:
            region: Box | Mask = Mask(height, width, tuple(decompress(counts).tolist()))
        else:
            region = Box.from_corners(*(values[name] for name in _EDGES))
        return Regions.of([region], height, width, what="candidate")
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: a candidate has no place in its picture: {error}") from error
