"""Labels of the candidates of whole slides: from a table of slides, and from annotated regions.

A slide is positive by the table, or without one where it has an annotated region. A candidate of
a positive slide is positive where the regions cover at least ``positive_overlap`` of its patch, or
as much as of the patch of the slide that they cover most: small objects fill no patch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.files import read as read_annotations
from groupcm.annotations.geojson import SlideRegion, is_geojson, read_geojson
from groupcm.annotations.regions import Box, Polygons
from groupcm.data.labels import order_classes, positive_label
from groupcm.data.tables.formats import open_table
from groupcm.errors import FileName, InputError
from groupcm.kernels.polygon_shares import covered_areas

__all__ = ["SlideTable", "covered_shares", "label_rows", "read_regions", "read_slides"]

_SHOWN = 3


@dataclass(frozen=True)
class SlideTable:
    """The label of each slide, and the patient where there is a column of them."""

    label: dict[str, Any]
    patient: dict[str, Any] | None = None


def read_slides(
    labels: str | os.PathLike[str] | Mapping[str, Any],
    *,
    group: str = "slide",
    label: str = "label",
    patient: str | None = None,
) -> SlideTable:
    """Read the labels of slides.

    Parameters
    ----------
    labels : path or mapping
        A table of one row per slide, in any format of tables; or a mapping from slide to label.
    group, label, patient : str
        Its columns.

    Examples
    --------
    >>> read_slides({"a": 1, "b": 0}).label
    {'a': 1, 'b': 0}
    """
    if isinstance(labels, Mapping):
        return SlideTable({str(slide): value for slide, value in labels.items()})
    path = Path(labels)
    if not path.exists():
        raise InputError(FileName(path), " does not exist; give a table of one row per slide")
    wanted = [name for name in (group, label, patient) if name is not None]
    table = open_table(path)
    for name in wanted:
        if name not in table.schema.names:
            raise InputError(
                FileName(path),
                f" has no column {name!r}; its columns are {', '.join(table.schema.names)}",
            )
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    for batch in table.batches(wanted):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            columns[name] += column.to_pylist()
    slides = [None if slide is None else str(slide) for slide in columns[group]]
    for row, slide in enumerate(slides):
        for name in wanted:
            if columns[name][row] is None:
                raise InputError(FileName(path), f": the column {name!r} is empty in row {row}")
        if slides.index(slide) != row:
            raise InputError(FileName(path), f": the slide {slide} is there twice; list it once")
    names = [str(slide) for slide in slides]
    of_patient = None if patient is None else dict(zip(names, columns[patient], strict=True))
    return SlideTable(dict(zip(names, columns[label], strict=True)), of_patient)


def read_regions(
    path: str | os.PathLike[str], slides: Sequence[str], category: str | Iterable[str] | None = None
) -> dict[str, list[SlideRegion]]:
    """Return the annotated regions of each slide that has a file, or is listed in one.

    Parameters
    ----------
    path : path
        A folder of one GeoJSON file per slide, with the name of the slide; or annotations that
        `groupcm.annotations.read` reads, of pictures with the names of the slides.
    slides : sequence of str
        The slides there are.
    category : str or iterable of str, optional
        The categories that count; by default all.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(FileName(path), " does not exist; give a folder of annotations")
    files = [path] if path.is_file() else sorted(path.glob("*"))
    geojson = [file for file in files if is_geojson(file)]
    if geojson:
        found = {file.name[: -len(file.suffix)]: read_geojson(file) for file in geojson}
    else:
        found = _regions_of_pictures(path)
    known = {_stem(name, slides): regions for name, regions in found.items()}
    if not set(known) & set(slides):
        raise InputError(
            FileName(path),
            f" annotates none of the slides: it has {_some(found)}, and the slides are "
            f"{_some(slides)}",
        )
    if category is None:
        return known
    wanted = {category} if isinstance(category, str) else set(category)
    there = {region.category for regions in known.values() for region in regions}
    missing = sorted(wanted - there)
    if missing and not wanted & there:
        raise InputError(
            FileName(path), f" has no region of the category {missing[0]!r}; it has {_some(there)}"
        )
    return {
        slide: [region for region in regions if region.category in wanted]
        for slide, regions in known.items()
    }


def _regions_of_pictures(path: Path) -> dict[str, list[SlideRegion]]:
    found = {}
    for picture in read_annotations(path):
        regions = []
        for each in picture.objects:
            if isinstance(each.region, Box):
                rings = [each.region.corners()]
            elif isinstance(each.region, Polygons):
                rings = each.region.parts
            else:
                raise InputError(
                    FileName(path), f": {picture.name} has a mask; give polygons or boxes"
                )
            corners = [np.array(ring, dtype=np.float64) for ring in rings]
            regions.append(SlideRegion(each.category, corners, [False] * len(corners)))
        found[picture.name] = regions
    return found


