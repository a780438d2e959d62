"""Families of features, and other parts of a recipe, by the words of a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_type_hints

from groupcm.errors import InputError
from groupcm.images.features import FAMILIES
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.networks import near_name

__all__ = ["family_from_text", "part_from_text"]

_NETWORK = "network"
_WORDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}


def family_from_text(text: str) -> Any:
    """Make a family of features of its name and settings, ``NAME:SETTING=VALUE:SETTING=VALUE``.

    A network comes with its file first, ``network:FILE:SETTING=VALUE``. Several numbers of one
    setting stand between slashes: ``mean=0.5/0.5/0.5``.

    Examples
    --------
    >>> family_from_text("colour")
    Colour()
    >>> family_from_text("color")
    Traceback (most recent call last):
    groupcm.errors.InputError: there is no family of features 'color'; did you mean 'colour'?
    """
    name, _, rest = text.strip().partition(":")
    return _network(rest, text) if name == _NETWORK else part_from_text(text, FAMILIES)


def part_from_text(text: str, known: Mapping[str, type], what: str = "family of features") -> Any:
    """Make a dataclass of those that are known, by name and settings.

    Examples
    --------
    >>> from groupcm.images.proposals import PROPOSERS
    >>> part_from_text("given", PROPOSERS, "proposal")
    Given()
    """
    name, colon, rest = text.strip().partition(":")
    if name not in known:
        raise InputError(f"there is no {what} {name!r}; {near_name(name, known)}")
    hints = get_type_hints(known[name])
    kinds = {each.name: hints[each.name] for each in fields(known[name])}
    settings = _settings(rest.split(":") if colon else [], kinds, f"the {what} {name!r}")
    return _made(known[name], settings, text)


def _network(rest: str, text: str) -> NetworkEmbedding:
    kinds = get_type_hints(NetworkEmbedding.of)
    del kinds["file"], kinds["return"]
    pieces = rest.split(":")
    first = len(pieces)
    # A file may have colons in its name; what looks like a setting at the end is one.
    while first > 1 and _is_setting(pieces[first - 1]):
        first -= 1
    file = ":".join(pieces[:first])
    if not file:
        raise InputError(f"{text!r} names no file; write {_NETWORK}:FILE.onnx")
    settings = _settings(pieces[first:], kinds, f"the family of features {_NETWORK!r}")
    return _made(lambda **values: NetworkEmbedding.of(file, **values), settings, text)


def _is_setting(piece: str) -> bool:
    name, equals, _ = piece.partition("=")
    return bool(equals) and name.isidentifier()


def _made(make: Callable[..., Any], settings: dict[str, Any], text: str) -> Any:
    try:
        return make(**settings)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{text!r}: {error}") from error


def _settings(pieces: Iterable[str], kinds: Mapping[str, Any], owner: str) -> dict[str, Any]:
    made = {}
    for piece in pieces:
        name, equals, value = piece.partition("=")
        if name not in kinds:
            raise InputError(f"{owner} has no setting {name!r}; {near_name(name, kinds)}")
        if not equals or name in made:
            wrong = "twice" if name in made else "without a value"
            raise InputError(f"{name!r} of {owner} stands {wrong}; write {name}=VALUE once")
        made[name] = _value(value, kinds[name], f"{name!r} of {owner}")
    return made


def _value(text: str, kind: Any, what: str) -> Any:
    if NoneType in get_args(kind):  # a default that the command line leaves out
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if kind not in _WORDS:
        return tuple(_value(part, get_args(kind)[0], what) for part in text.split("/"))
    try:
        return {"yes": True, "no": False}[text] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise InputError(f"{what} cannot be {text!r}; write {_WORDS[kind]}") from None
