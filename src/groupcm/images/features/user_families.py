"""Families of features that users write: part of a recipe by their dotted name.

A recipe stores the name of the class and the values of its fields, and never code. A program
that reads the recipe has to register the class first: nothing is imported because a file names it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, TypeVar

from groupcm.errors import Argument, InputError

__all__ = ["field_types", "import_family", "register_family", "registered_families"]

_REGISTERED: dict[str, type] = {}
_PLAIN = ("int", "float", "bool", "str", "str | None")
Family = TypeVar("Family", bound=type)


def register_family(family: Family) -> Family:
    """Make a family of features known, so that recipes and models can name it.

    Parameters
    ----------
    family
        A frozen dataclass with ``names``, the same for every picture, and
        ``measure(view, regions)``, which returns one row of finite numbers per region. Its fields
        are numbers, texts, or tuples of such. For work in several processes it is at the top level
        of a module.

    Returns
    -------
    type
        The class, so that this function serves as a decorator.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from groupcm.images import Recipe
    >>> @register_family
    ... @dataclass(frozen=True)
    ... class Redness:
    ...     names = ("redness",)
    ...     def measure(self, view, regions):
    ...         left, top, right, bottom = regions.edges.round().astype(int).T
    ...         boxes = zip(top, bottom, left, right)
    ...         red = [view.rgb[a:b, c:d, 0].mean() for a, b, c, d in boxes]
    ...         return np.array(red, dtype=np.float32)[:, None]
    >>> recipe = Recipe(features=(Redness(),))
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """
    _check_family(family)
    _REGISTERED[_dotted(family)] = family
    return family


def _check_family(family: Any) -> None:
    """Raise an error if a recipe cannot store the class, or it cannot measure regions."""
    name = str(getattr(family, "__name__", family))
    if not (isinstance(family, type) and is_dataclass(family)):
        raise InputError(
            f"{name} is not a dataclass; decorate the class with @dataclass(frozen=True)"
        )
    for wanted in ("names", "measure"):
        if not hasattr(family, wanted):
            raise InputError(
                f"{name} has no {wanted!r}; a family of features has names and "
                "measure(view, regions)"
            )
    for field, kind in field_types(family).items():
        if kind.removeprefix("tuple[").partition(",")[0] not in _PLAIN:
            raise InputError(
                f"the field {field!r} of {name} is of the type {kind}, which a recipe "
                "cannot store; use numbers, texts, or tuples of such"
            )


def registered_families() -> dict[str, type]:
    """Return the registered families by their dotted names."""
    return dict(_REGISTERED)


def import_family(name: str) -> type:
    """Import the class ``MODULE.CLASS`` and register it, at the explicit request of the user.

    Modules of the working directory are found, too.

    Examples
    --------
    >>> import_family("no_such_module.Blobs")
    Traceback (most recent call last):
    groupcm.errors.InputError: family: cannot import no_such_module: No module named
    'no_such_module'
    """
    module, _, short = name.rpartition(".")
    if not module:
        raise InputError(Argument("family"), f": {name!r} is not of the form MODULE.CLASS")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = getattr(import_module(module), short, None)
    except ImportError as error:
        raise InputError(Argument("family"), f": cannot import {module}: {error}") from error
    if found is None:
        raise InputError(Argument("family"), f": the module {module} has no {short!r}")
    return register_family(found)


def field_types(kind: Any) -> dict[str, str]:
    """Return the type of each field of a dataclass as text.

    Examples
    --------
    >>> from groupcm.images.features.colour import Contrast
    >>> field_types(Contrast)
    {'margin': 'float'}
    """
    return {
        each.name: each.type.__name__
        if isinstance(each.type, type) and not str(each.type).startswith("tuple[")
        else str(each.type)
        for each in fields(kind)
    }


def _dotted(family: type) -> str:
    return f"{family.__module__}.{family.__qualname__}"
