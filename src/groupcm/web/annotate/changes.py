"""Changes of the content of the annotation file, and the rules for names of categories.

Each change returns new content. Two names that differ only in case or surrounding space are the
same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from groupcm.annotations import AnnotatedObject, Annotations, Picture
from groupcm.errors import InputError
from groupcm.utils.text import composed
from groupcm.web.annotate.annotation_file import Category, Content, Entry

__all__ = [
    "LONGEST_NEW_NAME",
    "category_added",
    "category_removed",
    "category_renamed",
    "checked_name",
    "free_ids",
    "new_name",
    "refuse_duplicates",
    "same_name",
    "same_work",
    "with_categories",
    "with_spelling",
]

# Files may bring longer names, up to `groupcm.annotations.limits.LONGEST_CATEGORY`.
LONGEST_NEW_NAME = 100
_DEFAULT_CATEGORY = "object"


def with_categories(content: Content, names: Sequence[str]) -> Content:
    """Add the categories that the content does not have yet."""
    categories = list(content.categories)
    for name in names or ([] if categories else [_DEFAULT_CATEGORY]):
        if same_name(name, [each.name for each in categories]) is None:
            key = next(free_ids(each.id for each in categories))
            categories.append(Category(checked_name(name), key))
    return replace(content, categories=tuple(categories))


def category_added(content: Content, name: object) -> Content:
    """Add a category."""
    checked = new_name(name)
    _refuse_taken(checked, content.categories)
    return _next_revision(with_categories(content, [checked]))


def category_renamed(content: Content, position: int, name: object) -> Content:
    """Rename a category and all its objects."""
    old, checked = _category(content, position), new_name(name)
    _refuse_taken(checked, [each for each in content.categories if each is not old])
    categories = list(content.categories)
    categories[position] = replace(old, name=checked)
    renamed = _next_revision(replace(content, categories=tuple(categories)))
    entries = {
        picture: _renamed(entry, old.name, checked, renamed.revision)
        for picture, entry in content.entries.items()
    }
    return replace(renamed, entries=entries)


def category_removed(content: Content, position: int) -> Content:
    """Remove a category without objects."""
    old = _category(content, position)
    for entry in content.entries.values():
        if any(marked.category == old.name for marked in entry.picture.objects):
            raise InputError(
                f"the category {old.name!r} has objects, the first in {entry.picture.name}; only "
                "one without objects can be removed"
            )
    if len(content.categories) == 1:
        raise InputError("the last category cannot be removed; rename it instead")
    left = tuple(each for each in content.categories if each is not old)
    return _next_revision(replace(content, categories=left))


def with_spelling(picture: Picture, names: Sequence[str]) -> Picture:
    """Use the spelling of known categories in a picture."""
    return _with_objects(
        picture,
        lambda marked: replace(marked, category=same_name(marked.category, names) or ""),
    )


def same_work(one: Picture, other: Picture) -> bool:
    """Return whether two annotations of a picture are equal, apart from the ids of objects."""

    def work(picture: Picture) -> list[Any]:
        return [(each.category, each.region, each.score) for each in picture.objects]

    return one.done == other.done and work(one) == work(other)


def free_ids(taken: Iterable[Any]) -> Iterator[int]:
    """Return an iterator over the whole numbers above all that are taken.

    Examples
    --------
    >>> next(free_ids([3, "x", 7]))
    8
    """
    return count(1 + max((key for key in taken if isinstance(key, int)), default=0))


def checked_name(name: object) -> str:
    """Return a name without surrounding space, or raise if it is not valid.

    Examples
    --------
    >>> checked_name(" polyp ")
    'polyp'
    """
    if not isinstance(name, str):
        raise InputError("the category has no name; give it one")
    try:
        return Annotations((), (name,)).categories[0]
    except ValueError as error:
        raise InputError(str(error)) from error


def new_name(name: object) -> str:
    """Return a valid name for a new category, or raise if it is too long.

    Examples
    --------
    >>> new_name("x" * 101)
    Traceback (most recent call last):
    groupcm.errors.InputError: the name of a category has 101 characters; a new name may have 100
    """
    if isinstance(name, str) and len(name.strip()) > LONGEST_NEW_NAME:
        raise InputError(
            f"the name of a category has {len(name.strip()):,} characters; a new name may have "
            f"{LONGEST_NEW_NAME}"
        )
    return checked_name(name)


def same_name(name: str, among: Iterable[str]) -> str | None:
    """Return the one of some names that is the same, or None.

    Examples
    --------
    >>> same_name("POLYP ", ["bleeding", "Polyp"])
    'Polyp'
    """
    return next((each for each in among if _key(each) == _key(name)), None)


def refuse_duplicates(names: Sequence[str], where: object) -> None:
    """Raise if two categories have the same name.

    Examples
    --------
    >>> refuse_duplicates(["polyp", "Polyp"], "categories")
    Traceback (most recent call last):
    groupcm.errors.InputError: categories: two categories have one name, 'polyp' and 'Polyp';
    each needs its own
    """
    for position, name in enumerate(names):
        twin = same_name(name, names[:position])
        if twin is not None:
            raise InputError(
                where,
                f": two categories have one name, {twin!r} and {name!r}; each needs its own",
            )


def _category(content: Content, position: int) -> Category:
    if not 0 <= position < len(content.categories):
        raise InputError(f"there is no category {position}")
    return content.categories[position]


def _refuse_taken(name: str, categories: Sequence[Category]) -> None:
    twin = same_name(name, [each.name for each in categories])
    if twin is not None:
        raise InputError(f"there is a category {twin!r} already; choose another name")


def _renamed(entry: Entry, old: str, new: str, version: int) -> Entry:
    """Rename a category of an entry, whose JSON stays: it refers to categories by id."""
    if all(marked.category != old for marked in entry.picture.objects):
        return entry
    picture = _with_objects(
        entry.picture,
        lambda marked: replace(marked, category=new) if marked.category == old else marked,
    )
    return replace(entry, picture=picture, version=version)


def _with_objects(entry: Picture, change: Callable[[AnnotatedObject], AnnotatedObject]) -> Picture:
    return replace(entry, objects=tuple(map(change, entry.objects)))


def _next_revision(content: Content) -> Content:
    return replace(content, revision=content.revision + 1)


def _key(name: str) -> str:
    return composed(name.strip()).casefold()
