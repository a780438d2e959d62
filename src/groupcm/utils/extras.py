"""Packages that only some of the work needs, and the sentence for those who do not have them.

The extra that trees need, and the sentence for those who do not have it.

The extra that pictures need, and the sentence for those who do not have it.

The extra that ONNX files are written with.

The extra that reports need, and the sentence for those who do not have it.

The extra that the pages need, and the sentence for those who do not have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from groupcm.errors import InputError

__all__ = [
    "MissingExtra",
    "is_installed",
    "onnx_part",
    "require_installed",
    "require_lightgbm",
    "require_report_extra",
    "require_web",
    "required",
    "skimage",
]


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
    groupcm.utils.extras.MissingExtra: colours come from rich; install with:
    pip install "groupcm[cli]"
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
    except (ImportError, ValueError):  # an entry of sys.modules need not be a module
        return False


def require_lightgbm() -> Any:
    """Import LightGBM, and say how to install it where it is missing.

    Examples
    --------
    >>> require_lightgbm().__name__
    'lightgbm'
    """
    return required("lightgbm", "boosting", "trees are grown with LightGBM")


def skimage(part: str) -> Any:
    """Import a part of scikit-image, and say how to install it where it is missing.

    Examples
    --------
    >>> skimage("color").__name__
    'skimage.color'
    """
    why = "candidates of pictures are found with scikit-image"
    return required(f"skimage.{part}", "images", why)


def onnx_part(name: str) -> Any:
    """Import a part of onnx, and say how to install it where it is missing.

    Examples
    --------
    >>> onnx_part("helper").__name__
    'onnx.helper'
    """
    return required(f"onnx.{name}", "onnx", "ONNX files are written with onnx")


def require_report_extra() -> None:
    """Say how to install what reports are drawn and written with, where it is missing.

    Examples
    --------
    >>> require_report_extra()
    """
    require_installed(("matplotlib", "jinja2"), "report", "a report needs matplotlib and jinja2")


def require_web() -> None:
    """Say how to install what serves the pages, where it is missing.

    Examples
    --------
    >>> require_web()
    """
    why = "the page in the browser is served by Starlette and uvicorn"
    require_installed(("starlette", "uvicorn", "PIL"), "web", why)
