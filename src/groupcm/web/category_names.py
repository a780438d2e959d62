"""Names of categories: two that differ in case or in space around them are one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from groupcm.annotations import Annotations
from groupcm.errors import InputError

__all__ = ["LONGEST_NEW_NAME", "checked_name", "new_name", "refuse_twins", "same_name"]

# Files may bring longer names, up to `groupcm.annotations.limits.LONGEST_CATEGORY`.
LONGEST_NEW_NAME = 100


def checked_name(name: object) -> str:
    """Return a name without the space around it, or raise where it is none.

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
    """Return a checked name that a user gives to a category, or raise where it is too long.

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
    """Return which of the names is the same one.

    Examples
    --------
    >>> same_name("POLYP ", ["bleeding", "Polyp"])
    'Polyp'
    """
    return next((each for each in among if _key(each) == _key(name)), None)


def refuse_twins(names: Sequence[str], where: str) -> None:
    """Refuse two categories of one name.

    Examples
    --------
    >>> refuse_twins(["polyp", "Polyp"], "--categories")
    Traceback (most recent call last):
    groupcm.errors.InputError: --categories: two categories have one name, 'polyp' and 'Polyp';
    each needs its own
    """
    for position, name in enumerate(names):
        twin = same_name(name, names[:position])
        if twin is not None:
            raise InputError(
                f"{where}: two categories have one name, {twin!r} and {name!r}; each needs its own"
            )


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()
