"""What the readers of all formats share: places in errors, sizes of pictures, clipping, warnings.

A `Reading` is one call of `read`; a `Draft` collects the objects of one of its pictures. A reader
builds each object in a function that raises `ValueError` without the file and the place, which the
`Draft` adds. With ``skip_damaged``, an object or picture that cannot be read is left out and
counted in a `Tally`; a picture that lost an object is to do, never "verified empty". A picture that
a file lists without objects and without a state is to do, unless ``unannotated="negative"``.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NoReturn, get_args

from groupcm.annotations.known_pictures import KnownPictures
from groupcm.annotations.limits import Budget
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture, relative_name
from groupcm.annotations.regions import Box, Mask, Point, Polygons, Region
from groupcm.errors import FileName, InputError, MessageWarning, warn_user

__all__ = ["AnnotationWarning", "Draft", "Reading", "Tally", "Unannotated", "circle", "rotated_box"]

_MOST_KINDS = 10  # a file may give every shape another name
Unannotated = Literal["todo", "negative"]
UNANNOTATED: tuple[str, ...] = get_args(Unannotated)
# Rounding in files moves boxes beyond the border by this much of a pixel, without a warning.
_ROUNDING = 0.01
_CIRCLE_CORNERS = 72


class AnnotationWarning(MessageWarning):
    """Parts of annotations were changed or left out; the message counts them.

    The field ``sentence`` is the message without the file that it is about.
    """

    def __init__(self, *message: object, alike: str | None = None, sentence: str = "") -> None:
        super().__init__(*message, alike=alike)
        self.sentence = sentence


class Tally:
    """Counts of events, which one warning per kind reports at the end with the first place.

    Examples
    --------
    >>> import warnings
    >>> tally = Tally("boxes.csv")
    >>> for line in (3, 8):
    ...     tally.count("boxes reached beyond their picture and were cut", f"line {line}")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     tally.warn()
    >>> print(caught[0].message)
    boxes.csv: boxes reached beyond their picture and were cut: 2, the first at line 3
    """

    def __init__(self, where: object) -> None:
        self.where = where
        self._first: dict[str, str] = {}
        self._times: dict[str, int] = {}

    def count(self, what: str, place: str) -> None:
        """Count one more event of a kind."""
        self._first.setdefault(what, place)
        self._times[what] = self._times.get(what, 0) + 1

    def warn(self) -> None:
        """Issue one warning per kind of event."""
        for number, (what, times) in enumerate(self._times.items()):
            place = f"the first at {self._first[what]}" if times > 1 else f"at {self._first[what]}"
            if number == _MOST_KINDS:
                what = f"and {len(self._times) - number:,} more kinds, such as {what}"
            sentence = f"{what}: {times}, {place}"
            warn_user(AnnotationWarning(FileName(self.where), f": {sentence}", sentence=sentence))
            if number == _MOST_KINDS:
                break


class Reading:
    """One call of `read`: the file, the known pictures, and the counts of what happened."""

    def __init__(
        self,
        path: Path,
        known: KnownPictures | None = None,
        skip_damaged: bool = False,
        unannotated: Unannotated = "todo",
    ) -> None:
        if unannotated not in UNANNOTATED:
            raise InputError(
                f"unannotated is {unannotated!r}; it must be " + " or ".join(map(repr, UNANNOTATED))
            )
        self.path = path
        self.unannotated: Unannotated = unannotated
        self.known = known
        self.skip_damaged = skip_damaged
        self.tally = Tally(path)
        self.undecided: list[str] = []  # pictures whose state ``unannotated`` decides
        self._drafts: dict[str, Draft] = {}
        self.budget = Budget(path.stat().st_size if path.is_file() else 0)

    def begin_file(self, path: Path) -> None:
        """Begin one file of many, with its own limit on masks and polygons."""
        self.budget = Budget(path.stat().st_size)

    def files(self, folder: Path, kind: str) -> Iterator[tuple[Path, Path, str]]:
        """Iterate over the one file that is read, or over all of its kind in a folder.

        Yields
        ------
        file, root, place
            The file, the folder that is read, and the place for errors.
        """
        root, found = folder, sorted(folder.rglob(f"*.{kind.lower()}"))
        if self.path.is_file():
            root, found = self.path.parent, [self.path]
        if not found:
            raise InputError(f"there is no {kind} file in ", FileName(folder))
        for file in found:
            yield file, root, "" if file == self.path else file.relative_to(root).as_posix()

    def fail(self, place: str, clause: object) -> NoReturn:
        """Raise an error at a place of the file."""
        raise InputError(FileName(self.path), f"{', ' + place if place else ''}: ", clause)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Add the file and the place to errors of the block."""
        try:
            yield
        except InputError:
            raise
        except ValueError as error:
            self.fail(place, error)

    @contextmanager
    def perhaps(self, place: str) -> Iterator[None]:
        """Do as `at`, but with ``skip_damaged`` count the error and continue."""
        try:
            yield
        except ValueError as error:
            if self.skip_damaged:
                self.tally.count("left out what could not be read", f"{place} ({error})")
            elif isinstance(error, InputError):
                raise
            else:
                self.fail(place, error)

    def name(self, written: str) -> str:
        """Return the name of the picture that the file refers to."""
        if self.known is not None:
            return self.known.name(written)
        return relative_name(written)

    def name_in_own_file(self, written: str, file: Path, root: Path, folder: str | None) -> str:
        """Return the name of a picture that has its own annotation file.

        The picture is next to the file, or else in the folder of pictures at the same relative
        path as the file within ``root``. A picture of the same base name in another folder is
        another picture.

        Parameters
        ----------
        written
            The name of the picture in the file, relative to the file.
        file
            The annotation file.
        root
            The folder that is read.
        folder
            The folder of the picture within the folder of pictures, if the file names one.
        """
        inside = file.parent.relative_to(root).as_posix()
        name = _joined(inside, written)
        if self.known is None:
            return relative_name(name)
        places = [[name]]
        if inside == "." and folder is not None:
            places = [[name, _joined(folder, written)]]
            if PurePosixPath(folder) == PurePosixPath("."):
                places = [[name]]
        elif file == self.path and name in self.known and "/" not in name:
            places = [self.known.with_base_name(name)]
        next_to_file = self.known.within(file.parent / written.replace("\\", "/"))
        if next_to_file is not None:
            places.insert(0, [next_to_file])
        if "/" in written or "\\" in written:
            places.append([written])
        return self.known.name(name, places)

    def size(self, name: str) -> tuple[int, int]:
        """Return width and height of a picture whose size the file does not state."""
        if self.known is None:
            raise ValueError(
                f"the size of the picture {name!r} is not written here; "
                "give the folder of the pictures too (images=...)"
            )
        return self.known.size(name)

    def picture(
        self,
        name: str,
        width: int | None,
        height: int | None,
        extra: Mapping[str, Any] | None = None,
    ) -> Draft:
        """Begin a picture; unknown sizes come from the known pictures."""
        if name in self._drafts:
            raise ValueError(f"the picture {name!r} is listed twice; list it once")
        if width is None or height is None:
            width, height = self.size(name)
        picture = Picture(name, width, height, extra=extra or {})
        self._check_size(picture)
        draft = self._drafts[name] = Draft(self, picture)
        return draft

    def drafted(self, name: str) -> Draft | None:
        """Return a picture begun before."""
        return self._drafts.get(name)

    def annotations(
        self, categories: tuple[str, ...] = (), extra: Mapping[str, Any] | None = None
    ) -> Annotations:
        """Return what was read, and warn of what was changed or left out."""
        pictures = [draft.picture() for draft in self._drafts.values()]
        with self.at(""):
            read = Annotations(tuple(pictures), categories, extra or {})
        self.tally.warn()
        return read

    def _check_size(self, picture: Picture) -> None:
        """Compare the size with known annotations; opening every picture would be slow."""
        if self.known is None or self.known.folder is not None or picture.name not in self.known:
            return
        width, height = self.known.size(picture.name)
        if (width, height) != (picture.width, picture.height):
            raise ValueError(
                f"the annotations give the picture {picture.name!r} {picture.width} × "
                f"{picture.height} pixels, and it has {width} × {height}"
            )


