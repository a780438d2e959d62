"""GeoJSON of QuPath: the regions of one whole slide, in pixels of its full resolution.

A file holds a ``FeatureCollection``, a list of features or one feature. The category of a feature
is the name of its ``classification``; polygons may have holes. Points and lines have no area and
are counted. A slide is far larger than the pictures of `groupcm.annotations`, and its size is not
in the file: the regions stay polygons.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.parsing import field, load
from groupcm.errors import FileName, InputError

__all__ = ["SlideRegion", "is_geojson", "read_geojson"]

#: The category of a feature without a classification.
UNCLASSIFIED = "unclassified"
_FARTHEST = 1e8
_AREAS = ("Polygon", "MultiPolygon", "GeometryCollection")


@dataclass(frozen=True, eq=False)
class SlideRegion:
    """One annotated region.

    Attributes
    ----------
    category : str
        The name of its classification, or "unclassified".
    rings : list of ndarray of shape (n, 2)
        The corners of its polygons, without the last one that repeats the first.
    is_hole : list of bool
        Which of the rings are holes.
    """

    category: str
    rings: list[NDArray[np.float64]]
    is_hole: list[bool]


def is_geojson(path: Path) -> bool:
    """Return whether the name of a file is that of GeoJSON.

    Examples
    --------
    >>> is_geojson(Path("slide_7.geojson")), is_geojson(Path("slide_7.json"))
    (True, False)
    """
    return path.suffix.lower() == ".geojson"


def read_geojson(path: Path) -> list[SlideRegion]:
    """Read the regions of one slide.

    Raises `InputError`, naming the file and the feature, for what is not GeoJSON.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slide.geojson"
    >>> _ = path.write_text('{"type": "FeatureCollection", "features": [{"type": "Feature", '
    ...     '"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 5], [0, 0]]]}, '
    ...     '"properties": {"objectType": "annotation", "classification": {"name": "Tumor"}}}]}')
    >>> [(each.category, len(each.rings[0])) for each in read_geojson(path)]
    [('Tumor', 3)]
    """
    content = load(path)
    if isinstance(content, dict) and content.get("type") == "Feature":
        content = [content]
    elif isinstance(content, dict):
        kind = content.get("type")
        if kind != "FeatureCollection" or not isinstance(content.get("features"), list):
            raise InputError(
                FileName(path),
                f" is JSON of the type {kind!r}; GeoJSON is a FeatureCollection, as QuPath exports",
            )
        content = content["features"]
    if not isinstance(content, list):
        raise InputError(FileName(path), " is not GeoJSON: it holds neither features nor a list")
    regions = []
    for number, feature in enumerate(content, start=1):
        try:
            region = _region(feature)
        except ValueError as error:
            raise InputError(FileName(path), f", feature {number}: {error}") from error
        if region is not None:
            regions.append(region)
    return regions


def _region(feature: Any) -> SlideRegion | None:
    """Return the region of a feature; None where it has no area."""
    geometry = field(feature, "geometry", dict)
    properties = field(feature, "properties", dict, {}) or {}
    named = properties.get("classification")
    category = named.get("name") if isinstance(named, dict) else named
    if category is not None and not isinstance(category, str):
        raise ValueError(f"the name of its classification is {category!r}; it must be a text")
    rings: list[NDArray[np.float64]] = []
    is_hole: list[bool] = []
    for polygon in _polygons(geometry):
        for place, ring in enumerate(polygon):
            corners = _corners(ring)
            if len(corners) >= 3:
                rings.append(corners)
                is_hole.append(place > 0)
    if not rings:
        return None
    return SlideRegion(str(category or UNCLASSIFIED).strip() or UNCLASSIFIED, rings, is_hole)


def _polygons(geometry: dict[str, Any]) -> list[list[Any]]:
    kind = field(geometry, "type", str)
    if kind not in _AREAS:
        return []
    if kind == "GeometryCollection":
        parts = field(geometry, "geometries", list)
        return [polygon for part in parts for polygon in _polygons(part)]
    coordinates = field(geometry, "coordinates", list)
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not all(isinstance(polygon, list) for polygon in polygons):
        raise ValueError("its coordinates are not lists of rings")
    return polygons


def _corners(ring: Any) -> NDArray[np.float64]:
    try:
        corners: NDArray[np.float64] = np.array(ring, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        corners = np.zeros((0, 0))
    if corners.ndim != 2 or corners.shape[1] < 2:
        raise ValueError("a ring of its polygons is not a list of pairs x, y")
    corners = corners[:, :2]
    if not np.all(np.abs(corners) <= _FARTHEST):
        raise ValueError(f"a corner is not a finite number of at most {_FARTHEST:g}")
    closed = len(corners) > 1 and np.array_equal(corners[0], corners[-1])
    return corners[:-1] if closed else corners