def _stem(name: str, slides: Sequence[str]) -> str:
    """Return the slide that a file or a picture is named after, with or without endings."""
    known = set(slides)
    base = Path(name).name
    while base not in known and "." in base:
        base = base.rpartition(".")[0]
    return base if base in known else Path(name).name


def _some(names: Iterable[str]) -> str:
    listed = sorted(map(str, names))
    shown = ", ".join(listed[:_SHOWN]) or "none"
    return shown if len(listed) <= _SHOWN else f"{shown} and {len(listed) - _SHOWN:,} more"


def covered_shares(
    corner: NDArray[np.floating], size: float, regions: Sequence[SlideRegion]
) -> NDArray[np.float64]:
    """Return which share of each square patch the regions cover.

    Parameters
    ----------
    corner : ndarray of shape (n, 2)
        The upper left corners ``x``, ``y`` of the patches.
    size : float
        The sides of the patches, in the same units.
    regions : sequence of SlideRegion
        They should not overlap: an area in two of them counts twice, up to the whole patch.

    Examples
    --------
    >>> left = SlideRegion("tumor", [np.array([[0.0, 0], [5, 0], [5, 20], [0, 20]])], [False])
    >>> covered_shares(np.array([[0, 0], [10, 0], [2, 3]]), 10, [left])
    array([0.5, 0. , 0.3])
    """
    area = np.zeros(len(corner))
    rings = [ring for region in regions for ring in region.rings]
    if not rings or not len(corner):
        return area
    order = np.argsort(corner[:, 0], kind="stable")
    x, y = (np.ascontiguousarray(corner[order, k], dtype=np.float64) for k in range(2))
    corners = np.concatenate(rings)
    ptr = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])])
    is_hole = np.array([hole for region in regions for hole in region.is_hole])
    found = np.zeros(len(corner))
    ring_x, ring_y = (np.ascontiguousarray(corners[:, k]) for k in range(2))
    covered_areas(ring_x, ring_y, ptr, is_hole, x, y, float(size), found)
    area[order] = found
    return np.clip(area / float(size) ** 2, 0.0, 1.0)


@dataclass(frozen=True)
class RowLabels:
    """The label of each row, whether it is annotated which are positive, and the overlap."""

    label: NDArray[Any]
    annotated: NDArray[np.bool_]
    overlap: NDArray[np.float64] | None


def label_rows(
    slides: Sequence[str],
    sizes: Sequence[int],
    table: SlideTable | None,
    shares: Mapping[str, NDArray[np.float64]] | None,
    pos_label: Any,
    positive_overlap: float,
) -> RowLabels:
    """Return the label of every row of all slides.

    Parameters
    ----------
    slides : sequence of str
    sizes : sequence of int
        The number of rows of each.
    table : SlideTable, optional
    shares : mapping, optional
        For annotated slides, which share of each patch is covered.
    pos_label : label, optional
        The positive one of two labels of the table; by default the larger.
    positive_overlap : float
    """
    if table is None:
        assert shares is not None
        without = [slide for slide in slides if slide not in shares]
        if without:
            raise InputError(
                f"the slides {_some(without)} have no annotation file; write an empty one for a "
                "slide that shows nothing, or give the labels of the slides"
            )
        names = np.array([0, 1])
        of_slide = {slide: int(np.any(shares[slide] > 0.0)) for slide in slides}
    else:
        without = [slide for slide in slides if slide not in table.label]
        if without:
            raise InputError(f"the table of labels lacks the slides {_some(without)}")
        of_slide = table.label
        names = np.unique([of_slide[slide] for slide in slides])
        if shares is not None and len(names) != 2:
            raise InputError(
                f"annotated regions go with two labels of slides, and there are {len(names)}"
            )
        if len(names) == 2:
            if isinstance(pos_label, str):  # a number can be given as text
                pos_label = positive_label(pos_label, names, "label")
            names = order_classes(names, pos_label)
    parts, annotated, overlaps = [], [], []
    for slide, n in zip(slides, sizes, strict=True):
        value = of_slide[slide]
        share = None if shares is None else shares.get(slide)
        is_positive = len(names) == 2 and value == names[1]
        overlaps.append(np.zeros(n) if share is None else share)
        has_marks = share is not None and bool(np.any(share > 0.0))
        if shares is not None and not is_positive and has_marks:
            raise InputError(
                f"the slide {slide} is labelled {value}, and an annotated region covers "
                f"{float(np.max(overlaps[-1])):.0%} of one of its patches; correct one of them"
            )
        rows = np.full(n, value)
        if share is not None and is_positive and has_marks:
            rows = np.full(n, names[0])
            rows[share >= min(positive_overlap, float(share.max()))] = names[1]
        parts.append(rows)
        annotated.append(np.full(n, not is_positive or shares is None or has_marks))
    overlap = None if shares is None else np.concatenate([np.empty(0), *overlaps])
    return RowLabels(np.concatenate(parts), np.concatenate(annotated), overlap)