def _joined(folder: str, written: str) -> str:
    """Return the name of a file that is given relative to a folder."""
    name = str(PurePosixPath(folder) / written)
    plain = name.replace("\\", "/")
    return posixpath.normpath(plain) if ".." in PurePosixPath(plain).parts else name


class Draft:
    """A picture while its objects are being read."""

    def __init__(self, reading: Reading, picture: Picture) -> None:
        self._reading = reading
        self._picture = picture
        self.budget = reading.budget
        self._objects: list[AnnotatedObject] = []
        self.name, self.width, self.height = picture.name, picture.width, picture.height
        self.done: bool | None = None  # None where the file does not state it

    def add(self, place: str, build: Callable[[], AnnotatedObject]) -> None:
        """Add the object that ``build`` returns; its errors get the place."""
        before = len(self._objects)
        with self._reading.perhaps(place):
            self._objects.append(self._clipped(build(), place))
        if len(self._objects) == before:
            self.done = False

    def leave_out(self, what: str, place: str) -> None:
        """Count a shape without an area; the picture is then not done."""
        self._reading.tally.count(f"{what} cannot be used and were left out", place)
        self.done = False

    def picture(self) -> Picture:
        """Return the picture with all its objects and its state."""
        done = self.done
        if done is None:
            done = bool(self._objects) or self._reading.unannotated == "negative"
            if not self._objects:
                self._reading.undecided.append(self.name)
        return replace(self._picture, objects=tuple(self._objects), done=done)

    def _clipped(self, annotated: AnnotatedObject, place: str) -> AnnotatedObject:
        """Clip a box at the border of the picture; raise for objects entirely outside."""
        region: Region = annotated.region
        box = region.box
        left, top = max(box.x, 0.0), max(box.y, 0.0)
        right, bottom = min(box.right, self.width), min(box.bottom, self.height)
        if left >= right or top >= bottom:
            raise ValueError(
                f"the object from ({box.x:g}, {box.y:g}) to ({box.right:g}, {box.bottom:g}) lies "
                f"outside its picture {self.name!r} of {self.width} × {self.height} pixels"
            )
        if not isinstance(region, Box):
            if isinstance(region, Mask):
                region.check_size(self.height, self.width)
            else:
                self.budget.spend_columns(region.columns_passed())
            return annotated
        beyond = max(left - box.x, top - box.y, box.right - right, box.bottom - bottom)
        if beyond <= 1e-9:
            return annotated
        if beyond > _ROUNDING:
            self._reading.tally.count("boxes reached beyond their picture and were cut", place)
        return replace(annotated, region=Box.from_corners(left, top, right, bottom))


