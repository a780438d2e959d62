"""What people marked in the pictures of a set, as labels of candidates need it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from groupcm.annotations import Annotations, Region, read
from groupcm.annotations.some_pictures import read_some
from groupcm.errors import InputError
from groupcm.images.regions import Regions
from groupcm.words import printable

__all__ = [
    "UNMARKED",
    "MarkedPicture",
    "Truth",
    "known_patients",
    "object_regions",
    "read_for",
    "read_truth",
]

UNMARKED = ("leave_out", "negative")


@dataclass(frozen=True)
class MarkedPicture:
    """What is known of one picture.

    Attributes
    ----------
    objects
        Where objects of the wanted categories are.
    size
        Width and height as the annotations tell them; None where they do not know the picture.
    """

    objects: tuple[Region, ...] = ()
    size: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """Annotations, and what is wanted of them.

    Parameters
    ----------
    marked
        The annotations.
    where
        What an error calls them: their file.
    categories
        What to look for; None for whatever is marked.
    unmarked
        ``"leave_out"`` or ``"negative"``: what to do with pictures that nobody has looked at.
    n_elsewhere
        How many pictures the file tells of beside these, which are not there.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Box, Picture
    >>> box = AnnotatedObject("polyp", Box(1, 1, 4, 4))
    >>> truth = Truth(Annotations([Picture("a.png", 9, 9, [box])]), "marks.json")
    >>> truth.of("a.png")
    MarkedPicture(objects=(Box(x=1.0, y=1.0, width=4.0, height=4.0),), size=(9, 9))
    >>> truth.of("b.png") is None
    True
    >>> Truth(truth.marked, "marks.json", categories=("ulcer",))
    Traceback (most recent call last):
    groupcm.errors.InputError: marks.json: there is no category 'ulcer'; there is 'polyp'
    """

    marked: Annotations
    where: str
    categories: tuple[str, ...] | None = None
    unmarked: str = "leave_out"
    n_elsewhere: int = 0

    def __post_init__(self) -> None:
        if self.unmarked not in UNMARKED:
            raise ValueError(
                f"unmarked is {self.unmarked!r}; it must be " + " or ".join(map(repr, UNMARKED))
            )
        for name in self.categories or ():
            if name not in self.marked.categories:
                there = ", ".join(map(repr, self.marked.categories))
                verb = "are" if len(self.marked.categories) > 1 else "is"
                raise InputError(
                    f"{self.where}: there is no category {name!r}; there {verb} {there or 'none'}"
                )

    def of(self, name: str) -> MarkedPicture | None:
        """What is known of a picture; None where it is to be left out."""
        if name not in self.marked:
            return MarkedPicture() if self.unmarked == "negative" else None
        picture = self.marked[name]
        if not picture.done and self.unmarked == "leave_out":
            return None
        objects = tuple(
            marked.region
            for marked in picture.objects
            if self.categories is None or marked.category in self.categories
        )
        return MarkedPicture(objects, (picture.width, picture.height))

    def patient(self, name: str) -> str | None:
        """Whose picture it is, where the annotations say so."""
        told = self.marked[name].extra.get("patient") if name in self.marked else None
        return None if told is None else str(told)


def object_regions(
    name: str, marked: MarkedPicture, height: int, width: int, where: str
) -> Regions:
    """Objects in a picture of this size, which must be the one that the annotations tell.

    Examples
    --------
    >>> object_regions("a.png", MarkedPicture(size=(9, 6)), height=9, width=6, where="marks.json")
    Traceback (most recent call last):
    groupcm.errors.InputError: marks.json: the picture 'a.png' is said to be 9 × 6 pixels and is
    6 × 9; the annotations must be of this picture
    """
    if marked.size is not None and marked.size != (width, height):
        told_width, told_height = marked.size
        raise InputError(
            f"{where}: the picture {name!r} is said to be {told_width} × {told_height} pixels and "
            f"is {width} × {height}; the annotations must be of this picture"
        )
    try:
        return Regions.of(marked.objects, height, width, what="object")
    except ValueError as error:
        raise InputError(f"{where}: the picture {name!r}: {error}") from error


def read_truth(
    annotations: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    pictures: Path | Annotations | None,
    *,
    category: str | Sequence[str] | None = None,
    unmarked: str = "leave_out",
    only_some: bool = False,
) -> Truth:
    """Read annotations of pictures that are there.

    Parameters
    ----------
    annotations
        A file or folder of any format, or what was read.
    names, pictures
        As for `read_for`.
    category, unmarked
        See `Truth`.
    only_some
        Whether the file may tell of other pictures too, which are left out and counted. Where
        none is left, that is an error all the same.
    """
    n_elsewhere = 0
    if only_some and isinstance(pictures, Path) and not isinstance(annotations, Annotations):
        annotations, n_elsewhere, where = _read_some_for(annotations, names, pictures)
    else:
        annotations, where = read_for(annotations, names, pictures)
    wanted = (category,) if isinstance(category, str) else category
    return Truth(
        annotations, where, None if wanted is None else tuple(wanted), unmarked, n_elsewhere
    )


def read_for(
    annotations: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    pictures: Path | Annotations | None,
) -> tuple[Annotations, str]:
    """Read annotations of certain pictures, and say what to call them.

    Parameters
    ----------
    annotations
        A file or folder of any format, or what was read.
    names
        The pictures of the folder; an annotation of any other is an error.
    pictures
        The folder, or annotations that know the pictures' names and sizes; None where nothing is
        known of them before they come.
    """
    folder = pictures if isinstance(pictures, Path) else None
    if isinstance(annotations, Annotations):
        marked, where = annotations, "the annotations"
    else:
        where = os.fspath(annotations)
        has_pages = folder is not None and _has_pages(names, folder)
        marked = read(annotations, None if has_pages else pictures)
    if folder is not None:
        for picture in marked:
            if picture.name not in names:
                raise InputError(
                    f"{where}: the picture {picture.name!r} is not there in {folder}"
                    + _of_stack(picture.name, names)
                )
    return marked, where


def _read_some_for(
    path: str | os.PathLike[str], names: Collection[str], folder: Path
) -> tuple[Annotations, int, str]:
    """Annotations of those pictures that are there, the number of others, and the file's name."""
    where = os.fspath(path)
    if _has_pages(names, folder):
        marked, missing = read(path), []
    else:
        marked, missing = read_some(path, folder)
    here = tuple(picture for picture in marked if picture.name in names)
    elsewhere = set(missing) | {picture.name for picture in marked if picture.name not in names}
    if elsewhere and not here:
        first = min(elsewhere)
        raise InputError(
            f"{where}: none of its pictures is there in {folder}; the first is {first!r}"
            + _of_stack(first, names)
        )
    return Annotations(here, marked.categories, marked.extra), len(elsewhere), where


def _has_pages(names: Collection[str], folder: Path) -> bool:
    """Whether some are pages of stacks: no files, so that the folder does not know their names."""
    return any("#" in name and not (folder / name).exists() for name in names)


def _of_stack(name: str, names: Collection[str]) -> str:
    first = f"{name}#1"
    return f"; it is a stack, whose pages are called {first!r} and so on" if first in names else ""


def known_patients(names: Sequence[str], truth: Truth) -> dict[str, str]:
    """Patient of every picture; of none, and a warning, where they are known of some alone."""
    told = {name: truth.patient(name) for name in names}
    known = {name: patient for name, patient in told.items() if patient is not None}
    if known and len(known) < len(told):
        without = next(name for name in names if name not in known)
        warnings.warn(
            printable(
                f"{truth.where}: the patient is told of {len(known):,} of {len(told):,} pictures, "
                f"and not of {without}; patients are left out, so that folds may split them."
            ),
            UserWarning,
            stacklevel=3,
        )
        return {}
    return known
