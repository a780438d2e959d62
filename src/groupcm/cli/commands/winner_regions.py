"""Where single candidates of tables are in their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groupcm.data.tables.formats import TableFile, find_tables, open_table
from groupcm.errors import InputError
from groupcm.images.regions import Regions
from groupcm.images.tables.table import REGION_COLUMNS, row_regions

__all__ = ["read_regions"]


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
    ...     "left,top,right,bottom,mask,height,width\\n0,0,2,2,,9,9\\n1,1,4,3,,9,9\\n"
    ... )
    >>> read_regions([path], [1])[1].areas
    array([6.])
    """
    wanted = iter(rows)
    row, first = next(wanted, None), 0
    found: dict[int, Regions] = {}
    for file in map(open_table, find_tables(tables)):
        _require_columns(file)
        for batch in file.batches(REGION_COLUMNS):
            while row is not None and row < first + batch.num_rows:
                try:
                    found[row] = row_regions(batch.slice(row - first, 1))
                except (TypeError, ValueError) as error:
                    raise InputError(
                        f"{file.path}: a candidate has no place in its picture: {error}"
                    ) from error
                row = next(wanted, None)
            first += batch.num_rows
    return found


def _require_columns(file: TableFile) -> None:
    lacking = [name for name in REGION_COLUMNS if name not in file.schema.names]
    if lacking:
        raise InputError(
            f"{file.path} has no column {lacking[0]!r}, so where its candidates are in the "
            "pictures is not known; use a table that groupcm images propose wrote"
        )
