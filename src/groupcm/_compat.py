"""Module paths that version 0.1 documented, which lead to where the modules are now."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["MOVED", "redirect_moved_modules"]

MOVED = {
    "groupcm.extras": "groupcm.utils.extras",
    "groupcm.images.features.crops": "groupcm.images.features.embedding",
    "groupcm.images.labelling": "groupcm.images.tables.labelling",
    "groupcm.images.made": "groupcm.images.synthetic",
    "groupcm.images.propose": "groupcm.images.tables.propose",
}


class _MovedModules:
    """An entry of ``sys.meta_path`` that finds the modules of `MOVED`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Redirect) if name in MOVED else None  # type: ignore[arg-type]


class _Redirect:
    """A loader of modules that take every name from the module's new place."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        old = module.__name__
        warnings.warn(
            f"{old} is now {MOVED[old]}; the old path will be removed in version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        new = import_module(MOVED[old])
        module.__getattr__ = lambda name: getattr(new, name)  # type: ignore[method-assign]


def redirect_moved_modules() -> None:
    """Make the paths of `MOVED` importable, after all modules that exist."""
    if not any(finder is _MovedModules for finder in sys.meta_path):
        sys.meta_path.append(_MovedModules)  # type: ignore[arg-type]
