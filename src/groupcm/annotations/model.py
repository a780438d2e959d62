"""The data model: annotations of a set of pictures, their objects, categories and states.

The name of a picture is relative to the folder of pictures, with ``/`` between folders. A backslash
in a file is the separator of another system, unless a picture of exactly that name exists.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from groupcm.annotations.limits import LONGEST_CATEGORY, LONGEST_NAME, MOST_PICTURE_PIXELS
from groupcm.annotations.regions import Region

__all__ = [
    "AnnotatedObject",
    "Annotations",
    "Picture",
    "State",
    "StateCounts",
    "count_states",
    "relative_name",
]

_DRIVE = re.compile(r"[A-Za-z]:")
# Most names are in their normal form, which this recognises faster than a path is built.
_PLAIN = re.compile(r"(?!\.)[^\\/:]+(/(?!\.)[^\\/:]+)*")
State = Literal["to do", "verified empty", "annotated"]


def relative_name(written: str) -> str:
    r"""Return the normal form of a name from a file; raise `ValueError` outside of the folder.

    Examples
    --------
    >>> relative_name(r".\day one\été 1.jpg")
    'day one/été 1.jpg'
    >>> relative_name("../secret.png")
    Traceback (most recent call last):
    ValueError: the picture '../secret.png' lies outside the folder of pictures; give its name
    relative to that folder
    """
    if not isinstance(written, str) or not written.strip():
        raise ValueError(f"the picture's name is {written!r}; it must be a file name")
    if len(written) > LONGEST_NAME:
        raise ValueError(
            f"the picture's name has {len(written):,} characters; at most {LONGEST_NAME:,} are read"
        )
    check_printable(written, "the picture's name")
    if _PLAIN.fullmatch(written):
        return written
    path = PurePosixPath(written.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(written):
        raise ValueError(
            f"the picture {written!r} lies outside the folder of pictures; "
            "give its name relative to that folder"
        )
    if path == PurePosixPath("."):
        raise ValueError(f"the picture's name is {written!r}; it must be a file name")
    return str(path)


def check_printable(text: str, what: str) -> None:
    r"""Raise `ValueError` for line breaks, control characters and broken Unicode in a name.

    Examples
    --------
    >>> check_printable("a\nb", "the category")
    Traceback (most recent call last):
    ValueError: the category 'a\nb' holds '\n', which is not a printable character
    """
    if text.isprintable():
        return
    for character in text:
        if (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or ord(character) & 0xFFFE == 0xFFFE
        ):
            raise ValueError(
                f"{what} {text!r} holds {character!r}, which is not a printable character"
            )


class StateCounts(NamedTuple):
    """The number of pictures in each state.

    Examples
    --------
    >>> counts = StateCounts(annotated=3, verified_empty=2, todo=5)
    >>> sum(counts)
    10
    """

    annotated: int
    verified_empty: int
    todo: int


@dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One annotated object: its category and its region.

    Attributes
    ----------
    category
        Name of the category.
    region
        A `Box`, `Polygons` or a `Mask`.
    id
        The id of the object in the file it was read from.
    score
        The confidence of a detector; None where a person annotated the object.
    attributes
        All other values that the file stores with the object.

    Examples
    --------
    >>> from groupcm.annotations import Box
    >>> AnnotatedObject("polyp", Box(10, 20, 30, 40)).region.area
    1200.0
    """

    category: str
    region: Region
    id: int | str | None = None
    score: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "category", _category_name(self.category))


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture and the objects in it.

    Attributes
    ----------
    name
        File name relative to the folder of pictures, with ``/`` between folders.
    width, height
        Size in pixels, after the rotation that the EXIF data specify.
    objects
        The annotated objects.
    done
        Whether a person has finished the picture. A finished picture without objects is a
        verified negative; an unfinished one may show further objects.
    extra
        All other values that the file stores with the picture.

    Examples
    --------
    >>> Picture("frames/001.jpg", 384, 288).is_positive
    False
    >>> Picture("frames/001.jpg", 384, 288).state
    'verified empty'
    >>> Picture("frames/001.jpg", 384, 288, done=False).state
    'to do'
    """

    name: str
    width: int
    height: int
    objects: tuple[AnnotatedObject, ...] = ()
    done: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        relative_name(self.name)
        for side, value in (("width", self.width), ("height", self.height)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"the picture's {side} is {value!r}; it must be a whole number ≥ 1"
                )
        if self.width * self.height > MOST_PICTURE_PIXELS:
            raise ValueError(
                f"the picture has {self.width} × {self.height} pixels; "
                "that is more than any picture here may have"
            )
        object.__setattr__(self, "objects", tuple(self.objects))

    @property
    def is_positive(self) -> bool:
        """Whether the picture has annotated objects."""
        return bool(self.objects)

    @property
    def is_in_progress(self) -> bool:
        """Whether the picture has annotated objects and is not finished."""
        return bool(self.objects) and not self.done

    @property
    def state(self) -> State:
        """The state of the picture: "to do", "verified empty" or "annotated".

        A picture is to do until a person has finished it, even if it already has objects.
        """
        if not self.done:
            return "to do"
        return "annotated" if self.objects else "verified empty"


@dataclass(frozen=True, slots=True)
class Annotations:
    """A set of pictures and the categories that objects in them may have.

    Attributes
    ----------
    pictures
        Each name once.
    categories
        Names in their order; by default those of the objects, in order of appearance.
    extra
        All other values that the file stores with the set.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Box, Picture
    >>> marked = Annotations([
    ...     Picture("a.jpg", 384, 288, [AnnotatedObject("polyp", Box(10, 20, 30, 40))]),
    ...     Picture("b.jpg", 384, 288),
    ...     Picture("c.jpg", 384, 288, done=False),
    ... ])
    >>> marked.categories, len(marked), marked["b.jpg"].done, marked["c.jpg"].done
    (('polyp',), 3, True, False)
    """

    pictures: tuple[Picture, ...]
    categories: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    _by_name: dict[str, Picture] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pictures", tuple(self.pictures))
        by_name: dict[str, Picture] = {}
        for picture in self.pictures:
            if by_name.setdefault(picture.name, picture) is not picture:
                raise ValueError(f"the picture {picture.name!r} is listed twice; list it once")
        object.__setattr__(self, "_by_name", by_name)
        used = dict.fromkeys(each.category for each in self.objects())
        categories = tuple(map(_category_name, self.categories)) or tuple(used)
        known: set[str] = set()
        for name in categories:
            if name in known:
                raise ValueError(f"two categories have the name {name!r}; each needs its own")
            known.add(name)
        object.__setattr__(self, "categories", categories)
        missing = [name for name in used if name not in known]
        if missing:
            raise ValueError(
                f"an object has the category {missing[0]!r}, which is not among "
                + ", ".join(map(repr, categories))
            )

    def __len__(self) -> int:
        return len(self.pictures)

    def __iter__(self) -> Iterator[Picture]:
        return iter(self.pictures)

    def __getitem__(self, name: str) -> Picture:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def state_counts(self) -> StateCounts:
        """Count the pictures in each state.

        Examples
        --------
        >>> Annotations([Picture("a.jpg", 9, 9), Picture("b.jpg", 9, 9, done=False)]).state_counts()
        StateCounts(annotated=0, verified_empty=1, todo=1)
        """
        return count_states(self.pictures)

    def objects(self) -> Iterator[AnnotatedObject]:
        """Iterate over all objects of all pictures."""
        for picture in self.pictures:
            yield from picture.objects


def count_states(pictures: Iterable[Picture]) -> StateCounts:
    """Count the pictures in each state."""
    n = Counter(picture.state for picture in pictures)
    return StateCounts(n["annotated"], n["verified empty"], n["to do"])


def _category_name(name: str) -> str:
    """Return the name without surrounding spaces, which formats treat differently."""
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"a category is called {name!r}; it must have a name")
    if len(name) > LONGEST_CATEGORY:
        raise ValueError(
            f"the name of a category has {len(name):,} characters; at most {LONGEST_CATEGORY:,} "
            "are read"
        )
    check_printable(name.strip(), "the category")
    return name.strip()
