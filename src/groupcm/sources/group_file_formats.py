"""Formats of files that hold one array each: HDF5 and ``.npy``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import Argument, FileName, InputError
from groupcm.utils.extras import HDF5

__all__ = ["Hdf5", "Npy", "Store", "StoredArray"]


@dataclass(frozen=True)
class StoredArray:
    """The array of one file."""

    path: Path
    n_rows: int
    width: int
    dtype: np.dtype[Any]


class Store(ABC):
    """A format of files with one array per group."""

    @abstractmethod
    def look_at(self, path: Path) -> StoredArray:
        """Return what a file holds, without reading it."""

    @abstractmethod
    def read(self, path: Path, lo: int, hi: int) -> NDArray[Any]:
        """Return rows ``lo`` to ``hi``."""

    def corners(self, path: Path, n_rows: int) -> NDArray[np.float64]:
        """Return the upper left corners of the patches."""
        raise InputError(
            FileName(path), " has no coordinates, which annotated regions need; use HDF5 files"
        )

    def side(self, path: Path, given: float | None) -> float:
        """Return the sides of the patches."""
        raise NotImplementedError


@dataclass(frozen=True)
class Hdf5(Store):
    features: str
    coordinates: str

    def look_at(self, path: Path) -> StoredArray:
        with self._opened(path) as file:
            found = self._data_set(file, path, self.features)
            shape = found.shape[1:] if found.ndim == 3 and found.shape[0] == 1 else found.shape
            if len(shape) != 2 or found.dtype.kind not in "fiu":
                raise InputError(
                    FileName(path),
                    f": the data set {self.features!r} has the shape {found.shape} of "
                    f"{found.dtype}; it must be a matrix of numbers, one row per candidate",
                )
            if shape[0] == 0:
                raise InputError(FileName(path), f": the data set {self.features!r} has no rows")
            return StoredArray(path, int(shape[0]), int(shape[1]), np.dtype(found.dtype))

    def read(self, path: Path, lo: int, hi: int) -> NDArray[Any]:
        with self._opened(path) as file:
            found = self._data_set(file, path, self.features)
            return found[0, lo:hi] if found.ndim == 3 else found[lo:hi]

    def corners(self, path: Path, n_rows: int) -> NDArray[np.float64]:
        with self._opened(path) as file:
            found = self._data_set(file, path, self.coordinates)
            corners = np.asarray(found[()], dtype=np.float64)
        corners = corners[0] if corners.ndim == 3 and len(corners) == 1 else corners
        if corners.shape != (n_rows, 2) or not np.all(np.isfinite(corners)):
            raise InputError(
                FileName(path),
                f": the data set {self.coordinates!r} has the shape {corners.shape}; it must be "
                f"({n_rows}, 2), the finite coordinates x and y of each row of {self.features!r}",
            )
        return corners

    def side(self, path: Path, given: float | None) -> float:
        side = given
        if side is None:
            with self._opened(path) as file:
                known = dict(self._data_set(file, path, self.coordinates).attrs)
            if "patch_size_level0" in known:
                side = float(np.ravel(known["patch_size_level0"])[0])
            elif "patch_size" in known and ("downsample" in known or not known.get("patch_level")):
                factor = float(np.ravel(known.get("downsample", 1.0))[0])
                side = float(np.ravel(known["patch_size"])[0]) * factor
        if side is None or not 0.0 < side < np.inf:
            raise InputError(
                FileName(path),
                f": {self.coordinates!r} has no attribute 'patch_size_level0'; give the sides of "
                "the patches, in pixels of the full resolution, with ",
                Argument("patch_size"),
            )
        return side

    def _opened(self, path: Path) -> Any:
        h5py = HDF5.load("h5py")
        try:
            return h5py.File(path, "r")
        except OSError as error:
            raise InputError(
                FileName(path), " is not a complete HDF5 file; it may be cut short: write it again"
            ) from error

    def _data_set(self, file: Any, path: Path, name: str) -> Any:
        found = file.get(name)
        if found is None or not hasattr(found, "shape"):
            there = [key for key, each in file.items() if hasattr(each, "shape")]
            listed = ", ".join(map(repr, sorted(there))) or "none"
            raise InputError(FileName(path), f" has no data set {name!r}; it has {listed}")
        return found


@dataclass(frozen=True)
class Npy(Store):
    def look_at(self, path: Path) -> StoredArray:
        found = self._mapped(path)
        if found.ndim != 2 or found.dtype.kind not in "fiu" or not len(found):
            raise InputError(
                FileName(path),
                f" holds {found.dtype} of shape {found.shape}; it must be a matrix of numbers, one "
                "row per candidate",
            )
        return StoredArray(path, len(found), found.shape[1], found.dtype)

    def read(self, path: Path, lo: int, hi: int) -> NDArray[Any]:
        return np.array(self._mapped(path)[lo:hi])

    def _mapped(self, path: Path) -> NDArray[Any]:
        try:
            found = np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise InputError(FileName(path), f" is not a complete .npy file: {error}") from error
        if not isinstance(found, np.ndarray):
            raise InputError(FileName(path), " is an archive of arrays; save one matrix, as .npy")
        return found