def circle(centre: Point, on_the_edge: Point) -> Polygons:
    """Return the polygon of 72 corners on the circle around a centre through a point.

    Examples
    --------
    >>> circle((10, 10), (10, 15)).box
    Box(x=5.0, y=5.0, width=10.0, height=10.0)
    """
    (x, y), radius = centre, math.dist(centre, on_the_edge)
    angles = [2 * math.pi * corner / _CIRCLE_CORNERS for corner in range(_CIRCLE_CORNERS)]
    return Polygons([[(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]])


def rotated_box(box: Box, degrees: float, around: Point) -> Box | Polygons:
    """Return the box rotated clockwise around a point; a polygon unless the turn is complete.

    Examples
    --------
    >>> rotated_box(Box(0, 0, 2, 1), 0, (0, 0))
    Box(x=0.0, y=0.0, width=2.0, height=1.0)
    >>> rotated_box(Box(2, 2, 2, 1), 90, (2, 2)).box
    Box(x=1.0, y=2.0, width=1.0, height=2.0)
    """
    if degrees % 360 == 0:
        return box
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = []
    for x, y in box.corners():
        dx, dy = x - around[0], y - around[1]
        corners.append((around[0] + cosine * dx - sine * dy, around[1] + sine * dx + cosine * dy))
    return Polygons([[(round(x, 9), round(y, 9)) for x, y in corners]])
