"""Embeddings that were computed before, in a folder: one file per picture and network.

A file is found by the pixels, the network and how candidates are cropped or pooled, and in it a
candidate by its region. So another number of candidates, other proposals or other principal
components compute only what is new. A file that cannot be read is computed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.files import whole_file
from groupcm.utils.typing import Float32

__all__ = ["EmbeddingCache", "region_keys"]

_KEY = 16  # bytes: no two of 10¹⁵ regions are confused
_Keys = NDArray[np.void]


@dataclass(frozen=True)
class EmbeddingCache:
    """Embeddings of candidates in a folder.

    Parameters
    ----------
    folder
        It is made where it is missing, and may be removed at any time.

    Examples
    --------
    >>> import tempfile
    >>> view = View(np.zeros((4, 4, 3), dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 2, 2], [1, 1, 4, 4]], height=4, width=4)
    >>> cache = EmbeddingCache(tempfile.mkdtemp())
    >>> def areas(some):
    ...     print(f"computing {len(some)}")
    ...     return some.areas[:, None].astype(np.float32)
    >>> _ = cache.values(view, regions.take([0]), "areas", areas)
    computing 1
    >>> cache.values(view, regions, "areas", areas).tolist()
    computing 1
    [[4.0], [9.0]]
    """

    folder: str

    def values(
        self, view: View, regions: Regions, network: str, compute: Callable[[Regions], Float32]
    ) -> Float32:
        """Return the embedding of each region; ``compute`` those of the regions that are new.

        ``network`` describes everything but the pixels and the regions.
        """
        file = self._file(view, network)
        wanted = region_keys(regions)
        keys, known = _read(file)
        place = {key: at for at, key in enumerate(keys.tolist())}
        at = np.array([place.get(key, -1) for key in wanted.tolist()], dtype=np.int64)
        new = np.flatnonzero(at < 0)
        if not new.size and at.size:
            return known[at]
        computed = compute(regions.take(new))
        values = np.empty((len(regions), computed.shape[1]), dtype=np.float32)
        values[new] = computed
        if new.size < at.size:
            values[at >= 0] = known[at[at >= 0]]
        if new.size:
            known = np.concatenate([known, computed]) if len(known) else computed
            self._write(file, np.concatenate([keys, wanted[new]]), known)
        return values

    def _file(self, view: View, network: str) -> Path:
        picture = blake2b(repr(view.rgb.shape).encode(), digest_size=_KEY)
        picture.update(np.ascontiguousarray(view.rgb).data)
        picture.update(network.encode())
        name = picture.hexdigest()
        return Path(self.folder) / name[:2] / f"{name[2:]}.npz"

    def _write(self, file: Path, keys: _Keys, values: Float32) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as path, Path(path).open("wb") as stream:
                np.savez(stream, keys=keys.view(np.uint8).reshape(-1, _KEY), values=values)
        except OSError as error:
            raise InputError(
                f"cannot keep embeddings in {os.fspath(self.folder)}: {error.strerror or error}"
            ) from error


def region_keys(regions: Regions) -> _Keys:
    """Return a key per region: equal for equal pixels or box, in a picture of equal size."""
    strips = np.stack([regions.column, regions.top, regions.bottom], axis=1)
    digests = [
        blake2b(
            regions.edges[k].tobytes()
            + strips[regions.strip_ptr[k] : regions.strip_ptr[k + 1]].tobytes(),
            digest_size=_KEY,
        ).digest()
        for k in range(len(regions))
    ]
    return np.frombuffer(b"".join(digests), dtype=f"V{_KEY}")


def _read(file: Path) -> tuple[_Keys, Float32]:
    try:
        with np.load(file, allow_pickle=False) as found:
            keys, values = found["keys"], found["values"]
        if keys.shape == (len(values), _KEY) and keys.dtype == np.uint8 and values.ndim == 2:
            keys = np.ascontiguousarray(keys).view(f"V{_KEY}")[:, 0]
            return keys, values.astype(np.float32, copy=False)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        pass
    return np.empty(0, dtype=f"V{_KEY}"), np.empty((0, 0), dtype=np.float32)
