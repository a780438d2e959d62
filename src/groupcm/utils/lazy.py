"""Lazy imports: names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package with lazy names.

    Parameters
    ----------
    package
        The ``__name__`` of the package.
    homes
        The public names, each with the module below the package that defines it.

    Examples
    --------
    >>> get, listing = lazy_names("groupcm.data", {"group_folds": "folds"})
    >>> "group_folds" in listing()
    True
    >>> get("group_folds").__module__
    'groupcm.data.folds'
    """

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listing() -> list[str]:
        own = vars(sys.modules[package]).get("__all__", ()) if package in sys.modules else ()
        return sorted({*homes, *own})

    return get, listing
