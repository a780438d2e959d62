"""Pictures of the groups that a report shows: the winner's outline, and what people marked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.model import relative_name
from groupcm.annotations.pictures import pillow
from groupcm.data.tables.formats import TableFile, find_tables, open_table
from groupcm.errors import InputError
from groupcm.evaluation.results import Case, Evaluation
from groupcm.images.listing import list_pictures
from groupcm.images.overlay import draw_overlay
from groupcm.images.reading import read_named
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore
from groupcm.images.tables.table import REGION_COLUMNS, row_regions
from groupcm.images.truth import Truth, object_regions, read_truth
from groupcm.report.page import CasePictures

__all__ = ["PictureFolder", "read_regions", "small_jpeg"]

_LONGEST_SIDE = 480
_MOST_BYTES = 40_000
_QUALITIES = (85, 75, 65, 50, 35, 20)


@dataclass(frozen=True)
class PictureFolder:
    """A folder of pictures, and what people marked in them where that is known."""

    folder: Path
    truth: Truth | None = None

    @classmethod
    def open(cls, folder: str | Path, annotations: str | Path | None = None) -> PictureFolder:
        """Look whether there are pictures, and read the annotations."""
        folder = Path(folder)
        names = list_pictures(folder)
        if not names:
            raise InputError(f"there is no picture in the folder {folder}")
        truth = None if annotations is None else read_truth(annotations, set(names), folder)
        return cls(folder, truth)

    def draw_cases(self, evaluation: Evaluation, tables: Sequence[str | Path]) -> CasePictures:
        """Draw the winner of each group that a report shows onto its picture.

        A warning, and the place of the picture in the report, say why one cannot be shown.

        Parameters
        ----------
        evaluation : Evaluation
            Its groups are called as the pictures are.
        tables : sequence of path
            The tables evaluated, which contain the places of candidates.
        """
        cases = {case.winner_row: case for case in _shown(evaluation)}
        regions = read_regions(tables, sorted(cases))
        jpegs, missing = {}, {}
        for row, case in cases.items():
            try:
                drawn = self._draw(case, regions[row], evaluation.decision.point.threshold)
                jpegs[row] = small_jpeg(drawn)
            except ValueError as error:  # an InputError is one too
                missing[row] = str(error)
                warnings.warn(f"{error}; the report does not show it.", UserWarning, stacklevel=2)
        return CasePictures(jpegs, missing, marks_objects=self.truth is not None)

    def _draw(self, case: Case, winner: Regions, threshold: float) -> NDArray[np.uint8]:
        name = relative_name(case.group)
        pixels = read_named(self.folder, name)
        height, width = pixels.shape[:2]
        if (height, width) != (winner.height, winner.width):
            raise InputError(
                f"the picture {self.folder / name} has {width} × {height} pixels, and its "
                f"candidates are of one of {winner.width} × {winner.height}"
            )
        found = PictureScore(name, winner, np.array([case.score]), 0, 0, threshold=threshold)
        marked = None if self.truth is None else self.truth.of(name)
        if self.truth is None or marked is None:
            return draw_overlay(pixels, found)
        objects = object_regions(name, marked, height, width, self.truth.where)
        return draw_overlay(pixels, found, truth=objects)


def _shown(evaluation: Evaluation) -> Iterator[Case]:
    yield from evaluation.typical.values()
    for kind in (
        evaluation.highest_positives,
        evaluation.lowest_positives,
        evaluation.highest_negatives,
    ):
        yield from kind[: CasePictures.most_of_a_kind]


def small_jpeg(pixels: NDArray[np.uint8]) -> bytes:
    """Return a JPEG file of at most 480 pixels a side and 40 kB, for a page.

    Examples
    --------
    >>> small_jpeg(np.zeros((300, 960, 3), dtype=np.uint8))[:3]
    b'\\xff\\xd8\\xff'
    """
    image = pillow()
    small = image.fromarray(pixels)
    small.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE), image.Resampling.LANCZOS)
    data = b""
    for quality in _QUALITIES:
        file = BytesIO()
        small.save(file, "JPEG", quality=quality, optimize=True, progressive=True)
        data = file.getvalue()
        if len(data) <= _MOST_BYTES:
            break
    return data


def read_regions(tables: Sequence[str | Path], rows: Sequence[int]) -> dict[int, Regions]:
    """Return the region of each of these rows, alone in its picture.

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
