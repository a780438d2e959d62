"""What all readers share: places in sentences, sizes of pictures, objects that do not fit.

A picture that a file lists without saying whether it was finished, and without objects, is to do
unless the caller takes such pictures as negative (``unannotated="negative"``).

A reader builds each object in a function that raises `ValueError` with half a sentence; the
`Draft` of its picture adds the file and the place. By request an object or a picture that cannot
be read is left out and counted; a picture that lost an object so is to do, never "no object here".

Warnings that count what was changed or left out.

Shapes that are no region here, as polygons.
"""

from __future__ import annotations

import math
import posixpath
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NoReturn, get_args

from groupcm.annotations.known_pictures import KnownPictures
from groupcm.annotations.limits import Budget
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture, relative_name
from groupcm.annotations.regions import Box, Mask, Point, Polygons, Region
from groupcm.errors import FileName, InputError, MessageWarning

__all__ = [
    "UNANNOTATED",
    "AnnotationWarning",
    "Draft",
    "Reading",
    "Tally",
    "Unannotated",
    "circle",
    "turned_box",
]

_MOST_KINDS = 10  # a file may call every shape by another name


class AnnotationWarning(MessageWarning):
    """Something of an annotation was changed or left out; the message counts it.

    The field ``sentence`` is the message without the file that it is about.
    """

    def __init__(self, *message: object, alike: str | None = None, sentence: str = "") -> None:
        super().__init__(*message, alike=alike)
        self.sentence = sentence


class Tally:
    """Counts of what happened, reported once at the end with the first place of each.

    Examples
    --------
    >>> tally = Tally("boxes.csv")
    >>> for line in (3, 8):
    ...     tally.count("boxes reached beyond their picture and were cut", f"line {line}")
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     tally.warn(stacklevel=2)
    >>> print(told[0].message)
    boxes.csv: boxes reached beyond their picture and were cut: 2, the first at line 3
    """

    def __init__(self, where: object) -> None:
        self.where = where
        self._first: dict[str, str] = {}
        self._times: dict[str, int] = {}

    def count(self, what: str, place: str) -> None:
        """Note that it happened once more."""
        self._first.setdefault(what, place)
        self._times[what] = self._times.get(what, 0) + 1

    def warn(self, stacklevel: int) -> None:
        """Warn once for each thing that happened, at the caller so many calls above."""
        for number, (what, times) in enumerate(self._times.items()):
            place = f"the first at {self._first[what]}" if times > 1 else f"at {self._first[what]}"
            if number == _MOST_KINDS:
                what = f"and {len(self._times) - number:,} more kinds, such as {what}"
            sentence = f"{what}: {times}, {place}"
            warning = AnnotationWarning(FileName(self.where), f": {sentence}", sentence=sentence)
            warnings.warn(warning, stacklevel=stacklevel)
            if number == _MOST_KINDS:
                break


Unannotated = Literal["todo", "negative"]
UNANNOTATED: tuple[str, ...] = get_args(Unannotated)

