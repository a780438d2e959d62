"""Optional dependencies: one declaration per extra, and the error that names the install command.

``BOOSTING.load("lightgbm")`` imports a package of the extra ``boosting``; ``WEB.require()`` only
checks that all packages of an extra are installed. Both raise `MissingExtra` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from groupcm.errors import InputError

__all__ = [
    "BOOSTING",
    "DEEP",
    "IMAGES",
    "ONNX",
    "PLOTS",
    "REPORT",
    "TORCH",
    "WEB",
    "Extra",
    "MissingExtra",
    "is_installed",
    "require_installed",
    "required",
]


class MissingExtra(InputError, ImportError):
    """A package is not installed; the message contains the command that installs it."""

    def __init__(self, why: str, extra: str) -> None:
        super().__init__(f'{why}; install it with: pip install "groupcm[{extra}]"')


@dataclass(frozen=True)
class Extra:
    """An extra of groupcm.

    Attributes
    ----------
    name : str
        Its name in ``pip install "groupcm[name]"``.
    purposes : mapping
        The packages that it brings, by the names they are imported with, and what each is for:
        the beginning of the error message.
    """

    name: str
    purposes: Mapping[str, str]

    def load(self, module: str, purpose: str | None = None) -> Any:
        """Import a module of the extra.

        Examples
        --------
        >>> ONNX.load("onnx.helper").__name__
        'onnx.helper'
        """
        return required(module, self.name, purpose or self.purposes[module.partition(".")[0]])

    def require(self) -> None:
        """Raise `MissingExtra` if a package of the extra is not installed; import none.

        Examples
        --------
        >>> REPORT.require()
        """
        for package, purpose in self.purposes.items():
            require_installed([package], self.name, purpose)


def required(module: str, extra: str, why: str) -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module
        The dotted name of the module.
    extra
        The extra of groupcm that brings it.
    why
        What needs the module: the beginning of the error message.

    Examples
    --------
    >>> required("json", "cli", "models are stored as JSON").__name__
    'json'
    >>> required("no_such_module", "cli", "colours need rich")
    Traceback (most recent call last):
    groupcm.utils.extras.MissingExtra: colours need rich; install it with:
    pip install "groupcm[cli]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(why, extra) from error


def require_installed(packages: Iterable[str], extra: str, why: str) -> None:
    """Raise `MissingExtra` if a package is not installed; import none.

    Examples
    --------
    >>> require_installed(["numpy"], "cli", "arrays need NumPy")
    """
    if not all(map(is_installed, packages)):
        raise MissingExtra(why, extra)


def is_installed(package: str) -> bool:
    """Return whether a package can be imported.

    Examples
    --------
    >>> is_installed("numpy"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # an entry of sys.modules need not be a module
        return False


BOOSTING = Extra("boosting", {"lightgbm": "gradient-boosted trees require LightGBM"})
DEEP = Extra(
    "deep",
    {
        "torch": "pretrained networks require PyTorch",
        "timm": "networks of timm require timm",
        "torchvision": "networks of torchvision require torchvision",
    },
)
HDF5 = Extra("hdf5", {"h5py": "reading HDF5 files requires h5py"})
IMAGES = Extra(
    "images",
    {
        "PIL": "reading pictures requires Pillow",
        "imageio_ffmpeg": "reading videos requires imageio-ffmpeg",
        "skimage": "finding candidates in pictures requires scikit-image",
    },
)
ONNX = Extra("onnx", {"onnx": "writing ONNX files requires onnx"})
PLOTS = Extra("plots", {"matplotlib": "drawing displays requires matplotlib"})
REPORT = Extra(
    "report", dict.fromkeys(("matplotlib", "jinja2"), "a report requires matplotlib and Jinja2")
)
TORCH = Extra("torch", {"torch": "groupcm.torch requires PyTorch"})
WEB = Extra(
    "web",
    dict.fromkeys(
        ("starlette", "uvicorn", "PIL"),
        "the pages in the browser require Starlette, uvicorn and Pillow",
    ),
)
