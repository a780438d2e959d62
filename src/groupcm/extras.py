"""Packages that only some of the work needs, and the sentence for those who do not have them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from groupcm.errors import InputError

__all__ = ["MissingExtra", "is_installed", "require_installed", "required"]


class MissingExtra(InputError, ImportError):
    """A package is not installed; the sentence has the command that installs it."""

    def __init__(self, why: str, extra: str) -> None:
        super().__init__(f'{why}; install with: pip install "groupcm[{extra}]"')


def required(module: str, extra: str, why: str) -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module
        Its dotted name.
    extra
        The extra of groupcm that brings it.
    why
        What needs it, the beginning of the sentence where it is missing.

    Examples
    --------
    >>> required("json", "cli", "a model is kept as JSON").__name__
    'json'
    >>> required("no_such_module", "cli", "colours come from rich")
    Traceback (most recent call last):
    groupcm.extras.MissingExtra: colours come from rich; install with: pip install "groupcm[cli]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(why, extra) from error


def require_installed(packages: Iterable[str], extra: str, why: str) -> None:
    """Raise where a package of an extra is missing; none is imported.

    Examples
    --------
    >>> require_installed(["numpy"], "cli", "arrays need NumPy")
    """
    if not all(map(is_installed, packages)):
        raise MissingExtra(why, extra)


def is_installed(package: str) -> bool:
    """Whether a package could be imported.

    Examples
    --------
    >>> is_installed("numpy"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except ValueError:  # what stands in sys.modules is no module
        return False
