"""Ground truth: annotations of the pictures of a set, from which candidates are labelled."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from groupcm.annotations import Annotations, Region, read
from groupcm.annotations.files import read_some
from groupcm.annotations.known_pictures import NotThere
from groupcm.errors import Argument, InputError, ParameterError, SetAsideWarning, warn_user
from groupcm.images.regions import Regions
from groupcm.utils.text import printable, there_are

__all__ = ["MarkedPicture", "Truth", "known_patients", "object_regions", "read_for", "read_truth"]

UNMARKED = ("leave_out", "negative")
MISSING_PICTURES = ("error", "skip")


@dataclass(frozen=True)
class MarkedPicture:
    """The ground truth of one picture.

    Attributes
    ----------
    objects
        Regions of the objects of the selected categories.
    size
        Width and height in the annotations; None for a picture that they do not list.
    """

    objects: tuple[Region, ...] = ()
    size: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """Annotations, the selected categories, and the treatment of unannotated pictures.

    Parameters
    ----------
    marked
        The annotations.
    where
        The name of the annotations in errors: their file.
    categories
        The categories of objects to use; None for all.
    unmarked
        ``"leave_out"`` or ``"negative"``: the treatment of pictures that are to do (see
        `groupcm.annotations.Picture.state`) or that the annotations do not list. A picture in
        progress, which is to do and has objects, is always left out.
    n_elsewhere
        The number of further pictures in the file that do not exist.

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
            raise ParameterError(
                Argument("unmarked"),
                f" is {self.unmarked!r}; it must be {' or '.join(map(repr, UNMARKED))}",
            )
        for name in self.categories or ():
            if name not in self.marked.categories:
                there = there_are(self.marked.categories)
                raise InputError(f"{self.where}: there is no category {name!r}; {there}")

    def of(self, name: str) -> MarkedPicture | None:
        """Return the ground truth of a picture; None for a picture to leave out."""
        if name not in self.marked:
            return MarkedPicture() if self.unmarked == "negative" else None
        picture = self.marked[name]
        if not picture.done and (picture.objects or self.unmarked == "leave_out"):
            return None
        objects = tuple(
            marked.region
            for marked in picture.objects
            if self.categories is None or marked.category in self.categories
        )
        return MarkedPicture(objects, (picture.width, picture.height))

    def is_in_progress(self, name: str) -> bool:
        """Return whether a picture has objects and is not finished."""
        return name in self.marked and self.marked[name].is_in_progress

    def patient(self, name: str) -> str | None:
        """Return the patient of a picture, if the annotations state it."""
        patient = self.marked[name].extra.get("patient") if name in self.marked else None
        return None if patient is None else str(patient)


def object_regions(
    name: str, marked: MarkedPicture, height: int, width: int, where: str
) -> Regions:
    """Return the objects of a picture, whose size must agree with the annotations.

    Examples
    --------
    >>> object_regions("a.png", MarkedPicture(size=(9, 6)), height=9, width=6, where="marks.json")
    Traceback (most recent call last):
    groupcm.errors.InputError: marks.json: the annotations give the picture 'a.png' 9 × 6 pixels,
    and it has 6 × 9; they must be of this picture
    """
    if marked.size is not None and marked.size != (width, height):
        raise InputError(
            f"{where}: the annotations give the picture {name!r} {marked.size[0]} × "
            f"{marked.size[1]} pixels, and it has {width} × {height}; they must be of this picture"
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
    missing_pictures: str | None = None,
) -> Truth:
    """Read the ground truth of existing pictures.

    Parameters
    ----------
    annotations
        A file or folder of any format, or annotations.
    names, pictures
        As for `read_for`.
    category, unmarked
        See `Truth`.
    only_some
        Whether the file may list other pictures too, which are left out and counted. It is an
        error if no picture remains.
    missing_pictures
        As for `read_for`.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = write_frames(folder, 2, height=96, width=128)
    >>> names = sorted(path.name for path in (folder / "frames").iterdir())
    >>> truth = read_truth(folder / "annotations.json", names, folder / "frames")
    >>> len(truth.marked.pictures)
    2
    """
    n_elsewhere = 0
    if only_some and isinstance(pictures, Path) and not isinstance(annotations, Annotations):
        annotations, elsewhere, where = _read_some_for(annotations, names, pictures)
        n_elsewhere = len(elsewhere)
    else:
        annotations, where = read_for(annotations, names, pictures, missing_pictures)
    wanted = (category,) if isinstance(category, str) else category
    return Truth(
        annotations, where, None if wanted is None else tuple(wanted), unmarked, n_elsewhere
    )


