"""Names of categories: two that differ in case or in space around them are one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from groupcm.annotations import Annotations
from groupcm.errors import InputError

__all__ = ["checked_name", "refuse_twins", "same_name"]


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