# Boxes of files with few digits reach beyond by this much of a pixel; nobody need hear of it.
_ROUNDING = 0.01


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
        self.undecided: list[str] = []  # pictures whose state is that of ``unannotated``
        self._drafts: dict[str, Draft] = {}
        self.budget = Budget(path.stat().st_size if path.is_file() else 0)

    def begin_file(self, path: Path) -> None:
        """Begin one file of many: what its masks may cost is counted anew."""
        self.budget = Budget(path.stat().st_size)

    def fail(self, place: str, clause: object) -> NoReturn:
        """Raise the sentence for a mistake at a place of the file."""
        raise InputError(FileName(self.path), f"{', ' + place if place else ''}: ", clause)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Name the file and the place in errors of the block."""
        try:
            yield
        except InputError:
            raise
        except ValueError as error:
            self.fail(place, error)

    @contextmanager
    def perhaps(self, place: str) -> Iterator[None]:
        """As `at`, but by request leave out and count what the block could not read."""
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
        """Name of the picture that the file calls so."""
        if self.known is not None:
            return self.known.name(written)
        return relative_name(written)

    def name_in_own_file(self, written: str, file: Path, root: Path, folder: str | None) -> str:
        """Return the name of a picture that has a file of annotations of its own.

        The picture is next to its file, or else in the folder of the same name as the file's
        within ``root``. A picture of the same base name in another folder is another picture.

        Parameters
        ----------
        written
            The picture as the file names it, relative to the file.
        file
            The file of annotations.
        root
            The folder that is read.
        folder
            The picture's folder, relative to that of the pictures, where the file names one.
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
        """Width and height of a picture, where the file does not tell them."""
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
            raise ValueError(f"the picture {name!r} is there twice; give it once")
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
        """Finish, warn of what was changed or left out, and return what was read."""
        pictures = [draft.picture() for draft in self._drafts.values()]
        with self.at(""):
            read = Annotations(tuple(pictures), categories, extra or {})
        self.tally.warn(stacklevel=5)
        return read

    def _check_size(self, picture: Picture) -> None:
        """Compare with an annotation that is known; opening every picture would be slow."""
        if self.known is None or self.known.folder is not None or picture.name not in self.known:
            return
        width, height = self.known.size(picture.name)
        if (width, height) != (picture.width, picture.height):
            raise ValueError(
                f"the picture {picture.name!r} is said to be {picture.width} × {picture.height} "
                f"pixels and is {width} × {height}"
            )


def _joined(folder: str, written: str) -> str:
    """Name of a file that is written relative to a folder."""
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
        self.done: bool | None = None  # None where the file does not say

    def add(self, place: str, build: Callable[[], AnnotatedObject]) -> None:
        """Add the object that ``build`` makes, or tell the place at which it fails."""
        before = len(self._objects)
        with self._reading.perhaps(place):
            self._objects.append(self._fitted(build(), place))
        if len(self._objects) == before:
            self.done = False

    def leave_out(self, what: str, place: str) -> None:
        """Count a mark that is no region; the picture is then not done."""
        self._reading.tally.count(f"{what} cannot be used and were left out", place)
        self.done = False

    def picture(self) -> Picture:
        """Return the picture with all its objects and its state."""
        picture = self._picture
        done = self.done
        if done is None:
            done = bool(self._objects) or self._reading.unannotated == "negative"
            if not self._objects:
                self._reading.undecided.append(self.name)
        return Picture(
            picture.name,
            picture.width,
            picture.height,
            tuple(self._objects),
            done,
            picture.extra,
        )

    def _fitted(self, marked: AnnotatedObject, place: str) -> AnnotatedObject:
        """Cut a box at the picture's border; refuse what lies outside altogether."""
        region: Region = marked.region
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
            return marked
        beyond = max(left - box.x, top - box.y, box.right - right, box.bottom - bottom)
        if beyond <= 1e-9:
            return marked
        if beyond > _ROUNDING:
            self._reading.tally.count("boxes reached beyond their picture and were cut", place)
        cut = Box.from_corners(left, top, right, bottom)
        return AnnotatedObject(marked.category, cut, marked.id, marked.score, marked.attributes)


_CORNERS_OF_A_CIRCLE = 72


def circle(centre: Point, on_the_edge: Point) -> Polygons:
    """Return the polygon of 72 corners on the circle around a centre through a point.

    Examples
    --------
    >>> circle((10, 10), (10, 15)).box
    Box(x=5.0, y=5.0, width=10.0, height=10.0)
    """
    (x, y), radius = centre, math.dist(centre, on_the_edge)
    turns = [2 * math.pi * corner / _CORNERS_OF_A_CIRCLE for corner in range(_CORNERS_OF_A_CIRCLE)]
    return Polygons(
        [[(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]]
    )


def turned_box(box: Box, degrees: float, around: Point) -> Box | Polygons:
    """Return the box turned clockwise around a point; a polygon unless the turn is whole.

    Examples
    --------
    >>> turned_box(Box(0, 0, 2, 1), 0, (0, 0))
    Box(x=0.0, y=0.0, width=2.0, height=1.0)
    >>> turned_box(Box(2, 2, 2, 1), 90, (2, 2)).box
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