def read_for(
    annotations: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    pictures: Path | Annotations | None,
    missing_pictures: str | None = None,
) -> tuple[Annotations, str]:
    """Read annotations of certain pictures; return them and their name in errors.

    Parameters
    ----------
    annotations
        A file or folder of any format, or annotations.
    names
        The pictures of the folder; an annotation of any other is an error.
    pictures
        The folder, or annotations with the names and sizes of the pictures; None if nothing is
        known of them in advance.
    missing_pictures
        ``"skip"`` leaves out the annotations of other pictures, with a warning that counts them;
        otherwise they are an error, which with ``"error"`` names the remedy.
    """
    if missing_pictures not in (None, *MISSING_PICTURES):
        raise ParameterError(
            Argument("missing_pictures"),
            f" is {missing_pictures!r}; it must be {' or '.join(map(repr, MISSING_PICTURES))}",
        )
    if missing_pictures == "skip" and pictures is not None:
        marked, elsewhere, where = _read_some_for(annotations, names, pictures)
        if elsewhere:
            count = "1 picture" if len(elsewhere) == 1 else f"{len(elsewhere):,} pictures"
            message = f"{where}: skipped {count} not found, such as {min(elsewhere)}."
            warn_user(printable(message), SetAsideWarning)
        return marked, where
    try:
        return _read_all_for(annotations, names, pictures)
    except InputError as error:
        if missing_pictures is None or not isinstance(error.__context__, NotThere):
            raise
        raise InputError(
            error, "; ", Argument("missing_pictures", "skip"), " leaves such pictures out"
        ) from error


def _read_all_for(
    annotations: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    pictures: Path | Annotations | None,
) -> tuple[Annotations, str]:
    """Read annotations whose pictures must all exist."""
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
                _refuse_missing(picture.name, names, where, folder)
    return marked, where


def _refuse_missing(name: str, names: Collection[str], where: str, folder: Path) -> NoReturn:
    sentence = f"the picture {name!r} is not there in {folder}" + _of_stack(name, names)
    try:
        raise NotThere(sentence, name)
    except NotThere as error:
        raise InputError(f"{where}: {sentence}") from error


def _read_some_for(
    annotations: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    pictures: Path | Annotations,
) -> tuple[Annotations, set[str], str]:
    """Return the annotations of existing pictures, the names of others, and the file's name."""
    missing: list[str] = []
    if isinstance(annotations, Annotations):
        marked, where = annotations, "the annotations"
    else:
        where = os.fspath(annotations)
        if isinstance(pictures, Path) and _has_pages(names, pictures):
            marked = read(annotations)
        else:
            marked, missing = read_some(annotations, pictures)
    here = tuple(picture for picture in marked if picture.name in names)
    elsewhere = set(missing) | {picture.name for picture in marked if picture.name not in names}
    if elsewhere and not here:
        first = min(elsewhere)
        raise InputError(
            f"{where}: none of its pictures is there"
            + (f" in {pictures}" if isinstance(pictures, Path) else "")
            + f"; the first is {first!r}{_of_stack(first, names)}"
        )
    return Annotations(here, marked.categories, marked.extra), elsewhere, where


def _has_pages(names: Collection[str], folder: Path) -> bool:
    """Return whether some pictures are pages of stacks, which are not files of the folder."""
    return any("#" in name and not (folder / name).exists() for name in names)


def _of_stack(name: str, names: Collection[str]) -> str:
    first = f"{name}#1"
    return f"; it is a stack, whose pages are called {first!r} and so on" if first in names else ""


def known_patients(names: Sequence[str], truth: Truth) -> dict[str, str]:
    """Return the patient of each picture; none, with a warning, if only some are known."""
    stated = {name: truth.patient(name) for name in names}
    known = {name: patient for name, patient in stated.items() if patient is not None}
    if known and len(known) < len(stated):
        without = next(name for name in names if name not in known)
        message = (
            f"{truth.where}: the patient is known of {len(known):,} of {len(stated):,} pictures, "
            f"and not of {without}; patients are left out, so that folds may split them."
        )
        warn_user(printable(message), UserWarning)
        return {}
    return known
